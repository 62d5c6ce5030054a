// RUN: weft-opt %s --plan-place-memory | FileCheck %s

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

// What is used up is used again: the third value lies where the first did, the second above both.
// CHECK-LABEL: plan.func @chain
// CHECK:         plan.arena peaks [128*ceildiv(n, 16)]
// CHECK:         plan.memory host [4*n] place 0 above []
// CHECK:         plan.launch
// CHECK-NEXT:    plan.memory host [4*n] place 2 above [0, 1]
// CHECK:         plan.launch
// CHECK-NEXT:    plan.memory host [4*n] place 1 above []
plan.func @chain(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %in = plan.input 0
  %out = plan.output 0
  %a = plan.memory host [4*n]
  plan.launch @k(%in) -> (%a) [n] units [n] grain [1] scratch [0]
  %b = plan.memory host [4*n]
  plan.launch @k(%a) -> (%b) [n] units [n] grain [1] scratch [0]
  %c = plan.memory host [4*n]
  plan.launch @k(%b) -> (%c) [n] units [n] grain [1] scratch [0]
  plan.launch @k(%c) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}

// What runs together lives at the same time: three classes, none of which shares a byte with another.
// CHECK-LABEL: plan.func @together
// CHECK:         plan.arena peaks [192*ceildiv(n, 16)]
plan.func @together(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %in = plan.input 0
  %out = plan.output 0
  %a = plan.memory host [4*n]
  plan.launch @k(%in) -> (%a) [n] units [n] grain [1] scratch [0]
  %b = plan.memory host [4*n]
  %c = plan.memory host [4*n]
  plan.together {
    plan.launch @k(%a) -> (%b) [n] units [n] grain [1] scratch [0]
    plan.launch @k(%in) -> (%c) [n] units [n] grain [1] scratch [0]
  }
  plan.launch @pair(%b, %c) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}

// Outputs are the caller's memory: a function that has no other value needs none.
// CHECK-LABEL: plan.func @outputs
// CHECK:         plan.arena peaks [0]
plan.func @outputs(%x: !weft.tensor<[n], f32>) -> (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  %in = plan.input 0
  %out = plan.output 0
  %other = plan.output 1
  plan.launch @k(%in) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.launch @k(%out) -> (%other) [n] units [n] grain [1] scratch [0]
  plan.return
}

// A carried value has two classes besides where it began, and all live until the loop ends: so does what the body reads of outside.
// CHECK-LABEL: plan.func @loop
// CHECK:         plan.arena peaks [256*ceildiv(n, 16)]
plan.func @loop(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n bound i : "i <= 3">} {
  %in = plan.input 0
  %out = plan.output 0
  %a = plan.memory host [4*n]
  plan.launch @k(%in) -> (%a) [n] units [n] grain [1] scratch [0]
  %first = plan.memory host [4*n]
  %second = plan.memory host [4*n]
  %last = plan.loop "i" trips [3] (%a) memory(%first, %second) -> !plan.buffer {
  ^bb0(%now: !plan.buffer, %next: !plan.buffer):
    %inside = plan.memory host [4*n]
    plan.launch @pair(%now, %a) -> (%inside) [n] units [n] grain [1] scratch [0]
    plan.launch @k(%inside) -> (%next) [n] units [n] grain [1] scratch [0]
    plan.yield []
  }
  plan.launch @k(%last) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}

// A late block has places and a peak of its own.
// CHECK-LABEL: plan.func @late
// CHECK:         plan.arena peaks [64*ceildiv(n, 16)]
// CHECK:         plan.reserve peaks [64*ceildiv(u, 16)]
// CHECK:         plan.memory host [4*u] in %{{.*}} place 0 above []
plan.func @late(%x: !weft.tensor<[n], f32>, %c: !weft.tensor<[], i64>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n bound u>} {
  %in = plan.input 0
  %count = plan.input 1
  %out = plan.output 0
  %a = plan.memory host [4*n]
  plan.launch @k(%in) -> (%a) [n] units [n] grain [1] scratch [0]
  plan.bind "u" %count bits 64
  %block = plan.reserve
  %b = plan.memory host [4*u] in %block
  plan.launch @k(%a) -> (%b) [u] units [u] grain [1] scratch [0]
  plan.launch @k(%b) -> (%out) [n] units [n] grain [1] scratch [0]
  plan.return
}
