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

// Floats are moved when many convolutions share a transpose: here four, with a residual between them and a sum over the image at the end.
// CHECK-LABEL: func @many
// CHECK-COUNT-1: weft.transpose %arg0 [0, 2, 3, 1]
// CHECK-NOT:     weft.transpose
// CHECK:         weft.conv {{.*}} {channels_last}
// CHECK:         weft.contract "... c, o c 1 1 -> ... o"
// CHECK:         weft.conv {{.*}} {channels_last}
// CHECK:         weft.add %{{.*}}, %{{.*}} : (!weft.tensor<[n, h, w, 8], f32>
// CHECK:         weft.reduce sum %{{.*}} [1, 2]
func.func @many(%x: !weft.tensor<[n, 3, h, w], f32>) -> !weft.tensor<[n, 8], f32> attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %f0 = weft.constant dense<0.5> : tensor<8x3x3x3xf32> -> !weft.tensor<[8, 3, 3, 3], f32>
  %0 = weft.conv %x, %f0 strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
     : (!weft.tensor<[n, 3, h, w], f32>, !weft.tensor<[8, 3, 3, 3], f32>) -> !weft.tensor<[n, 8, h, w], f32>
  %f1 = weft.constant dense<0.5> : tensor<16x8x1x1xf32> -> !weft.tensor<[16, 8, 1, 1], f32>
  %1 = weft.conv %0, %f1 strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32
     : (!weft.tensor<[n, 8, h, w], f32>, !weft.tensor<[16, 8, 1, 1], f32>) -> !weft.tensor<[n, 16, h, w], f32>
  %f2 = weft.constant dense<0.5> : tensor<8x16x3x3xf32> -> !weft.tensor<[8, 16, 3, 3], f32>
  %2 = weft.conv %1, %f2 strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
     : (!weft.tensor<[n, 16, h, w], f32>, !weft.tensor<[8, 16, 3, 3], f32>) -> !weft.tensor<[n, 8, h, w], f32>
  %r = weft.add %0, %2 : (!weft.tensor<[n, 8, h, w], f32>, !weft.tensor<[n, 8, h, w], f32>) -> !weft.tensor<[n, 8, h, w], f32>
  %f3 = weft.constant dense<0.5> : tensor<8x8x3x3xf32> -> !weft.tensor<[8, 8, 3, 3], f32>
  %3 = weft.conv %r, %f3 strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
     : (!weft.tensor<[n, 8, h, w], f32>, !weft.tensor<[8, 8, 3, 3], f32>) -> !weft.tensor<[n, 8, h, w], f32>
  %m = weft.reduce sum %3 [2, 3] : (!weft.tensor<[n, 8, h, w], f32>) -> !weft.tensor<[n, 8], f32>
  return %m : !weft.tensor<[n, 8], f32>
}

// Two transposes are too many for two convolutions.
// CHECK-LABEL: func @few
// CHECK-NOT:     weft.transpose
// CHECK:         return
func.func @few(%x: !weft.tensor<[n, 3, h, w], f32>) -> !weft.tensor<[n, 16, h, w], f32> attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %f0 = weft.constant dense<0.5> : tensor<8x3x3x3xf32> -> !weft.tensor<[8, 3, 3, 3], f32>
  %0 = weft.conv %x, %f0 strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
     : (!weft.tensor<[n, 3, h, w], f32>, !weft.tensor<[8, 3, 3, 3], f32>) -> !weft.tensor<[n, 8, h, w], f32>
  %f1 = weft.constant dense<0.5> : tensor<16x8x1x1xf32> -> !weft.tensor<[16, 8, 1, 1], f32>
  %1 = weft.conv %0, %f1 strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32
     : (!weft.tensor<[n, 8, h, w], f32>, !weft.tensor<[16, 8, 1, 1], f32>) -> !weft.tensor<[n, 16, h, w], f32>
  return %1 : !weft.tensor<[n, 16, h, w], f32>
}

// Filters that are not known have no schedule with channels last.
// CHECK-LABEL: func @floats
// CHECK-NOT:     weft.transpose
// CHECK:         return
func.func @floats(%x: !weft.tensor<[n, 8, h, w], f32>, %v: !weft.tensor<[16, 8, 3, 3], f32>) -> !weft.tensor<[n, 16, h, w], f32>
    attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32
     : (!weft.tensor<[n, 8, h, w], f32>, !weft.tensor<[16, 8, 3, 3], f32>) -> !weft.tensor<[n, 16, h, w], f32>
  return %0 : !weft.tensor<[n, 16, h, w], f32>
}

