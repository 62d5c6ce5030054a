// Every kind of entry check: equal dimensions, a solved one, ranges, a multiple, and a fact about two symbols.
func.func @main(%ids: !weft.tensor<[batch, seq], i64> {weft.name = "ids"},
                %mask: !weft.tensor<[batch, seq], f32> {weft.name = "mask"},
                %past: !weft.tensor<[2*half, batch], f32> {weft.name = "past"})
    -> (!weft.tensor<[batch, seq], f32> {weft.name = "y"}, !weft.tensor<[batch], f32> {weft.name = "z"})
    attributes {weft.symbols = #weft.symbols<batch, seq, half :
        "1 <= batch", "batch <= 64", "mod(seq, 4) == 0", "seq + half <= 100">} {
  %0 = weft.convert %ids to f32 : (!weft.tensor<[batch, seq], i64>) -> !weft.tensor<[batch, seq], f32>
  %1 = weft.mul %0, %mask
      : (!weft.tensor<[batch, seq], f32>, !weft.tensor<[batch, seq], f32>) -> !weft.tensor<[batch, seq], f32>
  %3 = weft.softmax %1 : (!weft.tensor<[batch, seq], f32>) -> !weft.tensor<[batch, seq], f32>
  %4 = weft.softmax %3 : (!weft.tensor<[batch, seq], f32>) -> !weft.tensor<[batch, seq], f32>
  %2 = weft.reduce sum %past [0] : (!weft.tensor<[2*half, batch], f32>) -> !weft.tensor<[batch], f32>
  return %4, %2 : !weft.tensor<[batch, seq], f32>, !weft.tensor<[batch], f32>
}
