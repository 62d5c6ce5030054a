module attributes {plan.target = "x86:v2"} {
  plan.kernel @weft_k_contraction_b8455f81308c target "x86:v2" schedule "contraction" flops [16*s0] moves [24*s0 + 32] work [128*s0 - 64*pos(s0 - 1)] {
    func.func @kernel(%arg0: !weft.tensor<[s0, 4], f32>, %arg1: !weft.tensor<[4, 2], f32> {weft.weight}) -> !weft.tensor<[s0, 2], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      %0 = weft.contract "... k, k n -> ... n" %arg0, %arg1 accumulate f32 : (!weft.tensor<[s0, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[s0, 2], f32>
      return %0 : !weft.tensor<[s0, 2], f32>
    }
  }
  plan.kernel @weft_k_contraction_b42a3413ca1c target "x86:v2" schedule "contraction" flops [16*s0] moves [24*s0 + 32] work [128*s0 - 64*pos(s0 - 1)] {
    func.func @kernel(%arg0: !weft.tensor<[s0, 2], f32>, %arg1: !weft.tensor<[2, 4], f32> {weft.weight}) -> !weft.tensor<[s0, 4], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      %0 = weft.contract "... k, k n -> ... n" %arg0, %arg1 accumulate f32 : (!weft.tensor<[s0, 2], f32>, !weft.tensor<[2, 4], f32>) -> !weft.tensor<[s0, 4], f32>
      return %0 : !weft.tensor<[s0, 4], f32>
    }
  }
  plan.kernel @weft_k_loop_eefe66ff5a5b target "x86:v2" schedule "loop" flops [s0] moves [8*s0] work [17*s0] {
    func.func @kernel(%arg0: !weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      %0 = weft.tanh %arg0 : (!weft.tensor<[s0], f32>) -> !weft.tensor<[s0], f32>
      return %0 : !weft.tensor<[s0], f32>
    }
  }
  plan.kernel @weft_k_contraction_1c1daf83515c target "x86:v2" schedule "contraction" flops [20*s0] moves [40*s0 + 32] work [196*s0 - 32*pos(3*s0 - 2)] {
    func.func @kernel(%arg0: !weft.tensor<[s0, 4], f32>, %arg1: !weft.tensor<[s0, 2], f32>, %arg2: !weft.tensor<[2, 4], f32> {weft.weight}) -> !weft.tensor<[s0, 4], f32> attributes {weft.symbols = #weft.symbols<s0>} {
      %0 = weft.contract "... k, k n -> ... n" %arg1, %arg2 accumulate f32 : (!weft.tensor<[s0, 2], f32>, !weft.tensor<[2, 4], f32>) -> !weft.tensor<[s0, 4], f32>
      %1 = weft.add %arg0, %0 : (!weft.tensor<[s0, 4], f32>, !weft.tensor<[s0, 4], f32>) -> !weft.tensor<[s0, 4], f32>
      return %1 : !weft.tensor<[s0, 4], f32>
    }
  }
  plan.func @main(%arg0: !weft.tensor<[s, 4], f32> {weft.name = "x"}) -> !weft.tensor<[s, 4], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<s, rank_tp : "rank_tp <= 1">} {
    plan.arena peaks [64*ceildiv(s, 2) + 128*ceildiv(s, 4)]
    %0 = plan.input 0
    %1 = plan.output 0
    %2 = plan.weight dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<4x2xf32> as "panels<8>" : !weft.tensor<[4, 2], f32>
    %3 = plan.weight dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]]> : tensor<2x4xf32> as "panels<8>" : !weft.tensor<[2, 4], f32>
    %4 = plan.memory host [32*s] place 0 above []
    %5 = plan.memory host [16*s] place 3 above [0, 1]
    plan.overlap pieces 3 {
      plan.exchange %0 -> %4 node "in" attributes {plan.prices = [2652, 2654]} {
      ^bb0(%arg1: !weft.tensor<[s, 4], f32>):
        %11 = weft.all_gather %arg1 dim 0 to [2*s] over<tp = 2> : (!weft.tensor<[s, 4], f32>) -> !weft.tensor<[2*s, 4], f32>
      }
      plan.launch @weft_k_contraction_b8455f81308c(%4, %2) -> (%5) [2*s] units [ceildiv(s, 3)] grain [1] scratch [0] rows [2*s, ceildiv(s, 3)] least 1 of 0 nodes ["up"]
    }
    %6 = plan.memory host [32*s] place 1 above []
    %7 = plan.memory host [16*s] place 5 above [1, 2, 3, 4]
    plan.overlap {
      plan.launch @weft_k_contraction_b42a3413ca1c(%5, %3) -> (%6) [2*s] units [ceildiv(s, 3)] grain [1] scratch [0] rows [2*s, ceildiv(s, 3)] least 1 of 0 nodes ["down"]
      plan.exchange %6 -> %7 node "out" attributes {plan.prices = [2652, 2653]} {
      ^bb0(%arg1: !weft.tensor<[2*s, 4], f32>):
        %11 = weft.reduce_scatter sum %arg1 dim 0 over<tp = 2> : (!weft.tensor<[2*s, 4], f32>) -> !weft.tensor<[s, 4], f32>
      }
    }
    %8 = plan.memory host [16*s] place 2 above []
    plan.exchange %0 -> %8 node "next" beside attributes {plan.prices = [2614, 2614]} {
    ^bb0(%arg1: !weft.tensor<[s, 4], f32>):
      %11 = weft.permute %arg1 by 1 over<tp = 2> : (!weft.tensor<[s, 4], f32>) -> !weft.tensor<[s, 4], f32>
    }
    %9 = plan.memory host [16*s] place 4 above [2]
    plan.launch @weft_k_loop_eefe66ff5a5b(%7) -> (%9) [4*s] units [ceildiv(s, 1024)] grain [4] scratch [0]
    %10 = plan.memory host [8*s] place 6 above [2, 4]
    plan.launch @weft_k_contraction_b8455f81308c(%9, %2) -> (%10) [s] units [ceildiv(s, 6)] grain [1] scratch [0] rows [s, ceildiv(s, 6)] least 1 of 0
    plan.await %0 -> %8
    plan.launch @weft_k_contraction_1c1daf83515c(%8, %10, %3) -> (%1) [s] units [ceildiv(s, 6)] grain [1] scratch [0] rows [s, ceildiv(s, 6)] least 1 of 1
    plan.return
  }
}

