// RUN: weft-opt %s --weft-bound-numbers | FileCheck %s

// 63 is the largest number of 6 bits, and 31 of 5.
// CHECK-LABEL: func @six
// CHECK:         weft.dequantize_blocks {{.*}} {weft.number_bits = 6 : i64}
func.func @six() -> !weft.tensor<[2, 4], f32> {
  %q = weft.constant dense<[[63, 0, 1, 31], [32, 2, 3, 4]]> : tensor<2x4xui8> -> !weft.tensor<[2, 4], ui8>
  %s = weft.constant dense<0.5> : tensor<1x4xf16> -> !weft.tensor<[1, 4], f16>
  %w = weft.dequantize_blocks %q, %s axis 0 block 2 : (!weft.tensor<[2, 4], ui8>, !weft.tensor<[1, 4], f16>) -> !weft.tensor<[2, 4], f32>
  return %w : !weft.tensor<[2, 4], f32>
}

// A part of a weight, and what has another shape, is of the same numbers.
// CHECK-LABEL: func @five
// CHECK:         weft.dequantize_blocks {{.*}} {weft.number_bits = 5 : i64}
func.func @five() -> !weft.tensor<[2, 2], f32> {
  %all = weft.constant dense<[31, 0, 1, 2, 3, 4, 5, 6]> : tensor<8xui8> -> !weft.tensor<[8], ui8>
  %r = weft.reshape %all to [2, 4] : (!weft.tensor<[8], ui8>) -> !weft.tensor<[2, 4], ui8>
  %q = weft.slice %r from [0, 2] size [2, 2] step [1, 1] : (!weft.tensor<[2, 4], ui8>) -> !weft.tensor<[2, 2], ui8>
  %s = weft.constant dense<0.5> : tensor<1x2xf16> -> !weft.tensor<[1, 2], f16>
  %w = weft.dequantize_blocks %q, %s axis 0 block 2 : (!weft.tensor<[2, 2], ui8>, !weft.tensor<[1, 2], f16>) -> !weft.tensor<[2, 2], f32>
  return %w : !weft.tensor<[2, 2], f32>
}

// One number is larger, and who says otherwise is wrong.
// CHECK-LABEL: func @beyond
// CHECK-NOT:     weft.number_bits
func.func @beyond() -> !weft.tensor<[2, 2], f32> {
  %q = weft.constant dense<[[64, 0], [1, 2]]> : tensor<2x2xui8> -> !weft.tensor<[2, 2], ui8>
  %s = weft.constant dense<0.5> : tensor<1x2xf16> -> !weft.tensor<[1, 2], f16>
  %w = weft.dequantize_blocks %q, %s axis 0 block 2 {weft.number_bits = 6 : i64} : (!weft.tensor<[2, 2], ui8>, !weft.tensor<[1, 2], f16>) -> !weft.tensor<[2, 2], f32>
  return %w : !weft.tensor<[2, 2], f32>
}

// Of signed numbers, and of those that a call brings, nothing is known.
// CHECK-LABEL: func @others
// CHECK-NOT:     weft.number_bits
func.func @others(%x: !weft.tensor<[2, 2], ui8>) -> (!weft.tensor<[2, 2], f32>, !weft.tensor<[2, 2], f32>) {
  %q = weft.constant dense<[[1, 0], [1, 2]]> : tensor<2x2xi8> -> !weft.tensor<[2, 2], i8>
  %s = weft.constant dense<0.5> : tensor<1x2xf16> -> !weft.tensor<[1, 2], f16>
  %w = weft.dequantize_blocks %q, %s axis 0 block 2 : (!weft.tensor<[2, 2], i8>, !weft.tensor<[1, 2], f16>) -> !weft.tensor<[2, 2], f32>
  %v = weft.dequantize_blocks %x, %s axis 0 block 2 : (!weft.tensor<[2, 2], ui8>, !weft.tensor<[1, 2], f16>) -> !weft.tensor<[2, 2], f32>
  return %w, %v : !weft.tensor<[2, 2], f32>, !weft.tensor<[2, 2], f32>
}
