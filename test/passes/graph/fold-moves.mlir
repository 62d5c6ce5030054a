// RUN: weft-opt %s --weft-fold-moves | FileCheck %s

// Heads that are split off, multiplied and merged: no transpose is left.
// CHECK-LABEL: func @heads
// CHECK-NOT:     weft.transpose
// CHECK:         %[[S:.*]] = weft.contract "d0 d2 d1 d4, d0 d3 d1 d4 -> d0 d1 d2 d3" %{{.*}}, %{{.*}} accumulate f32
// CHECK:         weft.contract "d0 d2 d1 d4, d0 d4 d2 d3 -> d0 d1 d2 d3" %[[S]], %{{.*}} accumulate f32
func.func @heads(%q: !weft.tensor<[b, s, 3, 32], f32>, %k: !weft.tensor<[b, t, 3, 32], f32>, %v: !weft.tensor<[b, t, 3, 32], f32>)
    -> !weft.tensor<[b, s, 3, 32], f32> attributes {weft.symbols = #weft.symbols<b, s, t>} {
  %0 = weft.transpose %q [0, 2, 1, 3] : (!weft.tensor<[b, s, 3, 32], f32>) -> !weft.tensor<[b, 3, s, 32], f32>
  %1 = weft.transpose %k [0, 2, 3, 1] : (!weft.tensor<[b, t, 3, 32], f32>) -> !weft.tensor<[b, 3, 32, t], f32>
  %2 = weft.transpose %v [0, 2, 1, 3] : (!weft.tensor<[b, t, 3, 32], f32>) -> !weft.tensor<[b, 3, t, 32], f32>
  %3 = weft.contract "b h m k, b h k n -> b h m n" %0, %1 accumulate f32 : (!weft.tensor<[b, 3, s, 32], f32>, !weft.tensor<[b, 3, 32, t], f32>) -> !weft.tensor<[b, 3, s, t], f32>
  %4 = weft.contract "b h m k, b h k n -> b h m n" %3, %2 accumulate f32 : (!weft.tensor<[b, 3, s, t], f32>, !weft.tensor<[b, 3, t, 32], f32>) -> !weft.tensor<[b, 3, s, 32], f32>
  %5 = weft.transpose %4 [0, 2, 1, 3] : (!weft.tensor<[b, 3, s, 32], f32>) -> !weft.tensor<[b, s, 3, 32], f32>
  return %5 : !weft.tensor<[b, s, 3, 32], f32>
}

// A transpose of the innermost dimension stays: stores would be scattered. So does one of a value that is needed elsewhere.
// CHECK-LABEL: func @stays
// CHECK:         %[[C:.*]] = weft.contract "m k, k n -> m n"
// CHECK:         %[[T:.*]] = weft.transpose %[[C]] [1, 0]
// CHECK:         return %[[T]]
func.func @stays(%a: !weft.tensor<[m, k], f32>, %b: !weft.tensor<[k, n], f32>) -> !weft.tensor<[n, m], f32> attributes {weft.symbols = #weft.symbols<m, k, n>} {
  %0 = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, k], f32>, !weft.tensor<[k, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.transpose %0 [1, 0] : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[n, m], f32>
  return %1 : !weft.tensor<[n, m], f32>
}

