// RUN: weft-opt %s --weft-form-kernels | FileCheck %s

// An elementwise chain is one kernel; the broadcast operand rides along.
// CHECK-LABEL: func @chain
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, n], f32>, %[[Y:.*]]: !weft.tensor<[n], f32>)
// CHECK:         %[[K:.*]] = weft.kernel "loop"(%[[X]], %[[Y]])
// CHECK:           weft.exp
// CHECK:           weft.add
// CHECK-NOT:     weft.kernel
// CHECK:         return %[[K]]
func.func @chain(%x: !weft.tensor<[m, n], f32>, %y: !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.exp %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.add %0, %y : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  return %1 : !weft.tensor<[m, n], f32>
}

// Softmax takes in the producer that only it reads.
// CHECK-LABEL: func @row
// CHECK:         weft.kernel "row"
// CHECK:           weft.neg
// CHECK:           weft.softmax
// CHECK-NOT:     weft.kernel
func.func @row(%x: !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.neg %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.softmax %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %1 : !weft.tensor<[m, n], f32>
}

// A value that is needed elsewhere too stays outside the row.
// CHECK-LABEL: func @shared
// CHECK:         %[[N:.*]] = weft.kernel "loop"
// CHECK:         %[[S:.*]] = weft.kernel "row"(%[[N]])
// CHECK:         return %[[N]], %[[S]]
func.func @shared(%x: !weft.tensor<[m, n], f32>) -> (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>)
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.neg %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.softmax %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %0, %1 : !weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>
}

// An operator that needs the root's result on two paths does not make a circle of groups.
// CHECK-LABEL: func @diamond
// CHECK-DAG:     weft.kernel "contraction"
// CHECK-DAG:     weft.kernel "row"
// CHECK:         return
func.func @diamond(%x: !weft.tensor<[m, 8], f32>, %w: !weft.tensor<[8, 8], f32>) -> !weft.tensor<[m, 8], f32>
    attributes {weft.symbols = #weft.symbols<m>} {
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[8, 8], f32>) -> !weft.tensor<[m, 8], f32>
  %1 = weft.softmax %0 : (!weft.tensor<[m, 8], f32>) -> !weft.tensor<[m, 8], f32>
  %2 = weft.add %0, %1 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[m, 8], f32>) -> !weft.tensor<[m, 8], f32>
  return %2 : !weft.tensor<[m, 8], f32>
}

// An input that is returned as it is needs a copy.
// CHECK-LABEL: func @copy
// CHECK:         weft.kernel "loop"
// CHECK-NEXT:    ^bb0(%[[A:[a-z0-9]+]]:
// CHECK-NEXT:      weft.yield %[[A]]
func.func @copy(%x: !weft.tensor<[m], f32>) -> !weft.tensor<[m], f32> attributes {weft.symbols = #weft.symbols<m>} {
  return %x : !weft.tensor<[m], f32>
}

// Whether what is restored is computed where it is read depends on who reads it: also behind the host, which is told what to read when all
// kernels are made.
// CHECK-LABEL: func.func @restored
// CHECK-NOT:     weft.quantize
// CHECK:         %[[D:.*]] = weft.kernel "loop"(%arg0, %arg1, %arg2)
// CHECK:         weft.all_reduce sum %[[D]]
// CHECK:         weft.kernel "loop"(%[[D]])
func.func @restored(%x: !weft.tensor<[n, 4], f32>, %s: !weft.tensor<[], f32>, %z: !weft.tensor<[], ui8>) -> (!weft.tensor<[n, 4], f32>, !weft.tensor<[n, 4], f32>) attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %q = weft.quantize %x, %s, %z : (!weft.tensor<[n, 4], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 4], ui8>
  %d = weft.dequantize %q, %s, %z : (!weft.tensor<[n, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 4], f32>
  %a = weft.all_reduce sum %d over<tp = 2> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %e = weft.exp %d : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  return %a, %e : !weft.tensor<[n, 4], f32>, !weft.tensor<[n, 4], f32>
}

