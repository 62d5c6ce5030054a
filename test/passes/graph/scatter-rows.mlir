// RUN: weft-opt %s --weft-scatter-rows | FileCheck %s

// CHECK-LABEL: func @rows
// CHECK-NEXT:    %[[R:.*]] = weft.scatter_nd add %arg0, %arg1, %arg2 outside clamped
// CHECK-NEXT:    return %[[R]]
func.func @rows(%x: !weft.tensor<[h, w], f32>, %i: !weft.tensor<[n, 1], i64>, %u: !weft.tensor<[n, w], f32>) -> !weft.tensor<[h, w], f32> attributes {weft.symbols = #weft.symbols<h, n, w>} {
  %0 = weft.expand %i to [n, w] : (!weft.tensor<[n, 1], i64>) -> !weft.tensor<[n, w], i64>
  %1 = weft.scatter_elements add %x, %0, %u axis 0 outside clamped : (!weft.tensor<[h, w], f32>, !weft.tensor<[n, w], i64>, !weft.tensor<[n, w], f32>) -> !weft.tensor<[h, w], f32>
  return %1 : !weft.tensor<[h, w], f32>
}

// CHECK-LABEL: func @planes
// CHECK-NEXT:    %[[I:.*]] = weft.reshape %arg1 to [n, 1]
// CHECK-NEXT:    weft.scatter_nd set %arg0, %[[I]], %arg2
func.func @planes(%x: !weft.tensor<[h, 2, 3], f32>, %i: !weft.tensor<[n, 1, 1], i32>, %u: !weft.tensor<[n, 2, 3], f32>) -> !weft.tensor<[h, 2, 3], f32> attributes {weft.symbols = #weft.symbols<h, n>} {
  %0 = weft.expand %i to [n, 2, 3] : (!weft.tensor<[n, 1, 1], i32>) -> !weft.tensor<[n, 2, 3], i32>
  %1 = weft.scatter_elements set %x, %0, %u axis 0 : (!weft.tensor<[h, 2, 3], f32>, !weft.tensor<[n, 2, 3], i32>, !weft.tensor<[n, 2, 3], f32>) -> !weft.tensor<[h, 2, 3], f32>
  return %1 : !weft.tensor<[h, 2, 3], f32>
}

// Rows that are shorter than the operand's, positions of columns, positions for other columns: as they are.
// CHECK-LABEL: func @elements
// CHECK:         weft.scatter_elements
// CHECK:         weft.scatter_elements
// CHECK:         weft.scatter_elements
func.func @elements(%x: !weft.tensor<[4, 4], f32>, %i: !weft.tensor<[3, 1], i64>, %j: !weft.tensor<[1, 4], i64>, %u: !weft.tensor<[3, 2], f32>, %v: !weft.tensor<[3, 4], f32>) -> !weft.tensor<[4, 4], f32> {
  %0 = weft.expand %i to [3, 2] : (!weft.tensor<[3, 1], i64>) -> !weft.tensor<[3, 2], i64>
  %1 = weft.scatter_elements add %x, %0, %u axis 0 : (!weft.tensor<[4, 4], f32>, !weft.tensor<[3, 2], i64>, !weft.tensor<[3, 2], f32>) -> !weft.tensor<[4, 4], f32>
  %2 = weft.expand %j to [3, 4] : (!weft.tensor<[1, 4], i64>) -> !weft.tensor<[3, 4], i64>
  %3 = weft.scatter_elements add %1, %2, %v axis 0 : (!weft.tensor<[4, 4], f32>, !weft.tensor<[3, 4], i64>, !weft.tensor<[3, 4], f32>) -> !weft.tensor<[4, 4], f32>
  %4 = weft.expand %i to [3, 4] : (!weft.tensor<[3, 1], i64>) -> !weft.tensor<[3, 4], i64>
  %5 = weft.scatter_elements add %3, %4, %v axis 1 : (!weft.tensor<[4, 4], f32>, !weft.tensor<[3, 4], i64>, !weft.tensor<[3, 4], f32>) -> !weft.tensor<[4, 4], f32>
  return %5 : !weft.tensor<[4, 4], f32>
}
