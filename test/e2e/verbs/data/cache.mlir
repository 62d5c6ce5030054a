func.func @main(%x: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %past: !weft.tensor<[b, p, 8], f32> {weft.name = "past"})
    -> (!weft.tensor<[b, p + s, 8], f32> {weft.name = "present"}, !weft.tensor<[b, 8], f32> {weft.name = "sum"})
    attributes {weft.symbols = #weft.symbols<b, s, p>} {
  %0 = weft.neg %x : (!weft.tensor<[b, s, 8], f32>) -> !weft.tensor<[b, s, 8], f32>
  %1 = weft.concat %past, %0 dim 1 : (!weft.tensor<[b, p, 8], f32>, !weft.tensor<[b, s, 8], f32>) -> !weft.tensor<[b, p + s, 8], f32>
  %2 = weft.reduce sum %1 [1] : (!weft.tensor<[b, p + s, 8], f32>) -> !weft.tensor<[b, 8], f32>
  return %1, %2 : !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, 8], f32>
}
