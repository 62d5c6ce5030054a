// RUN: weft-opt %s --weft-round-caches | FileCheck %s
// RUN: weft-opt %s --weft-round-caches=element=f16 | FileCheck %s --check-prefix=HALVES
// RUN: weft-opt %s --weft-round-caches --weft-grow-in-place | FileCheck %s --check-prefix=GROWN
// RUN: weft-opt %s --weft-round-caches=calls | FileCheck %s --check-prefix=CALLS

// What is new is rounded, row by row, and read so. What reads the past reads it restored. Scales are the last input and output.
// CHECK-LABEL: func @main
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %[[PAST:.*]]: !weft.tensor<[b, p, 8], i8> {weft.name = "past"},
// CHECK-SAME:     %[[SCALES:.*]]: !weft.tensor<[b, p, 1], f32> {weft.name = "past_scale"})
// CHECK-SAME:    (!weft.tensor<[b, p + s, 8], i8> {weft.name = "present"}, !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p, 8], f32>,
// CHECK-SAME:     !weft.tensor<[b, p + s, 1], f32> {weft.name = "present_scale"})
// CHECK:         %[[BEFORE:.*]] = weft.dequantize %[[PAST]], %[[SCALES]],
// CHECK:         %[[LARGEST:.*]] = weft.reduce max %{{.*}} [2]
// CHECK:         %[[ROWS:.*]] = weft.reshape %[[LARGEST]] to [b, s, 1]
// CHECK:         %[[S:.*]] = weft.mul
// CHECK:         %[[Q:.*]] = weft.quantize %[[X]], %[[S]],
// CHECK:         %[[NUMBERS:.*]] = weft.concat %[[PAST]], %[[Q]] dim 1
// CHECK:         %[[OF:.*]] = weft.concat %[[SCALES]], %[[S]] dim 1
// CHECK:         %[[PRESENT:.*]] = weft.dequantize %[[NUMBERS]], %[[OF]],
// CHECK:         %[[A:.*]] = weft.neg %[[PRESENT]]
// CHECK:         %[[B:.*]] = weft.neg %[[BEFORE]]
// CHECK:         return %[[NUMBERS]], %[[A]], %[[B]], %[[OF]]

// HALVES-LABEL: func @main
// HALVES-SAME:    (%[[X:.*]]: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %[[PAST:.*]]: !weft.tensor<[b, p, 8], f16> {weft.name = "past"})
// HALVES-SAME:    (!weft.tensor<[b, p + s, 8], f16> {weft.name = "present"}, !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p, 8], f32>)
// HALVES:         %[[BEFORE:.*]] = weft.convert %[[PAST]] to f32
// HALVES:         %[[NEW:.*]] = weft.convert %[[X]] to f16
// HALVES:         %[[NUMBERS:.*]] = weft.concat %[[PAST]], %[[NEW]] dim 1
// HALVES:         %[[PRESENT:.*]] = weft.convert %[[NUMBERS]] to f32

// Bytes and scales grow in place, with the same room.
// GROWN-LABEL: func @main
// GROWN-SAME:    %{{.*}}: !weft.tensor<[b, room, 8], i8> {weft.name = "past", weft.view = #weft.dims<[b, p, 8]>},
// GROWN-SAME:    %{{.*}}: !weft.tensor<[b, room, 1], f32> {weft.name = "past_scale", weft.view = #weft.dims<[b, p, 1]>}

// Calls of the one become calls of the other: rows of what is kept, rounded as new ones are, and their scales. Nothing else is computed.
// CALLS-LABEL: func @main
// CALLS-SAME:    %{{.*}}: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %[[PAST:.*]]: !weft.tensor<[b, p, 8], f32> {weft.name = "past"})
// CALLS-SAME:    (!weft.tensor<[b, p, 8], i8> {weft.name = "past"}, !weft.tensor<[b, p, 1], f32> {weft.name = "past_scale"})
// CALLS:         %[[S:.*]] = weft.mul
// CALLS:         %[[Q:.*]] = weft.quantize %[[PAST]], %[[S]],
// CALLS-NOT:     weft.concat
// CALLS:         return %[[Q]], %[[S]]
func.func @main(%x: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %past: !weft.tensor<[b, p, 8], f32> {weft.name = "past"})
    -> (!weft.tensor<[b, p + s, 8], f32> {weft.name = "present"}, !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p, 8], f32>)
    attributes {weft.symbols = #weft.symbols<b, s, p>} {
  %0 = weft.concat %past, %x dim 1 : (!weft.tensor<[b, p, 8], f32>, !weft.tensor<[b, s, 8], f32>) -> !weft.tensor<[b, p + s, 8], f32>
  %1 = weft.neg %0 : (!weft.tensor<[b, p + s, 8], f32>) -> !weft.tensor<[b, p + s, 8], f32>
  %2 = weft.neg %past : (!weft.tensor<[b, p, 8], f32>) -> !weft.tensor<[b, p, 8], f32>
  return %0, %1, %2 : !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p, 8], f32>
}

// Where the last dimension grows, a row is one of the dimension before; what is of integers stays.
// CHECK-LABEL: func @columns
// CHECK-SAME:    (%{{.*}}: !weft.tensor<[b, 8, s], f32>, %{{.*}}: !weft.tensor<[b, 8, p], i8>, %{{.*}}: !weft.tensor<[b, s], i64>, %{{.*}}: !weft.tensor<[b, p], i64>,
// CHECK-SAME:     %{{.*}}: !weft.tensor<[b, 1, p], f32> {weft.name = "input1_scale"})
// CHECK:         weft.reduce max %{{.*}} [1]
func.func @columns(%x: !weft.tensor<[b, 8, s], f32>, %past: !weft.tensor<[b, 8, p], f32>, %new: !weft.tensor<[b, s], i64>, %ids: !weft.tensor<[b, p], i64>)
    -> (!weft.tensor<[b, 8, p + s], f32>, !weft.tensor<[b, p + s], i64>)
    attributes {weft.symbols = #weft.symbols<b, s, p>} {
  %0 = weft.concat %past, %x dim 2 : (!weft.tensor<[b, 8, p], f32>, !weft.tensor<[b, 8, s], f32>) -> !weft.tensor<[b, 8, p + s], f32>
  %1 = weft.concat %ids, %new dim 1 : (!weft.tensor<[b, p], i64>, !weft.tensor<[b, s], i64>) -> !weft.tensor<[b, p + s], i64>
  return %0, %1 : !weft.tensor<[b, 8, p + s], f32>, !weft.tensor<[b, p + s], i64>
}
