func.func @main(%x: !weft.tensor<[1, 3, h, w], f32> {weft.name = "x"}, %f: !weft.tensor<[4, 3, 3, 3], f32> {weft.name = "f"}, %k: !weft.tensor<[4, 1, 3, 3], f32> {weft.name = "k"}) -> (!weft.tensor<[1, 4, floordiv(h - 1, 2) + 1, floordiv(w - 1, 2) + 1], f32> {weft.name = "y"}, !weft.tensor<[1, 4, h, w], f32> {weft.name = "z"})
    attributes {weft.symbols = #weft.symbols<h, w : "1 <= h", "1 <= w">} {
  %a = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32 : (!weft.tensor<[1, 3, h, w], f32>, !weft.tensor<[4, 3, 3, 3], f32>) -> !weft.tensor<[1, 4, h, w], f32>
  %b = weft.activation relu %a : (!weft.tensor<[1, 4, h, w], f32>) -> !weft.tensor<[1, 4, h, w], f32>
  %c = weft.conv %b, %k strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 4 accumulate f32 : (!weft.tensor<[1, 4, h, w], f32>, !weft.tensor<[4, 1, 3, 3], f32>) -> !weft.tensor<[1, 4, h, w], f32>
  %d = weft.conv %c, %k strides [2, 2] dilations [1, 1] low [1, 1] high [1, 1] groups 4 accumulate f32 : (!weft.tensor<[1, 4, h, w], f32>, !weft.tensor<[4, 1, 3, 3], f32>) -> !weft.tensor<[1, 4, floordiv(h - 1, 2) + 1, floordiv(w - 1, 2) + 1], f32>
  %e = weft.pool max %d kernel [3, 3] strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] : (!weft.tensor<[1, 4, floordiv(h - 1, 2) + 1, floordiv(w - 1, 2) + 1], f32>) -> !weft.tensor<[1, 4, floordiv(h - 1, 2) + 1, floordiv(w - 1, 2) + 1], f32>
  %g = weft.pool average %c kernel [3, 3] strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] : (!weft.tensor<[1, 4, h, w], f32>) -> !weft.tensor<[1, 4, h, w], f32>
  return %e, %g : !weft.tensor<[1, 4, floordiv(h - 1, 2) + 1, floordiv(w - 1, 2) + 1], f32>, !weft.tensor<[1, 4, h, w], f32>
}
