// k rows of x, each times its number: nothing limits k.
func.func @main(%x: !weft.tensor<[n], f32> {weft.name = "x"}, %k: !weft.tensor<[], i64> {weft.name = "k"})
    -> (!weft.tensor<[k, n], f32> {weft.name = "rows"}, !weft.tensor<[n], f32> {weft.name = "sum"})
    attributes {weft.symbols = #weft.symbols<n bound k>} {
  weft.bind "k" %k : !weft.tensor<[], i64>
  %i = weft.iota dim 0 : !weft.tensor<[k, 1], f32>
  %rows = weft.mul %i, %x : (!weft.tensor<[k, 1], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[k, n], f32>
  %s = weft.softmax %rows : (!weft.tensor<[k, n], f32>) -> !weft.tensor<[k, n], f32>
  %sum = weft.reduce sum %s [0] : (!weft.tensor<[k, n], f32>) -> !weft.tensor<[n], f32>
  return %rows, %sum : !weft.tensor<[k, n], f32>, !weft.tensor<[n], f32>
}
