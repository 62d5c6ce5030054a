// RUN: weft-opt %s --split-input-file --verify-diagnostics

// (R1) of plan.func
// expected-error @+1 {{takes or gives a value of type '!plan.buffer', which is no tensor of Weft}}
plan.func @main(%x: !plan.buffer) {
  plan.return
}

// -----

// (R1) of plan.kernel
// expected-error @+1 {{holds one function, the specification}}
plan.kernel @k target "x86:v3" schedule "loop" flops [0] moves [0] work [0] {
}

// -----

// (R2) of plan.kernel
// expected-error @+1 {{needs the names of a target and of one of its schedules}}
plan.kernel @k target "" schedule "loop" flops [0] moves [0] work [0] {
  func.func @kernel(%a: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    return %a : !weft.tensor<[s0], f32>
  }
}

// -----

// (R1) of plan.input and of plan.output
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  // expected-error @+1 {{takes the number of an argument of the function}}
  %0 = plan.input 1
  plan.return
}

// -----

plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  // expected-error @+1 {{takes the number of a result of the function}}
  %0 = plan.output 1
  plan.return
}

// -----

// (R1) of plan.weight
plan.func @main() {
  // expected-error @+1 {{asks for layout 'stacks<7>', which does not exist}}
  %0 = plan.weight @w as "stacks<7>" : !weft.tensor<[4, 4], f32>
  plan.return
}

// -----

// (R5) of plan.weight
plan.func @main() {
  // expected-error @+1 {{is of '!weft.tensor<[4, 3], f32>', but its constant is of 'tensor<2x4xf32>'}}
  %0 = plan.weight dense<1.0> : tensor<2x4xf32> as "" : !weft.tensor<[4, 3], f32>
  plan.return
}

// -----

plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  // expected-error @+1 {{is of '!weft.tensor<[n, 4], f32>', whose sizes are no numbers}}
  %0 = plan.weight dense<1.0> : tensor<2x4xf32> as "panels<8>" : !weft.tensor<[n, 4], f32>
  plan.return
}

// -----

// (R1) of plan.exchange, which what is around it does not ask before
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  %0 = plan.input 0
  %1 = plan.memory host [4*n]
  plan.overlap {
    // expected-error @+1 {{holds one collective of the argument of its region}}
    plan.exchange %0 -> %1 {
    ^bb0(%own: !weft.tensor<[n], f32>):
    }
    plan.launch @k(%1) -> (%0) [n] units [n] grain [1] scratch [0] rows [n, n] least 1 of 0
  }
  plan.return
}

// -----

// (R2) of plan.weight
plan.func @main() {
  // expected-error @+1 {{has no parts of size [4, 3] in '!weft.tensor<[4, 4], f32>'}}
  %0 = plan.weight @w as "" part [0, 1] size [4, 3] of !weft.tensor<[4, 4], f32> : !weft.tensor<[4, 3], f32>
  plan.return
}

// -----

plan.func @main() {
  // expected-error @+1 {{has no parts of size [2] in '!weft.tensor<[4, 4], f32>'}}
  %0 = plan.weight @w as "" part [1] size [2] of !weft.tensor<[4, 4], f32> : !weft.tensor<[2], f32>
  plan.return
}

// -----

plan.func @main() {
  // expected-error @+1 {{has parts of 8 elements, which are no '!weft.tensor<[4, 4], f32>'}}
  %0 = plan.weight @w as "" part [0, 1] size [4, 2] of !weft.tensor<[4, 4], f32> : !weft.tensor<[4, 4], f32>
  plan.return
}

// -----

// (R3) of plan.weight
plan.func @main() {
  // expected-error @+1 {{asks for layout 'panels<2 of 8>', but is no part of panels with 8 rows}}
  %0 = plan.weight @w as "panels<2 of 8>" : !weft.tensor<[8, 4], f32>
  plan.return
}

// -----

plan.func @main() {
  // expected-error @+1 {{asks for layout 'panels<2 of 6>', but is no part of panels with 6 rows}}
  %0 = plan.weight @w as "panels<2 of 6>" part [1, 0] size [4, 4] of !weft.tensor<[8, 4], f32> : !weft.tensor<[4, 4], f32>
  plan.return
}

