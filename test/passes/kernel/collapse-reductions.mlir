// RUN: weft-opt %s --weft-form-kernels --weft-collapse-reductions | FileCheck %s

// Planes are one run of memory, with what is computed of each element.
// CHECK-LABEL: func @planes
// CHECK:         weft.reshape %{{.*}} to [n, c, h*w]
// CHECK:         weft.convert %{{.*}} : (!weft.tensor<[n, c, h*w], f16>) -> !weft.tensor<[n, c, h*w], f32>
// CHECK:         weft.reduce sum %{{.*}} [2] : (!weft.tensor<[n, c, h*w], f32>) -> !weft.tensor<[n, c], f32>
func.func @planes(%x: !weft.tensor<[n, c, h, w], f16>) -> !weft.tensor<[n, c], f32> attributes {weft.symbols = #weft.symbols<n, c, h, w>} {
  %0 = weft.convert %x to f32 : (!weft.tensor<[n, c, h, w], f16>) -> !weft.tensor<[n, c, h, w], f32>
  %1 = weft.reduce sum %0 [2, 3] : (!weft.tensor<[n, c, h, w], f32>) -> !weft.tensor<[n, c], f32>
  return %1 : !weft.tensor<[n, c], f32>
}

// Dimensions that are not neighbours stay apart; three that are become one.
// CHECK-LABEL: func @apart
// CHECK:         weft.reduce max %{{.*}} [0, 2] : (!weft.tensor<[n, c, h*w], f32>) -> !weft.tensor<[c], f32>
// CHECK-LABEL: func @all
// CHECK:         weft.reduce sum %{{.*}} [0] : (!weft.tensor<[c*h*n], f32>) -> !weft.tensor<[], f32>
func.func @apart(%x: !weft.tensor<[n, c, h, w], f32>) -> !weft.tensor<[c], f32> attributes {weft.symbols = #weft.symbols<n, c, h, w>} {
  %0 = weft.reduce max %x [0, 2, 3] : (!weft.tensor<[n, c, h, w], f32>) -> !weft.tensor<[c], f32>
  return %0 : !weft.tensor<[c], f32>
}
func.func @all(%x: !weft.tensor<[n, c, h], f32>) -> !weft.tensor<[], f32> attributes {weft.symbols = #weft.symbols<n, c, h>} {
  %0 = weft.reduce sum %x [0, 1, 2] : (!weft.tensor<[n, c, h], f32>) -> !weft.tensor<[], f32>
  return %0 : !weft.tensor<[], f32>
}

// What is repeated along one of two dimensions walks them differently; along both, or in front of them, it does not.
// CHECK-LABEL: func @bias
// CHECK:         weft.reduce sum %{{.*}} [1, 2] : (!weft.tensor<[n, h, w], f32>) -> !weft.tensor<[n], f32>
// CHECK-LABEL: func @scaled
// CHECK:         weft.mul %{{.*}} : (!weft.tensor<[n, h*w], f32>, !weft.tensor<[n, 1], f32>) -> !weft.tensor<[n, h*w], f32>
// CHECK:         weft.reduce sum %{{.*}} [1]
func.func @bias(%x: !weft.tensor<[n, h, w], f32>, %y: !weft.tensor<[w], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.add %x, %y : (!weft.tensor<[n, h, w], f32>, !weft.tensor<[w], f32>) -> !weft.tensor<[n, h, w], f32>
  %1 = weft.reduce sum %0 [1, 2] : (!weft.tensor<[n, h, w], f32>) -> !weft.tensor<[n], f32>
  return %1 : !weft.tensor<[n], f32>
}
func.func @scaled(%x: !weft.tensor<[n, h, w], f32>, %y: !weft.tensor<[n, 1, 1], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.mul %x, %y : (!weft.tensor<[n, h, w], f32>, !weft.tensor<[n, 1, 1], f32>) -> !weft.tensor<[n, h, w], f32>
  %1 = weft.reduce sum %0 [1, 2] : (!weft.tensor<[n, h, w], f32>) -> !weft.tensor<[n], f32>
  return %1 : !weft.tensor<[n], f32>
}
