module attributes {plan.target = "x86:v2"} {
  plan.kernel @weft_k_loop_67f58b4f0c71 target "x86:v2" schedule "loop" flops [4] moves [16] work [36] {
    func.func @kernel() -> !weft.tensor<[4], f32> attributes {weft.symbols = #weft.symbols<>} {
      %0 = weft.fill 0.000000e+00 : f32 -> <[4], f32>
      return %0 : !weft.tensor<[4], f32>
    }
  }
  plan.kernel @weft_k_loop_b03b45603931 target "x86:v2" schedule "loop" flops [4] moves [16*s0 + 32] work [32*min(s0, 2) + 72] {
    func.func @kernel(%arg0: !weft.tensor<[4], f32>, %arg1: !weft.tensor<[s0, 4], f32>) -> !weft.tensor<[4], f32> attributes {weft.symbols = #weft.symbols<s0, s1>} {
      %0 = weft.slice %arg1 from [s1, 0] size [1, 4] step [1, 1] : (!weft.tensor<[s0, 4], f32>) -> !weft.tensor<[1, 4], f32>
      %1 = weft.reshape %0 to [4] : (!weft.tensor<[1, 4], f32>) -> !weft.tensor<[4], f32>
      %2 = weft.add %arg0, %1 : (!weft.tensor<[4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[4], f32>
      return %2 : !weft.tensor<[4], f32>
    }
  }
  plan.kernel @weft_k_loop_2cadf167bfb0 target "x86:v2" schedule "loop" flops [0] moves [32] work [32] {
    func.func @kernel(%arg0: !weft.tensor<[4], f32>) -> !weft.tensor<[4], f32> attributes {weft.symbols = #weft.symbols<>} {
      return %arg0 : !weft.tensor<[4], f32>
    }
  }
  plan.kernel @weft_k_loop_e14ebc4254db target "x86:v2" schedule "loop" flops [0] moves [8*s0] work [8*s0] {
    func.func @kernel(%arg0: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      return %arg0 : !weft.tensor<[s0], f32>
    }
  }
  plan.func @main(%arg0: !weft.tensor<[n, 4], f32> {weft.name = "x"}) -> (!weft.tensor<[4], f32> {weft.name = "sum"}, !weft.tensor<[n, 4], f32> {weft.name = "each"}) attributes {weft.symbols = #weft.symbols<n bound i : "i <= n">} {
    plan.arena peaks [64*ceildiv(n, 4) + 192]
    %0 = plan.input 0
    %1 = plan.output 0
    %2 = plan.output 1
    %3 = plan.memory host [16] place 0 above []
    plan.launch @weft_k_loop_67f58b4f0c71() -> (%3) [] units [1] grain [4] scratch [0]
    %4 = plan.memory host [16] place 1 above [0]
    %5 = plan.memory host [16] place 2 above [0, 1]
    %6 = plan.memory host [16*n] place 3 above [0, 1, 2]
    %7 = plan.loop "i" trips [n](%3) memory(%4, %5) -> !plan.buffer {
    ^bb0(%arg1: !plan.buffer, %arg2: !plan.buffer):
      %8 = plan.part %6 at [16*i]
      plan.launch @weft_k_loop_b03b45603931(%arg1, %0) -> (%arg2) [n, i] units [1] grain [4] scratch [0]
      plan.launch @weft_k_loop_2cadf167bfb0(%arg2) -> (%8) [] units [1] grain [4] scratch [0]
      plan.yield []
    }
    plan.together {
      plan.launch @weft_k_loop_2cadf167bfb0(%7) -> (%1) [] units [1] grain [4] scratch [0]
      plan.launch @weft_k_loop_e14ebc4254db(%6) -> (%2) [4*n] units [ceildiv(n, 1024)] grain [4] scratch [0]
    }
    plan.return
  }
}

