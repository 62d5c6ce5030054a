// RUN: weft-opt %s --split-input-file --weft-convolve-phases | FileCheck %s

// Four taps two apart are two filters of two taps, turned round; the bias is added before phases are put in their places.
// CHECK-LABEL: func @line
// CHECK:         %[[W:.*]] = weft.constant dense<{{\[\[\[}}3.000000e+00, 1.000000e+00]], {{\[\[}}7.000000e+00, 5.000000e+00]], {{\[\[}}4.000000e+00, 2.000000e+00]], {{\[\[}}8.000000e+00, 6.000000e+00]]]>
// CHECK:         %[[Y:.*]] = weft.conv %arg0, %[[W]] strides [1] dilations [1] low [1] high [1] groups 1 {{.*}} -> !weft.tensor<[b, 4, n + 1], f32>
// CHECK:         %[[E:.*]] = weft.expand %{{.*}} to [1, 2, 2]
// CHECK:         %[[C:.*]] = weft.reshape %[[E]] to [4, 1]
// CHECK:         %[[S:.*]] = weft.add %[[Y]], %[[C]]
// CHECK:         %[[A:.*]] = weft.reshape %[[S]] to [b, 1, 2, 2, n + 1]
// CHECK:         %[[T:.*]] = weft.transpose %[[A]] [0, 1, 3, 4, 2]
// CHECK:         %[[R:.*]] = weft.reshape %[[T]] to [b, 2, 2*n + 2]
// CHECK:         %[[Z:.*]] = weft.slice %[[R]] from [0, 0, 1] size [b, 2, 2*n]
// CHECK:         return %[[Z]]
func.func @line(%x: !weft.tensor<[b, 1, n], f32>, %c: !weft.tensor<[2, 1], f32>) -> !weft.tensor<[b, 2, 2*n], f32>
    attributes {weft.symbols = #weft.symbols<b, n : "1 <= n">} {
  %w = weft.constant dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xf32> -> !weft.tensor<[1, 2, 4], f32>
  %y = weft.conv_transpose %x, %w strides [2] dilations [1] low [1] high [1] groups 1 accumulate f32
     : (!weft.tensor<[b, 1, n], f32>, !weft.tensor<[1, 2, 4], f32>) -> !weft.tensor<[b, 2, 2*n], f32>
  %z = weft.add %y, %c : (!weft.tensor<[b, 2, 2*n], f32>, !weft.tensor<[2, 1], f32>) -> !weft.tensor<[b, 2, 2*n], f32>
  return %z : !weft.tensor<[b, 2, 2*n], f32>
}

// -----

// One apart there is one phase, and nothing to put in places.
// CHECK-LABEL: func @one_apart
// CHECK:         weft.constant dense<{{\[\[\[}}3.000000e+00, 2.000000e+00, 1.000000e+00]]]>
// CHECK:         %[[Y:.*]] = weft.conv {{.*}} dilations [2] low [3] high [4]
// CHECK-NEXT:    return %[[Y]]
func.func @one_apart(%x: !weft.tensor<[b, 1, n], f32>) -> !weft.tensor<[b, 1, n + 3], f32> attributes {weft.symbols = #weft.symbols<b, n : "1 <= n">} {
  %w = weft.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32> -> !weft.tensor<[1, 1, 3], f32>
  %y = weft.conv_transpose %x, %w strides [1] dilations [2] low [1] high [0] groups 1 accumulate f32
     : (!weft.tensor<[b, 1, n], f32>, !weft.tensor<[1, 1, 3], f32>) -> !weft.tensor<[b, 1, n + 3], f32>
  return %y : !weft.tensor<[b, 1, n + 3], f32>
}

// -----

// A filter of integers stays one; where a phase has fewer taps, the zero point stands for none. Rounding is done before moving.
// CHECK-LABEL: func @integers
// CHECK:         %[[W:.*]] = weft.constant dense<{{\[\[\[}}3, 1]], {{\[\[}}9, 2]]]> : tensor<2x1x2xi8>
// CHECK:         %[[D:.*]] = weft.dequantize %[[W]]
// CHECK:         %[[Y:.*]] = weft.conv %{{.*}}, %[[D]] strides [1] dilations [1] low [1] high [1]
// CHECK:         weft.quantize %[[Y]]
// CHECK:         weft.slice {{.*}} : (!weft.tensor<[b, 1, 2*n + 2], ui8>) -> !weft.tensor<[b, 1, 2*n + 1], ui8>
func.func @integers(%x: !weft.tensor<[b, 1, n], ui8>) -> !weft.tensor<[b, 1, 2*n + 1], ui8> attributes {weft.symbols = #weft.symbols<b, n : "1 <= n">} {
  %s = weft.fill 5.000000e-01 : f32 -> !weft.tensor<[], f32>
  %z = weft.fill 9 : i8 -> !weft.tensor<[], i8>
  %u = weft.fill 1 : ui8 -> !weft.tensor<[], ui8>
  %w = weft.constant dense<[[[1, 2, 3]]]> : tensor<1x1x3xi8> -> !weft.tensor<[1, 1, 3], i8>
  %f = weft.dequantize %w, %s, %z : (!weft.tensor<[1, 1, 3], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[1, 1, 3], f32>
  %a = weft.dequantize %x, %s, %u : (!weft.tensor<[b, 1, n], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[b, 1, n], f32>
  %y = weft.conv_transpose %a, %f strides [2] dilations [1] low [0] high [0] groups 1 accumulate f32
     : (!weft.tensor<[b, 1, n], f32>, !weft.tensor<[1, 1, 3], f32>) -> !weft.tensor<[b, 1, 2*n + 1], f32>
  %q = weft.quantize %y, %s, %u : (!weft.tensor<[b, 1, 2*n + 1], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[b, 1, 2*n + 1], ui8>
  return %q : !weft.tensor<[b, 1, 2*n + 1], ui8>
}

// -----

// Taps that are apart themselves lie among those of other phases, and an operand is no filter to take apart.
// CHECK-LABEL: func @apart
// CHECK:         weft.conv_transpose
// CHECK:         weft.conv_transpose
func.func @apart(%x: !weft.tensor<[b, 1, n], f32>, %v: !weft.tensor<[1, 1, 4], f32>) -> (!weft.tensor<[b, 1, 2*n + 5], f32>, !weft.tensor<[b, 1, 2*n + 2], f32>)
    attributes {weft.symbols = #weft.symbols<b, n : "1 <= n">} {
  %w = weft.constant dense<1.0> : tensor<1x1x4xf32> -> !weft.tensor<[1, 1, 4], f32>
  %y = weft.conv_transpose %x, %w strides [2] dilations [2] low [0] high [0] groups 1 accumulate f32
     : (!weft.tensor<[b, 1, n], f32>, !weft.tensor<[1, 1, 4], f32>) -> !weft.tensor<[b, 1, 2*n + 5], f32>
  %z = weft.conv_transpose %x, %v strides [2] dilations [1] low [0] high [0] groups 1 accumulate f32
     : (!weft.tensor<[b, 1, n], f32>, !weft.tensor<[1, 1, 4], f32>) -> !weft.tensor<[b, 1, 2*n + 2], f32>
  return %y, %z : !weft.tensor<[b, 1, 2*n + 5], f32>, !weft.tensor<[b, 1, 2*n + 2], f32>
}
