// Rows that attend to each other behind a product with a weight. w.bin holds 64 x 64 numbers.
weft.weight @w from "w.bin" at 0 bytes 16384 : !weft.tensor<[64, 64], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 64], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %w = weft.constant @w -> !weft.tensor<[64, 64], f32>
  %q = weft.contract "m k, k n -> m n" %x, %w accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[m, 64], f32> loc("/query/MatMul")
  %s = weft.contract "m d, n d -> m n" %q, %x accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, m], f32> loc("/scores/MatMul")
  %p = weft.softmax %s : (!weft.tensor<[m, m], f32>) -> !weft.tensor<[m, m], f32>
  %y = weft.contract "m n, n d -> m d" %p, %x accumulate f32
      : (!weft.tensor<[m, m], f32>, !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 64], f32> loc("/sum/MatMul")
  return %y : !weft.tensor<[m, 64], f32>
}
