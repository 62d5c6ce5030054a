// com.acme:ScaledTanh: alpha * tanh(x + bias), whose bias is 0 where a node has none.
func.func @scaled_tanh(%x: !weft.tensor<[rows, n], f32> {weft.name = "x"},
                       %bias: !weft.tensor<[n], f32> {weft.name = "bias", weft.otherwise = 0.0 : f32},
                       %alpha: !weft.tensor<[], f32> {weft.name = "alpha", weft.attribute = "alpha", weft.otherwise = 1.0 : f32})
    -> !weft.tensor<[rows, n], f32>
    attributes {weft.symbols = #weft.symbols<rows, n : "1 <= n">, weft.ignored = ["note"]} {
  %0 = weft.add %x, %bias : (!weft.tensor<[rows, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[rows, n], f32>
  %1 = weft.tanh %0 : (!weft.tensor<[rows, n], f32>) -> !weft.tensor<[rows, n], f32>
  %2 = weft.mul %1, %alpha : (!weft.tensor<[rows, n], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[rows, n], f32>
  return %2 : !weft.tensor<[rows, n], f32>
}
