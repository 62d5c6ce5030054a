func.func @main(%x: !weft.tensor<[s, 4], f32> {weft.name = "x"}) -> !weft.tensor<[s, 4], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<s, rank_tp : "rank_tp <= 1">} {
  %w = weft.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32> -> !weft.tensor<[4, 2], f32>
  %v = weft.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32> -> !weft.tensor<[2, 4], f32>
  %a = weft.all_gather %x dim 0 to [2*s] over<tp = 2> : (!weft.tensor<[s, 4], f32>) -> !weft.tensor<[2*s, 4], f32> loc("in")
  %p = weft.contract "m k, k n -> m n" %a, %w accumulate f32 : (!weft.tensor<[2*s, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[2*s, 2], f32> loc("up")
  %q = weft.contract "m k, k n -> m n" %p, %v accumulate f32 : (!weft.tensor<[2*s, 2], f32>, !weft.tensor<[2, 4], f32>) -> !weft.tensor<[2*s, 4], f32> loc("down")
  %y = weft.reduce_scatter sum %q dim 0 over<tp = 2> : (!weft.tensor<[2*s, 4], f32>) -> !weft.tensor<[s, 4], f32> loc("out")
  %n = weft.permute %x by 1 over<tp = 2> : (!weft.tensor<[s, 4], f32>) -> !weft.tensor<[s, 4], f32> loc("next")
  %t = weft.tanh %y : (!weft.tensor<[s, 4], f32>) -> !weft.tensor<[s, 4], f32>
  %r = weft.contract "m k, k n -> m n" %t, %w accumulate f32 : (!weft.tensor<[s, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[s, 2], f32>
  %u = weft.contract "m k, k n -> m n" %r, %v accumulate f32 : (!weft.tensor<[s, 2], f32>, !weft.tensor<[2, 4], f32>) -> !weft.tensor<[s, 4], f32>
  %z = weft.add %n, %u : (!weft.tensor<[s, 4], f32>, !weft.tensor<[s, 4], f32>) -> !weft.tensor<[s, 4], f32>
  return %z : !weft.tensor<[s, 4], f32>
}
