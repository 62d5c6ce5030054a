// RUN: weft-opt %s --weft-grow-in-place | FileCheck %s
// RUN: weft-opt %s --weft-grow-in-place --weft-form-kernels | FileCheck %s --check-prefix=KERNELS
// RUN: not weft-opt %s --weft-grow-in-place=inputs=x 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: error: input 'x' cannot grow in place: no output is this input with something behind it

// Two inputs that grow to one size share their room. What reads the past reads the buffer's beginning; what reads the present reads the
// beginning of what is returned.
// CHECK-LABEL: func @pairs
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %[[K:.*]]: !weft.tensor<[b, room, 8], f32> {weft.view = #weft.dims<[b, p, 8]>},
// CHECK-SAME:     %[[V:.*]]: !weft.tensor<[b, room, 8], f32> {weft.view = #weft.dims<[b, p, 8]>})
// CHECK-SAME:    (!weft.tensor<[b, room, 8], f32> {weft.aliases = #weft.aliases<argument 1 seen [b, p + s, 8]>},
// CHECK-SAME:     !weft.tensor<[b, room, 8], f32> {weft.aliases = #weft.aliases<argument 2 seen [b, p + s, 8]>}, !weft.tensor<[b, p, 8], f32>,
// CHECK-SAME:     !weft.tensor<[b, p + s, 8], f32>)
// CHECK-SAME:    weft.symbols = #weft.symbols<b, p, s, room : "p + s <= room">
// CHECK:         %[[PAST:.*]] = weft.slice %[[K]] from [0, 0, 0] size [b, p, 8]
// CHECK:         %[[OLD:.*]] = weft.slice %[[K]] from [0, 0, 0] size [b, p, 8]
// CHECK:         %[[REST:.*]] = weft.slice %[[K]] from [0, p + s, 0] size [b, room - p - s, 8]
// CHECK:         %[[GROWN:.*]] = weft.concat %[[OLD]], %[[X]], %[[REST]] dim 1 {weft.in_place}
// CHECK:         %[[PRESENT:.*]] = weft.slice %[[GROWN]] from [0, 0, 0] size [b, p + s, 8]
// CHECK:         %[[OTHER:.*]] = weft.concat {{.*}} {weft.in_place}
// CHECK:         %[[A:.*]] = weft.neg %[[PAST]]
// CHECK:         %[[B:.*]] = weft.neg %[[PRESENT]]
// CHECK:         return %[[GROWN]], %[[OTHER]], %[[A]], %[[B]]

// What computes the new elements stores them in the buffer; what reads the present comes behind.
// KERNELS-LABEL: func @pairs
// KERNELS:         %[[G:.*]] = weft.kernel "loop"(%[[K:.*]], %arg0)
// KERNELS:           %[[C:.*]] = weft.concat {{.*}} {weft.in_place}
// KERNELS-NEXT:      weft.yield %[[C]]
// KERNELS:         weft.kernel "loop"(%[[G]])
func.func @pairs(%x: !weft.tensor<[b, s, 8], f32> {weft.name = "x"}, %k: !weft.tensor<[b, p, 8], f32>, %v: !weft.tensor<[b, p, 8], f32>)
    -> (!weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p, 8], f32>, !weft.tensor<[b, p + s, 8], f32>)
    attributes {weft.symbols = #weft.symbols<b, p, s>} {
  %0 = weft.concat %k, %x dim 1 : (!weft.tensor<[b, p, 8], f32>, !weft.tensor<[b, s, 8], f32>) -> !weft.tensor<[b, p + s, 8], f32>
  %1 = weft.concat %v, %x dim 1 : (!weft.tensor<[b, p, 8], f32>, !weft.tensor<[b, s, 8], f32>) -> !weft.tensor<[b, p + s, 8], f32>
  %2 = weft.neg %k : (!weft.tensor<[b, p, 8], f32>) -> !weft.tensor<[b, p, 8], f32>
  %3 = weft.neg %0 : (!weft.tensor<[b, p + s, 8], f32>) -> !weft.tensor<[b, p + s, 8], f32>
  return %0, %1, %2, %3 : !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p + s, 8], f32>, !weft.tensor<[b, p, 8], f32>, !weft.tensor<[b, p + s, 8], f32>
}
