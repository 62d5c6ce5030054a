// Two sizes that are equal, or one of them is 1.
func.func @main(%a: !weft.tensor<[n], f32> {weft.name = "a"}, %b: !weft.tensor<[m], f32> {weft.name = "b"})
    -> (!weft.tensor<[bcast(m, n)], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<n, m : "n == m or n == 1 or m == 1">} {
  %x = weft.expand %a to [bcast(m, n)] : (!weft.tensor<[n], f32>) -> !weft.tensor<[bcast(m, n)], f32>
  %z = weft.expand %b to [bcast(m, n)] : (!weft.tensor<[m], f32>) -> !weft.tensor<[bcast(m, n)], f32>
  %y = weft.add %x, %z : (!weft.tensor<[bcast(m, n)], f32>, !weft.tensor<[bcast(m, n)], f32>) -> !weft.tensor<[bcast(m, n)], f32>
  return %y : !weft.tensor<[bcast(m, n)], f32>
}
