// Rows of a table through a product. w.bin holds 64 x 96 numbers for it, and 96 x 8.
weft.weight @w from "w.bin" at 0 bytes 24576 : !weft.tensor<[96, 64], f32>
weft.weight @v from "w.bin" at 24576 bytes 3072 : !weft.tensor<[64, 12], f32>
func.func @main(%i: !weft.tensor<[m], i64> {weft.name = "i"}) -> (!weft.tensor<[m, 12], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %w = weft.constant @w -> !weft.tensor<[96, 64], f32>
  %v = weft.constant @v -> !weft.tensor<[64, 12], f32>
  %0 = weft.gather %w, %i axis 0 : (!weft.tensor<[96, 64], f32>, !weft.tensor<[m], i64>) -> !weft.tensor<[m, 64], f32> loc("/embed/Gather")
  %1 = weft.activation relu %0 : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 64], f32>
  %y = weft.contract "m k, k n -> m n" %1, %v accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 12], f32>) -> !weft.tensor<[m, 12], f32> loc("/head/MatMul")
  return %y : !weft.tensor<[m, 12], f32>
}
