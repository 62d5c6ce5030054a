// RUN: weft-opt %s --weft-fuse --weft-plan="target=x86:v3" | FileCheck %s
// RUN: weft-opt %s --weft-fuse --weft-plan="target=x86:v3" -o %t
// RUN: weft-opt %t | diff %t -

// Equal work is one kernel with two launches, whatever its shapes were called; results lie in the caller's memory, and a reshape names
// the same memory. The two run together.
// CHECK:       module attributes {plan.target = "x86:v3"}
// CHECK:       plan.kernel @[[LOOP:weft_k_loop_[0-9a-f]+]] target "x86:v3" schedule "loop" flops [s0] moves [8*s0]
// CHECK:       plan.kernel @[[ROW:weft_k_row_[0-9a-f]+]] target "x86:v3" schedule "row"
// CHECK-LABEL: plan.func @twice
// CHECK:         %[[X:.*]] = plan.input 0
// CHECK:         %[[Y:.*]] = plan.input 1
// CHECK:         %[[A:.*]] = plan.output 0
// CHECK:         %[[B:.*]] = plan.output 1
// CHECK:         %[[C:.*]] = plan.output 2
// CHECK:         plan.together {
// CHECK-NEXT:      plan.launch @[[LOOP]](%[[X]]) -> (%[[A]]) [m*n]
// CHECK-NEXT:      plan.launch @[[LOOP]](%[[Y]]) -> (%[[B]]) [k]
// CHECK-NEXT:    }
// CHECK-NEXT:    plan.launch @[[ROW]](%[[B]]) -> (%[[C]]) [k]
func.func @twice(%x: !weft.tensor<[m, n], f32>, %y: !weft.tensor<[k], f32>)
    -> (!weft.tensor<[m, n], f32>, !weft.tensor<[k], f32>, !weft.tensor<[1, k], f32>) attributes {weft.symbols = #weft.symbols<m, n, k>} {
  %0 = weft.neg %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %1 = weft.neg %y : (!weft.tensor<[k], f32>) -> !weft.tensor<[k], f32>
  %2 = weft.reshape %1 to [1, k] : (!weft.tensor<[k], f32>) -> !weft.tensor<[1, k], f32>
  %3 = weft.softmax %2 : (!weft.tensor<[1, k], f32>) -> !weft.tensor<[1, k], f32>
  return %0, %1, %3 : !weft.tensor<[m, n], f32>, !weft.tensor<[k], f32>, !weft.tensor<[1, k], f32>
}

// A carried value is read through one pointer and written through another; a stacked element is a part of the whole stack.
// CHECK-LABEL: plan.func @turns
// CHECK:         %[[F:.*]] = plan.memory host [4*n]
// CHECK:         %[[S:.*]] = plan.memory host [4*n]
// CHECK:         %[[ALL:.*]] = plan.memory host [12*n]
// CHECK:         plan.loop "i" trips [3](%{{.*}}) memory(%[[F]], %[[S]])
// CHECK-NEXT:    ^bb0(%[[NOW:.*]]: !plan.buffer, %[[NEXT:.*]]: !plan.buffer):
// CHECK-NEXT:      %[[PART:.*]] = plan.part %[[ALL]] at [4*i*n]
// CHECK:           plan.launch @{{.*}}(%[[NOW]]) -> (%[[NEXT]], %[[PART]])
func.func @turns(%x: !weft.tensor<[n], f32>) -> (!weft.tensor<[n], f32>, !weft.tensor<[3, n], f32>)
    attributes {weft.symbols = #weft.symbols<n bound i : "i <= 3">} {
  %0, %1 = weft.loop "i" trips [3] (%x) : (!weft.tensor<[n], f32>) -> (!weft.tensor<[n], f32>, !weft.tensor<[3, n], f32>) {
  ^bb0(%now: !weft.tensor<[n], f32>):
    %2 = weft.neg %now : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    %3 = weft.tanh %2 : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    weft.yield %2, %3 : !weft.tensor<[n], f32>, !weft.tensor<[n], f32>
  }
  return %0, %1 : !weft.tensor<[n], f32>, !weft.tensor<[3, n], f32>
}

// A branch writes where its result lies when the size is known before.
// CHECK-LABEL: plan.func @either
// CHECK:         %[[R:.*]] = plan.memory host [4*n]
// CHECK:         plan.if %{{.*}} {
// CHECK-NEXT:      plan.launch @{{.*}} -> (%[[R]])
// CHECK-NEXT:      plan.yield []
// CHECK-NEXT:    } else {
// CHECK-NEXT:      plan.launch @{{.*}} -> (%[[R]])
func.func @either(%c: !weft.tensor<[], i1>, %x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[n], f32> {
    %1 = weft.neg %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    weft.yield %1 : !weft.tensor<[n], f32>
  } else {
    %2 = weft.tanh %x : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    weft.yield %2 : !weft.tensor<[n], f32>
  }
  %3 = weft.neg %0 : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  return %3 : !weft.tensor<[n], f32>
}