// What ranks exchange has its channels last, too: nothing is moved between the two convolutions.
// CHECK-LABEL: func @ranks
// CHECK:         %[[X:.*]] = weft.transpose %arg0 [0, 2, 3, 1]
// CHECK:         %[[C:.*]] = weft.conv %[[X]], {{.*}} {channels_last}
// CHECK-NOT:     weft.transpose
// CHECK:         %[[G:.*]] = weft.all_gather %[[C]] dim 3 to [16] over<tp = 2> {{.*}} -> !weft.tensor<[n, h, w, 16], i32>
// CHECK-NOT:     weft.transpose
// CHECK:         %[[Y:.*]] = weft.contract "... c, o c 1 1 -> ... o"
// CHECK-NOT:     weft.transpose
// CHECK:         %[[S:.*]] = weft.all_reduce sum %[[Y]] over<tp = 2>
// CHECK:         weft.transpose %[[S]] [0, 3, 1, 2]
func.func @ranks(%x: !weft.tensor<[n, 8, h, w], ui8>, %v: !weft.tensor<[8, 8, 3, 3], i8>, %u: !weft.tensor<[4, 16, 1, 1], i8>)
    -> !weft.tensor<[n, 4, h, w], i32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, h, w, rank_tp : "rank_tp <= 1">} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], ui8>, !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, h, w], i32>
  %1 = weft.all_gather %0 dim 1 to [16] over<tp = 2> : (!weft.tensor<[n, 8, h, w], i32>) -> !weft.tensor<[n, 16, h, w], i32>
  %2 = weft.convert %1 to ui8 : (!weft.tensor<[n, 16, h, w], i32>) -> !weft.tensor<[n, 16, h, w], ui8>
  %3 = weft.conv %2, %u strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate i32
     : (!weft.tensor<[n, 16, h, w], ui8>, !weft.tensor<[4, 16, 1, 1], i8>) -> !weft.tensor<[n, 4, h, w], i32>
  %4 = weft.all_reduce sum %3 over<tp = 2> : (!weft.tensor<[n, 4, h, w], i32>) -> !weft.tensor<[n, 4, h, w], i32>
  return %4 : !weft.tensor<[n, 4, h, w], i32>
}

// What is put behind each other along channels is so with channels last.
// CHECK-LABEL: func @branches
// CHECK:         %[[A:.*]] = weft.conv {{.*}} {channels_last}
// CHECK:         %[[B:.*]] = weft.conv {{.*}} {channels_last}
// CHECK:         %[[C:.*]] = weft.concat %[[A]], %[[B]] dim 3
// CHECK:         %[[R:.*]] = weft.transpose %[[C]] [0, 3, 1, 2]
// CHECK:         return %[[R]]
func.func @branches(%x: !weft.tensor<[n, 8, h, w], ui8>, %v: !weft.tensor<[16, 8, 3, 3], i8>, %u: !weft.tensor<[4, 8, 3, 3], i8>)
    -> !weft.tensor<[n, 20, h, w], i32> attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], ui8>, !weft.tensor<[16, 8, 3, 3], i8>) -> !weft.tensor<[n, 16, h, w], i32>
  %1 = weft.conv %x, %u strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], ui8>, !weft.tensor<[4, 8, 3, 3], i8>) -> !weft.tensor<[n, 4, h, w], i32>
  %2 = weft.concat %0, %1 dim 1 : (!weft.tensor<[n, 16, h, w], i32>, !weft.tensor<[n, 4, h, w], i32>) -> !weft.tensor<[n, 20, h, w], i32>
  return %2 : !weft.tensor<[n, 20, h, w], i32>
}

// An image at twice the resolution stays as it lies.
// CHECK-LABEL: func @larger
// CHECK:         %[[A:.*]] = weft.conv {{.*}} {channels_last}
// CHECK:         %[[C:.*]] = weft.convert %[[A]]
// CHECK:         %[[L:.*]] = weft.resize nearest %[[C]] to [n, 2*h, 2*w, 8] scales [1.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00]
// CHECK:         weft.conv %[[L]], {{.*}} {channels_last}
func.func @larger(%x: !weft.tensor<[n, 8, h, w], i8>, %v: !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, 2*h, 2*w], i32>
    attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], i8>, !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, h, w], i32>
  %1 = weft.convert %0 to i8 : (!weft.tensor<[n, 8, h, w], i32>) -> !weft.tensor<[n, 8, h, w], i8>
  %2 = weft.resize nearest %1 to [n, 8, 2*h, 2*w] scales [1.0, 1.0, 2.0, 2.0] coordinates asymmetric rounding floor
     : (!weft.tensor<[n, 8, h, w], i8>) -> !weft.tensor<[n, 8, 2*h, 2*w], i8>
  %3 = weft.conv %2, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, 2*h, 2*w], i8>, !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, 2*h, 2*w], i32>
  return %3 : !weft.tensor<[n, 8, 2*h, 2*w], i32>
}

