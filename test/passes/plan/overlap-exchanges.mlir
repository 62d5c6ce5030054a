// RUN: weft-opt %s --plan-overlap-exchanges | FileCheck %s

plan.kernel @product target "x86:v3" schedule "contraction" flops [s0] moves [8*s0] work [17*s0] {
  func.func @kernel(%a: !weft.tensor<[s0, 64], f32>, %w: !weft.tensor<[64, 16], f32>) -> !weft.tensor<[s0, 16], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.contract "m k, k n -> m n" %a, %w accumulate f32 : (!weft.tensor<[s0, 64], f32>, !weft.tensor<[64, 16], f32>) -> !weft.tensor<[s0, 16], f32>
    return %0 : !weft.tensor<[s0, 16], f32>
  }
}

// Products behind an exchange that read the rows that it brings; names of memory between them move in front. What reads the rows in no order, or
// has a weight for them, is apart.
// CHECK-LABEL: plan.func @gathered
// CHECK:         plan.memory host [64*n]
// CHECK-NEXT:    plan.overlap {
// CHECK-NEXT:      plan.exchange
// CHECK:           plan.launch @product(%[[A:.*]], %{{.*}}) -> (%{{.*}}) [n] {{.*}} rows [n, ceildiv(n, 6)] least 1 of 0
// CHECK-NEXT:      plan.launch @product(%[[A]], %{{.*}}) -> (%{{.*}}) [n] {{.*}} rows [n, ceildiv(n, 6)] least 1 of 0
// CHECK-NEXT:    }
// CHECK-NEXT:    plan.launch @product
plan.func @gathered(%x: !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>, %w: !weft.tensor<[64, 16], f32>) -> !weft.tensor<[n, 16], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %in = plan.input 0
  %weight = plan.input 1
  %out = plan.output 0
  %a = plan.memory host [256*n]
  plan.exchange %in -> %a {
  ^bb0(%own: !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>):
    %all = weft.all_gather %own dim 0 to [n] over<tp = 2> : (!weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>) -> !weft.tensor<[n, 64], f32>
  }
  plan.launch @product(%a, %weight) -> (%out) [n] units [ceildiv(n, 6)] grain [1] scratch [0] rows [n, ceildiv(n, 6)] least 1 of 0
  %b = plan.memory host [64*n]
  plan.launch @product(%a, %weight) -> (%b) [n] units [ceildiv(n, 6)] grain [1] scratch [0] rows [n, ceildiv(n, 6)] least 1 of 0
  plan.launch @product(%a, %weight) -> (%b) [n] units [ceildiv(n, 6)] grain [1] scratch [0]
  plan.return
}

// A sum over ranks sends the rows of the product in front of it.
// CHECK-LABEL: plan.func @summed
// CHECK:         plan.overlap {
// CHECK-NEXT:      plan.launch @product(%{{.*}}) -> (%[[C:.*]]) [n]
// CHECK-NEXT:      plan.exchange %[[C]] ->
// CHECK:         plan.return
plan.func @summed(%x: !weft.tensor<[n, 64], f32>, %w: !weft.tensor<[64, 16], f32>) -> !weft.tensor<[n, 16], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %in = plan.input 0
  %weight = plan.input 1
  %out = plan.output 0
  %c = plan.memory host [64*n]
  plan.launch @product(%in, %weight) -> (%c) [n] units [ceildiv(n, 6)] grain [1] scratch [0] rows [n, ceildiv(n, 6)] least 1 of 0
  plan.exchange %c -> %out {
  ^bb0(%own: !weft.tensor<[n, 16], f32>):
    %sum = weft.all_reduce sum %own over<tp = 2> : (!weft.tensor<[n, 16], f32>) -> !weft.tensor<[n, 16], f32>
  }
  plan.return
}

// A launch that reads what one of them makes is apart: it may want rows that come later.
// CHECK-LABEL: plan.func @chained
// CHECK:         plan.overlap {
// CHECK-NEXT:      plan.exchange
// CHECK:           plan.launch @product(%{{.*}}, %{{.*}}) -> (%[[B:.*]]) [n]
// CHECK-NEXT:    }
// CHECK-NEXT:    plan.launch @product(%{{.*}}, %[[B]])
plan.func @chained(%x: !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>, %w: !weft.tensor<[64, 16], f32>) -> !weft.tensor<[n, 16], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %in = plan.input 0
  %weight = plan.input 1
  %out = plan.output 0
  %a = plan.memory host [256*n]
  plan.exchange %in -> %a {
  ^bb0(%own: !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>):
    %all = weft.all_gather %own dim 0 to [n] over<tp = 2> : (!weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>) -> !weft.tensor<[n, 64], f32>
  }
  %b = plan.memory host [64*n]
  plan.launch @product(%a, %weight) -> (%b) [n] units [ceildiv(n, 6)] grain [1] scratch [0] rows [n, ceildiv(n, 6)] least 1 of 0
  plan.launch @product(%a, %b) -> (%out) [n] units [ceildiv(n, 6)] grain [1] scratch [0] rows [n, ceildiv(n, 6)] least 1 of 0
  plan.return
}

