// Exact work first (a sum, relu), then a product whose rounding differs from the evaluator's, then a softmax.
func.func @main(%x: !weft.tensor<[batch, 48], f32> {weft.name = "x"}, %w: !weft.tensor<[48, 32], f32> {weft.name = "w"})
    -> (!weft.tensor<[batch, 32], f32> {weft.name = "y"}, !weft.tensor<[batch, 48], f32> {weft.name = "kept"})
    attributes {weft.symbols = #weft.symbols<batch : "1 <= batch">} {
  %0 = weft.add %x, %x : (!weft.tensor<[batch, 48], f32>, !weft.tensor<[batch, 48], f32>) -> !weft.tensor<[batch, 48], f32> loc("/double/Add")
  %1 = weft.activation relu %0 : (!weft.tensor<[batch, 48], f32>) -> !weft.tensor<[batch, 48], f32> loc("/double/Relu")
  %2 = weft.contract "b i, i j -> b j" %1, %w accumulate f32
      : (!weft.tensor<[batch, 48], f32>, !weft.tensor<[48, 32], f32>) -> !weft.tensor<[batch, 32], f32> loc("/layer/MatMul")
  %3 = weft.softmax %2 : (!weft.tensor<[batch, 32], f32>) -> !weft.tensor<[batch, 32], f32> loc("/layer/Softmax")
  return %3, %1 : !weft.tensor<[batch, 32], f32>, !weft.tensor<[batch, 48], f32>
}
