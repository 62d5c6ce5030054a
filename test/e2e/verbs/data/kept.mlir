// A decoder of one head: what it keeps of every position is a row, which later calls read. w.bin holds the 64 x 64 numbers of @k, and 64 x 4096 of @o.
weft.weight @k from "w.bin" at 0 bytes 16384 : !weft.tensor<[64, 64], f32>
weft.weight @o from "w.bin" at 16384 bytes 1048576 : !weft.tensor<[64, 4096], f32>
func.func @main(%x: !weft.tensor<[s, 64], f32> {weft.name = "x"}, %past: !weft.tensor<[p, 64], f32> {weft.name = "past"})
    -> (!weft.tensor<[s, 4096], f32> {weft.name = "y"}, !weft.tensor<[p + s, 64], f32> {weft.name = "present"})
    attributes {weft.symbols = #weft.symbols<s, p : "1 <= s", "s <= 64", "p <= 64">} {
  %k = weft.constant @k -> !weft.tensor<[64, 64], f32>
  %o = weft.constant @o -> !weft.tensor<[64, 4096], f32>
  %0 = weft.contract "m k, k n -> m n" %x, %k accumulate f32
      : (!weft.tensor<[s, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[s, 64], f32> loc("/key/MatMul")
  %1 = weft.concat %past, %0 dim 0 : (!weft.tensor<[p, 64], f32>, !weft.tensor<[s, 64], f32>) -> !weft.tensor<[p + s, 64], f32>
  %2 = weft.contract "m k, n k -> m n" %x, %1 accumulate f32
      : (!weft.tensor<[s, 64], f32>, !weft.tensor<[p + s, 64], f32>) -> !weft.tensor<[s, p + s], f32>
  %3 = weft.softmax %2 : (!weft.tensor<[s, p + s], f32>) -> !weft.tensor<[s, p + s], f32>
  %4 = weft.contract "m n, n k -> m k" %3, %1 accumulate f32
      : (!weft.tensor<[s, p + s], f32>, !weft.tensor<[p + s, 64], f32>) -> !weft.tensor<[s, 64], f32>
  %5 = weft.contract "m k, k n -> m n" %4, %o accumulate f32
      : (!weft.tensor<[s, 64], f32>, !weft.tensor<[64, 4096], f32>) -> !weft.tensor<[s, 4096], f32> loc("/out/MatMul")
  return %5, %1 : !weft.tensor<[s, 4096], f32>, !weft.tensor<[p + s, 64], f32>
}
