weft.weight @layers from "pair.bin" at 0 bytes 768 : !weft.tensor<[3, 8, 8], f32>
func.func @main(%x: !weft.tensor<[n, 8], f32> {weft.name = "x"}) -> (!weft.tensor<[n, 8], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<n bound i>} {
  %layers = weft.constant @layers -> !weft.tensor<[3, 8, 8], f32>
  %y = weft.loop "i" trips [3](%x) : (!weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32> {
  ^bb0(%h: !weft.tensor<[n, 8], f32>):
    %s = weft.slice %layers from [i, 0, 0] size [1, 8, 8] step [1, 1, 1] : (!weft.tensor<[3, 8, 8], f32>) -> !weft.tensor<[1, 8, 8], f32>
    %w = weft.reshape %s to [8, 8] : (!weft.tensor<[1, 8, 8], f32>) -> !weft.tensor<[8, 8], f32>
    %p = weft.contract "m k, k j -> m j" %h, %w accumulate f32
       : (!weft.tensor<[n, 8], f32>, !weft.tensor<[8, 8], f32>) -> !weft.tensor<[n, 8], f32>
    weft.yield %p : !weft.tensor<[n, 8], f32>
  }
  return %y : !weft.tensor<[n, 8], f32>
}