// What has to do with neither stands in front of both. A kernel that is called for rows says of how many a tile is.
// CHECK-LABEL: plan.func @between
// CHECK:         plan.launch @product(%{{.*}}, %{{.*}}) -> (%[[C:.*]]) [7]
// CHECK-NEXT:    plan.overlap {
// CHECK-NEXT:      plan.exchange
// CHECK:           plan.launch @product(%{{.*}}, %[[C]]) -> (%{{.*}}) [n] {{.*}} rows [n, ceildiv(n, 112)] least 1 of 0 height 112
// CHECK-NEXT:    }
plan.func @between(%x: !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>, %w: !weft.tensor<[64, 16], f32>) -> !weft.tensor<[n, 16], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %in = plan.input 0
  %weight = plan.input 1
  %out = plan.output 0
  %a = plan.memory host [256*n]
  plan.exchange %in -> %a {
  ^bb0(%own: !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>):
    %all = weft.all_gather %own dim 0 to [n] over<tp = 2> : (!weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 64], f32>) -> !weft.tensor<[n, 64], f32>
  }
  %c = plan.memory host [448]
  plan.launch @product(%weight, %weight) -> (%c) [7] units [2] grain [1] scratch [0]
  plan.launch @product(%a, %c) -> (%out) [n] units [ceildiv(n, 112)] grain [1] scratch [0] rows [n, ceildiv(n, 112)] least 1 of 0 height 112
  plan.return
}

// What neighbours send each other begins where it is made, and ends in front of who reads it; what is waited for at once has nothing to go on beside.
// CHECK-LABEL: plan.func @ring
// CHECK:         plan.launch @product({{.*}}) -> (%[[OWN:.*]]) [n]
// CHECK-NEXT:    %[[GOT:.*]] = plan.memory host [256*n]
// CHECK-NEXT:    plan.exchange %[[OWN]] -> %[[GOT]] beside attributes {{[{].*}}plan.prices =
// CHECK:         plan.launch @product(%[[OWN]], %{{.*}}) -> (%[[FIRST:.*]]) [n]
// CHECK:         plan.launch @product(%{{.*}}, %{{.*}}) -> (%{{.*}}) [n]
// CHECK-NEXT:    plan.await %[[OWN]] -> %[[GOT]]
// CHECK:         plan.launch @product(%[[GOT]], %[[FIRST]]) -> (%[[LAST:.*]]) [n]
// CHECK-NEXT:    plan.exchange %[[LAST]] -> %{{[0-9]+}} {
// CHECK-NOT:     plan.await
// CHECK:         plan.return
plan.func @ring(%x: !weft.tensor<[n, 64], f32>, %w: !weft.tensor<[64, 16], f32>) -> (!weft.tensor<[n, 16], f32>, !weft.tensor<[n, 64], f32>)
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">} {
  %in = plan.input 0
  %weight = plan.input 1
  %out = plan.output 0
  %other = plan.output 1
  %a = plan.memory host [256*n]
  plan.launch @product(%in, %weight) -> (%a) [n] units [ceildiv(n, 6)] grain [1] scratch [0]
  %first = plan.memory host [64*n]
  plan.launch @product(%a, %weight) -> (%first) [n] units [ceildiv(n, 6)] grain [1] scratch [0]
  %b = plan.memory host [256*n]
  plan.exchange %a -> %b {
  ^bb0(%own: !weft.tensor<[n, 64], f32>):
    %next = weft.permute %own by 1 over<tp = 2> : (!weft.tensor<[n, 64], f32>) -> !weft.tensor<[n, 64], f32>
  }
  plan.launch @product(%in, %weight) -> (%out) [n] units [ceildiv(n, 6)] grain [1] scratch [0]
  %c = plan.memory host [64*n]
  plan.launch @product(%b, %first) -> (%c) [n] units [ceildiv(n, 6)] grain [1] scratch [0]
  plan.exchange %c -> %other {
  ^bb0(%own: !weft.tensor<[n, 64], f32>):
    %next = weft.permute %own by 1 over<tp = 2> : (!weft.tensor<[n, 64], f32>) -> !weft.tensor<[n, 64], f32>
  }
  plan.return
}
