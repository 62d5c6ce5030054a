// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-check-positions

func.func @constant(%x: !weft.tensor<[5], f32>) -> !weft.tensor<[2], f32> {
  %0 = weft.constant dense<[3, 7]> : tensor<2xi64> -> !weft.tensor<[2], i64>
  // expected-error @+1 {{index 7 at [1] is outside 0..4}}
  %1 = weft.gather %x, %0 axis 0 : (!weft.tensor<[5], f32>, !weft.tensor<[2], i64>) -> !weft.tensor<[2], f32>
  return %1 : !weft.tensor<[2], f32>
}
