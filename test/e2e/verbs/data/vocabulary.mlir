// What a language model does with its vocabulary: rows of a table, and classes whose logits reach to 1e4.
func.func @main(%table: !weft.tensor<[30522, 4], f32> {weft.name = "table"}, %ids: !weft.tensor<[n], i64> {weft.name = "ids"}, %x: !weft.tensor<[n, 4], f32> {weft.name = "x"})
    -> (!weft.tensor<[n, 4], f32> {weft.name = "rows"}, !weft.tensor<[n], i64> {weft.name = "best"}, !weft.tensor<[n], i64> {weft.name = "least"},
        !weft.tensor<[n, 3], f32> {weft.name = "top"}, !weft.tensor<[n, 3], i64> {weft.name = "at"}, !weft.tensor<[n, 1], f32> {weft.name = "loss"})
    attributes {weft.symbols = #weft.symbols<n>} {
  %rows = weft.gather %table, %ids axis 0 : (!weft.tensor<[30522, 4], f32>, !weft.tensor<[n], i64>) -> !weft.tensor<[n, 4], f32>
  %s = weft.contract "n k, c k -> n c" %x, %table accumulate f32 : (!weft.tensor<[n, 4], f32>, !weft.tensor<[30522, 4], f32>) -> !weft.tensor<[n, 30522], f32>
  %large = weft.fill 5000.0 : f32 -> <[], f32>
  %l = weft.mul %s, %large : (!weft.tensor<[n, 30522], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[n, 30522], f32>
  %best = weft.arg_reduce max %l axis 1 : (!weft.tensor<[n, 30522], f32>) -> !weft.tensor<[n], i64>
  %least = weft.arg_reduce min %l axis 1 {select_last} : (!weft.tensor<[n, 30522], f32>) -> !weft.tensor<[n], i64>
  %top, %at = weft.top_k %l k [3] axis 1 : (!weft.tensor<[n, 30522], f32>) -> (!weft.tensor<[n, 3], f32>, !weft.tensor<[n, 3], i64>)
  %log = weft.softmax %l {logarithm} : (!weft.tensor<[n, 30522], f32>) -> !weft.tensor<[n, 30522], f32>
  %labels = weft.reshape %ids to [n, 1] : (!weft.tensor<[n], i64>) -> !weft.tensor<[n, 1], i64>
  %picked = weft.gather_elements %log, %labels axis 1 : (!weft.tensor<[n, 30522], f32>, !weft.tensor<[n, 1], i64>) -> !weft.tensor<[n, 1], f32>
  %loss = weft.neg %picked : (!weft.tensor<[n, 1], f32>) -> !weft.tensor<[n, 1], f32>
  return %rows, %best, %least, %top, %at, %loss : !weft.tensor<[n, 4], f32>, !weft.tensor<[n], i64>, !weft.tensor<[n], i64>, !weft.tensor<[n, 3], f32>, !weft.tensor<[n, 3], i64>, !weft.tensor<[n, 1], f32>
}
