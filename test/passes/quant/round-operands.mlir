// RUN: weft-opt %s --weft-round-operands --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-round-operands=element=f16 --split-input-file | FileCheck %s --check-prefix=HALF
// RUN: weft-opt %s --weft-round-operands=keep=/layer/Second,none --split-input-file | FileCheck %s --check-prefix=KEEP
// RUN: weft-opt %s --weft-round-operands --weft-fold-moves --weft-form-kernels --split-input-file | FileCheck %s --check-prefix=KERNEL
// RUN: not weft-opt %s --weft-round-operands=keep=a[] --split-input-file 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN: error: pattern 'a[]': invalid glob pattern

// A value is rounded once for all products that read it; what else reads it, sums and results stay.
// CHECK-LABEL: func @twice
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, 4], f32>, %[[V:.*]]: !weft.tensor<[4, 4], f32>)
// CHECK-DAG:     %[[XR:.*]] = weft.convert %[[X]] to bf16
// CHECK-DAG:     %[[VR:.*]] = weft.convert %[[V]] to bf16
// CHECK-NOT:     weft.convert
// CHECK:         weft.contract "m k, k n -> m n" %[[XR]], %[[VR]] accumulate f32 : {{.*}} -> !weft.tensor<[m, 4], f32>
// CHECK:         weft.contract "m k, n k -> m n" %[[XR]], %[[VR]] accumulate f32 : {{.*}} -> !weft.tensor<[m, 4], f32>
// CHECK:         weft.add %{{.*}}, %[[X]]
// HALF-LABEL:  func @twice
// HALF-COUNT-2:  weft.convert %{{.*}} to f16
// HALF-NOT:      weft.convert
// HALF:          (!weft.tensor<[m, 4], f16>, !weft.tensor<[4, 4], f16>) -> !weft.tensor<[m, 4], f32>
// A product is kept by the name of its node.
// KEEP-LABEL:  func @twice
// KEEP-SAME:     (%[[X:.*]]: !weft.tensor<[m, 4], f32>, %[[V:.*]]: !weft.tensor<[4, 4], f32>)
// KEEP:          weft.contract "m k, k n -> m n" %{{.*}} : (!weft.tensor<[m, 4], bf16>, !weft.tensor<[4, 4], bf16>)
// KEEP:          weft.contract "m k, n k -> m n" %[[X]], %[[V]] accumulate f32
func.func @twice(%x: !weft.tensor<[m, 4], f32>, %v: !weft.tensor<[4, 4], f32>) -> (!weft.tensor<[m, 4], f32>, !weft.tensor<[m, 4], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %0 = weft.contract "m k, k n -> m n" %x, %v accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32> loc("node '/layer/First' (MatMul)")
  %1 = weft.contract "m k, n k -> m n" %x, %v accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32> loc("node '/layer/Second' (Gemm)")
  %2 = weft.add %1, %x : (!weft.tensor<[m, 4], f32>, !weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32>
  return %0, %2 : !weft.tensor<[m, 4], f32>, !weft.tensor<[m, 4], f32>
}

// -----

// Rounded where it is computed, in front of what splits off heads and repeats them; that moves rounded elements, and nothing else remains.
// The kernel that computes the value gives it in 16 bits.
// CHECK-LABEL: func @above_views
// CHECK:         %[[N:.*]] = weft.neg
// CHECK-NEXT:    %[[R:.*]] = weft.convert %[[N]] to bf16
// CHECK-NEXT:    %[[S:.*]] = weft.reshape %[[R]] to [s, 2, 1, 8] : {{.*}} -> !weft.tensor<[s, 2, 1, 8], bf16>
// CHECK-NEXT:    %[[E:.*]] = weft.expand %[[S]] to [s, 2, 3, 8] : {{.*}} -> !weft.tensor<[s, 2, 3, 8], bf16>
// CHECK-NEXT:    %[[T:.*]] = weft.transpose %[[E]] [1, 2, 0, 3] : {{.*}} -> !weft.tensor<[2, 3, s, 8], bf16>
// CHECK-NEXT:    weft.contract "h r t d, h r s d -> h r t s" %{{.*}}, %[[T]] accumulate f32
// KERNEL-LABEL: func @above_views
// KERNEL:         weft.kernel "loop"({{.*}}) : (!weft.tensor<[s, 16], f32>) -> !weft.tensor<[s, 16], bf16>
// KERNEL:           weft.neg
// KERNEL:           weft.convert
// KERNEL-NOT:     weft.kernel "loop"({{.*}}) : (!weft.tensor<[s
func.func @above_views(%x: !weft.tensor<[s, 16], f32>, %q: !weft.tensor<[2, 3, t, 8], f32>) -> !weft.tensor<[2, 3, t, s], f32> attributes {weft.symbols = #weft.symbols<s, t>} {
  %0 = weft.neg %x : (!weft.tensor<[s, 16], f32>) -> !weft.tensor<[s, 16], f32>
  %1 = weft.reshape %0 to [s, 2, 1, 8] : (!weft.tensor<[s, 16], f32>) -> !weft.tensor<[s, 2, 1, 8], f32>
  %2 = weft.expand %1 to [s, 2, 3, 8] : (!weft.tensor<[s, 2, 1, 8], f32>) -> !weft.tensor<[s, 2, 3, 8], f32>
  %3 = weft.transpose %2 [1, 2, 0, 3] : (!weft.tensor<[s, 2, 3, 8], f32>) -> !weft.tensor<[2, 3, s, 8], f32>
  %4 = weft.contract "h r t d, h r s d -> h r t s" %q, %3 accumulate f32 : (!weft.tensor<[2, 3, t, 8], f32>, !weft.tensor<[2, 3, s, 8], f32>) -> !weft.tensor<[2, 3, t, s], f32>
  return %4 : !weft.tensor<[2, 3, t, s], f32>
}

// -----

// What is a part of a value is rounded by itself: the rest need not be.
// CHECK-LABEL: func @part
// CHECK:         %[[P:.*]] = weft.slice %{{.*}} -> !weft.tensor<[m, 4], f32>
// CHECK:         %[[R:.*]] = weft.convert %[[P]] to bf16
// CHECK:         weft.contract {{.*}} %[[R]], %
func.func @part(%x: !weft.tensor<[m, 9], f32>, %v: !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %0 = weft.slice %x from [0, 5] size [m, 4] step [1, 1] : (!weft.tensor<[m, 9], f32>) -> !weft.tensor<[m, 4], f32>
  %1 = weft.contract "m k, k n -> m n" %0, %v accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32>
  return %1 : !weft.tensor<[m, 4], f32>
}

// -----

// What a conversion made wide is read as it was; the kernel of the product reads a constant as it is stored.
// CHECK-LABEL: func @widened
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, 2], bf16>)
// CHECK:         %[[W:.*]] = weft.constant
// CHECK:         %[[WR:.*]] = weft.convert %[[W]] to bf16
// CHECK:         weft.contract {{.*}} %[[X]], %[[WR]]
// HALF-LABEL:  func @widened
// HALF-SAME:     (%[[X:.*]]: !weft.tensor<[m, 2], bf16>)
// HALF:          %[[WIDE:.*]] = weft.convert %[[X]] to f32
// HALF:          weft.convert %[[WIDE]] to f16
// KERNEL-LABEL: func @widened
// KERNEL:         weft.kernel "contraction"({{.*}}) : (!weft.tensor<[m, 2], bf16>, !weft.tensor<[2, 2], f32>)
// KERNEL:           weft.convert
func.func @widened(%x: !weft.tensor<[m, 2], bf16>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> !weft.tensor<[2, 2], f32>
  %0 = weft.convert %x to f32 : (!weft.tensor<[m, 2], bf16>) -> !weft.tensor<[m, 2], f32>
  %1 = weft.contract "m k, k n -> m n" %0, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %1 : !weft.tensor<[m, 2], f32>
}

