// RUN: weft-opt %s --weft-round-storage --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-round-storage=element=f16 --split-input-file | FileCheck %s --check-prefix=HALF
// RUN: weft-opt %s --weft-round-storage=keep=/layer/Second --split-input-file | FileCheck %s --check-prefix=KEEP
// RUN: weft-opt %s --weft-round-storage --weft-form-kernels --split-input-file | FileCheck %s --check-prefix=KERNEL
// RUN: not weft-opt %s --weft-round-storage=keep=a[] --split-input-file 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN: error: pattern 'a[]': invalid glob pattern

// What a product, a normalisation and a sum read lies in memory once, rounded; what is read in the kernel that computes it is not, nor are results.
// CHECK-LABEL: func @residual
// CHECK:         %[[S:.*]] = weft.contract
// CHECK-NEXT:    %[[G:.*]] = weft.activation gelu %[[S]]
// CHECK-NEXT:    %[[R:.*]] = weft.convert %[[G]] to bf16
// CHECK-NEXT:    %[[W:.*]] = weft.convert %[[R]] to f32
// CHECK-NEXT:    weft.contract {{.*}} %[[R]], %
// CHECK-NEXT:    weft.add %{{.*}}, %[[W]]
// CHECK-NOT:     weft.convert
// CHECK:         return
// HALF-LABEL:  func @residual
// HALF:          weft.convert %{{.*}} to f16
// KERNEL-LABEL: func @residual
// KERNEL:         weft.kernel "contraction"({{.*}}) : ({{.*}}) -> !weft.tensor<[m, 4], bf16>
// KERNEL:           weft.activation
// KERNEL-NEXT:      weft.convert
// KERNEL:         weft.kernel "contraction"({{.*}}) : ({{.*}}bf16>{{.*}}) -> !weft.tensor<[m, 4], f32>
// KERNEL:           weft.convert %{{.*}} to f32
// KERNEL:           weft.add
// KERNEL-NOT:     weft.kernel
// KERNEL:         return
func.func @residual(%x: !weft.tensor<[m, 4], bf16>, %v: !weft.tensor<[4, 4], bf16>) -> !weft.tensor<[m, 4], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %0 = weft.contract "m k, k n -> m n" %x, %v accumulate f32 : (!weft.tensor<[m, 4], bf16>, !weft.tensor<[4, 4], bf16>) -> !weft.tensor<[m, 4], f32>
  %1 = weft.activation gelu %0 : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %2 = weft.convert %1 to bf16 : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], bf16>
  %3 = weft.contract "m k, k n -> m n" %2, %v accumulate f32 : (!weft.tensor<[m, 4], bf16>, !weft.tensor<[4, 4], bf16>) -> !weft.tensor<[m, 4], f32>
  %4 = weft.add %3, %1 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32>
  return %4 : !weft.tensor<[m, 4], f32>
}

// -----

