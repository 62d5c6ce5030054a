// RUN: weft-opt %s --weft-use-integers=shorts | FileCheck %s
// RUN: weft-opt %s --weft-use-integers | FileCheck %s --check-prefix=NONE
// NONE-NOT: accumulate i32

// Rows of 16 bits times bytes: 600 products with the largest weight that no row makes overflow, 32768 * 109 * 600 < 2^31.
// CHECK-LABEL: func @fits
// CHECK: %[[SUM:.*]] = weft.contract "m k, k n -> m n" %arg0, %{{.*}} accumulate i32
// CHECK: %[[REAL:.*]] = weft.convert %[[SUM]] to f32
// CHECK: weft.mul
// CHECK: weft.mul
func.func @fits(%x: !weft.tensor<[m, 600], i16>, %s: !weft.tensor<[m, 1], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %z = weft.fill 0 : i16 -> <[], i16>
  %w = weft.constant dense<109> : tensor<600x2xi8> -> !weft.tensor<[600, 2], i8>
  %t = weft.fill 0.5 : f32 -> <[], f32>
  %zw = weft.fill 0 : i8 -> <[], i8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 600], i16>, !weft.tensor<[m, 1], f32>, !weft.tensor<[], i16>) -> !weft.tensor<[m, 600], f32>
  %b = weft.dequantize %w, %t, %zw : (!weft.tensor<[600, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[600, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 600], f32>, !weft.tensor<[600, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// One more, and a row of the least number would overflow.
// CHECK-LABEL: func @overflows
// CHECK: weft.contract {{.*}} accumulate f32
func.func @overflows(%x: !weft.tensor<[m, 600], i16>, %s: !weft.tensor<[m, 1], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %z = weft.fill 0 : i16 -> <[], i16>
  %w = weft.constant dense<110> : tensor<600x2xi8> -> !weft.tensor<[600, 2], i8>
  %t = weft.fill 0.5 : f32 -> <[], f32>
  %zw = weft.fill 0 : i8 -> <[], i8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 600], i16>, !weft.tensor<[m, 1], f32>, !weft.tensor<[], i16>) -> !weft.tensor<[m, 600], f32>
  %b = weft.dequantize %w, %t, %zw : (!weft.tensor<[600, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[600, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 600], f32>, !weft.tensor<[600, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// A zero point would need the sums of the weight times more than 16 bits.
// CHECK-LABEL: func @zero_point
// CHECK: weft.contract {{.*}} accumulate f32
func.func @zero_point(%x: !weft.tensor<[m, 4], i16>, %s: !weft.tensor<[m, 1], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %z = weft.fill 3 : i16 -> <[], i16>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %t = weft.fill 0.5 : f32 -> <[], f32>
  %zw = weft.fill 0 : i8 -> <[], i8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 4], i16>, !weft.tensor<[m, 1], f32>, !weft.tensor<[], i16>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %t, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Of a rank's part the whole weight says how large sums get.
// CHECK-LABEL: func @part
// CHECK: weft.contract {{.*}} accumulate i32
func.func @part(%x: !weft.tensor<[m, 4], i16>, %s: !weft.tensor<[m, 1], f32>) -> !weft.tensor<[m, 1], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %z = weft.fill 0 : i16 -> <[], i16>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %p = weft.slice %w from [0, 1] size [4, 1] step [1, 1] : (!weft.tensor<[4, 2], i8>) -> !weft.tensor<[4, 1], i8>
  %t = weft.fill 0.5 : f32 -> <[], f32>
  %zw = weft.fill 0 : i8 -> <[], i8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 4], i16>, !weft.tensor<[m, 1], f32>, !weft.tensor<[], i16>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %p, %t, %zw : (!weft.tensor<[4, 1], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 1], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 1], f32>) -> !weft.tensor<[m, 1], f32>
  return %y : !weft.tensor<[m, 1], f32>
}
