// RUN: weft-opt %s --plan-form-regions | FileCheck %s

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

// Launches that read the same and nothing of each other run together; what reads both follows.
// CHECK-LABEL: plan.func @branches
// CHECK:         %[[A:.*]] = plan.memory host [4*n]
// CHECK-NEXT:    %[[B:.*]] = plan.memory host [4*n]
// CHECK-NEXT:    plan.together {
// CHECK-NEXT:      plan.launch @k(%{{.*}}) -> (%[[A]])
// CHECK-NEXT:      plan.launch @k(%{{.*}}) -> (%[[B]])
// CHECK-NEXT:    }
// CHECK-NEXT:    plan.launch @pair(%[[A]], %[[B]])
plan.func @branches(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n : "n <= 100">} {
  %in = plan.input 0
  %out = plan.output 0
  %a = plan.memory host [4*n]
  plan.launch @k(%in) -> (%a) [n] units [n] grain [1] scratch [0]
  %b = plan.memory host [4*n]
  plan.launch @k(%in) -> (%b) [n] units [n] grain [1] scratch [0]
  plan.launch @pair(%a, %b) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}

// A chain stays as it is.
// CHECK-LABEL: plan.func @chain
// CHECK-NOT:     plan.together
plan.func @chain(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n : "n <= 100">} {
  %in = plan.input 0
  %out = plan.output 0
  %a = plan.memory host [4*n]
  plan.launch @k(%in) -> (%a) [n] units [n] grain [1] scratch [0]
  plan.launch @k(%a) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}

// Two launches that both have 64 pieces or more for every size keep all workers busy by themselves.
// CHECK-LABEL: plan.func @wide
// CHECK-NOT:     plan.together
plan.func @wide(%x: !weft.tensor<[n], f32>) -> (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n : "64 <= n">} {
  %in = plan.input 0
  %out = plan.output 0
  %other = plan.output 1
  plan.launch @k(%in) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.launch @k(%in) -> (%other) [n] units [n] grain [1] scratch [0]
  plan.return
}

// The second branch would keep 4 MB more alive than the program's own order ever has: it stays behind the first.
// CHECK-LABEL: plan.func @limited
// CHECK:         plan.launch @k(%{{.*}}) -> (%[[A:.*]]) [1000000]
// CHECK:         plan.launch @k(%[[A]]) -> (%{{.*}}) [1000000]
// CHECK-NOT:     plan.together
plan.func @limited(%x: !weft.tensor<[1000000], f32>) -> (!weft.tensor<[1000000], f32>, !weft.tensor<[1000000], f32>) attributes {weft.symbols = #weft.symbols<>} {
  %in = plan.input 0
  %out = plan.output 0
  %other = plan.output 1
  %a = plan.memory host [4000000]
  plan.launch @k(%in) -> (%a) [1000000] units [8] grain [1] scratch [0]
  plan.launch @k(%a) -> (%out) [1000000] units [8] grain [1] scratch [0]
  %b = plan.memory host [4000000]
  plan.launch @k(%in) -> (%b) [1000000] units [8] grain [1] scratch [0]
  plan.launch @k(%b) -> (%other) [1000000] units [8] grain [1] scratch [0]
  plan.return
}

// Nothing moves over what the host reads: launches in front of a bind and behind it stay apart.
// CHECK-LABEL: plan.func @bound
// CHECK-NOT:     plan.together
plan.func @bound(%x: !weft.tensor<[n], f32>, %c: !weft.tensor<[], i64>) -> (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>)
    attributes {weft.symbols = #weft.symbols<n bound u : "n <= 100", "u <= n">} {
  %in = plan.input 0
  %count = plan.input 1
  %out = plan.output 0
  %other = plan.output 1
  plan.launch @k(%in) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.bind "u" %count bits 64
  plan.launch @k(%in) -> (%other) [n] units [n] grain [1] scratch [0]
  plan.return
}
