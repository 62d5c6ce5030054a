// A product, and one that a call reaches where something is positive. w.bin holds 64 x 96 and 96 x 8 numbers.
weft.weight @w from "w.bin" at 0 bytes 24576 : !weft.tensor<[64, 96], f32>
weft.weight @v from "w.bin" at 24576 bytes 3072 : !weft.tensor<[96, 8], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 8], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "1 <= m", "m <= 64">} {
  %w = weft.constant @w -> !weft.tensor<[64, 96], f32>
  %v = weft.constant @v -> !weft.tensor<[96, 8], f32>
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 96], f32>) -> !weft.tensor<[m, 96], f32> loc("/first/MatMul")
  %most = weft.reduce max %x [0, 1] : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[], f32>
  %zero = weft.fill 0.0 : f32 -> !weft.tensor<[], f32>
  %c = weft.compare ge %most, %zero : (!weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[], i1>
  %y = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[m, 8], f32> {
    %a = weft.contract "m k, k n -> m n" %0, %v accumulate f32
        : (!weft.tensor<[m, 96], f32>, !weft.tensor<[96, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/inner/MatMul")
    weft.yield %a : !weft.tensor<[m, 8], f32>
  } else {
    %b = weft.slice %x from [0, 0] size [m, 8] step [1, 1] : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 8], f32>
    weft.yield %b : !weft.tensor<[m, 8], f32>
  }
  return %y : !weft.tensor<[m, 8], f32>
}
