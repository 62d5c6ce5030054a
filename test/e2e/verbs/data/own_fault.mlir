func.func @main(%x: !weft.tensor<[n], f32> {weft.name = "x"}) -> (!weft.tensor<[1], f32> {weft.name = "y"})
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %at = weft.dims_value [rank_tp] : !weft.tensor<[1], i64>
  %own = weft.gather %x, %at axis 0 : (!weft.tensor<[n], f32>, !weft.tensor<[1], i64>) -> !weft.tensor<[1], f32>
  %y = weft.all_reduce sum %own over<tp = 2> : (!weft.tensor<[1], f32>) -> !weft.tensor<[1], f32>
  return %y : !weft.tensor<[1], f32>
}
