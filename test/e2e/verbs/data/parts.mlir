func.func @main(%x: !weft.tensor<[n, 4], f32> {weft.name = "x", weft.placement = #weft.placement<[tp, _]>, weft.whole = !weft.tensor<[n, 4], f32>})
    -> (!weft.tensor<[n, 4], f32> {weft.name = "y", weft.placement = #weft.placement<[tp, _]>, weft.whole = !weft.tensor<[n, 4], f32>})
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %0 = weft.neg %x : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  return %0 : !weft.tensor<[n, 4], f32>
}
