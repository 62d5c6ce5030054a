// RUN: weft-opt %s --weft-form-kernels --weft-fuse-rounding | FileCheck %s

// Inside a kernel a real is rounded in place; what leaves it is an integer.
// CHECK-LABEL: func @rounded
// CHECK:         weft.kernel
// CHECK:           %[[F:.*]] = weft.fake_quantize %[[X:.*]], %[[S:.*]], %[[Z:.*]], %[[T:.*]] :
// CHECK:           %[[E:.*]] = weft.exp %[[F]]
// CHECK:           %[[Q:.*]] = weft.quantize %[[E]]
// CHECK:           weft.yield %[[Q]]
func.func @rounded(%x: !weft.tensor<[n], f32>, %s: !weft.tensor<[], f32>, %t: !weft.tensor<[], f32>, %z: !weft.tensor<[], ui8>) -> !weft.tensor<[n], ui8>
    attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.quantize %x, %s, %z : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n], ui8>
  %1 = weft.dequantize %0, %t, %z : (!weft.tensor<[n], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n], f32>
  %2 = weft.exp %1 : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %3 = weft.quantize %2, %s, %z : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n], ui8>
  return %3 : !weft.tensor<[n], ui8>
}

// A sum multiplies the rounded operand with its step: one rounding less, and one operation.
// CHECK-LABEL: func @added
// CHECK:         %[[ONE:.*]] = weft.fill 1.0
// CHECK:         %[[F:.*]] = weft.fake_quantize %{{.*}}, %{{.*}}, %{{.*}}, %[[ONE]] :
// CHECK:         %[[Y:.*]] = weft.multiply_add %[[F]], %[[T:.*]], %{{.*}} :
// CHECK-NOT:     weft.add
// CHECK:         weft.yield %[[Y]]
func.func @added(%x: !weft.tensor<[n], f32>, %y: !weft.tensor<[n], f32>, %s: !weft.tensor<[], f32>, %t: !weft.tensor<[], f32>, %z: !weft.tensor<[], ui8>) -> !weft.tensor<[n], f32>
    attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.quantize %x, %s, %z : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n], ui8>
  %1 = weft.dequantize %0, %t, %z : (!weft.tensor<[n], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n], f32>
  %2 = weft.add %y, %1 : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  return %2 : !weft.tensor<[n], f32>
}