// A border of the integer that stands for 0 lies around pixels as they are.
// CHECK-LABEL: func @border
// CHECK:         %[[A:.*]] = weft.conv {{.*}} {channels_last}
// CHECK:         %[[C:.*]] = weft.convert %[[A]]
// CHECK:         %[[P:.*]] = weft.pad %[[C]] with %{{.*}} low [0, 1, 2, 0] high [0, 1, 0, 0] {{.*}} -> !weft.tensor<[n, h + 2, w + 2, 8], i8>
// CHECK:         weft.conv %[[P]], {{.*}} {channels_last}
func.func @border(%x: !weft.tensor<[n, 8, h, w], i8>, %v: !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, h, w], i32>
    attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], i8>, !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, h, w], i32>
  %1 = weft.convert %0 to i8 : (!weft.tensor<[n, 8, h, w], i32>) -> !weft.tensor<[n, 8, h, w], i8>
  %z = weft.fill 7 : i8 -> <[], i8>
  %2 = weft.pad %1 with %z low [0, 0, 1, 2] high [0, 0, 1, 0] : (!weft.tensor<[n, 8, h, w], i8>, !weft.tensor<[], i8>) -> !weft.tensor<[n, 8, h + 2, w + 2], i8>
  %3 = weft.conv %2, %v strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h + 2, w + 2], i8>, !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, h, w], i32>
  return %3 : !weft.tensor<[n, 8, h, w], i32>
}

// A part of an image, or every second pixel of it, is taken of pixels as they are.
// CHECK-LABEL: func @part
// CHECK:         %[[A:.*]] = weft.conv {{.*}} {channels_last}
// CHECK:         %[[P:.*]] = weft.slice %[[A]] from [0, 1, 2, 0] size [n, h, w, 8] step [1, 2, 1, 1] {{.*}} -> !weft.tensor<[n, h, w, 8], i32>
// CHECK:         %[[C:.*]] = weft.convert %[[P]]
// CHECK:         weft.conv %[[C]], {{.*}} {channels_last}
func.func @part(%x: !weft.tensor<[n, 8, 2*h, w + 2], i8>, %v: !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, h, w], i32>
    attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, 2*h, w + 2], i8>, !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, 2*h, w + 2], i32>
  %1 = weft.slice %0 from [0, 0, 1, 2] size [n, 8, h, w] step [1, 1, 2, 1] : (!weft.tensor<[n, 8, 2*h, w + 2], i32>) -> !weft.tensor<[n, 8, h, w], i32>
  %2 = weft.convert %1 to i8 : (!weft.tensor<[n, 8, h, w], i32>) -> !weft.tensor<[n, 8, h, w], i8>
  %3 = weft.conv %2, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], i8>, !weft.tensor<[8, 8, 3, 3], i8>) -> !weft.tensor<[n, 8, h, w], i32>
  return %3 : !weft.tensor<[n, 8, h, w], i32>
}

// Bytes that no convolution made are moved for those beside them.
// CHECK-LABEL: func @beside
// CHECK-SAME:    %[[Y:[a-z0-9]+]]: !weft.tensor<[n, 4, h, w], i8>
// CHECK:         %[[A:.*]] = weft.conv {{.*}} {channels_last}
// CHECK:         %[[C:.*]] = weft.convert %[[A]]
// CHECK:         %[[T:.*]] = weft.transpose %[[Y]] [0, 2, 3, 1]
// CHECK:         %[[B:.*]] = weft.concat %[[C]], %[[T]] dim 3
// CHECK:         weft.conv %[[B]], {{.*}} {channels_last}
func.func @beside(%x: !weft.tensor<[n, 8, h, w], i8>, %y: !weft.tensor<[n, 4, h, w], i8>, %v: !weft.tensor<[4, 8, 3, 3], i8>) -> !weft.tensor<[n, 4, h, w], i32>
    attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %0 = weft.conv %x, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], i8>, !weft.tensor<[4, 8, 3, 3], i8>) -> !weft.tensor<[n, 4, h, w], i32>
  %1 = weft.convert %0 to i8 : (!weft.tensor<[n, 4, h, w], i32>) -> !weft.tensor<[n, 4, h, w], i8>
  %2 = weft.concat %1, %y dim 1 : (!weft.tensor<[n, 4, h, w], i8>, !weft.tensor<[n, 4, h, w], i8>) -> !weft.tensor<[n, 8, h, w], i8>
  %3 = weft.conv %2, %v strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate i32
     : (!weft.tensor<[n, 8, h, w], i8>, !weft.tensor<[4, 8, 3, 3], i8>) -> !weft.tensor<[n, 4, h, w], i32>
  return %3 : !weft.tensor<[n, 4, h, w], i32>
}

