// Convolutions whose channels differ by orders; the second has a filter for each channel. w.bin holds 16 x 4 x 3 x 3, 16 x 1 x 3 x 3 and 8 x 16 x 3 x 3 numbers.
weft.weight @u from "w.bin" at 0 bytes 2304 : !weft.tensor<[16, 4, 3, 3], f32>
weft.weight @v from "w.bin" at 2304 bytes 576 : !weft.tensor<[16, 1, 3, 3], f32>
weft.weight @w from "w.bin" at 2880 bytes 4608 : !weft.tensor<[8, 16, 3, 3], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 8, 4, 4], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %u = weft.constant @u -> !weft.tensor<[16, 4, 3, 3], f32>
  %v = weft.constant @v -> !weft.tensor<[16, 1, 3, 3], f32>
  %w = weft.constant @w -> !weft.tensor<[8, 16, 3, 3], f32>
  %0 = weft.reshape %x to [m, 4, 4, 4] : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 4, 4, 4], f32>
  %1 = weft.conv %0, %u strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
      : (!weft.tensor<[m, 4, 4, 4], f32>, !weft.tensor<[16, 4, 3, 3], f32>) -> !weft.tensor<[m, 16, 4, 4], f32> loc("/first/Conv")
  %2 = weft.activation relu %1 : (!weft.tensor<[m, 16, 4, 4], f32>) -> !weft.tensor<[m, 16, 4, 4], f32>
  %3 = weft.conv %2, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 16 accumulate f32
      : (!weft.tensor<[m, 16, 4, 4], f32>, !weft.tensor<[16, 1, 3, 3], f32>) -> !weft.tensor<[m, 16, 4, 4], f32> loc("/each/Conv")
  %4 = weft.activation relu %3 : (!weft.tensor<[m, 16, 4, 4], f32>) -> !weft.tensor<[m, 16, 4, 4], f32>
  %y = weft.conv %4, %w strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
      : (!weft.tensor<[m, 16, 4, 4], f32>, !weft.tensor<[8, 16, 3, 3], f32>) -> !weft.tensor<[m, 8, 4, 4], f32> loc("/last/Conv")
  return %y : !weft.tensor<[m, 8, 4, 4], f32>
}
