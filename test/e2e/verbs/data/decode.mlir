func.func @main(%q: !weft.tensor<[b, 2, 1, 4], f32> {weft.name = "q"}, %past_k: !weft.tensor<[b, 2, p, 4], f32> {weft.name = "past_k"}, %past_v: !weft.tensor<[b, 2, p, 4], f32> {weft.name = "past_v"}, %k: !weft.tensor<[b, 2, 1, 4], f32> {weft.name = "k"}, %v: !weft.tensor<[b, 2, 1, 4], f32> {weft.name = "v"}) -> (!weft.tensor<[b, 2, 1, 4], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<b, p>} {
  %ks = weft.concat %past_k, %k dim 2 : (!weft.tensor<[b, 2, p, 4], f32>, !weft.tensor<[b, 2, 1, 4], f32>) -> !weft.tensor<[b, 2, p + 1, 4], f32>
  %vs = weft.concat %past_v, %v dim 2 : (!weft.tensor<[b, 2, p, 4], f32>, !weft.tensor<[b, 2, 1, 4], f32>) -> !weft.tensor<[b, 2, p + 1, 4], f32>
  %s = weft.contract "b h i d, b h j d -> b h i j" %q, %ks accumulate f32 : (!weft.tensor<[b, 2, 1, 4], f32>, !weft.tensor<[b, 2, p + 1, 4], f32>) -> !weft.tensor<[b, 2, 1, p + 1], f32>
  %p = weft.softmax %s : (!weft.tensor<[b, 2, 1, p + 1], f32>) -> !weft.tensor<[b, 2, 1, p + 1], f32>
  %y = weft.contract "b h i j, b h j d -> b h i d" %p, %vs accumulate f32 : (!weft.tensor<[b, 2, 1, p + 1], f32>, !weft.tensor<[b, 2, p + 1, 4], f32>) -> !weft.tensor<[b, 2, 1, 4], f32>
  return %y : !weft.tensor<[b, 2, 1, 4], f32>
}
