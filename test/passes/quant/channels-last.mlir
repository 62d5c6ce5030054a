// RUN: weft-opt %s --weft-channels-last | FileCheck %s

// Between two convolutions nothing is moved; what surrounds the chain is.
// CHECK-LABEL: func @chain
// CHECK:         %[[X:.*]] = weft.transpose %arg0 [0, 2, 3, 1]
// CHECK:         %[[C:.*]] = weft.conv %[[X]], {{.*}} accumulate i32 {{{.*channels_last.*}}}
// CHECK:         %[[S:.*]] = weft.reshape %{{.*}} to [16]
// CHECK:         %[[M:.*]] = weft.sub %[[C]], %[[S]]
// CHECK:         %[[T:.*]] = weft.convert %[[M]] to ui8
// CHECK:         %[[P:.*]] = weft.pool max %[[T]] {{.*}} {channels_last}
// CHECK-NOT:     weft.transpose
// CHECK:         %[[Y:.*]] = weft.contract "... c, o c 1 1 -> ... o" %[[P]]
// CHECK:         %[[R:.*]] = weft.transpose %[[Y]] [0, 3, 1, 2]
// CHECK:         return %[[R]]
func.func @chain(%x: !weft.tensor<[n, 8, h, w], ui8>, %v: !weft.tensor<[16, 8, 3, 3], i8>, %s: !weft.tensor<[16, 1, 1], i32>, %u: !weft.tensor<[4, 16, 1, 1], i8>)
    -> !weft.tensor<[n, 4, h, w], i32> attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], ui8>, !weft.tensor<[16, 8, 3, 3], i8>) -> !weft.tensor<[n, 16, h, w], i32>
  %1 = weft.sub %0, %s : (!weft.tensor<[n, 16, h, w], i32>, !weft.tensor<[16, 1, 1], i32>) -> !weft.tensor<[n, 16, h, w], i32>
  %2 = weft.convert %1 to ui8 : (!weft.tensor<[n, 16, h, w], i32>) -> !weft.tensor<[n, 16, h, w], ui8>
  %3 = weft.pool max %2 kernel [3, 3] strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1]
     : (!weft.tensor<[n, 16, h, w], ui8>) -> !weft.tensor<[n, 16, h, w], ui8>
  %4 = weft.conv %3, %u strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate i32
     : (!weft.tensor<[n, 16, h, w], ui8>, !weft.tensor<[4, 16, 1, 1], i8>) -> !weft.tensor<[n, 4, h, w], i32>
  return %4 : !weft.tensor<[n, 4, h, w], i32>
}

// The mean over an image needs no transpose.
// CHECK-LABEL: func @mean
// CHECK:         %[[C:.*]] = weft.conv {{.*}} {channels_last}
// CHECK:         %[[R:.*]] = weft.reduce sum %[[C]] [1, 2]
// CHECK:         return %[[R]]
func.func @mean(%x: !weft.tensor<[n, 8, h, w], ui8>, %v: !weft.tensor<[16, 8, 3, 3], i8>) -> !weft.tensor<[n, 16], i32>
    attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], ui8>, !weft.tensor<[16, 8, 3, 3], i8>) -> !weft.tensor<[n, 16, h, w], i32>
  %1 = weft.reduce sum %0 [2, 3] : (!weft.tensor<[n, 16, h, w], i32>) -> !weft.tensor<[n, 16], i32>
  return %1 : !weft.tensor<[n, 16], i32>
}

// Convolutions of floats stay as they are.
// CHECK-LABEL: func @floats
// CHECK-NOT:     weft.transpose
// CHECK:         return
func.func @floats(%x: !weft.tensor<[n, 8, h, w], f32>, %v: !weft.tensor<[16, 8, 3, 3], f32>) -> !weft.tensor<[n, 16, h, w], f32>
    attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
     : (!weft.tensor<[n, 8, h, w], f32>, !weft.tensor<[16, 8, 3, 3], f32>) -> !weft.tensor<[n, 16, h, w], f32>
  return %0 : !weft.tensor<[n, 16, h, w], f32>
}
