// RUN: weft-opt %s --weft-form-kernels=explain=true | FileCheck %s
// RUN: weft-opt %s --weft-form-kernels | FileCheck %s --check-prefix=SILENT
// RUN: weft-opt %s --weft-form-kernels=explain=true --weft-collapse-dims | FileCheck %s --check-prefix=COLLAPSED

// Nothing is said unless it is asked for.
// SILENT-NOT: weft.apart

// What stays outside a row because another operator needs it too.
// CHECK-LABEL: func @two_readers
// CHECK:         weft.kernel "loop"({{.*}}) attributes {weft.apart = [{}]}
// CHECK:         weft.kernel "row"({{.*}}) attributes {weft.apart = [{by = "/Sum", from = "/Neg", reason = "the value between them has another reader", to = "/Softmax"}]}
// CHECK:         weft.kernel "row"({{.*}}) attributes {weft.apart = [{by = "/Softmax", from = "/Neg", reason = "the value between them has another reader", to = "/Sum"}]}
// The entries follow the inputs through the passes behind.
// COLLAPSED-LABEL: func @two_readers
// COLLAPSED:         weft.kernel "row"({{.*}}) attributes {weft.apart = [{by = "/Sum", from = "/Neg"
func.func @two_readers(%x: !weft.tensor<[m, n, k], f32>) -> (!weft.tensor<[m, n, k], f32>, !weft.tensor<[m, n], f32>)
    attributes {weft.symbols = #weft.symbols<m, n, k>} {
  %0 = weft.neg %x : (!weft.tensor<[m, n, k], f32>) -> !weft.tensor<[m, n, k], f32> loc("/Neg")
  %1 = weft.softmax %0 : (!weft.tensor<[m, n, k], f32>) -> !weft.tensor<[m, n, k], f32> loc("/Softmax")
  %2 = weft.reduce sum %0 [2] : (!weft.tensor<[m, n, k], f32>) -> !weft.tensor<[m, n], f32> loc("/Sum")
  return %1, %2 : !weft.tensor<[m, n, k], f32>, !weft.tensor<[m, n], f32>
}

// Attention is one kernel, unless scores are needed elsewhere or the target does not take it (attention-target.mlir).
// CHECK-LABEL: func @attention
// CHECK:         weft.kernel "attention"
// CHECK-NOT:     weft.kernel
func.func @attention(%q: !weft.tensor<[m, 8], f32>, %k: !weft.tensor<[n, 8], f32>, %v: !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32>
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.contract "m d, n d -> m n" %q, %k accumulate f32 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, n], f32> loc("/Scores")
  %1 = weft.softmax %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32> loc("/Softmax")
  %2 = weft.contract "m n, n e -> m e" %1, %v accumulate f32 : (!weft.tensor<[m, n], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/Mix")
  return %2 : !weft.tensor<[m, 8], f32>
}

// CHECK-LABEL: func @weights_are_kept
// CHECK:         weft.kernel "row"({{.*}}) attributes {weft.apart = [{from = "/Scores", reason = "the value between them is an output of the model", to = "/Softmax"}]}
// CHECK:         weft.kernel "contraction"({{.*}}) attributes {weft.apart = [{from = "/Softmax", reason = "the value between them is an output of the model", to = "/Mix"}, {}]}
func.func @weights_are_kept(%q: !weft.tensor<[m, 8], f32>, %k: !weft.tensor<[n, 8], f32>, %v: !weft.tensor<[n, 8], f32>)
    -> (!weft.tensor<[m, 8], f32>, !weft.tensor<[m, n], f32>) attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.contract "m d, n d -> m n" %q, %k accumulate f32 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, n], f32> loc("/Scores")
  %1 = weft.softmax %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32> loc("/Softmax")
  %2 = weft.contract "m n, n e -> m e" %1, %v accumulate f32 : (!weft.tensor<[m, n], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/Mix")
  return %2, %1 : !weft.tensor<[m, 8], f32>, !weft.tensor<[m, n], f32>
}

// A sum needs two values of which one depends on the other: it joins the later, and the earlier cannot wait for it.
// CHECK-LABEL: func @residual
// CHECK:         %[[S:.*]] = weft.kernel "row"
// CHECK:         %[[F:.*]] = weft.kernel "contraction"(%[[S]], {{.*}}) attributes {weft.apart = [{from = "/Softmax", reason = "a product begins a kernel
// CHECK:         weft.kernel "contraction"(%[[S]], %[[F]], {{.*}}) attributes {weft.apart = [{by = "/Second", from = "/Softmax", reason = "another operand is computed from it by a kernel in between", to = "/Add"}, {from = "/First"
func.func @residual(%x: !weft.tensor<[m, 8], f32>, %w: !weft.tensor<[8, 8], f32>) -> !weft.tensor<[m, 8], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %0 = weft.softmax %x : (!weft.tensor<[m, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/Softmax")
  %1 = weft.contract "m k, k n -> m n" %0, %w accumulate f32 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[8, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/First")
  %2 = weft.contract "m k, k n -> m n" %1, %w accumulate f32 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[8, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/Second")
  %3 = weft.add %0, %2 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[m, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/Add")
  return %3 : !weft.tensor<[m, 8], f32>
}

// A view that is returned is copied.
// CHECK-LABEL: func @copied
// CHECK:         weft.kernel "loop"({{.*}}) attributes {weft.apart = [{from = "/Softmax", reason = "the view of it must lie in memory and is copied there", to = "/Turn"}]}
func.func @copied(%x: !weft.tensor<[m, n], f32>) -> !weft.tensor<[n, m], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.softmax %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32> loc("/Softmax")
  %1 = weft.transpose %0 [1, 0] : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[n, m], f32> loc("/Turn")
  return %1 : !weft.tensor<[n, m], f32>
}
