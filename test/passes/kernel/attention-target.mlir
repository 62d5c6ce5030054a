// RUN: weft-opt %s --weft-fuse="target=x86:v3 explain=true" | FileCheck %s

// A target is asked about each attention: one that no schedule computes in one kernel stays in its parts and says so, and the one beside
// it is one kernel all the same.
// CHECK-LABEL: func @one_of_two
// CHECK:         weft.kernel "contraction"
// CHECK:         weft.kernel "row"({{.*}}) attributes {weft.apart = [{from = "/Scores", reason = "no schedule of the target computes this form of attention in one kernel", to = "/Softmax"}]}
// CHECK:         %[[FIRST:.*]] = weft.kernel "contraction"({{.*}}) attributes {weft.apart = [{from = "/Softmax", reason = "no schedule of the target computes this form of attention in one kernel", to = "/Mix"}, {}]}
// CHECK:         weft.kernel "attention"(%[[FIRST]], {{.*}}
// CHECK-NOT:     weft.kernel
func.func @one_of_two(%q: !weft.tensor<[m, d], f32>, %k: !weft.tensor<[n, d], f32>, %v: !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32>
    attributes {weft.symbols = #weft.symbols<m, n, d>} {
  %0 = weft.contract "m d, n d -> m n" %q, %k accumulate f32 : (!weft.tensor<[m, d], f32>, !weft.tensor<[n, d], f32>) -> !weft.tensor<[m, n], f32> loc("/Scores")
  %1 = weft.softmax %0 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32> loc("/Softmax")
  %2 = weft.contract "m n, n e -> m e" %1, %v accumulate f32 : (!weft.tensor<[m, n], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/Mix")
  %3 = weft.contract "m d, n d -> m n" %2, %v accumulate f32 : (!weft.tensor<[m, 8], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, n], f32> loc("/SecondScores")
  %4 = weft.softmax %3 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32> loc("/SecondSoftmax")
  %5 = weft.contract "m n, n e -> m e" %4, %v accumulate f32 : (!weft.tensor<[m, n], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32> loc("/SecondMix")
  return %5 : !weft.tensor<[m, 8], f32>
}

// What scales the keys of a refused attention is a kernel of its own as before.
// CHECK-LABEL: func @scaled
// CHECK:         %[[LINE:.*]] = weft.kernel "loop"
// CHECK:         %[[KEYS:.*]] = weft.reshape %[[LINE]] to [n, d]
// CHECK:         %[[SCORES:.*]] = weft.kernel "contraction"(%{{.*}}, %[[KEYS]])
// CHECK:         %[[LINES:.*]] = weft.kernel "row"(%[[SCORES]])
// CHECK:         weft.kernel "contraction"(%[[LINES]], %{{.*}})
// CHECK-NOT:     weft.kernel
func.func @scaled(%q: !weft.tensor<[m, d], f32>, %k: !weft.tensor<[n, d], f32>, %v: !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32>
    attributes {weft.symbols = #weft.symbols<m, n, d>} {
  %c = weft.fill 0.5 : f32 -> !weft.tensor<[], f32>
  %0 = weft.mul %k, %c : (!weft.tensor<[n, d], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[n, d], f32>
  %1 = weft.contract "m d, n d -> m n" %q, %0 accumulate f32 : (!weft.tensor<[m, d], f32>, !weft.tensor<[n, d], f32>) -> !weft.tensor<[m, n], f32>
  %2 = weft.softmax %1 : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %3 = weft.contract "m n, n e -> m e" %2, %v accumulate f32 : (!weft.tensor<[m, n], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32>
  return %3 : !weft.tensor<[m, 8], f32>
}
