// A convolution of bytes in two groups.
func.func @main(%x: !weft.tensor<[m, 4, 8], ui8> {weft.name = "x"}) -> (!weft.tensor<[m, 4, 6], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %s = weft.fill 0.5 : f32 -> !weft.tensor<[], f32>
  %z = weft.fill 3 : ui8 -> !weft.tensor<[], ui8>
  %none = weft.fill 0 : i8 -> !weft.tensor<[], i8>
  %w = weft.constant dense<5> : tensor<4x2x3xi8> -> !weft.tensor<[4, 2, 3], i8>
  %xr = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 4, 8], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 4, 8], f32>
  %wr = weft.dequantize %w, %s, %none : (!weft.tensor<[4, 2, 3], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2, 3], f32>
  %y = weft.conv %xr, %wr strides [1] dilations [1] low [0] high [0] groups 2 accumulate f32
      : (!weft.tensor<[m, 4, 8], f32>, !weft.tensor<[4, 2, 3], f32>) -> !weft.tensor<[m, 4, 6], f32> loc("/conv")
  return %y : !weft.tensor<[m, 4, 6], f32>
}
