// Rows times two constant matrices, 256 x 384 and 384 x 256, whose numbers are in w.bin.
weft.weight @w from "w.bin" at 0 bytes 393216 : !weft.tensor<[256, 384], f32>
weft.weight @v from "w.bin" at 0 bytes 393216 : !weft.tensor<[384, 256], f32>
func.func @main(%x: !weft.tensor<[m, 256], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 256], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant @w -> !weft.tensor<[256, 384], f32>
  %v = weft.constant @v -> !weft.tensor<[384, 256], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32
      : (!weft.tensor<[m, 256], f32>, !weft.tensor<[256, 384], f32>) -> !weft.tensor<[m, 384], f32> loc("/up/MatMul")
  %z = weft.contract "m k, k n -> m n" %y, %v accumulate f32
      : (!weft.tensor<[m, 384], f32>, !weft.tensor<[384, 256], f32>) -> !weft.tensor<[m, 256], f32> loc("/down/MatMul")
  return %z : !weft.tensor<[m, 256], f32>
}