// Tiles of bytes read their rows as they lie in memory: a view that gives rows other places writes them there. Floats are read through it.
// CHECK-LABEL: func @rows_of_bytes
// CHECK:         weft.kernel "loop"
// CHECK:           weft.transpose {{.*}} -> !weft.tensor<[s, b, 8], ui8>
// CHECK:         weft.kernel "contraction"
// CHECK-NOT:       weft.transpose
// CHECK:           weft.contract {{.*}} accumulate i32
// CHECK:         weft.kernel "contraction"
// CHECK:           weft.transpose {{.*}} -> !weft.tensor<[s, b, 8], f32>
func.func @rows_of_bytes(%x: !weft.tensor<[b, s, 8], ui8>, %f: !weft.tensor<[b, s, 8], f32>)
    -> (!weft.tensor<[b * s, 4], i32>, !weft.tensor<[b * s, 4], f32>) attributes {weft.symbols = #weft.symbols<b, s>} {
  %w = weft.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4], [5, 6, 7, 8]]>
    : tensor<8x4xi8> -> !weft.tensor<[8, 4], i8>
  %t = weft.transpose %x [1, 0, 2] : (!weft.tensor<[b, s, 8], ui8>) -> !weft.tensor<[s, b, 8], ui8>
  %r = weft.reshape %t to [b * s, 8] : (!weft.tensor<[s, b, 8], ui8>) -> !weft.tensor<[b * s, 8], ui8>
  %0 = weft.contract "... k, k n -> ... n" %r, %w accumulate i32 : (!weft.tensor<[b * s, 8], ui8>, !weft.tensor<[8, 4], i8>) -> !weft.tensor<[b * s, 4], i32>
  %v = weft.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]>
    : tensor<8x4xf32> -> !weft.tensor<[8, 4], f32>
  %ft = weft.transpose %f [1, 0, 2] : (!weft.tensor<[b, s, 8], f32>) -> !weft.tensor<[s, b, 8], f32>
  %fr = weft.reshape %ft to [b * s, 8] : (!weft.tensor<[s, b, 8], f32>) -> !weft.tensor<[b * s, 8], f32>
  %1 = weft.contract "... k, k n -> ... n" %fr, %v accumulate f32 : (!weft.tensor<[b * s, 8], f32>, !weft.tensor<[8, 4], f32>) -> !weft.tensor<[b * s, 4], f32>
  return %0, %1 : !weft.tensor<[b * s, 4], i32>, !weft.tensor<[b * s, 4], f32>
}

// What is computed in front of an exchange that does not read it lies where the caller wants it; what ranks exchange is copied there.
// CHECK-LABEL: func.func @early
// CHECK:         %[[E:.*]] = weft.kernel "loop"(%arg0)
// CHECK:         %[[A:.*]] = weft.all_reduce sum %arg1
// CHECK-NOT:     weft.kernel
// CHECK:         return %[[E]], %[[A]]
// CHECK-LABEL: func.func @exchanged
// CHECK:         %[[E:.*]] = weft.kernel "loop"(%arg0)
// CHECK:         %[[A:.*]] = weft.all_reduce sum %[[E]]
// CHECK:         %[[C:.*]] = weft.kernel "loop"(%[[E]])
// CHECK:         return %[[C]], %[[A]]
func.func @early(%x: !weft.tensor<[n, 4], f32>, %y: !weft.tensor<[n, 4], f32>) -> (!weft.tensor<[n, 4], f32>, !weft.tensor<[n, 4], f32>) attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %e = weft.exp %x : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %a = weft.all_reduce sum %y over<tp = 2> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  return %e, %a : !weft.tensor<[n, 4], f32>, !weft.tensor<[n, 4], f32>
}
func.func @exchanged(%x: !weft.tensor<[n, 4], f32>) -> (!weft.tensor<[n, 4], f32>, !weft.tensor<[n, 4], f32>) attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %e = weft.exp %x : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %a = weft.all_reduce sum %e over<tp = 2> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  return %e, %a : !weft.tensor<[n, 4], f32>, !weft.tensor<[n, 4], f32>
}
