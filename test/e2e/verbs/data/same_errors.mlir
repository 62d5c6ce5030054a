// Two products whose errors are the same: what they read is, and so are their weights.
weft.weight @w from "w.bin" at 0 bytes 16384 : !weft.tensor<[64, 64], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 64], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %w = weft.constant @w -> !weft.tensor<[64, 64], f32>
  %a = weft.activation relu %x : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 64], f32>
  %b = weft.maximum %a, %a : (!weft.tensor<[m, 64], f32>, !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 64], f32>
  %0 = weft.contract "m k, k n -> m n" %a, %w accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[m, 64], f32> loc("/first/MatMul")
  %1 = weft.contract "m k, k n -> m n" %b, %w accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[m, 64], f32> loc("/second/MatMul")
  %y = weft.add %0, %1 : (!weft.tensor<[m, 64], f32>, !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 64], f32>
  return %y : !weft.tensor<[m, 64], f32>
}
