// A constant that bf16 cannot hold: 1.001 becomes 1.
func.func @main(%x: !weft.tensor<[batch, 2], f32> {weft.name = "x"}) -> (!weft.tensor<[batch, 2], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<batch>} {
  %w = weft.constant dense<[[1.001, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> !weft.tensor<[2, 2], f32>
  %y = weft.contract "b i, i j -> b j" %x, %w accumulate f32
      : (!weft.tensor<[batch, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[batch, 2], f32>
  return %y : !weft.tensor<[batch, 2], f32>
}
