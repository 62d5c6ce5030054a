// A product, an addition and a pool of signed bytes whose scales are powers of two, and a softmax in floats.
func.func @main(%x: !weft.tensor<[m, 4], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 2], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %s = weft.fill 0.5 : f32 -> !weft.tensor<[], f32>
  %t = weft.fill 0.25 : f32 -> !weft.tensor<[], f32>
  %zero = weft.fill 0 : i8 -> !weft.tensor<[], i8>
  %none = weft.fill 0 : i8 -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[1, -2, 3, -4], [5, 64, 64, 7], [-64, 1, 64, 2], [3, 64, -64, 5]]> : tensor<4x4xi8> -> !weft.tensor<[4, 4], i8>
  %xq = weft.quantize %x, %s, %zero : (!weft.tensor<[m, 4], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], i8>
  %xr = weft.dequantize %xq, %s, %zero : (!weft.tensor<[m, 4], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], f32>
  %wr = weft.dequantize %w, %t, %none : (!weft.tensor<[4, 4], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 4], f32>
  %a = weft.contract "m k, k n -> m n" %xr, %wr accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32> loc("/product")
  %aq = weft.quantize %a, %s, %zero : (!weft.tensor<[m, 4], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], i8>
  %ar = weft.dequantize %aq, %s, %zero : (!weft.tensor<[m, 4], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.add %ar, %xr : (!weft.tensor<[m, 4], f32>, !weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32> loc("/sum")
  %bq = weft.quantize %b, %s, %zero : (!weft.tensor<[m, 4], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], i8>
  %c = weft.pool max %bq kernel [2] strides [2] dilations [1] low [0] high [0] : (!weft.tensor<[m, 4], i8>) -> !weft.tensor<[m, 2], i8> loc("/pool")
  %cr = weft.dequantize %c, %s, %zero : (!weft.tensor<[m, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], f32>
  %y = weft.softmax %cr : (!weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> loc("/softmax")
  return %y : !weft.tensor<[m, 2], f32>
}