// Tokens are pixels in a row: an image that is made of them, and becomes them again, is not moved.
// CHECK-LABEL: func @tokens
// CHECK-NOT:     weft.transpose
// CHECK:         %[[I:.*]] = weft.reshape %arg0 to [n, 8, 8, 16]
// CHECK-NOT:     weft.transpose
// CHECK:         %[[C:.*]] = weft.conv %[[I]], {{.*}} {{{.*channels_last.*}}}
// CHECK:         %[[R:.*]] = weft.reshape %[[C]] to [n, 64, 16]
// CHECK-NEXT:    return %[[R]]
func.func @tokens(%x: !weft.tensor<[n, 64, 16], f32>) -> !weft.tensor<[n, 64, 16], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %f = weft.constant dense<1.0> : tensor<16x1x3x3xf32> -> !weft.tensor<[16, 1, 3, 3], f32>
  %0 = weft.transpose %x [0, 2, 1] : (!weft.tensor<[n, 64, 16], f32>) -> !weft.tensor<[n, 16, 64], f32>
  %1 = weft.reshape %0 to [n, 16, 8, 8] : (!weft.tensor<[n, 16, 64], f32>) -> !weft.tensor<[n, 16, 8, 8], f32>
  %2 = weft.conv %1, %f strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 16 accumulate f32
     : (!weft.tensor<[n, 16, 8, 8], f32>, !weft.tensor<[16, 1, 3, 3], f32>) -> !weft.tensor<[n, 16, 8, 8], f32>
  %3 = weft.reshape %2 to [n, 16, 64] : (!weft.tensor<[n, 16, 8, 8], f32>) -> !weft.tensor<[n, 16, 64], f32>
  %4 = weft.transpose %3 [0, 2, 1] : (!weft.tensor<[n, 16, 64], f32>) -> !weft.tensor<[n, 64, 16], f32>
  return %4 : !weft.tensor<[n, 64, 16], f32>
}

// Of images with one dimension both moves are the same, so bytes that have their channels in front stay beside a convolution's.
// CHECK-LABEL: func @bytes_of_one_dimension
// CHECK:         %[[C:.*]] = weft.conv {{.*}} {channels_last}
// CHECK:         %[[Q:.*]] = weft.convert %[[C]] to i8
// CHECK:         %[[F:.*]] = weft.transpose %[[Q]] [0, 2, 1]
// CHECK:         %[[R:.*]] = weft.concat %[[F]], %arg2 dim 2
// CHECK:         return %[[R]]
func.func @bytes_of_one_dimension(%x: !weft.tensor<[n, 8, w], i8>, %v: !weft.tensor<[8, 8, 3], i8>, %y: !weft.tensor<[n, 8, w], i8>)
    -> !weft.tensor<[n, 8, 2*w], i8> attributes {weft.symbols = #weft.symbols<n, w>} {
  %0 = weft.conv %x, %v strides [1] dilations [1] low [1] high [1] groups 1 accumulate i32 : (!weft.tensor<[n, 8, w], i8>, !weft.tensor<[8, 8, 3], i8>) -> !weft.tensor<[n, 8, w], i32>
  %1 = weft.convert %0 to i8 : (!weft.tensor<[n, 8, w], i32>) -> !weft.tensor<[n, 8, w], i8>
  %2 = weft.concat %1, %y dim 2 : (!weft.tensor<[n, 8, w], i8>, !weft.tensor<[n, 8, w], i8>) -> !weft.tensor<[n, 8, 2*w], i8>
  return %2 : !weft.tensor<[n, 8, 2*w], i8>
}
