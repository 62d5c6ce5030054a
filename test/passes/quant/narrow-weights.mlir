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

// A rank's part of a constant is rounded as the whole is, and its kernel reads it where it is stored.
// CHECK-LABEL: func @part
// CHECK:         %[[W:.*]] = weft.slice %{{.*}} from [0, rank_tp] size [2, 1]
// CHECK:         weft.convert %[[W]] to bf16
// KERNEL-LABEL: func @part
// KERNEL:         %[[W:.*]] = weft.slice
// KERNEL:         weft.kernel "contraction"(%{{.*}}, %[[W]])
func.func @part(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 1], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m, rank_tp : "rank_tp <= 1">} {
  %all = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> !weft.tensor<[2, 2], f32>
  %w = weft.slice %all from [0, rank_tp] size [2, 1] step [1, 1] : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[2, 1], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 1], f32>) -> !weft.tensor<[m, 1], f32>
  return %y : !weft.tensor<[m, 1], f32>
}
