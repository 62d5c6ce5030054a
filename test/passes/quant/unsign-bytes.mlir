// RUN: weft-opt %s --weft-unsign-bytes | FileCheck %s

// The zero point is 128 larger in front of a product and behind; what is moved in between changes, too.
// CHECK-LABEL: func @product
// CHECK: %[[HALF:.*]] = weft.fill 128 : i32
// CHECK: %[[SUM:.*]] = weft.add %{{.*}}, %[[HALF]]
// CHECK: %[[ZERO:.*]] = weft.convert %[[SUM]] to ui8
// CHECK: %[[Q:.*]] = weft.quantize %arg0, %arg1, %[[ZERO]] : {{.*}} -> !weft.tensor<[2, m], ui8>
// CHECK: %[[T:.*]] = weft.transpose %[[Q]] [1, 0] : {{.*}} -> !weft.tensor<[m, 2], ui8>
// CHECK: weft.convert %{{.*}} to ui8
// CHECK: weft.dequantize %[[T]], %arg1, %{{.*}} : (!weft.tensor<[m, 2], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>)
func.func @product(%x: !weft.tensor<[2, m], f32>, %s: !weft.tensor<[], f32>, %z: !weft.tensor<[], i8>, %w: !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
    attributes {weft.symbols = #weft.symbols<m>} {
  %q = weft.quantize %x, %s, %z : (!weft.tensor<[2, m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[2, m], i8>
  %t = weft.transpose %q [1, 0] : (!weft.tensor<[2, m], i8>) -> !weft.tensor<[m, 2], i8>
  %a = weft.dequantize %t, %s, %z : (!weft.tensor<[m, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %y : !weft.tensor<[m, 3], f32>
}

// All that are put together change at once, also those that no product reads.
// CHECK-LABEL: func @together
// CHECK: %[[A:.*]] = weft.quantize %arg0, {{.*}} -> !weft.tensor<[m, 2], ui8>
// CHECK: %[[B:.*]] = weft.quantize %arg1, {{.*}} -> !weft.tensor<[m, 2], ui8>
// CHECK: %[[C:.*]] = weft.concat %[[A]], %[[B]] dim 1 : {{.*}} -> !weft.tensor<[m, 4], ui8>
// CHECK: weft.dequantize %[[C]]
// CHECK: weft.dequantize %[[A]]
func.func @together(%x: !weft.tensor<[m, 2], f32>, %y: !weft.tensor<[m, 2], f32>, %s: !weft.tensor<[], f32>, %z: !weft.tensor<[], i8>, %w: !weft.tensor<[4, 3], f32>)
    -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 2], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %a = weft.quantize %x, %s, %z : (!weft.tensor<[m, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], i8>
  %b = weft.quantize %y, %s, %z : (!weft.tensor<[m, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], i8>
  %c = weft.concat %a, %b dim 1 : (!weft.tensor<[m, 2], i8>, !weft.tensor<[m, 2], i8>) -> !weft.tensor<[m, 4], i8>
  %d = weft.dequantize %c, %s, %z : (!weft.tensor<[m, 4], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], f32>
  %e = weft.dequantize %a, %s, %z : (!weft.tensor<[m, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], f32>
  %p = weft.contract "m k, k n -> m n" %d, %w accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %p, %e : !weft.tensor<[m, 3], f32>, !weft.tensor<[m, 2], f32>
}

// What is given as bytes, or read by something else than a restoration, stays, and so does what no product reads.
// CHECK-LABEL: func @stays
// CHECK-NOT: ui8
func.func @stays(%x: !weft.tensor<[m, 2], f32>, %s: !weft.tensor<[], f32>, %z: !weft.tensor<[], i8>, %w: !weft.tensor<[2, 3], f32>)
    -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 2], i8>, !weft.tensor<[m, 2], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %q = weft.quantize %x, %s, %z : (!weft.tensor<[m, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], i8>
  %a = weft.dequantize %q, %s, %z : (!weft.tensor<[m, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %n = weft.neg %x : (!weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %r = weft.quantize %n, %s, %z : (!weft.tensor<[m, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], i8>
  %e = weft.dequantize %r, %s, %z : (!weft.tensor<[m, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 2], f32>
  return %y, %q, %e : !weft.tensor<[m, 3], f32>, !weft.tensor<[m, 2], i8>, !weft.tensor<[m, 2], f32>
}
