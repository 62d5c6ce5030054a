// RUN: weft-opt %s --weft-fold-scales | FileCheck %s

// Scale and bias take the division by 0.5; product and sum are rounded once.
// CHECK-LABEL: func @layer
// CHECK-DAG:     %[[S:.*]] = weft.constant dense<[2.000000e+00, 4.000000e+00]>
// CHECK-DAG:     %[[B:.*]] = weft.constant dense<[6.000000e+00, 8.000000e+00]>
// CHECK:         %[[M:.*]] = weft.multiply_add %arg0, %[[S]], %[[B]]
// CHECK:         %[[R:.*]] = weft.activation relu %[[M]]
// CHECK:         %[[ONE:.*]] = weft.fill 1.000000e+00
// CHECK:         weft.quantize %[[R]], %[[ONE]], %
func.func @layer(%x: !weft.tensor<[n, 2], f32>) -> !weft.tensor<[n, 2], ui8> attributes {weft.symbols = #weft.symbols<n>} {
  %s = weft.constant dense<[1.0, 2.0]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %b = weft.constant dense<[3.0, 4.0]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %t = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<7> : tensor<ui8> -> !weft.tensor<[], ui8>
  %0 = weft.mul %x, %s : (!weft.tensor<[n, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[n, 2], f32>
  %1 = weft.add %0, %b : (!weft.tensor<[n, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[n, 2], f32>
  %2 = weft.activation relu %1 : (!weft.tensor<[n, 2], f32>) -> !weft.tensor<[n, 2], f32>
  %3 = weft.quantize %2, %t, %z : (!weft.tensor<[n, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 2], ui8>
  return %3 : !weft.tensor<[n, 2], ui8>
}

// What is no multiple of constants is divided as it was, also when somebody else reads it.
// CHECK-LABEL: func @stays
// CHECK:         %[[E:.*]] = weft.exp %arg0
// CHECK:         %[[T:.*]] = weft.constant dense<5.000000e-01>
// CHECK:         weft.quantize %[[E]], %[[T]], %
// CHECK:         %[[M:.*]] = weft.mul %arg0
// CHECK:         weft.quantize %[[M]], %[[T]], %
func.func @stays(%x: !weft.tensor<[n], f32>) -> (!weft.tensor<[n], ui8>, !weft.tensor<[n], ui8>, !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  %e = weft.exp %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %t = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<7> : tensor<ui8> -> !weft.tensor<[], ui8>
  %0 = weft.quantize %e, %t, %z : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n], ui8>
  %1 = weft.mul %x, %t : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[n], f32>
  %2 = weft.quantize %1, %t, %z : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n], ui8>
  return %0, %2, %1 : !weft.tensor<[n], ui8>, !weft.tensor<[n], ui8>, !weft.tensor<[n], f32>
}

// A scale that makes the constants leave the range of f32 divides when the program runs.
// CHECK-LABEL: func @tiny
// CHECK:         %[[M:.*]] = weft.mul %arg0
// CHECK:         %[[T:.*]] = weft.constant dense<9.99999991E-38>
// CHECK:         weft.quantize %[[M]], %[[T]], %
func.func @tiny(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], ui8> attributes {weft.symbols = #weft.symbols<n>} {
  %s = weft.constant dense<64.0> : tensor<f32> -> !weft.tensor<[], f32>
  %0 = weft.mul %x, %s : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[n], f32>
  %t = weft.constant dense<1.0e-37> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<7> : tensor<ui8> -> !weft.tensor<[], ui8>
  %1 = weft.quantize %0, %t, %z : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n], ui8>
  return %1 : !weft.tensor<[n], ui8>
}

// Parts of constants are divided as the whole ones.
// CHECK-LABEL: func @part
// CHECK-DAG:     %[[S:.*]] = weft.constant dense<[2.000000e+00, 4.000000e+00]>
// CHECK-DAG:     %[[B:.*]] = weft.constant dense<[6.000000e+00, 8.000000e+00]>
// CHECK-DAG:     %[[SR:.*]] = weft.slice %[[S]] from [rank_tp] size [1]
// CHECK-DAG:     %[[BR:.*]] = weft.slice %[[B]] from [rank_tp] size [1]
// CHECK:         weft.multiply_add %arg0, %[[SR]], %[[BR]]
func.func @part(%x: !weft.tensor<[n, 1], f32>) -> !weft.tensor<[n, 1], ui8> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %ss = weft.constant dense<[1.0, 2.0]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %bs = weft.constant dense<[3.0, 4.0]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %s = weft.slice %ss from [rank_tp] size [1] step [1] : (!weft.tensor<[2], f32>) -> !weft.tensor<[1], f32>
  %b = weft.slice %bs from [rank_tp] size [1] step [1] : (!weft.tensor<[2], f32>) -> !weft.tensor<[1], f32>
  %t = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<7> : tensor<ui8> -> !weft.tensor<[], ui8>
  %0 = weft.mul %x, %s : (!weft.tensor<[n, 1], f32>, !weft.tensor<[1], f32>) -> !weft.tensor<[n, 1], f32>
  %1 = weft.add %0, %b : (!weft.tensor<[n, 1], f32>, !weft.tensor<[1], f32>) -> !weft.tensor<[n, 1], f32>
  %2 = weft.quantize %1, %t, %z : (!weft.tensor<[n, 1], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 1], ui8>
  return %2 : !weft.tensor<[n, 1], ui8>
}

// Positive factors of channels behind an activation are divided by as well, so that product and sum are rounded once.
// CHECK-LABEL: func @equalised
// CHECK-DAG:     %[[S:.*]] = weft.constant dense<{{.*}}1.000000e+00{{.*}}, {{.*}}8.000000e+00{{.*}}> : tensor<2x1xf32>
// CHECK-DAG:     %[[B:.*]] = weft.constant dense<{{.*}}3.000000e+00{{.*}}, {{.*}}1.600000e+01{{.*}}> : tensor<2x1xf32>
// CHECK:         %[[M:.*]] = weft.multiply_add %arg0, %[[S]], %[[B]]
// CHECK:         %[[R:.*]] = weft.activation relu %[[M]]
// CHECK:         weft.quantize %[[R]], %
func.func @equalised(%x: !weft.tensor<[n, 2, 5], f32>) -> !weft.tensor<[n, 2, 5], ui8> attributes {weft.symbols = #weft.symbols<n>} {
  %s = weft.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32> -> !weft.tensor<[2, 1], f32>
  %b = weft.constant dense<[[3.0], [4.0]]> : tensor<2x1xf32> -> !weft.tensor<[2, 1], f32>
  %f = weft.constant dense<[[[0.5], [2.0]]]> : tensor<1x2x1xf32> -> !weft.tensor<[1, 2, 1], f32>
  %t = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<7> : tensor<ui8> -> !weft.tensor<[], ui8>
  %0 = weft.mul %x, %s : (!weft.tensor<[n, 2, 5], f32>, !weft.tensor<[2, 1], f32>) -> !weft.tensor<[n, 2, 5], f32>
  %1 = weft.add %0, %b : (!weft.tensor<[n, 2, 5], f32>, !weft.tensor<[2, 1], f32>) -> !weft.tensor<[n, 2, 5], f32>
  %2 = weft.activation relu %1 : (!weft.tensor<[n, 2, 5], f32>) -> !weft.tensor<[n, 2, 5], f32>
  %3 = weft.mul %2, %f : (!weft.tensor<[n, 2, 5], f32>, !weft.tensor<[1, 2, 1], f32>) -> !weft.tensor<[n, 2, 5], f32>
  %4 = weft.quantize %3, %t, %z : (!weft.tensor<[n, 2, 5], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 2, 5], ui8>
  return %4 : !weft.tensor<[n, 2, 5], ui8>
}

// Negative factors turn an activation around, and factors along another dimension belong to no constant: these multiply as they did.
// CHECK-LABEL: func @others
// CHECK:         %[[A:.*]] = weft.activation relu
// CHECK:         %[[F:.*]] = weft.constant dense<[2.000000e+00, -4.000000e+00]>
// CHECK:         weft.mul %[[A]], %[[F]]
// CHECK:         %[[C:.*]] = weft.activation relu
// CHECK:         weft.mul %[[C]], %
func.func @others(%x: !weft.tensor<[2, 2], f32>) -> (!weft.tensor<[2, 2], ui8>, !weft.tensor<[2, 2], ui8>) {
  %s = weft.constant dense<[1.0, 2.0]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %f = weft.constant dense<[1.0, -2.0]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %g = weft.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32> -> !weft.tensor<[2, 1], f32>
  %t = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<7> : tensor<ui8> -> !weft.tensor<[], ui8>
  %0 = weft.mul %x, %s : (!weft.tensor<[2, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[2, 2], f32>
  %1 = weft.activation relu %0 : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[2, 2], f32>
  %2 = weft.mul %1, %f : (!weft.tensor<[2, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[2, 2], f32>
  %3 = weft.quantize %2, %t, %z : (!weft.tensor<[2, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[2, 2], ui8>
  %4 = weft.mul %x, %s : (!weft.tensor<[2, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[2, 2], f32>
  %5 = weft.activation relu %4 : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[2, 2], f32>
  %6 = weft.mul %5, %g : (!weft.tensor<[2, 2], f32>, !weft.tensor<[2, 1], f32>) -> !weft.tensor<[2, 2], f32>
  %7 = weft.quantize %6, %t, %z : (!weft.tensor<[2, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[2, 2], ui8>
  return %3, %7 : !weft.tensor<[2, 2], ui8>, !weft.tensor<[2, 2], ui8>
}
