// RUN: weft-opt %s --weft-narrow-weights | FileCheck %s
// RUN: weft-opt %s --weft-narrow-weights=element=f16 --weft-form-kernels --weft-collapse-dims | FileCheck %s --check-prefix=KERNEL

// Only what a product reads is rounded, and its kernel reads the constant as it is.
// CHECK-LABEL: func @linear
// CHECK:         %[[W:.*]] = weft.constant
// CHECK:         %[[N:.*]] = weft.convert %[[W]] to bf16
// CHECK:         %[[R:.*]] = weft.convert %[[N]] to f32
// CHECK:         weft.contract "... k, k n -> ... n" %{{.*}}, %[[R]]
// CHECK:         weft.add %[[W]], %[[W]]
// KERNEL-LABEL: func @linear
// KERNEL:         weft.kernel "contraction"(%{{.*}}, %[[W:.*]]) : (!weft.tensor<[b*s, 2], f32>, !weft.tensor<[2, 2], f32>)
// KERNEL:           weft.convert %{{.*}} to f16
// KERNEL:           weft.convert %{{.*}} to f32
func.func @linear(%x: !weft.tensor<[b, s, 2], f32>) -> (!weft.tensor<[b, s, 2], f32>, !weft.tensor<[2, 2], f32>) attributes {weft.symbols = #weft.symbols<b, s>} {
  %w = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> !weft.tensor<[2, 2], f32>
  %0 = weft.contract "... k, k n -> ... n" %x, %w accumulate f32 : (!weft.tensor<[b, s, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[b, s, 2], f32>
  %1 = weft.add %w, %w : (!weft.tensor<[2, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[2, 2], f32>
  return %0, %1 : !weft.tensor<[b, s, 2], f32>, !weft.tensor<[2, 2], f32>
}
