// Twelve heads of queries that share three of keys, by fours, as in decoders.
func.func @main(%x: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %wq: !weft.tensor<[8, 48], f32> {weft.name = "wq"}, %wk: !weft.tensor<[8, 12], f32> {weft.name = "wk"}, %wv: !weft.tensor<[8, 12], f32> {weft.name = "wv"}, %wo: !weft.tensor<[48, 8], f32> {weft.name = "wo"}, %bias: !weft.tensor<[8], f32> {weft.name = "bias"}) -> (!weft.tensor<[b, s, 8], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<b, s>} {
  %pq = weft.contract "b s e, e n -> b s n" %x, %wq accumulate f32 : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[8, 48], f32>) -> !weft.tensor<[b, s, 48], f32>
  %pk = weft.contract "b s e, e n -> b s n" %x, %wk accumulate f32 : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[8, 12], f32>) -> !weft.tensor<[b, s, 12], f32>
  %pv = weft.contract "b s e, e n -> b s n" %x, %wv accumulate f32 : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[8, 12], f32>) -> !weft.tensor<[b, s, 12], f32>
  %rq = weft.reshape %pq to [b, s, 12, 4] : (!weft.tensor<[b, s, 48], f32>) -> !weft.tensor<[b, s, 12, 4], f32>
  %rk = weft.reshape %pk to [b, s, 3, 4] : (!weft.tensor<[b, s, 12], f32>) -> !weft.tensor<[b, s, 3, 4], f32>
  %rv = weft.reshape %pv to [b, s, 3, 4] : (!weft.tensor<[b, s, 12], f32>) -> !weft.tensor<[b, s, 3, 4], f32>
  %q = weft.transpose %rq [0, 2, 1, 3] : (!weft.tensor<[b, s, 12, 4], f32>) -> !weft.tensor<[b, 12, s, 4], f32>
  %tk = weft.transpose %rk [0, 2, 1, 3] : (!weft.tensor<[b, s, 3, 4], f32>) -> !weft.tensor<[b, 3, s, 4], f32>
  %tv = weft.transpose %rv [0, 2, 1, 3] : (!weft.tensor<[b, s, 3, 4], f32>) -> !weft.tensor<[b, 3, s, 4], f32>
  %uk = weft.reshape %tk to [b, 3, 1, s, 4] : (!weft.tensor<[b, 3, s, 4], f32>) -> !weft.tensor<[b, 3, 1, s, 4], f32>
  %uv = weft.reshape %tv to [b, 3, 1, s, 4] : (!weft.tensor<[b, 3, s, 4], f32>) -> !weft.tensor<[b, 3, 1, s, 4], f32>
  %ek = weft.expand %uk to [b, 3, 4, s, 4] : (!weft.tensor<[b, 3, 1, s, 4], f32>) -> !weft.tensor<[b, 3, 4, s, 4], f32>
  %ev = weft.expand %uv to [b, 3, 4, s, 4] : (!weft.tensor<[b, 3, 1, s, 4], f32>) -> !weft.tensor<[b, 3, 4, s, 4], f32>
  %k = weft.reshape %ek to [b, 12, s, 4] : (!weft.tensor<[b, 3, 4, s, 4], f32>) -> !weft.tensor<[b, 12, s, 4], f32>
  %v = weft.reshape %ev to [b, 12, s, 4] : (!weft.tensor<[b, 3, 4, s, 4], f32>) -> !weft.tensor<[b, 12, s, 4], f32>
  %scores = weft.contract "b h i d, b h j d -> b h i j" %q, %k accumulate f32 : (!weft.tensor<[b, 12, s, 4], f32>, !weft.tensor<[b, 12, s, 4], f32>) -> !weft.tensor<[b, 12, s, s], f32>
  %p = weft.softmax %scores : (!weft.tensor<[b, 12, s, s], f32>) -> !weft.tensor<[b, 12, s, s], f32>
  %o = weft.contract "b h i j, b h j d -> b i h d" %p, %v accumulate f32 : (!weft.tensor<[b, 12, s, s], f32>, !weft.tensor<[b, 12, s, 4], f32>) -> !weft.tensor<[b, s, 12, 4], f32>
  %ro = weft.reshape %o to [b, s, 48] : (!weft.tensor<[b, s, 12, 4], f32>) -> !weft.tensor<[b, s, 48], f32>
  %po = weft.contract "b s n, n e -> b s e" %ro, %wo accumulate f32 : (!weft.tensor<[b, s, 48], f32>, !weft.tensor<[48, 8], f32>) -> !weft.tensor<[b, s, 8], f32>
  %y = weft.add %po, %bias : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[8], f32>) -> !weft.tensor<[b, s, 8], f32>
  return %y : !weft.tensor<[b, s, 8], f32>
}
