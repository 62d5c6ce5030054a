// Two convolutions with filters of the program: the first skips every other pixel.
func.func @main(%x: !weft.tensor<[n, 16, 10, 10], f32> {weft.name = "x"}) -> (!weft.tensor<[n, 16, 5, 5], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<n : "1 <= n">} {
  %f = weft.constant dense<0.5> : tensor<16x16x3x3xf32> {weft.parameter} -> !weft.tensor<[16, 16, 3, 3], f32>
  %0 = weft.conv %x, %f strides [2, 2] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
      : (!weft.tensor<[n, 16, 10, 10], f32>, !weft.tensor<[16, 16, 3, 3], f32>) -> !weft.tensor<[n, 16, 5, 5], f32> loc("/Skip")
  %1 = weft.conv %0, %f strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
      : (!weft.tensor<[n, 16, 5, 5], f32>, !weft.tensor<[16, 16, 3, 3], f32>) -> !weft.tensor<[n, 16, 5, 5], f32> loc("/Next")
  return %1 : !weft.tensor<[n, 16, 5, 5], f32>
}
