// An embedding of 3 words.
func.func @main(%table: !weft.tensor<[3, width], f32> {weft.name = "table"},
                %ids: !weft.tensor<[batch, seq], i64> {weft.name = "ids"})
    -> (!weft.tensor<[batch, seq, width], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<batch, seq, width>} {
  %0 = weft.gather %table, %ids axis 0
      : (!weft.tensor<[3, width], f32>, !weft.tensor<[batch, seq], i64>) -> !weft.tensor<[batch, seq, width], f32> loc("words")
  return %0 : !weft.tensor<[batch, seq, width], f32>
}
