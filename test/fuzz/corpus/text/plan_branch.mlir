module attributes {plan.target = "x86:v2"} {
  plan.kernel @weft_k_loop_aa144a705df7 target "x86:v2" schedule "loop" flops [s0] moves [8*s0] work [17*s0] {
    func.func @kernel(%arg0: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      %0 = weft.neg %arg0 : (!weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32>
      return %0 : !weft.tensor<[s0], f32>
    }
  }
  plan.kernel @weft_k_loop_0ddc24e02e68 target "x86:v2" schedule "loop" flops [0] moves [12*s0] work [16*s0] {
    func.func @kernel(%arg0: !weft.tensor<[s0], f32>) -> !weft.tensor<[2*s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      %0 = weft.concat %arg0, %arg0 dim 0 : (!weft.tensor<[s0], f32>, !weft.tensor<[s0], f32>) -> !weft.tensor<[2*s0], f32>
      return %0 : !weft.tensor<[2*s0], f32>
    }
  }
  plan.kernel @weft_k_loop_6044b4e54300 target "x86:v2" schedule "loop" flops [s0] moves [8*s0] work [17*s0] {
    func.func @kernel(%arg0: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      %0 = weft.exp %arg0 : (!weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32>
      return %0 : !weft.tensor<[s0], f32>
    }
  }
  plan.kernel @weft_k_loop_e14ebc4254db target "x86:v2" schedule "loop" flops [0] moves [8*s0] work [8*s0] {
    func.func @kernel(%arg0: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      return %arg0 : !weft.tensor<[s0], f32>
    }
  }
  plan.kernel @weft_k_loop_6ae781a5f6b5 target "x86:v2" schedule "loop" flops [0] moves [4*s0 + 4*s1] work [8*min(s0, s1) + 9*s1] {
    func.func @kernel(%arg0: !weft.tensor<[s0], f32>) -> !weft.tensor<[s1], f32> attributes {weft.symbols = #weft.symbols<s0, s1>} {
      %0 = weft.slice %arg0 from [0] size [s1] step [1] : (!weft.tensor<[s0], f32>) -> !weft.tensor<[s1], f32>
      return %0 : !weft.tensor<[s1], f32>
    }
  }
  plan.func @main(%arg0: !weft.tensor<[n], f32> {weft.name = "x"}, %arg1: !weft.tensor<[], i1> {weft.name = "c"}, %arg2: !weft.tensor<[], i64> {weft.name = "k"}) -> (!weft.tensor<[j], f32> {weft.name = "y"}, !weft.tensor<[u], f32> {weft.name = "z"}) attributes {weft.symbols = #weft.symbols<n bound j, u : "j <= 2*n", "u <= n">} {
    plan.arena peaks [64*ceildiv(n, 8) + 64*ceildiv(n, 16)]
    %0 = plan.input 0
    %1 = plan.input 1
    %2 = plan.input 2
    %3 = plan.output 0
    %4 = plan.output 1
    %5 = plan.memory host [8*n] place 0 above []
    plan.if %1 binds ["j"] {
      plan.launch @weft_k_loop_aa144a705df7(%0) -> (%5) [n] units [ceildiv(n, 4096)] grain [4] scratch [0]
      plan.yield [n]
    } else {
      plan.launch @weft_k_loop_0ddc24e02e68(%0) -> (%5) [n] units [ceildiv(n, 2048)] grain [4] scratch [0]
      plan.yield [2*n]
    }
    plan.bind "u" %2 bits 64
    %6 = plan.memory host [4*n] place 1 above [0]
    plan.together {
      plan.launch @weft_k_loop_6044b4e54300(%0) -> (%6) [n] units [ceildiv(n, 4096)] grain [4] scratch [0]
      plan.launch @weft_k_loop_e14ebc4254db(%5) -> (%3) [j] units [ceildiv(j, 4096)] grain [4] scratch [0]
    }
    plan.launch @weft_k_loop_6ae781a5f6b5(%6) -> (%4) [n, u] units [ceildiv(u, 4096)] grain [4] scratch [0]
    plan.return
  }
}

