// A softmax and a product after another, a bias that is computed, a transpose, and a value that is an output too.
func.func @main(%x: !weft.tensor<[batch, 48], f32> {weft.name = "x"}, %w: !weft.tensor<[48, 32], f32> {weft.name = "w"},
                %v: !weft.tensor<[32], f32> {weft.name = "v"})
    -> (!weft.tensor<[batch, 32], f32> {weft.name = "y"}, !weft.tensor<[batch, 48], f32> {weft.name = "kept"},
        !weft.tensor<[32, batch], f32> {weft.name = "turned"})
    attributes {weft.symbols = #weft.symbols<batch : "1 <= batch">} {
  %0 = weft.neg %x : (!weft.tensor<[batch, 48], f32>) -> !weft.tensor<[batch, 48], f32> loc("/Neg")
  %1 = weft.softmax %0 : (!weft.tensor<[batch, 48], f32>) -> !weft.tensor<[batch, 48], f32> loc("/Softmax")
  %2 = weft.contract "b i, i j -> b j" %1, %w accumulate f32
      : (!weft.tensor<[batch, 48], f32>, !weft.tensor<[48, 32], f32>) -> !weft.tensor<[batch, 32], f32> loc("/MatMul")
  %3 = weft.exp %v : (!weft.tensor<[32], f32>) -> !weft.tensor<[32], f32> loc("/Bias")
  %4 = weft.add %2, %3 : (!weft.tensor<[batch, 32], f32>, !weft.tensor<[32], f32>) -> !weft.tensor<[batch, 32], f32> loc("/Add")
  %5 = weft.softmax %4 : (!weft.tensor<[batch, 32], f32>) -> !weft.tensor<[batch, 32], f32> loc("/Rows")
  %6 = weft.transpose %4 [1, 0] : (!weft.tensor<[batch, 32], f32>) -> !weft.tensor<[32, batch], f32> loc("/Transpose")
  %7 = weft.abs %6 : (!weft.tensor<[32, batch], f32>) -> !weft.tensor<[32, batch], f32> loc("/Abs")
  return %5, %0, %7 : !weft.tensor<[batch, 32], f32>, !weft.tensor<[batch, 48], f32>, !weft.tensor<[32, batch], f32>
}
