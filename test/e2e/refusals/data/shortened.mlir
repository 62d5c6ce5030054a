// One element less: no call has none.
func.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[1], f32>
    attributes {weft.symbols = #weft.symbols<n>} {
  %z = weft.constant dense<0.0> : tensor<f32> -> !weft.tensor<[], f32>
  %e = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %p = weft.pad %e with %z low [0] high [-1] : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[n - 1], f32>
  %c = weft.cumulate sum %p axis 0 : (!weft.tensor<[n - 1], f32>) -> !weft.tensor<[n - 1], f32>
  %r = weft.reduce sum %c [0] : (!weft.tensor<[n - 1], f32>) -> !weft.tensor<[], f32>
  %s = weft.reshape %r to [1] : (!weft.tensor<[], f32>) -> !weft.tensor<[1], f32>
  return %s : !weft.tensor<[1], f32>
}
