func.func @main(%x: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %wq: !weft.tensor<[8, 16], f32> {weft.name = "wq"}, %wk: !weft.tensor<[8, 16], f32> {weft.name = "wk"}, %wv: !weft.tensor<[8, 16], f32> {weft.name = "wv"}) -> (!weft.tensor<[b, s, 16], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<b, s>} {
  %pq = weft.contract "b s e, e n -> b s n" %x, %wq accumulate f32 : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[8, 16], f32>) -> !weft.tensor<[b, s, 16], f32>
  %pk = weft.contract "b s e, e n -> b s n" %x, %wk accumulate f32 : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[8, 16], f32>) -> !weft.tensor<[b, s, 16], f32>
  %pv = weft.contract "b s e, e n -> b s n" %x, %wv accumulate f32 : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[8, 16], f32>) -> !weft.tensor<[b, s, 16], f32>
  %q = weft.reshape %pq to [b, s, 4, 4] : (!weft.tensor<[b, s, 16], f32>) -> !weft.tensor<[b, s, 4, 4], f32>
  %k = weft.reshape %pk to [b, s, 4, 4] : (!weft.tensor<[b, s, 16], f32>) -> !weft.tensor<[b, s, 4, 4], f32>
  %v = weft.reshape %pv to [b, s, 4, 4] : (!weft.tensor<[b, s, 16], f32>) -> !weft.tensor<[b, s, 4, 4], f32>
  %scores = weft.contract "b i h d, b j h d -> b h i j" %q, %k accumulate f32 : (!weft.tensor<[b, s, 4, 4], f32>, !weft.tensor<[b, s, 4, 4], f32>) -> !weft.tensor<[b, 4, s, s], f32>
  %positions = weft.iota dim 0 : !weft.tensor<[s], i64>
  %i = weft.reshape %positions to [s, 1] : (!weft.tensor<[s], i64>) -> !weft.tensor<[s, 1], i64>
  %j = weft.reshape %positions to [1, s] : (!weft.tensor<[s], i64>) -> !weft.tensor<[1, s], i64>
  %seen = weft.compare ge %i, %j : (!weft.tensor<[s, 1], i64>, !weft.tensor<[1, s], i64>) -> !weft.tensor<[s, s], i1>
  %all = weft.expand %seen to [b, 4, s, s] : (!weft.tensor<[s, s], i1>) -> !weft.tensor<[b, 4, s, s], i1>
  %least = weft.fill 0xFF800000 : f32 -> !weft.tensor<[], f32>
  %masked = weft.select %all, %scores, %least : (!weft.tensor<[b, 4, s, s], i1>, !weft.tensor<[b, 4, s, s], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[b, 4, s, s], f32>
  %p = weft.softmax %masked : (!weft.tensor<[b, 4, s, s], f32>) -> !weft.tensor<[b, 4, s, s], f32>
  %o = weft.contract "b h i j, b j h d -> b i h d" %p, %v accumulate f32 : (!weft.tensor<[b, 4, s, s], f32>, !weft.tensor<[b, s, 4, 4], f32>) -> !weft.tensor<[b, s, 4, 4], f32>
  %y = weft.reshape %o to [b, s, 16] : (!weft.tensor<[b, s, 4, 4], f32>) -> !weft.tensor<[b, s, 16], f32>
  return %y : !weft.tensor<[b, s, 16], f32>
}
