// Rows through two products with a relu between them. w.bin holds 64 x 96 and 96 x 8 numbers.
weft.weight @w from "w.bin" at 0 bytes 24576 : !weft.tensor<[64, 96], f32>
weft.weight @v from "w.bin" at 24576 bytes 3072 : !weft.tensor<[96, 8], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 8], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %w = weft.constant @w -> !weft.tensor<[64, 96], f32>
  %v = weft.constant @v -> !weft.tensor<[96, 8], f32>
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 96], f32>) -> !weft.tensor<[m, 96], f32> loc("/first/MatMul")
  %1 = weft.activation relu %0 : (!weft.tensor<[m, 96], f32>) -> !weft.tensor<[m, 96], f32>
  %y = weft.contract "m k, k n -> m n" %1, %v accumulate f32
      : (!weft.tensor<[m, 96], f32>, !weft.tensor<[96, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/second/MatMul")
  return %y : !weft.tensor<[m, 8], f32>
}
