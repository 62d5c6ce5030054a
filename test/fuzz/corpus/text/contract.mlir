func.func @main(%a: !weft.tensor<[m, 24], f32> {weft.name = "a"}, %c: !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
    attributes {weft.symbols = #weft.symbols<m, n : "m <= 4096", "mod(n, 8) == 0">} {
  %w = weft.constant dense<1.0> : tensor<24x8xf32> -> !weft.tensor<[24, 8], f32>
  %0 = weft.contract "m k, k n -> m n" %a, %w accumulate f32 : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, 8], f32>) -> !weft.tensor<[m, 8], f32>
  %1 = weft.reduce sum %0 [1] : (!weft.tensor<[m, 8], f32>) -> !weft.tensor<[m], f32>
  %2 = weft.reshape %1 to [m, 1] : (!weft.tensor<[m], f32>) -> !weft.tensor<[m, 1], f32>
  %3 = weft.add %2, %c : (!weft.tensor<[m, 1], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  return %3 : !weft.tensor<[m, n], f32>
}
