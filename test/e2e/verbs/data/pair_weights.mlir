weft.weight @up from "pair.bin" at 0 bytes 384 : !weft.tensor<[8, 12], f32>
weft.weight @down from "pair.bin" at 384 bytes 384 : !weft.tensor<[12, 8], f32>
func.func @main(%x: !weft.tensor<[n, 8], f32> {weft.name = "x"}) -> (!weft.tensor<[n, 8], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<n>} {
  %up = weft.constant @up -> !weft.tensor<[8, 12], f32>
  %down = weft.constant @down -> !weft.tensor<[12, 8], f32>
  %h = weft.contract "m k, k j -> m j" %x, %up accumulate f32
     : (!weft.tensor<[n, 8], f32>, !weft.tensor<[8, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %g = weft.activation gelu %h : (!weft.tensor<[n, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %y = weft.contract "m k, k j -> m j" %g, %down accumulate f32
     : (!weft.tensor<[n, 12], f32>, !weft.tensor<[12, 8], f32>) -> !weft.tensor<[n, 8], f32>
  return %y : !weft.tensor<[n, 8], f32>
}
