// RUN: weft-opt %s --weft-fold-constants --canonicalize | FileCheck %s

// A filter whose length was trained apart from its direction.
// CHECK-LABEL: func @weight_norm
// CHECK:         %[[W:.*]] = weft.constant dense<{{\[\[}}3.000000e+00, 4.000000e+00], [0.000000e+00, 2.000000e+00]]>
// CHECK-NEXT:    weft.contract "m k, n k -> m n" %{{.*}}, %[[W]]
func.func @weight_norm(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %v = weft.constant dense<[[6.0, 8.0], [0.0, 0.5]]> : tensor<2x2xf32> -> !weft.tensor<[2, 2], f32>
  %g = weft.constant dense<[[5.0], [2.0]]> : tensor<2x1xf32> -> !weft.tensor<[2, 1], f32>
  %0 = weft.mul %v, %v : (!weft.tensor<[2, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[2, 2], f32>
  %n = weft.reduce sum %0 [1] : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[2], f32>
  %1 = weft.reshape %n to [2, 1] : (!weft.tensor<[2], f32>) -> !weft.tensor<[2, 1], f32>
  %2 = weft.sqrt %1 : (!weft.tensor<[2, 1], f32>) -> !weft.tensor<[2, 1], f32>
  %3 = weft.div %g, %2 : (!weft.tensor<[2, 1], f32>, !weft.tensor<[2, 1], f32>) -> !weft.tensor<[2, 1], f32>
  %4 = weft.mul %v, %3 : (!weft.tensor<[2, 2], f32>, !weft.tensor<[2, 1], f32>) -> !weft.tensor<[2, 2], f32>
  %5 = weft.contract "m k, n k -> m n" %x, %4 accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %5 : !weft.tensor<[m, 2], f32>
}

// The work before a view is done, the view stays.
// CHECK-LABEL: func @view
// CHECK:         %[[C:.*]] = weft.constant dense<{{\[\[}}2.000000e+00, 4.000000e+00, 6.000000e+00]]>
// CHECK-NEXT:    %[[E:.*]] = weft.expand %[[C]]
// CHECK-NEXT:    weft.add %{{.*}}, %[[E]]
func.func @view(%x: !weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %v = weft.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32> -> !weft.tensor<[1, 3], f32>
  %0 = weft.add %v, %v : (!weft.tensor<[1, 3], f32>, !weft.tensor<[1, 3], f32>) -> !weft.tensor<[1, 3], f32>
  %1 = weft.expand %0 to [m, 3] : (!weft.tensor<[1, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %2 = weft.add %x, %1 : (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %2 : !weft.tensor<[m, 3], f32>
}

// Bytes stand for floats of four times their size: those are made where they are read.
// CHECK-LABEL: func @bytes_stay
// CHECK:         weft.constant dense<{{.*}}> : tensor<2x2xi8>
// CHECK:         weft.convert
// CHECK:         weft.mul
func.func @bytes_stay(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %q = weft.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8> -> !weft.tensor<[2, 2], i8>
  %s = weft.constant dense<[0.5, 0.25]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %0 = weft.convert %q to f32 : (!weft.tensor<[2, 2], i8>) -> !weft.tensor<[2, 2], f32>
  %1 = weft.mul %0, %s : (!weft.tensor<[2, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[2, 2], f32>
  %2 = weft.contract "m k, k n -> m n" %x, %1 accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %2 : !weft.tensor<[m, 2], f32>
}

// A table of more than 64 KiB is worth its memory only when what it is made of took as much.
// CHECK-LABEL: func @large_table
// CHECK:         weft.iota
// CHECK:         weft.mul
// CHECK:         weft.sin
func.func @large_table() -> !weft.tensor<[30000, 2], f32> {
  %f = weft.constant dense<[1.0, 0.5]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %i = weft.iota dim 0 : !weft.tensor<[30000, 1], f32>
  %0 = weft.mul %i, %f : (!weft.tensor<[30000, 1], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[30000, 2], f32>
  %1 = weft.sin %0 : (!weft.tensor<[30000, 2], f32>) -> !weft.tensor<[30000, 2], f32>
  return %1 : !weft.tensor<[30000, 2], f32>
}

// What comes from positions only is computed where it is read, as masks are.
// CHECK-LABEL: func @mask
// CHECK:         weft.compare lt
func.func @mask() -> !weft.tensor<[4, 4], i1> {
  %0 = weft.iota dim 0 : !weft.tensor<[4, 4], i64>
  %1 = weft.iota dim 1 : !weft.tensor<[4, 4], i64>
  %2 = weft.compare lt %0, %1 : (!weft.tensor<[4, 4], i64>, !weft.tensor<[4, 4], i64>) -> !weft.tensor<[4, 4], i1>
  return %2 : !weft.tensor<[4, 4], i1>
}

// A position outside is an error of the call, not of the compiler.
// CHECK-LABEL: func @outside
// CHECK:         weft.gather
func.func @outside() -> !weft.tensor<[1], f32> {
  %t = weft.constant dense<[1.0, 2.0]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %i = weft.constant dense<[7]> : tensor<1xi64> -> !weft.tensor<[1], i64>
  %0 = weft.gather %t, %i axis 0 : (!weft.tensor<[2], f32>, !weft.tensor<[1], i64>) -> !weft.tensor<[1], f32>
  return %0 : !weft.tensor<[1], f32>
}

// Distances of 16, 32 and 64 lie in the buckets 2, 4 and 6 of T5: in f32 the logarithms are whole numbers, and exactly they are not.
// CHECK-LABEL: func @buckets
// CHECK:         weft.constant dense<[10, 12, 14]> : tensor<3xi64>
func.func @buckets() -> !weft.tensor<[3], i64> {
  %x = weft.constant dense<[2.0, 4.0, 8.0]> : tensor<3xf32> -> !weft.tensor<[3], f32>
  %s = weft.constant dense<[2.7725887, 2.7725887, 2.7725887]> : tensor<3xf32> -> !weft.tensor<[3], f32>
  %n = weft.constant dense<8.0> : tensor<3xf32> -> !weft.tensor<[3], f32>
  %0 = weft.log %x : (!weft.tensor<[3], f32>) -> !weft.tensor<[3], f32>
  %1 = weft.div %0, %s : (!weft.tensor<[3], f32>, !weft.tensor<[3], f32>) -> !weft.tensor<[3], f32>
  %2 = weft.mul %1, %n : (!weft.tensor<[3], f32>, !weft.tensor<[3], f32>) -> !weft.tensor<[3], f32>
  %3 = weft.convert %2 to i64 : (!weft.tensor<[3], f32>) -> !weft.tensor<[3], i64>
  %e = weft.constant dense<8> : tensor<3xi64> -> !weft.tensor<[3], i64>
  %4 = weft.add %3, %e : (!weft.tensor<[3], i64>, !weft.tensor<[3], i64>) -> !weft.tensor<[3], i64>
  return %4 : !weft.tensor<[3], i64>
}