// Scaling joins the product that made the value.
// CHECK-LABEL: func @scaled
// CHECK:         %[[C:.*]] = weft.contract
// CHECK:         %[[M:.*]] = weft.mul %[[C]]
// CHECK:         %[[R:.*]] = weft.reshape %[[M]]
// CHECK:         weft.transpose %[[R]]
func.func @scaled(%x: !weft.tensor<[s, 8], f32>, %w: !weft.tensor<[8, 6], f32>) -> !weft.tensor<[2, s, 3], f32> attributes {weft.symbols = #weft.symbols<s>} {
  %c = weft.fill 0.5 : f32 -> !weft.tensor<[], f32>
  %0 = weft.contract "... k, k n -> ... n" %x, %w accumulate f32 : (!weft.tensor<[s, 8], f32>, !weft.tensor<[8, 6], f32>) -> !weft.tensor<[s, 6], f32>
  %1 = weft.reshape %0 to [s, 2, 3] : (!weft.tensor<[s, 6], f32>) -> !weft.tensor<[s, 2, 3], f32>
  %2 = weft.transpose %1 [1, 0, 2] : (!weft.tensor<[s, 2, 3], f32>) -> !weft.tensor<[2, s, 3], f32>
  %3 = weft.mul %2, %c : (!weft.tensor<[2, s, 3], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[2, s, 3], f32>
  return %3 : !weft.tensor<[2, s, 3], f32>
}

// A product that is rounded on the way writes in order, too, unless the unmoved numbers are needed elsewhere.
// CHECK-LABEL: func @rounded
// CHECK:         %[[C:.*]] = weft.contract "d0 d1 d3, d0 d3 d2 -> d1 d0 d2" {{.*}} -> !weft.tensor<[m, 3, n], f32>
// CHECK-NEXT:    %[[R:.*]] = weft.convert %[[C]] to bf16 : {{.*}} -> !weft.tensor<[m, 3, n], bf16>
// CHECK-NEXT:    return %[[R]]
func.func @rounded(%a: !weft.tensor<[3, m, k], f32>, %b: !weft.tensor<[3, k, n], f32>) -> !weft.tensor<[m, 3, n], bf16> attributes {weft.symbols = #weft.symbols<m, k, n>} {
  %0 = weft.contract "h m k, h k n -> h m n" %a, %b accumulate f32 : (!weft.tensor<[3, m, k], f32>, !weft.tensor<[3, k, n], f32>) -> !weft.tensor<[3, m, n], f32>
  %1 = weft.convert %0 to bf16 : (!weft.tensor<[3, m, n], f32>) -> !weft.tensor<[3, m, n], bf16>
  %2 = weft.transpose %1 [1, 0, 2] : (!weft.tensor<[3, m, n], bf16>) -> !weft.tensor<[m, 3, n], bf16>
  return %2 : !weft.tensor<[m, 3, n], bf16>
}

// CHECK-LABEL: func @both
// CHECK:         %[[C:.*]] = weft.contract "h m k, h k n -> h m n"
// CHECK:         %[[R:.*]] = weft.convert %[[C]] to bf16
// CHECK:         weft.transpose %[[R]] [1, 0, 2]
func.func @both(%a: !weft.tensor<[3, m, k], f32>, %b: !weft.tensor<[3, k, n], f32>) -> (!weft.tensor<[m, 3, n], bf16>, !weft.tensor<[3, m, n], bf16>) attributes {weft.symbols = #weft.symbols<m, k, n>} {
  %0 = weft.contract "h m k, h k n -> h m n" %a, %b accumulate f32 : (!weft.tensor<[3, m, k], f32>, !weft.tensor<[3, k, n], f32>) -> !weft.tensor<[3, m, n], f32>
  %1 = weft.convert %0 to bf16 : (!weft.tensor<[3, m, n], f32>) -> !weft.tensor<[3, m, n], bf16>
  %2 = weft.transpose %1 [1, 0, 2] : (!weft.tensor<[3, m, n], bf16>) -> !weft.tensor<[m, 3, n], bf16>
  return %2, %1 : !weft.tensor<[m, 3, n], bf16>, !weft.tensor<[3, m, n], bf16>
}

// A reshape of a constant is another name of what lies in memory, also when the constant is widened.
// CHECK-LABEL: func @bias
// CHECK:         %[[B:.*]] = weft.constant
// CHECK:         %[[R:.*]] = weft.reshape %[[B]] to [1, 3] {{.*}}, f16>
// CHECK:         %[[W:.*]] = weft.convert %[[R]] to f32
// CHECK:         weft.add %arg0, %[[W]]
func.func @bias(%x: !weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %b = weft.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf16> -> !weft.tensor<[3], f16>
  %0 = weft.convert %b to f32 : (!weft.tensor<[3], f16>) -> !weft.tensor<[3], f32>
  %1 = weft.reshape %0 to [1, 3] : (!weft.tensor<[3], f32>) -> !weft.tensor<[1, 3], f32>
  %2 = weft.add %x, %1 : (!weft.tensor<[n, 3], f32>, !weft.tensor<[1, 3], f32>) -> !weft.tensor<[n, 3], f32>
  return %2 : !weft.tensor<[n, 3], f32>
}

// What is computed is converted by the kernel that computes it, before it is reshaped.
// CHECK-LABEL: func @computed
// CHECK:         weft.convert %arg0 to f32
// CHECK-NEXT:    weft.reshape
func.func @computed(%x: !weft.tensor<[n, 3], f16>) -> !weft.tensor<[3 * n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.convert %x to f32 : (!weft.tensor<[n, 3], f16>) -> !weft.tensor<[n, 3], f32>
  %1 = weft.reshape %0 to [3 * n] : (!weft.tensor<[n, 3], f32>) -> !weft.tensor<[3 * n], f32>
  return %1 : !weft.tensor<[3 * n], f32>
}
