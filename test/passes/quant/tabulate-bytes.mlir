// RUN: weft-opt %s --weft-tabulate-bytes | FileCheck %s

// x * sigmoid(x) with bytes between is one table: 0 at the zero point, nothing below it, x far above.
// CHECK-LABEL: func @silu
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, n], ui8>)
// CHECK:         %[[T:.*]] = weft.constant dense<"0x{{[0-9A-F]+}}"> : tensor<256xui8>
// CHECK-NEXT:    %[[Y:.*]] = weft.look_up %[[X]], %[[T]]
// CHECK-NEXT:    return %[[Y]]
func.func @silu(%x: !weft.tensor<[m, n], ui8>) -> !weft.tensor<[m, n], ui8> attributes {weft.symbols = #weft.symbols<m, n>} {
  %s = weft.fill 5.000000e-01 : f32 -> <[], f32>
  %z = weft.fill 128 : ui8 -> <[], ui8>
  %t = weft.fill 3.906250e-03 : f32 -> <[], f32>
  %u = weft.fill 0 : ui8 -> <[], ui8>
  %0 = weft.dequantize %x, %s, %z : (!weft.tensor<[m, n], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, n], f32>
  %1 = weft.activation sigmoid %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %2 = weft.quantize %1, %t, %u : (!weft.tensor<[m, n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, n], ui8>
  %3 = weft.dequantize %2, %t, %u : (!weft.tensor<[m, n], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, n], f32>
  %4 = weft.mul %0, %3 : (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %5 = weft.quantize %4, %s, %z : (!weft.tensor<[m, n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, n], ui8>
  return %5 : !weft.tensor<[m, n], ui8>
}

// Two roundings are cheaper than 256 bytes where each is loaded by itself.
// CHECK-LABEL: func @cheap
// CHECK-NOT:     weft.look_up
// CHECK:         return
func.func @cheap(%x: !weft.tensor<[n], i8>) -> !weft.tensor<[n], i8> attributes {weft.symbols = #weft.symbols<n>} {
  %s = weft.fill 5.000000e-01 : f32 -> <[], f32>
  %t = weft.fill 2.500000e-01 : f32 -> <[], f32>
  %z = weft.fill 0 : i8 -> <[], i8>
  %0 = weft.dequantize %x, %s, %z : (!weft.tensor<[n], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[n], f32>
  %1 = weft.quantize %0, %t, %z : (!weft.tensor<[n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[n], i8>
  return %1 : !weft.tensor<[n], i8>
}

// Two tensors of bytes are no function of one, and neither is what has a scale for each column.
// CHECK-LABEL: func @others
// CHECK-NOT:     weft.look_up
// CHECK:         return
func.func @others(%x: !weft.tensor<[m, n], ui8>, %y: !weft.tensor<[m, n], ui8>, %w: !weft.tensor<[n], f32>) -> (!weft.tensor<[m, n], ui8>, !weft.tensor<[m, n], ui8>)
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %s = weft.fill 5.000000e-01 : f32 -> <[], f32>
  %z = weft.fill 128 : ui8 -> <[], ui8>
  %0 = weft.dequantize %x, %s, %z : (!weft.tensor<[m, n], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, n], f32>
  %1 = weft.dequantize %y, %s, %z : (!weft.tensor<[m, n], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, n], f32>
  %2 = weft.activation sigmoid %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %3 = weft.activation sigmoid %1 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %4 = weft.mul %2, %3 : (!weft.tensor<[m, n], f32>, !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %5 = weft.quantize %4, %s, %z : (!weft.tensor<[m, n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, n], ui8>
  %6 = weft.mul %2, %w : (!weft.tensor<[m, n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f32>
  %7 = weft.quantize %6, %s, %z : (!weft.tensor<[m, n], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, n], ui8>
  return %5, %7 : !weft.tensor<[m, n], ui8>, !weft.tensor<[m, n], ui8>
}
