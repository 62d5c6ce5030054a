// RUN: weft-opt %s --weft-require-sizes | FileCheck %s
// RUN: weft-opt %s --weft-require-sizes --weft-require-sizes | FileCheck %s

// Of fewer elements than none, calls are refused.
// CHECK-LABEL: func @shortened
// CHECK-SAME:    #weft.symbols<n : "2 <= n">
func.func @shortened(%x: !weft.tensor<[n], f32>, %z: !weft.tensor<[], f32>) -> !weft.tensor<[], f32>
    attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.pad %x with %z low [0] high [-2] : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[n - 2], f32>
  %1 = weft.reduce sum %0 [0] : (!weft.tensor<[n - 2], f32>) -> !weft.tensor<[], f32>
  return %1 : !weft.tensor<[], f32>
}

// What is never below zero, or not where the contract holds, is no fact of its own.
// CHECK-LABEL: func @known
// CHECK-SAME:    #weft.symbols<n, m : "n <= m + 1">
func.func @known(%x: !weft.tensor<[m], f32>, %y: !weft.tensor<[n], f32>, %z: !weft.tensor<[], f32>) -> !weft.tensor<[m + n], f32>
    attributes {weft.symbols = #weft.symbols<n, m : "n <= m + 1">} {
  %0 = weft.pad %x with %z low [0] high [1 - n] : (!weft.tensor<[m], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[m - n + 1], f32>
  %1 = weft.concat %x, %y dim 0 : (!weft.tensor<[m], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m + n], f32>
  return %1 : !weft.tensor<[m + n], f32>
}
