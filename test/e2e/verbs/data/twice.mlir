func.func @main(%x: !weft.tensor<[n + 1], f32> {weft.name = "x"}) -> (!weft.tensor<[n], f32> {weft.name = "y", weft.placement = #weft.placement<[t]>, weft.whole = !weft.tensor<[2*n], f32>})
    attributes {weft.mesh = #weft.mesh<t = 2, d = 2>, weft.symbols = #weft.symbols<n, rank_t, rank_d : "rank_t <= 1", "rank_d <= 1">} {
  %0 = weft.slice %x from [rank_d] size [n] step [1] : (!weft.tensor<[n + 1], f32>) -> !weft.tensor<[n], f32>
  return %0 : !weft.tensor<[n], f32>
}