// -----

// Operands that integers stand for are not rounded again, nor is what they are multiplied with: in blocks, all of one scale, seen through a view.
// CHECK-LABEL: func @quantised
// CHECK-NOT:     weft.convert
// CHECK:         return
func.func @quantised(%x: !weft.tensor<[m, 32], f32>, %p: !weft.tensor<[32, m], ui8>, %q: !weft.tensor<[8, 32], i8>, %s: !weft.tensor<[8, 2], f32>, %t: !weft.tensor<[], f32>, %z: !weft.tensor<[], ui8>)
    -> (!weft.tensor<[m, 8], f32>, !weft.tensor<[m, m], f32>, !weft.tensor<[m, m], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.dequantize_blocks %q, %s axis 1 block 16 : (!weft.tensor<[8, 32], i8>, !weft.tensor<[8, 2], f32>) -> !weft.tensor<[8, 32], f32>
  %0 = weft.contract "m k, n k -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 32], f32>, !weft.tensor<[8, 32], f32>) -> !weft.tensor<[m, 8], f32>
  %a = weft.dequantize %p, %t, %z : (!weft.tensor<[32, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[32, m], f32>
  %b = weft.transpose %a [1, 0] : (!weft.tensor<[32, m], f32>) -> !weft.tensor<[m, 32], f32>
  %1 = weft.contract "m k, n k -> m n" %x, %b accumulate f32 : (!weft.tensor<[m, 32], f32>, !weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, m], f32>
  %r = weft.round_blocks %x block 16 : (!weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, 32], f32>
  %2 = weft.contract "m k, n k -> m n" %r, %x accumulate f32 : (!weft.tensor<[m, 32], f32>, !weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, m], f32>
  return %0, %1, %2 : !weft.tensor<[m, 8], f32>, !weft.tensor<[m, m], f32>, !weft.tensor<[m, m], f32>
}

// -----

// Of a single row, of an even number of columns, or of columns apart no pairs are made.
// CHECK-LABEL: func @unpaired
// CHECK-NOT:     weft.convert
// CHECK:         return
func.func @unpaired(%i: !weft.tensor<[1, 3, 9, 9], f32>, %j: !weft.tensor<[1, 1, 9], f32>, %f: !weft.tensor<[2, 3, 1, 3], f32>, %g: !weft.tensor<[2, 3, 4, 4], f32>, %h: !weft.tensor<[2, 3, 3, 3], f32>, %k: !weft.tensor<[2, 1, 5], f32>)
    -> (!weft.tensor<[1, 2, 9, 7], f32>, !weft.tensor<[1, 2, 6, 6], f32>, !weft.tensor<[1, 2, 7, 5], f32>, !weft.tensor<[1, 2, 5], f32>) {
  %0 = weft.conv %i, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32 : (!weft.tensor<[1, 3, 9, 9], f32>, !weft.tensor<[2, 3, 1, 3], f32>) -> !weft.tensor<[1, 2, 9, 7], f32>
  %1 = weft.conv %i, %g strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32 : (!weft.tensor<[1, 3, 9, 9], f32>, !weft.tensor<[2, 3, 4, 4], f32>) -> !weft.tensor<[1, 2, 6, 6], f32>
  %2 = weft.conv %i, %h strides [1, 1] dilations [1, 2] low [0, 0] high [0, 0] groups 1 accumulate f32 : (!weft.tensor<[1, 3, 9, 9], f32>, !weft.tensor<[2, 3, 3, 3], f32>) -> !weft.tensor<[1, 2, 7, 5], f32>
  %3 = weft.conv %j, %k strides [1] dilations [1] low [0] high [0] groups 1 accumulate f32 : (!weft.tensor<[1, 1, 9], f32>, !weft.tensor<[2, 1, 5], f32>) -> !weft.tensor<[1, 2, 5], f32>
  return %0, %1, %2, %3 : !weft.tensor<[1, 2, 9, 7], f32>, !weft.tensor<[1, 2, 6, 6], f32>, !weft.tensor<[1, 2, 7, 5], f32>, !weft.tensor<[1, 2, 5], f32>
}

// -----

// The rows of an image's windows are short: what pairs are made of them is rounded.
// CHECK-LABEL: func @image
// CHECK-DAG:     weft.convert %{{.*}} to bf16 : (!weft.tensor<[2, 3, 3, 3], f32>)
// CHECK-DAG:     weft.convert %{{.*}} to bf16 : (!weft.tensor<[1, 3, 8, 8], f32>)
// CHECK:         weft.conv
func.func @image(%i: !weft.tensor<[1, 3, 8, 8], f32>, %f: !weft.tensor<[2, 3, 3, 3], f32>) -> !weft.tensor<[1, 2, 6, 6], f32> {
  %0 = weft.conv %i, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32 : (!weft.tensor<[1, 3, 8, 8], f32>, !weft.tensor<[2, 3, 3, 3], f32>) -> !weft.tensor<[1, 2, 6, 6], f32>
  return %0 : !weft.tensor<[1, 2, 6, 6], f32>
}

// -----

// Numbers and sums of wider floats stay as they are. So do convolutions that no unit computes faster: of channels that are odd in number,
// where a window's rows are too long to be put side by side, in groups, though a group has two, and along three dimensions.
// CHECK-LABEL: func @others
// CHECK-NOT:     weft.convert
// CHECK:         return
func.func @others(%x: !weft.tensor<[m, 4], f32>, %c: !weft.tensor<[], f32>, %d: !weft.tensor<[m, 4], f64>, %i: !weft.tensor<[1, 11, 8, 8], f32>, %f: !weft.tensor<[2, 11, 3, 3], f32>, %j: !weft.tensor<[1, 8, 4], f32>, %g: !weft.tensor<[8, 2, 3], f32>, %h: !weft.tensor<[8, 1, 3], f32>, %k: !weft.tensor<[1, 2, 4, 4, 4], f32>, %l: !weft.tensor<[2, 2, 1, 1, 1], f32>)
    -> (!weft.tensor<[m, 4], f32>, !weft.tensor<[m, m], f64>, !weft.tensor<[m, m], f64>, !weft.tensor<[1, 2, 6, 6], f32>, !weft.tensor<[1, 8, 2], f32>, !weft.tensor<[1, 8, 2], f32>, !weft.tensor<[1, 2, 4, 4, 4], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %0 = weft.contract "m k, -> m k" %x, %c accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[m, 4], f32>
  %1 = weft.contract "m k, n k -> m n" %d, %d accumulate f64 : (!weft.tensor<[m, 4], f64>, !weft.tensor<[m, 4], f64>) -> !weft.tensor<[m, m], f64>
  %2 = weft.contract "m k, n k -> m n" %x, %x accumulate f64 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, m], f64>
  %3 = weft.conv %i, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32 : (!weft.tensor<[1, 11, 8, 8], f32>, !weft.tensor<[2, 11, 3, 3], f32>) -> !weft.tensor<[1, 2, 6, 6], f32>
  %4 = weft.conv %j, %g strides [1] dilations [1] low [0] high [0] groups 4 accumulate f32 : (!weft.tensor<[1, 8, 4], f32>, !weft.tensor<[8, 2, 3], f32>) -> !weft.tensor<[1, 8, 2], f32>
  %5 = weft.conv %j, %h strides [1] dilations [1] low [0] high [0] groups 8 accumulate f32 : (!weft.tensor<[1, 8, 4], f32>, !weft.tensor<[8, 1, 3], f32>) -> !weft.tensor<[1, 8, 2], f32>
  %6 = weft.conv %k, %l strides [1, 1, 1] dilations [1, 1, 1] low [0, 0, 0] high [0, 0, 0] groups 1 accumulate f32 : (!weft.tensor<[1, 2, 4, 4, 4], f32>, !weft.tensor<[2, 2, 1, 1, 1], f32>) -> !weft.tensor<[1, 2, 4, 4, 4], f32>
  return %0, %1, %2, %3, %4, %5, %6 : !weft.tensor<[m, 4], f32>, !weft.tensor<[m, m], f64>, !weft.tensor<[m, m], f64>, !weft.tensor<[1, 2, 6, 6], f32>, !weft.tensor<[1, 8, 2], f32>, !weft.tensor<[1, 8, 2], f32>, !weft.tensor<[1, 2, 4, 4, 4], f32>
}

// -----

// What a branch or loop reads from around it is rounded there, once for all turns.
// CHECK-LABEL: func @inside
// CHECK-SAME:    (%[[X:[^:]*]]: {{.*}}, %[[V:[^:]*]]:
// CHECK:         %[[VR:.*]] = weft.convert %[[V]] to bf16
// CHECK:         weft.loop
// CHECK-NOT:       weft.convert %[[V]]
// CHECK:           weft.contract {{.*}}, %[[VR]]
func.func @inside(%x: !weft.tensor<[4, 4], f32>, %v: !weft.tensor<[4, 4], f32>) -> !weft.tensor<[4, 4], f32> attributes {weft.symbols = #weft.symbols<bound i : "i <= 3">} {
  %0 = weft.loop "i" trips [3] (%x) : (!weft.tensor<[4, 4], f32>) -> !weft.tensor<[4, 4], f32> {
  ^bb0(%now: !weft.tensor<[4, 4], f32>):
    %1 = weft.contract "m k, k n -> m n" %now, %v accumulate f32 : (!weft.tensor<[4, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[4, 4], f32>
    weft.yield %1 : !weft.tensor<[4, 4], f32>
  }
  return %0 : !weft.tensor<[4, 4], f32>
}

// -----

// Convolutions are rounded as products are, along one dimension or more, but those that are kept. What lies between two is rounded once, behind
// the activation, also for the product; the kernel of the first one stores it so, beside the f32 that the sum reads, and reads its filter as it is.
// CHECK-LABEL: func @convolutions
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[n, 5, 4], f32>)
// CHECK:         %[[XR:.*]] = weft.convert %[[X]] to bf16
// CHECK:         %[[F:.*]] = weft.constant
// CHECK:         %[[FR:.*]] = weft.convert %[[F]] to bf16
// CHECK:         weft.conv %[[XR]], %[[FR]] {{.*}} accumulate f32 {channels_last} : {{.*}} -> !weft.tensor<[n, 5, 4], f32>
// CHECK:         %[[R:.*]] = weft.activation
// CHECK-NEXT:    %[[RR:.*]] = weft.convert %[[R]] to bf16
// CHECK-NEXT:    weft.conv %[[RR]], %[[FR]]
// CHECK-NEXT:    weft.contract {{.*}} %[[RR]], %
// CHECK-NEXT:    weft.add %{{.*}}, %[[R]]
// HALF-LABEL:  func @convolutions
// HALF:          weft.conv %{{.*}} : (!weft.tensor<[n, 5, 4], f16>, !weft.tensor<[4, 4, 3], f16>) -> !weft.tensor<[n, 5, 4], f32>
// KEEP-LABEL:  func @convolutions
// KEEP:          weft.conv %{{.*}} : (!weft.tensor<[n, 5, 4], bf16>, !weft.tensor<[4, 4, 3], bf16>)
// KEEP:          weft.conv %{{.*}} : (!weft.tensor<[n, 5, 4], f32>, !weft.tensor<[4, 4, 3], f32>)
// KERNEL-LABEL: func @convolutions
// KERNEL:         weft.kernel "loop"({{.*}}) : (!weft.tensor<[n, 5, 4], f32>) -> !weft.tensor<[n, 5, 4], bf16>
// KERNEL:         weft.kernel "window"({{.*}}) : (!weft.tensor<[n, 5, 4], bf16>) -> (!weft.tensor<[n, 5, 4], f32>, !weft.tensor<[n, 5, 4], bf16>)
// KERNEL:           weft.activation
// KERNEL-NEXT:      weft.convert
// KERNEL:         weft.kernel "window"({{.*}}) : (!weft.tensor<[n, 5, 4], bf16>, !weft.tensor<[n, 5, 4], f32>) -> !weft.tensor<[n, 5, 4], f32>
// KERNEL:         weft.kernel "contraction"({{.*}}) : (!weft.tensor<[n, 5, 4], bf16>) -> !weft.tensor<[n, 5, 2], f32>
func.func @convolutions(%x: !weft.tensor<[n, 5, 4], f32>) -> (!weft.tensor<[n, 5, 4], f32>, !weft.tensor<[n, 5, 2], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  %f = weft.constant dense<0.1> : tensor<4x4x3xf32> -> !weft.tensor<[4, 4, 3], f32>
  %w = weft.constant dense<0.1> : tensor<4x2xf32> -> !weft.tensor<[4, 2], f32>
  %0 = weft.conv %x, %f strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 {channels_last} : (!weft.tensor<[n, 5, 4], f32>, !weft.tensor<[4, 4, 3], f32>) -> !weft.tensor<[n, 5, 4], f32>
  %1 = weft.activation relu %0 : (!weft.tensor<[n, 5, 4], f32>) -> !weft.tensor<[n, 5, 4], f32>
  %2 = weft.conv %1, %f strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 {channels_last} : (!weft.tensor<[n, 5, 4], f32>, !weft.tensor<[4, 4, 3], f32>) -> !weft.tensor<[n, 5, 4], f32> loc("node '/layer/Second' (Conv)")
  %3 = weft.contract "n s c, c o -> n s o" %1, %w accumulate f32 : (!weft.tensor<[n, 5, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[n, 5, 2], f32>
  %4 = weft.add %2, %1 : (!weft.tensor<[n, 5, 4], f32>, !weft.tensor<[n, 5, 4], f32>) -> !weft.tensor<[n, 5, 4], f32>
  return %4, %3 : !weft.tensor<[n, 5, 4], f32>, !weft.tensor<[n, 5, 2], f32>
}

// -----

// What ranks give each other for products alone is rounded before, and its bytes are counted anew; what something else reads, too, is sent as it is.
// CHECK-LABEL: func @sent
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[{{.*}}, 4], f32>)
// CHECK:         %[[XR:.*]] = weft.convert %[[X]] to bf16
// CHECK:         %[[A:.*]] = weft.all_gather %[[XR]] dim 0 {{.*}}weft.because = "'a' needs all of what 'b' gives in parts: 16*n B by one rank"
// CHECK-NEXT:    weft.contract "m k, k n -> m n" %[[A]], %
// CHECK:         %[[B:.*]] = weft.all_gather %[[X]] dim 0
// CHECK-NEXT:    %[[BR:.*]] = weft.convert %[[B]] to bf16
// CHECK-NEXT:    weft.contract "m k, k n -> m n" %[[BR]], %
// CHECK-NEXT:    weft.add %{{.*}}, %[[B]]
func.func @sent(%x: !weft.tensor<[2*n, 4], f32>) -> (!weft.tensor<[4*n, 4], f32>, !weft.tensor<[4*n, 4], f32>) attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %w = weft.constant dense<0.1> : tensor<4x4xf32> -> !weft.tensor<[4, 4], f32>
  %0 = weft.all_gather %x dim 0 to [4*n] over<tp = 2> {weft.because = "'a' needs all of what 'b' gives in parts: 32*n B by one rank"} : (!weft.tensor<[2*n, 4], f32>) -> !weft.tensor<[4*n, 4], f32>
  %1 = weft.contract "m k, k n -> m n" %0, %w accumulate f32 : (!weft.tensor<[4*n, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[4*n, 4], f32>
  %2 = weft.all_gather %x dim 0 to [4*n] over<tp = 2> : (!weft.tensor<[2*n, 4], f32>) -> !weft.tensor<[4*n, 4], f32>
  %3 = weft.contract "m k, k n -> m n" %2, %w accumulate f32 : (!weft.tensor<[4*n, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[4*n, 4], f32>
  %4 = weft.add %3, %2 : (!weft.tensor<[4*n, 4], f32>, !weft.tensor<[4*n, 4], f32>) -> !weft.tensor<[4*n, 4], f32>
  return %1, %4 : !weft.tensor<[4*n, 4], f32>, !weft.tensor<[4*n, 4], f32>
}
