// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-check-positions

// The furthest that there is: no number behind it is.
func.func @furthest(%x: !weft.tensor<[5], f32>) -> !weft.tensor<[2], f32> {
  %0 = weft.constant dense<[9223372036854775807, -9223372036854775808]> : tensor<2xi64> -> !weft.tensor<[2], i64>
  // expected-error @+1 {{index 9223372036854775807 at [0] is outside 0..4}}
  %1 = weft.gather %x, %0 axis 0 : (!weft.tensor<[5], f32>, !weft.tensor<[2], i64>) -> !weft.tensor<[2], f32>
  return %1 : !weft.tensor<[2], f32>
}

// -----

func.func @constant(%x: !weft.tensor<[5], f32>) -> !weft.tensor<[2], f32> {
  %0 = weft.constant dense<[3, 7]> : tensor<2xi64> -> !weft.tensor<[2], i64>
  // expected-error @+1 {{index 7 at [1] is outside 0..4}}
  %1 = weft.gather %x, %0 axis 0 : (!weft.tensor<[5], f32>, !weft.tensor<[2], i64>) -> !weft.tensor<[2], f32>
  return %1 : !weft.tensor<[2], f32>
}
