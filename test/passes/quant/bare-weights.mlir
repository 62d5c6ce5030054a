// RUN: weft-opt %s --weft-bare-weights --split-input-file | FileCheck %s

// Parts of a weight whose elements follow each other are weights: of the same bytes, one for all that read it.
// CHECK: weft.weight @w from "m.bin" at 64 bytes 96 : !weft.tensor<[2, 3, 4], f32>
// CHECK: weft.weight @"w[12]" from "m.bin" at 112 bytes 48 : !weft.tensor<[3, 4], f32>
// CHECK-LABEL: func @parts
// CHECK: %[[FIRST:.*]] = weft.constant @"w[12]" -> <[3, 4], f32>
// CHECK: weft.contract "... k, n k -> ... n" %arg0, %[[FIRST]]
// CHECK: %[[SECOND:.*]] = weft.constant @"w[12]" -> <[3, 4], f32>
// CHECK: weft.contract "m k, n k -> n m" %arg0, %[[SECOND]]
weft.weight @w from "m.bin" at 64 bytes 96 : !weft.tensor<[2, 3, 4], f32>
func.func @parts(%x: !weft.tensor<[m, 4], f32>) -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[3, m], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant @w -> <[2, 3, 4], f32>
  %0 = weft.slice %w from [1, 0, 0] size [1, 3, 4] step [1, 1, 1] : (!weft.tensor<[2, 3, 4], f32>) -> !weft.tensor<[1, 3, 4], f32>
  %1 = weft.reshape %0 to [3, 4] : (!weft.tensor<[1, 3, 4], f32>) -> !weft.tensor<[3, 4], f32>
  %y = weft.contract "... k, n k -> ... n" %x, %1 accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[3, 4], f32>) -> !weft.tensor<[m, 3], f32>
  %z = weft.contract "m k, n k -> n m" %x, %1 accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[3, 4], f32>) -> !weft.tensor<[3, m], f32>
  return %y, %z : !weft.tensor<[m, 3], f32>, !weft.tensor<[3, m], f32>
}

// -----

// Products read in the order that a constant has. Numbers in the text have parts, too; a filter is a weight as a matrix is.
// CHECK-LABEL: func @moved
// CHECK: %[[PART:.*]] = weft.constant dense<{{\[\[}}3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<2x2xf32> -> <[2, 2], f32>
// CHECK: weft.contract "... k, n k -> ... n" %arg0, %[[PART]]
// CHECK: %[[FILTER:.*]] = weft.constant dense<1.000000e+00> : tensor<2x2x1xf32> -> <[2, 2, 1], f32>
// CHECK: weft.conv %arg1, %[[FILTER]]
func.func @moved(%x: !weft.tensor<[m, 2], f32>, %i: !weft.tensor<[m, 2, 8], f32>) -> (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2, 8], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32> -> <[3, 2], f32>
  %0 = weft.slice %w from [1, 0] size [2, 2] step [1, 1] : (!weft.tensor<[3, 2], f32>) -> !weft.tensor<[2, 2], f32>
  %1 = weft.transpose %0 [1, 0] : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[2, 2], f32>
  %y = weft.contract "... k, k n -> ... n" %x, %1 accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %f = weft.constant dense<1.0> : tensor<4xf32> -> <[4], f32>
  %2 = weft.reshape %f to [2, 2, 1] : (!weft.tensor<[4], f32>) -> !weft.tensor<[2, 2, 1], f32>
  %z = weft.conv %i, %2 strides [1] dilations [1] low [0] high [0] groups 1 accumulate f32 : (!weft.tensor<[m, 2, 8], f32>, !weft.tensor<[2, 2, 1], f32>) -> !weft.tensor<[m, 2, 8], f32>
  return %y, %z : !weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2, 8], f32>
}

// -----

// What lies apart stays, and so does what data move, and a rule that leaves dimensions open.
// CHECK-LABEL: func @apart
// CHECK: weft.contract "... k, k n -> ... n" %arg0, %[[COLUMNS:[0-9]+]]
// CHECK: weft.contract "m k, k n -> m n" %arg0, %[[TURNED:[0-9]+]]
func.func @apart(%x: !weft.tensor<[m, 2], f32>, %v: !weft.tensor<[2, 2], f32>) -> (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> -> <[2, 3], f32>
  %0 = weft.slice %w from [0, 1] size [2, 2] step [1, 1] : (!weft.tensor<[2, 3], f32>) -> !weft.tensor<[2, 2], f32>
  %y = weft.contract "... k, k n -> ... n" %x, %0 accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %1 = weft.transpose %v [1, 0] : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[2, 2], f32>
  %z = weft.contract "m k, k n -> m n" %x, %1 accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y, %z : !weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>
}

// -----

// What is said of a weight or of a view, as where ranks have its parts, is kept with it.
// CHECK-LABEL: func @placed
// CHECK: %[[VIEW:.*]] = weft.reshape %{{.*}} to [2, 2] {weft.placement
// CHECK: weft.contract "m k, k n -> m n" %arg0, %[[VIEW]]
// CHECK: %[[MOVED:.*]] = weft.transpose %{{.*}} [1, 0] {weft.placement
// CHECK: weft.contract "m k, k n -> m n" %arg0, %[[MOVED]]
func.func @placed(%x: !weft.tensor<[m, 2], f32>) -> (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<4xf32> -> <[4], f32>
  %0 = weft.reshape %w to [2, 2] {weft.placement = #weft.placement<[_, tp]>} : (!weft.tensor<[4], f32>) -> !weft.tensor<[2, 2], f32>
  %y = weft.contract "m k, k n -> m n" %x, %0 accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %v = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> <[2, 2], f32>
  %1 = weft.transpose %v [1, 0] {weft.placement = #weft.placement<[_, tp]>} : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[2, 2], f32>
  %z = weft.contract "m k, k n -> m n" %x, %1 accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y, %z : !weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>
}
