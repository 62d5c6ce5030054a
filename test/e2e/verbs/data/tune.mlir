// Rows times a constant matrix of 256 x 384, whose numbers are in w.bin.
weft.weight @w from "w.bin" at 0 bytes 393216 : !weft.tensor<[256, 384], f32>
func.func @main(%x: !weft.tensor<[m, 256], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 384], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant @w -> !weft.tensor<[256, 384], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32
      : (!weft.tensor<[m, 256], f32>, !weft.tensor<[256, 384], f32>) -> !weft.tensor<[m, 384], f32> loc("/layer/MatMul")
  return %y : !weft.tensor<[m, 384], f32>
}
