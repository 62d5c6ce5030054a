// Scores of new rows against a cache that they extend: what is read by a product is an output, too.
func.func @main(%x: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %past: !weft.tensor<[b, p, 8], f32> {weft.name = "past"})
    -> (!weft.tensor<[b, p + s, 8], f32> {weft.name = "present"}, !weft.tensor<[b, s, p + s], f32> {weft.name = "scores"})
    attributes {weft.symbols = #weft.symbols<b, s, p>} {
  %0 = weft.neg %x : (!weft.tensor<[b, s, 8], f32>) -> !weft.tensor<[b, s, 8], f32>
  %1 = weft.concat %past, %0 dim 1 : (!weft.tensor<[b, p, 8], f32>, !weft.tensor<[b, s, 8], f32>) -> !weft.tensor<[b, p + s, 8], f32>
  %2 = weft.contract "b s d, b t d -> b s t" %x, %1 accumulate f32
      : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[b, p + s, 8], f32>) -> !weft.tensor<[b, s, p + s], f32> loc("/scores/MatMul")
  return %1, %2 : !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, s, p + s], f32>
}
