// RUN: weft-opt %s --plan-overlap-exchanges="by-price=true links=1GB/s,20us sizes=n=512" | FileCheck %s
// RUN: weft-opt %s --plan-overlap-exchanges="by-price=true links=80MB/s,20us sizes=n=512" | FileCheck %s --check-prefix=LONG
// RUN: weft-opt %s --plan-overlap-exchanges="by-price=true links=1MB/s,20us sizes=n=512" | FileCheck %s --check-prefix=SLOW
// RUN: weft-opt %s --plan-overlap-exchanges="by-price=true sizes=n=512" | FileCheck %s --check-prefix=MEMORY
// RUN: weft-opt %s --plan-overlap-exchanges="by-price=true links=1GB/s,20us sizes=n=16" | FileCheck %s --check-prefix=FEW
// RUN: not weft-opt %s --plan-overlap-exchanges="links=fast" 2>&1 | FileCheck %s --check-prefix=WRONG

// 512 rows are 680 us of a product, which hide the 86 us that half of them are on the link. Of a link that takes 100 times as long as the product there is
// too little to hide, and in memory there is nothing: processors copy. 16 rows are not cut. A short exchange travels in two pieces, one longer
// than the product in as many as there can be. What else there is to choose stands beside the prices, under a key that does not know sizes.
// CHECK-LABEL: plan.func @gathered
// CHECK:         plan.overlap pieces 2 {
// CHECK-NEXT:      plan.exchange {{.*}}plan.offer = {estimate = 2 : i64, key = "{{[0-9a-f]+}}", pieces = array<i64: 2, 3, 4, 8>, together}, plan.prices = [765536, 680000]
// LONG:          plan.overlap pieces 8 {
// SLOW-NOT:      plan.overlap
// SLOW:            plan.prices =
// MEMORY-NOT:    plan.overlap
// MEMORY:          plan.prices =
// FEW-NOT:       plan.overlap
// FEW:             plan.offer = {estimate = 8 : i64, key = "{{[0-9a-f]+}}", pieces = array<i64: 8, 2, 4, 7>}, plan.prices =
// WRONG:         error: link 'fast' is no bandwidth with a latency, such as 2GB/s,20us or dp=2GB/s,20us
plan.kernel @product target "x86:v3" schedule "contraction" flops [s0] moves [8*s0] work [170000*s0] {
  func.func @kernel(%a: !weft.tensor<[s0, 64], f32>, %w: !weft.tensor<[64, 16], f32>) -> !weft.tensor<[s0, 16], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.contract "m k, k n -> m n" %a, %w accumulate f32 : (!weft.tensor<[s0, 64], f32>, !weft.tensor<[64, 16], f32>) -> !weft.tensor<[s0, 16], f32>
    return %0 : !weft.tensor<[s0, 16], f32>
  }
}

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
  plan.return
}
