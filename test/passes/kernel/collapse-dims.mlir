// RUN: weft-opt %s --weft-form-kernels --weft-collapse-dims | FileCheck %s

// Dimensions that all values walk alike become one; a bias keeps the last apart.
// CHECK-LABEL: func @bias
// CHECK:         weft.reshape %{{.*}} to [b*s, 384]
// CHECK:         weft.kernel "loop"
// CHECK:           weft.add %{{.*}} : (!weft.tensor<[b*s, 384], f32>, !weft.tensor<[384], f32>)
func.func @bias(%x: !weft.tensor<[b, s, 384], f32>, %y: !weft.tensor<[384], f32>) -> !weft.tensor<[b, s, 384], f32>
    attributes {weft.symbols = #weft.symbols<b, s>} {
  %0 = weft.add %x, %y : (!weft.tensor<[b, s, 384], f32>, !weft.tensor<[384], f32>) -> !weft.tensor<[b, s, 384], f32>
  return %0 : !weft.tensor<[b, s, 384], f32>
}

// Without a broadcast everything is one line.
// CHECK-LABEL: func @flat
// CHECK:         weft.exp %{{.*}} : (!weft.tensor<[384*b*s], f32>)
func.func @flat(%x: !weft.tensor<[b, s, 384], f32>) -> !weft.tensor<[b, s, 384], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %0 = weft.exp %x : (!weft.tensor<[b, s, 384], f32>) -> !weft.tensor<[b, s, 384], f32>
  return %0 : !weft.tensor<[b, s, 384], f32>
}

// The rows of a product with a weight are merged, the weight is left alone.
// CHECK-LABEL: func @linear
// CHECK:         weft.contract "... k, k n -> ... n" %{{.*}} : (!weft.tensor<[b*s, 8], f32>, !weft.tensor<[8, 16], f32>)
func.func @linear(%x: !weft.tensor<[b, s, 8], f32>, %w: !weft.tensor<[8, 16], f32>) -> !weft.tensor<[b, s, 16], f32>
    attributes {weft.symbols = #weft.symbols<b, s>} {
  %0 = weft.contract "... k, k n -> ... n" %x, %w accumulate f32 : (!weft.tensor<[b, s, 8], f32>, !weft.tensor<[8, 16], f32>) -> !weft.tensor<[b, s, 16], f32>
  return %0 : !weft.tensor<[b, s, 16], f32>
}

// A transposed operand walks differently: nothing is merged.
// CHECK-LABEL: func @transposed
// CHECK:         weft.add %{{.*}} : (!weft.tensor<[s, b], f32>, !weft.tensor<[s, b], f32>)
func.func @transposed(%x: !weft.tensor<[b, s], f32>, %y: !weft.tensor<[s, b], f32>) -> !weft.tensor<[s, b], f32>
    attributes {weft.symbols = #weft.symbols<b, s>} {
  %0 = weft.transpose %x [1, 0] : (!weft.tensor<[b, s], f32>) -> !weft.tensor<[s, b], f32>
  %1 = weft.add %0, %y : (!weft.tensor<[s, b], f32>, !weft.tensor<[s, b], f32>) -> !weft.tensor<[s, b], f32>
  return %1 : !weft.tensor<[s, b], f32>
}

// A dimension of 1 between two others goes with each, but does not join them: the scale is not repeated along both.
// CHECK-LABEL: func @between
// CHECK:         weft.mul %{{.*}} : (!weft.tensor<[2, 3], f32>, !weft.tensor<[2, 1], f32>)
func.func @between(%x: !weft.tensor<[1, 2, 1, 3], f32>, %y: !weft.tensor<[2, 1, 1], f32>) -> !weft.tensor<[1, 2, 1, 3], f32> {
  %0 = weft.mul %x, %y : (!weft.tensor<[1, 2, 1, 3], f32>, !weft.tensor<[2, 1, 1], f32>) -> !weft.tensor<[1, 2, 1, 3], f32>
  return %0 : !weft.tensor<[1, 2, 1, 3], f32>
}

// A constant of one number is made where it is read, with the dimensions that are seen there, whatever views it went through.
// CHECK-LABEL: func @one_number
// CHECK:         weft.kernel "loop"
// CHECK-NOT:       weft.reshape
// CHECK:           weft.fill 2.500000e+00 : f32 -> <[4], f32>
// CHECK:           weft.add %{{.*}} : (!weft.tensor<[b*s, 4], f32>, !weft.tensor<[4], f32>)
func.func @one_number(%x: !weft.tensor<[b, s, 4], f32>) -> !weft.tensor<[b, s, 4], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %c = weft.constant dense<2.5> : tensor<1x4x1xf32> -> !weft.tensor<[1, 4, 1], f32>
  %r = weft.reshape %c to [4] : (!weft.tensor<[1, 4, 1], f32>) -> !weft.tensor<[4], f32>
  %0 = weft.add %x, %r : (!weft.tensor<[b, s, 4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[b, s, 4], f32>
  return %0 : !weft.tensor<[b, s, 4], f32>
}