// -----

// (R4) of plan.weight: columns inside of panels
plan.func @main() attributes {weft.symbols = #weft.symbols<rank : "rank <= 1">} {
  // expected-error @+1 {{has parts of several sizes, which are no ranges of '!weft.tensor<[8, 6], f32>'}}
  %0 = plan.weight @w as "panels<4>" part [0, rank] size [8, 3] of !weft.tensor<[8, 6], f32> : !weft.tensor<[8, 3 - rank], f32>
  plan.return
}

// -----

// Rows that are no neighbours.
plan.func @main() attributes {weft.symbols = #weft.symbols<rank : "rank <= 1">} {
  // expected-error @+1 {{has parts of several sizes, which are no ranges of '!weft.tensor<[8, 6], f32>'}}
  %0 = plan.weight @w as "" part [0, rank] size [8, 4] of !weft.tensor<[8, 6], f32> : !weft.tensor<[8, 4 - 2*rank], f32>
  plan.return
}

// -----

// Rows of panels that lie as if they were all.
plan.func @main() attributes {weft.symbols = #weft.symbols<rank : "rank <= 1">} {
  // expected-error @+1 {{has parts of several sizes, which are no ranges of '!weft.tensor<[6, 8], f32>'}}
  %0 = plan.weight @w as "panels<4>" part [rank, 0] size [4, 8] of !weft.tensor<[6, 8], f32> : !weft.tensor<[4 - 2*rank, 8], f32>
  plan.return
}

// -----

// (R1) of plan.memory
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  // expected-error @+1 {{takes one expression}}
  %0 = plan.memory host [n, n]
  plan.return
}

// -----

// (R2) of plan.memory
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  // expected-error @+1 {{lies above place 1, which comes after its own}}
  %0 = plan.memory host [n] place 1 above [1]
  plan.return
}

// -----

// A size speaks of symbols that have values.
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n bound u>} {
  // expected-error @+1 {{symbol 'u' has no value here}}
  %0 = plan.memory host [4*u]
  plan.return
}

// -----

// (R1) of plan.launch
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  // expected-error @+1 {{calls 'k', which is no kernel of the module}}
  plan.launch @k() -> () [] units [n] grain [1] scratch [0]
  plan.return
}

// -----

// expected-note @+1 {{the kernel is here}}
plan.kernel @k target "x86:v3" schedule "loop" flops [0] moves [0] work [0] {
  func.func @kernel(%a: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    return %a : !weft.tensor<[s0], f32>
  }
}
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  %0 = plan.input 0
  %1 = plan.memory host [4*n]
  // expected-error @+1 {{gives 2 words, but the kernel takes 1}}
  plan.launch @k(%0) -> (%1) [n, n] units [n] grain [1] scratch [0]
  plan.return
}

// -----

// (R2) of plan.launch
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  // expected-error @+1 {{is for queue 1, but the host has queue 0 only}}
  plan.launch @k() -> () [] units [n] grain [1] scratch [0] queue 1
  plan.return
}

// -----

// (R1) of plan.together
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  // expected-error @+1 {{holds launches, two or more}}
  plan.together {
    %0 = plan.input 0
  }
  plan.return
}

// -----

// (R1) of plan.bind
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n bound u>} {
  %0 = plan.input 0
  // expected-error @+1 {{reads an integer of 32 or 64 bits}}
  plan.bind "u" %0 bits 8
  plan.return
}

// -----

// (R1) of plan.if
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  %0 = plan.input 0
  // expected-error @+1 {{needs a value for every symbol and a buffer for every result}}
  %1 = plan.if %0 -> !plan.buffer {
    // expected-note @+1 {{of what is yielded here}}
    plan.yield []
  } else {
    plan.yield [] %0
  }
  plan.return
}

// -----

// What is bound are names.
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n>} {
  %0 = plan.input 0
  // expected-error @+1 {{attribute 'binds' failed to satisfy constraint: string array attribute}}
  plan.if %0 binds [4] {
    plan.yield [n]
  } else {
    plan.yield [n]
  }
  plan.return
}

