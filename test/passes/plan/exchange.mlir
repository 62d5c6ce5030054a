// RUN: weft-opt %s --weft-fuse --weft-plan="target=x86:v3" | FileCheck %s
// RUN: weft-opt %s --weft-fuse --weft-plan="target=x86:v3" -o %t
// RUN: weft-opt %t | diff %t -

// A collective stands between kernels: what it reads and gives lies in memory, and the plan keeps it as it is. A result that is returned lies
// in the caller's memory.
// CHECK-LABEL: plan.func @summed
// CHECK-SAME:    weft.mesh = #weft.mesh<tp = 2>
// CHECK:         %[[OUT:.*]] = plan.output 0
// CHECK:         %[[PART:.*]] = plan.memory host [4*n] place 0 above []
// CHECK-NEXT:    plan.launch @{{.*}} -> (%[[PART]])
// CHECK-NEXT:    plan.exchange %[[PART]] -> %[[OUT]] node "/up" {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: !weft.tensor<[n], f32>):
// CHECK-NEXT:      %{{.*}} = weft.all_reduce sum %[[X]] over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
// CHECK-NEXT:    }
// CHECK-NEXT:    plan.return
func.func @summed(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %0 = weft.neg %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %1 = weft.all_reduce sum %0 over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> loc("/up")
  return %1 : !weft.tensor<[n], f32>
}

// What a rank gives and what it gets live at the same time, and no kernel is fused over it: three memories, of which the third takes the
// place of the first. Launches on both sides are in regions of their own.
// CHECK-LABEL: plan.func @between
// CHECK:         %[[A:.*]] = plan.memory host [4*n] place [[LOW:.*]] above
// CHECK:         plan.launch @{{.*}} -> (%[[A]])
// CHECK:         %[[B:.*]] = plan.memory host [4*n] place [[HIGH:.*]] above
// CHECK-NOT:     plan.together
// CHECK:         plan.exchange %[[A]] -> %[[B]] node "line {{[0-9]+}}" {
// CHECK:         plan.launch @{{.*}}(%[[B]]) -> (
func.func @between(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %0 = weft.neg %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %1 = weft.permute %0 by 1 over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  %2 = weft.neg %1 : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  return %2 : !weft.tensor<[n], f32>
}

// What is returned twice is copied, and so is a view that ranks are to give.
// CHECK-LABEL: plan.func @copied
// CHECK:         plan.launch @{{.*}}(%{{.*}}) -> (%[[V:.*]]) [
// CHECK:         plan.exchange %[[V]] -> %[[O:[0-9]+]]
// CHECK:         plan.launch @{{.*}}(%[[O]])
func.func @copied(%x: !weft.tensor<[n, 2], f32>) -> (!weft.tensor<[2, n], f32>, !weft.tensor<[2, n], f32>)
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %0 = weft.transpose %x [1, 0] : (!weft.tensor<[n, 2], f32>) -> !weft.tensor<[2, n], f32>
  %1 = weft.broadcast %0 from 1 over<tp = 2> : (!weft.tensor<[2, n], f32>) -> !weft.tensor<[2, n], f32>
  return %1, %1 : !weft.tensor<[2, n], f32>, !weft.tensor<[2, n], f32>
}
