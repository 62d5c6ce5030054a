// Convolutions of small images with a sum around one, a pool and a product. w.bin holds their filters; the last convolution has 6 of them.
weft.weight @a from "w.bin" at 0 bytes 1152 : !weft.tensor<[8, 4, 3, 3], f32>
weft.weight @b from "w.bin" at 1152 bytes 2304 : !weft.tensor<[8, 8, 3, 3], f32>
weft.weight @c from "w.bin" at 3456 bytes 192 : !weft.tensor<[6, 8, 1, 1], f32>
weft.weight @d from "w.bin" at 3648 bytes 768 : !weft.tensor<[24, 8], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 8], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %a = weft.constant @a -> !weft.tensor<[8, 4, 3, 3], f32>
  %b = weft.constant @b -> !weft.tensor<[8, 8, 3, 3], f32>
  %c = weft.constant @c -> !weft.tensor<[6, 8, 1, 1], f32>
  %d = weft.constant @d -> !weft.tensor<[24, 8], f32>
  %0 = weft.reshape %x to [m, 4, 4, 4] : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 4, 4, 4], f32>
  %1 = weft.conv %0, %a strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
      : (!weft.tensor<[m, 4, 4, 4], f32>, !weft.tensor<[8, 4, 3, 3], f32>) -> !weft.tensor<[m, 8, 4, 4], f32> loc("/first/Conv")
  %2 = weft.activation relu %1 : (!weft.tensor<[m, 8, 4, 4], f32>) -> !weft.tensor<[m, 8, 4, 4], f32> loc("/first/Relu")
  %3 = weft.conv %2, %b strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
      : (!weft.tensor<[m, 8, 4, 4], f32>, !weft.tensor<[8, 8, 3, 3], f32>) -> !weft.tensor<[m, 8, 4, 4], f32> loc("/second/Conv")
  %4 = weft.add %3, %2 : (!weft.tensor<[m, 8, 4, 4], f32>, !weft.tensor<[m, 8, 4, 4], f32>) -> !weft.tensor<[m, 8, 4, 4], f32> loc("/second/Add")
  %5 = weft.conv %4, %c strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32
      : (!weft.tensor<[m, 8, 4, 4], f32>, !weft.tensor<[6, 8, 1, 1], f32>) -> !weft.tensor<[m, 6, 4, 4], f32> loc("/third/Conv")
  %6 = weft.pool max %5 kernel [2, 2] strides [2, 2] dilations [1, 1] low [0, 0] high [0, 0]
      : (!weft.tensor<[m, 6, 4, 4], f32>) -> !weft.tensor<[m, 6, 2, 2], f32> loc("/third/Pool")
  %7 = weft.reshape %6 to [m, 24] : (!weft.tensor<[m, 6, 2, 2], f32>) -> !weft.tensor<[m, 24], f32>
  %y = weft.contract "m k, k n -> m n" %7, %d accumulate f32
      : (!weft.tensor<[m, 24], f32>, !weft.tensor<[24, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/head/MatMul")
  return %y : !weft.tensor<[m, 8], f32>
}