// -----

// (R1) of plan.loop
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n bound i>} {
  %0 = plan.input 0
  %1 = plan.memory host [4]
  // expected-error @+1 {{needs two of 'memory', two arguments of the region and a result for every carried value}}
  %2 = plan.loop "i" trips [3] (%0) memory(%1) -> !plan.buffer {
  ^bb0(%now: !plan.buffer, %next: !plan.buffer):
    plan.yield []
  }
  plan.return
}

// -----

// (R2) of plan.loop
plan.func @main(%x: !weft.tensor<[n], f32>) attributes {weft.symbols = #weft.symbols<n bound i, c>} {
  %0 = plan.input 0
  // expected-error @+1 {{needs 'begin' and one yielded buffer when there is 'count', and neither when there is none}}
  plan.loop "i" trips [3] count "c" begin %0 () memory() {
    plan.yield []
  }
  plan.return
}

// -----

// (R1) of plan.exchange
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %0 = plan.input 0
  %1 = plan.output 0
  // expected-error @+1 {{holds one collective of the argument of its region}}
  plan.exchange %0 -> %1 {
  ^bb0(%a: !weft.tensor<[n], f32>):
    %b = weft.neg %a : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  }
  plan.return
}

// -----

// (R2) of plan.exchange
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %0 = plan.output 0
  // expected-error @+1 {{gives and gets in the same buffer}}
  plan.exchange %0 -> %0 {
  ^bb0(%a: !weft.tensor<[n], f32>):
    %b = weft.all_reduce sum %a over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  }
  plan.return
}

// -----

// What collectives need of their function holds in a plan, too.
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %0 = plan.input 0
  %1 = plan.output 0
  plan.exchange %0 -> %1 {
  ^bb0(%a: !weft.tensor<[n], f32>):
    // expected-error @+1 {{is over 4 ranks of axis 'tp', but #weft.mesh<tp = 2> has 2}}
    %b = weft.all_reduce sum %a over<tp = 4> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  }
  plan.return
}

// -----

// (R1) of plan.overlap
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %0 = plan.input 0
  %1 = plan.output 0
  // expected-error @+1 {{holds an exchange and launches behind it, or one in front of it}}
  plan.overlap {
    plan.exchange %0 -> %1 {
    ^bb0(%a: !weft.tensor<[n], f32>):
      %b = weft.all_reduce sum %a over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    }
  }
  plan.return
}

// -----

// (R4) of plan.overlap
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %0 = plan.input 0
  %1 = plan.output 0
  // expected-error @+1 {{attribute 'most_pieces' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 2}}
  plan.overlap pieces 1 {
    plan.exchange %0 -> %1 {
    ^bb0(%a: !weft.tensor<[n], f32>):
      %b = weft.all_reduce sum %a over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    }
  }
  plan.return
}

// -----

// (R4) of plan.exchange
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %in = plan.input 0
  %out = plan.output 0
  // expected-error @+1 {{goes on beside 'plan.return'}}
  plan.exchange %in -> %out beside {
  ^bb0(%own: !weft.tensor<[n], f32>):
    %next = weft.permute %own by 1 over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  }
  plan.return
}

// -----

plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %in = plan.input 0
  %out = plan.output 0
  // expected-error @+1 {{goes on beside 'plan.exchange'}}
  plan.exchange %in -> %out beside {
  ^bb0(%own: !weft.tensor<[n], f32>):
    %next = weft.permute %own by 1 over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  }
  %more = plan.memory host [4*n]
  plan.exchange %in -> %more {
  ^bb0(%own: !weft.tensor<[n], f32>):
    %next = weft.permute %own by 1 over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  }
  plan.await %in -> %out
  plan.return
}

// -----

// (R1) of plan.await
plan.func @main(%x: !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %in = plan.input 0
  %out = plan.output 0
  plan.exchange %in -> %out beside {
  ^bb0(%own: !weft.tensor<[n], f32>):
    %next = weft.permute %own by 1 over<tp = 2> : (!weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  }
  plan.await %in -> %out
  // expected-error @+1 {{ends no exchange that goes on}}
  plan.await %in -> %out
  plan.return
}
