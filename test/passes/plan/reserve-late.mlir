// RUN: weft-opt %s --plan-reserve-late --split-input-file --verify-diagnostics | FileCheck %s

plan.kernel @k target "x86:v3" schedule "loop" flops [s0] moves [8*s0] work [17*s0] {
  func.func @kernel(%a: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.neg %a : (!weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32>
    return %0 : !weft.tensor<[s0], f32>
  }
}
plan.kernel @pair target "x86:v3" schedule "loop" flops [s0] moves [12*s0] work [25*s0] {
  func.func @kernel(%a: !weft.tensor<[s0], f32>, %b: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.add %a, %b : (!weft.tensor<[s0], f32>, !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32>
    return %0 : !weft.tensor<[s0], f32>
  }
}

// Memory that the signature limits becomes as large as that, and stays in the arena.
// CHECK-LABEL: plan.func @limited
// CHECK-NOT:     plan.reserve
// CHECK:         plan.memory host [4*n]{{$}}
plan.func @limited(%x: !weft.tensor<[n], f32>, %c: !weft.tensor<[], i64>) -> !weft.tensor<[n], f32>
    attributes {weft.symbols = #weft.symbols<n bound u : "u <= n">} {
  %in = plan.input 0
  %count = plan.input 1
  %out = plan.output 0
  plan.bind "u" %count bits 64
  %a = plan.memory host [4*u]
  plan.launch @k(%in) -> (%a) [u] units [u] grain [1] scratch [0]
  plan.launch @k(%a) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}

// Sizes that are known at once share a block; one that is known later has another.
// CHECK-LABEL: plan.func @blocks
// CHECK:         plan.bind "u"
// CHECK-NEXT:    %[[FIRST:.*]] = plan.reserve
// CHECK-NEXT:    plan.memory host [4*u] in %[[FIRST]]
// CHECK:         plan.memory host [8*u] in %[[FIRST]]
// CHECK:         plan.bind "v"
// CHECK-NEXT:    %[[SECOND:.*]] = plan.reserve
// CHECK-NEXT:    plan.memory host [4*u*v] in %[[SECOND]]
// CHECK:         plan.memory host [4*u] in %[[FIRST]]
plan.func @blocks(%x: !weft.tensor<[n], f32>, %c: !weft.tensor<[], i64>) -> !weft.tensor<[n], f32>
    attributes {weft.symbols = #weft.symbols<n bound u, v>} {
  %in = plan.input 0
  %count = plan.input 1
  %out = plan.output 0
  plan.bind "u" %count bits 64
  %a = plan.memory host [4*u]
  plan.launch @k(%in) -> (%a) [u] units [u] grain [1] scratch [0]
  %b = plan.memory host [8*u]
  plan.launch @k(%a) -> (%b) [u] units [u] grain [1] scratch [0]
  plan.bind "v" %count bits 64
  %d = plan.memory host [4*u*v]
  plan.launch @k(%b) -> (%d) [u*v] units [u*v] grain [1] scratch [0]
  %e = plan.memory host [4*u]
  plan.launch @k(%d) -> (%e) [u] units [u] grain [1] scratch [0]
  plan.launch @k(%e) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}

// In a loop a block is asked for every time; behind the loop it is gone.
// CHECK-LABEL: plan.func @again
// CHECK:         plan.loop
// CHECK:           plan.bind "u"
// CHECK-NEXT:      %[[INSIDE:.*]] = plan.reserve
// CHECK-NEXT:      plan.memory host [4*u] in %[[INSIDE]]
// CHECK:         plan.bind "v"
// CHECK-NEXT:    %[[BEHIND:.*]] = plan.reserve
// CHECK-NEXT:    plan.memory host [4*v] in %[[BEHIND]]
plan.func @again(%x: !weft.tensor<[n], f32>, %c: !weft.tensor<[], i64>) -> !weft.tensor<[n], f32>
    attributes {weft.symbols = #weft.symbols<n bound i, u, v : "i <= n">} {
  %in = plan.input 0
  %count = plan.input 1
  %out = plan.output 0
  plan.loop "i" trips [n] () memory() {
    plan.bind "u" %count bits 64
    %a = plan.memory host [4*u]
    plan.launch @k(%in) -> (%a) [u] units [u] grain [1] scratch [0]
    plan.yield []
  }
  plan.bind "v" %count bits 64
  %b = plan.memory host [4*v]
  plan.launch @k(%in) -> (%b) [v] units [v] grain [1] scratch [0]
  plan.launch @k(%b) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}