// Views move what is rounded, so they stay names of it.
// CHECK-LABEL: func @moved
// CHECK:         %[[R:.*]] = weft.convert %{{.*}} to bf16
// CHECK-NEXT:    %[[V:.*]] = weft.reshape %[[R]] to [8] : {{.*}} -> !weft.tensor<[8], bf16>
// CHECK-NEXT:    %[[W:.*]] = weft.convert %[[V]] to f32
// CHECK-NEXT:    weft.neg %[[W]]
// KERNEL-LABEL: func @moved
// KERNEL:         weft.kernel "contraction"({{.*}}) : ({{.*}}) -> !weft.tensor<[2, 4], bf16>
// KERNEL:         weft.kernel "loop"({{.*}}) : (!weft.tensor<[8], bf16>) -> !weft.tensor<[8], f32>
func.func @moved(%x: !weft.tensor<[2, 4], f32>, %v: !weft.tensor<[4, 4], f32>) -> !weft.tensor<[8], f32> attributes {weft.symbols = #weft.symbols<>} {
  %0 = weft.contract "m k, k n -> m n" %x, %v accumulate f32 : (!weft.tensor<[2, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[2, 4], f32>
  %1 = weft.reshape %0 to [8] : (!weft.tensor<[2, 4], f32>) -> !weft.tensor<[8], f32>
  %2 = weft.neg %1 : (!weft.tensor<[8], f32>) -> !weft.tensor<[8], f32>
  return %2 : !weft.tensor<[8], f32>
}

// -----

// Windows are computed of 16 bits, with their filters; what they give in 16 bits is widened in the same kernel.
// CHECK-LABEL: func @windows
// CHECK:         %[[F:.*]] = weft.convert %{{.*}} to bf16 : (!weft.tensor<[4, 1, 3], f32>)
// CHECK:         %[[A:.*]] = weft.convert %{{.*}} to bf16 : (!weft.tensor<[n, 4, 5], f32>)
// CHECK:         %[[P:.*]] = weft.pool max %[[A]] {{.*}} -> !weft.tensor<[n, 4, 5], bf16>
// CHECK:         weft.conv %{{.*}}, %[[F]] {{.*}} groups 4 accumulate f32 : {{.*}} -> !weft.tensor<[n, 4, 5], f32>
// KERNEL-LABEL: func @windows
// KERNEL:         weft.kernel "window"({{.*}}) : ({{.*}}) -> !weft.tensor<[n, 4, 5], bf16>
// KERNEL:         weft.kernel "window"({{.*}}) : (!weft.tensor<[n, 4, 5], bf16>) -> !weft.tensor<[n, 4, 5], bf16>
// KERNEL:           weft.pool
// KERNEL:         weft.kernel "window"({{.*}}) : (!weft.tensor<[n, 4, 5], bf16>{{.*}}) -> !weft.tensor<[n, 4, 5], f32>
// KERNEL-NOT:     weft.kernel
// KERNEL:         return
func.func @windows(%x: !weft.tensor<[n, 4, 5], f32>) -> !weft.tensor<[n, 4, 5], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %f = weft.constant dense<0.1> : tensor<4x1x3xf32> -> !weft.tensor<[4, 1, 3], f32>
  %0 = weft.conv %x, %f strides [1] dilations [1] low [1] high [1] groups 4 accumulate f32 : (!weft.tensor<[n, 4, 5], f32>, !weft.tensor<[4, 1, 3], f32>) -> !weft.tensor<[n, 4, 5], f32>
  %1 = weft.pool max %0 kernel [3] strides [1] dilations [1] low [1] high [1] : (!weft.tensor<[n, 4, 5], f32>) -> !weft.tensor<[n, 4, 5], f32>
  %2 = weft.conv %1, %f strides [1] dilations [1] low [1] high [1] groups 4 accumulate f32 : (!weft.tensor<[n, 4, 5], f32>, !weft.tensor<[4, 1, 3], f32>) -> !weft.tensor<[n, 4, 5], f32>
  return %2 : !weft.tensor<[n, 4, 5], f32>
}

// -----

// Means, masks, results of the function, and what a product of f32 or an operator with loops of its own reads stay as they are.
// CHECK-LABEL: func @others
// CHECK-NOT:     weft.convert %{{.*}} to bf16
// CHECK:         return
func.func @others(%x: !weft.tensor<[m, 4], f32>, %v: !weft.tensor<[4, 4], f32>, %k: !weft.tensor<[4, 1], i1>) -> (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>, !weft.tensor<[4, 4], f32>, !weft.tensor<[m, 4], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %0 = weft.contract "m k, k n -> m n" %x, %v accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %1 = weft.contract "m k, k n -> m n" %0, %v accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %2 = weft.reduce sum %v [0] : (!weft.tensor<[4, 4], f32>) -> !weft.tensor<[4], f32>
  %3 = weft.mul %v, %2 : (!weft.tensor<[4, 4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[4, 4], f32>
  %zero = weft.fill 0.0 : f32 -> !weft.tensor<[], f32>
  %low = weft.fill -3.40282347E+38 : f32 -> !weft.tensor<[], f32>
  %4 = weft.select %k, %zero, %low : (!weft.tensor<[4, 1], i1>, !weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[4, 1], f32>
  %5 = weft.add %v, %4 : (!weft.tensor<[4, 4], f32>, !weft.tensor<[4, 1], f32>) -> !weft.tensor<[4, 4], f32>
  %6 = weft.neg %x : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %7 = weft.cumulate sum %6 axis 0 : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32>
  return %1, %3, %5, %7 : !weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>, !weft.tensor<[4, 4], f32>, !weft.tensor<[m, 4], f32>
}

// -----

// What a kept node reads stays, whoever reads it, too.
// CHECK-LABEL: func @kept
// CHECK:         weft.convert %{{.*}} to bf16
// KEEP-LABEL:  func @kept
// KEEP-NOT:      weft.convert
// KEEP:          return
func.func @kept(%x: !weft.tensor<[n, 4, 5], f32>) -> (!weft.tensor<[n, 4, 5], f32>, !weft.tensor<[n, 4, 5], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  %f = weft.constant dense<0.1> : tensor<4x4x3xf32> -> !weft.tensor<[4, 4, 3], f32>
  %0 = weft.conv %x, %f strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 : (!weft.tensor<[n, 4, 5], f32>, !weft.tensor<[4, 4, 3], f32>) -> !weft.tensor<[n, 4, 5], f32>
  %1 = weft.conv %0, %f strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 : (!weft.tensor<[n, 4, 5], f32>, !weft.tensor<[4, 4, 3], f32>) -> !weft.tensor<[n, 4, 5], f32> loc("node '/layer/Second' (Conv)")
  %2 = weft.conv %0, %f strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 : (!weft.tensor<[n, 4, 5], f32>, !weft.tensor<[4, 4, 3], f32>) -> !weft.tensor<[n, 4, 5], f32>
  return %1, %2 : !weft.tensor<[n, 4, 5], f32>, !weft.tensor<[n, 4, 5], f32>
}
