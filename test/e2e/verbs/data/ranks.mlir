// Two ranks multiply halves of the hidden layer: the first product by columns, the second by rows, whose sums are added.
func.func @main(%x: !weft.tensor<[n, 4], f32> {weft.name = "x"}) -> (!weft.tensor<[n, 4], f32> {weft.name = "y"})
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %all = weft.iota dim 1 : !weft.tensor<[4, 8], f32>
  %up = weft.slice %all from [0, 4*rank_tp] size [4, 4] step [1, 1]
      : (!weft.tensor<[4, 8], f32>) -> !weft.tensor<[4, 4], f32>
  %hidden = weft.contract "b i, i j -> b j" %x, %up accumulate f32
      : (!weft.tensor<[n, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %down = weft.transpose %up [1, 0] : (!weft.tensor<[4, 4], f32>) -> !weft.tensor<[4, 4], f32>
  %part = weft.contract "b j, j i -> b i" %hidden, %down accumulate f32
      : (!weft.tensor<[n, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %y = weft.all_reduce sum %part over<tp = 2> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  return %y : !weft.tensor<[n, 4], f32>
}
