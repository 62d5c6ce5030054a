// A product of all rows, a loop whose matrix is a part of a weight, and a product that only calls with something huge reach. w.bin holds the
// 64 x 96 numbers of @w, and the two times 96 x 96 of @g.
weft.weight @w from "w.bin" at 0 bytes 24576 : !weft.tensor<[64, 96], f32>
weft.weight @g from "w.bin" at 24576 bytes 73728 : !weft.tensor<[2, 96, 96], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m, 96], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m bound i : "1 <= m", "m <= 64", "i <= m">} {
  %w = weft.constant @w -> !weft.tensor<[64, 96], f32>
  %g = weft.constant @g -> !weft.tensor<[2, 96, 96], f32>
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 96], f32>) -> !weft.tensor<[m, 96], f32> loc("/in/MatMul")
  %zero = weft.fill 0.0 : f32 -> !weft.tensor<[1, 96], f32>
  %last, %rows = weft.loop "i" trips [m] (%zero) : (!weft.tensor<[1, 96], f32>) -> (!weft.tensor<[1, 96], f32>, !weft.tensor<[m, 1, 96], f32>) {
  ^bb0(%state: !weft.tensor<[1, 96], f32>):
    %1 = weft.slice %0 from [i, 0] size [1, 96] step [1, 1] : (!weft.tensor<[m, 96], f32>) -> !weft.tensor<[1, 96], f32>
    %2 = weft.slice %g from [1, 0, 0] size [1, 96, 96] step [1, 1, 1] : (!weft.tensor<[2, 96, 96], f32>) -> !weft.tensor<[1, 96, 96], f32>
    %3 = weft.reshape %2 to [96, 96] : (!weft.tensor<[1, 96, 96], f32>) -> !weft.tensor<[96, 96], f32>
    %4 = weft.contract "m k, n k -> m n" %state, %3 accumulate f32
        : (!weft.tensor<[1, 96], f32>, !weft.tensor<[96, 96], f32>) -> !weft.tensor<[1, 96], f32> loc("/loop/MatMul")
    %5 = weft.add %1, %4 : (!weft.tensor<[1, 96], f32>, !weft.tensor<[1, 96], f32>) -> !weft.tensor<[1, 96], f32>
    %6 = weft.tanh %5 : (!weft.tensor<[1, 96], f32>) -> !weft.tensor<[1, 96], f32>
    weft.yield %6, %6 : !weft.tensor<[1, 96], f32>, !weft.tensor<[1, 96], f32>
  }
  %7 = weft.reshape %rows to [m, 96] : (!weft.tensor<[m, 1, 96], f32>) -> !weft.tensor<[m, 96], f32>
  %most = weft.reduce max %x [0, 1] : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[], f32>
  %huge = weft.fill 500.0 : f32 -> !weft.tensor<[], f32>
  %c = weft.compare ge %most, %huge : (!weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[], i1>
  %y = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[m, 96], f32> {
    %8 = weft.slice %g from [0, 0, 0] size [1, 96, 96] step [1, 1, 1] : (!weft.tensor<[2, 96, 96], f32>) -> !weft.tensor<[1, 96, 96], f32>
    %9 = weft.reshape %8 to [96, 96] : (!weft.tensor<[1, 96, 96], f32>) -> !weft.tensor<[96, 96], f32>
    %10 = weft.transpose %9 [1, 0] : (!weft.tensor<[96, 96], f32>) -> !weft.tensor<[96, 96], f32>
    %11 = weft.contract "m k, k n -> m n" %7, %10 accumulate f32
        : (!weft.tensor<[m, 96], f32>, !weft.tensor<[96, 96], f32>) -> !weft.tensor<[m, 96], f32> loc("/branch/MatMul")
    weft.yield %11 : !weft.tensor<[m, 96], f32>
  } else {
    weft.yield %7 : !weft.tensor<[m, 96], f32>
  }
  return %y : !weft.tensor<[m, 96], f32>
}
