// The same signature as layers.mlir, but other numbers.
func.func @main(%x: !weft.tensor<[batch, 48], f32> {weft.name = "x"}, %w: !weft.tensor<[48, 32], f32> {weft.name = "w"})
    -> (!weft.tensor<[batch, 32], f32> {weft.name = "y"}, !weft.tensor<[batch, 48], f32> {weft.name = "kept"})
    attributes {weft.symbols = #weft.symbols<batch : "1 <= batch">} {
  %0 = weft.contract "b i, i j -> b j" %x, %w accumulate f32
      : (!weft.tensor<[batch, 48], f32>, !weft.tensor<[48, 32], f32>) -> !weft.tensor<[batch, 32], f32>
  %1 = weft.activation relu %x : (!weft.tensor<[batch, 48], f32>) -> !weft.tensor<[batch, 48], f32>
  return %0, %1 : !weft.tensor<[batch, 32], f32>, !weft.tensor<[batch, 48], f32>
}
