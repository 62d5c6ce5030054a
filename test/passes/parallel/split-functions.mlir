// RUN: weft-opt %s --weft-split-functions --canonicalize | FileCheck %s

// A product by columns, the next by rows, and one sum: what is between the two follows.
// CHECK-LABEL: func.func @pair
// CHECK-SAME:    weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "rank_tp <= 1">
// CHECK-DAG:     %[[UP:.*]] = weft.slice %arg1 from [0, 6*rank_tp] size [8, 6]
// CHECK-DAG:     %[[DOWN:.*]] = weft.slice %arg2 from [6*rank_tp, 0] size [6, 8]
// CHECK:         %[[H:.*]] = weft.contract "m k, k j -> m j" %arg0, %[[UP]]
// CHECK:         %[[G:.*]] = weft.activation gelu %[[H]]
// CHECK:         %[[P:.*]] = weft.contract "m k, k j -> m j" %[[G]], %[[DOWN]]
// CHECK:         %[[Y:.*]] = weft.all_reduce sum %[[P]] over<tp = 2> {weft.because = "{{.*}} combines along a dimension of parts"}
// CHECK:         return %[[Y]]
func.func @pair(%x: !weft.tensor<[n, 8], f32>, %up: !weft.tensor<[8, 12], f32> {weft.placement = #weft.placement<[_, tp]>}, %down: !weft.tensor<[12, 8], f32>) -> !weft.tensor<[n, 8], f32>
    attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %h = weft.contract "m k, k j -> m j" %x, %up accumulate f32 : (!weft.tensor<[n, 8], f32>, !weft.tensor<[8, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %g = weft.activation gelu %h : (!weft.tensor<[n, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %y = weft.contract "m k, k j -> m j" %g, %down accumulate f32 : (!weft.tensor<[n, 12], f32>, !weft.tensor<[12, 8], f32>) -> !weft.tensor<[n, 8], f32>
  return %y : !weft.tensor<[n, 8], f32>
}

// Weights of which ranks read parts and use the whole: gathered in front of who reads them, also what another axis cuts out of them. Of the batch
// ranks have parts.
// CHECK-LABEL: func.func @gathered
// CHECK:         %[[X:.*]] = weft.slice %arg0 from [min(rank_dp*ceildiv(n, 2), n), 0]
// CHECK:         %[[UP:.*]] = weft.constant dense<1.000000e+00>
// CHECK:         %[[UPS:.*]] = weft.slice %[[UP]] from [0, 6*rank_tp] size [8, 6]
// CHECK:         %[[DOWN:.*]] = weft.constant dense<2.000000e+00>
// CHECK:         %[[DOWNS:.*]] = weft.slice %[[DOWN]] from [6*rank_tp, 0] size [6, 8]
// CHECK:         %[[P:.*]] = weft.slice %[[UPS]] from [4*rank_dp, 0] size [4, 6]
// CHECK:         %[[W:.*]] = weft.all_gather %[[P]] dim 0 to [8] over<dp = 2> : (!weft.tensor<[4, 6], f32>)
// CHECK-NEXT:    %[[H:.*]] = weft.contract "m k, k j -> m j" %[[X]], %[[W]]
// CHECK:         %[[G:.*]] = weft.activation gelu %[[H]]
// CHECK:         %[[Q:.*]] = weft.slice %[[DOWNS]] from [0, 4*rank_dp] size [6, 4]
// CHECK:         %[[D:.*]] = weft.all_gather %[[Q]] dim 1 to [8] over<dp = 2> : (!weft.tensor<[6, 4], f32>)
// CHECK-NEXT:    weft.contract "m k, k j -> m j" %[[G]], %[[D]]
// CHECK:         weft.all_reduce sum {{.*}} over<tp = 2>
func.func @gathered(%x: !weft.tensor<[n, 8], f32> {weft.placement = #weft.placement<[dp, _]>}) -> !weft.tensor<[n, 8], f32>
    attributes {weft.split_over = #weft.mesh<dp = 2, tp = 2>, weft.symbols = #weft.symbols<n>} {
  %up = weft.constant dense<1.0> : tensor<8x12xf32> {weft.placement = #weft.placement<[dp*, tp]>} -> !weft.tensor<[8, 12], f32>
  %down = weft.constant dense<2.0> : tensor<12x8xf32> {weft.placement = #weft.placement<[_, dp*]>} -> !weft.tensor<[12, 8], f32>
  %h = weft.contract "m k, k j -> m j" %x, %up accumulate f32 : (!weft.tensor<[n, 8], f32>, !weft.tensor<[8, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %g = weft.activation gelu %h : (!weft.tensor<[n, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %y = weft.contract "m k, k j -> m j" %g, %down accumulate f32 : (!weft.tensor<[n, 12], f32>, !weft.tensor<[12, 8], f32>) -> !weft.tensor<[n, 8], f32>
  return %y : !weft.tensor<[n, 8], f32>
}

// A loop over stacked layers gathers the weight of one at a time.
// CHECK-LABEL: func.func @stacked
// CHECK:         %[[ALL:.*]] = weft.constant dense<1.000000e+00>
// CHECK:         weft.loop "i" trips [3]
// CHECK:           %[[W:.*]] = weft.slice %[[ALL]] from [i, 0, 0] size [1, 8, 8]
// CHECK:           %[[P:.*]] = weft.slice %[[W]] from [0, 4*rank_dp, 0] size [1, 4, 8]
// CHECK:           weft.all_gather %[[P]] dim 1 to [8] over<dp = 2>
func.func @stacked(%x: !weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32>
    attributes {weft.split_over = #weft.mesh<dp = 2>, weft.symbols = #weft.symbols<n bound i>} {
  %all = weft.constant dense<1.0> : tensor<3x8x8xf32> {weft.placement = #weft.placement<[_, dp*, _]>} -> !weft.tensor<[3, 8, 8], f32>
  %y = weft.loop "i" trips [3](%x) : (!weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32> {
  ^bb0(%h: !weft.tensor<[n, 8], f32>):
    %s = weft.slice %all from [i, 0, 0] size [1, 8, 8] step [1, 1, 1] : (!weft.tensor<[3, 8, 8], f32>) -> !weft.tensor<[1, 8, 8], f32>
    %w = weft.reshape %s to [8, 8] : (!weft.tensor<[1, 8, 8], f32>) -> !weft.tensor<[8, 8], f32>
    %p = weft.contract "m k, k j -> m j" %h, %w accumulate f32 : (!weft.tensor<[n, 8], f32>, !weft.tensor<[8, 8], f32>) -> !weft.tensor<[n, 8], f32>
    weft.yield %p : !weft.tensor<[n, 8], f32>
  }
  return %y : !weft.tensor<[n, 8], f32>
}

// Two heads of keys for eight ranks, each shared by four of queries: all ranks have both, and each has one head of queries.
// CHECK-LABEL: func.func @shared
// CHECK:         %[[Q:.*]] = weft.slice %arg0 from [rank_tp, 0, 0] size [1, n, 4]
// CHECK:         %[[E:.*]] = weft.expand {{.*}} to [2, 4, n, 4]
// CHECK:         %[[R:.*]] = weft.reshape %[[E]] to [8, n, 4]
// CHECK:         %[[K:.*]] = weft.slice %[[R]] from [rank_tp, 0, 0] size [1, n, 4]
// CHECK:         weft.contract "h i d, h j d -> h i j" %[[Q]], %[[K]]
func.func @shared(%q: !weft.tensor<[8, n, 4], f32> {weft.placement = #weft.placement<[tp, _, _]>}, %k: !weft.tensor<[2, 1, n, 4], f32>) -> !weft.tensor<[8, n, n], f32>
    attributes {weft.split_over = #weft.mesh<tp = 8>, weft.symbols = #weft.symbols<n>} {
  %e = weft.expand %k to [2, 4, n, 4] : (!weft.tensor<[2, 1, n, 4], f32>) -> !weft.tensor<[2, 4, n, 4], f32>
  %r = weft.reshape %e to [8, n, 4] : (!weft.tensor<[2, 4, n, 4], f32>) -> !weft.tensor<[8, n, 4], f32>
  %y = weft.contract "h i d, h j d -> h i j" %q, %r accumulate f32 : (!weft.tensor<[8, n, 4], f32>, !weft.tensor<[8, n, 4], f32>) -> !weft.tensor<[8, n, n], f32>
  return %y : !weft.tensor<[8, n, n], f32>
}

// Lines that ranks have parts of: the largest, and the sum.
// CHECK-LABEL: func.func @softmax
// CHECK:         %[[X:.*]] = weft.slice %arg0 from [0, 4*rank_tp] size [n, 4]
// CHECK:         %[[M:.*]] = weft.reduce max %[[X]] [1]
// CHECK:         weft.all_reduce max %[[M]] over<tp = 2>
// CHECK:         %[[S:.*]] = weft.reduce sum
// CHECK:         weft.all_reduce sum %[[S]] over<tp = 2>
// CHECK:         %[[Y:.*]] = weft.div
// CHECK:         weft.all_gather %[[Y]] dim 1 to [8] over<tp = 2> {weft.because = "the caller needs all of what {{.*}} gives in parts"}
func.func @softmax(%x: !weft.tensor<[n, 8], f32> {weft.placement = #weft.placement<[_, tp]>}) -> !weft.tensor<[n, 8], f32>
    attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %y = weft.softmax %x : (!weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32>
  return %y : !weft.tensor<[n, 8], f32>
}

// Three heads over two ranks: none is cut.
// CHECK-LABEL: func.func @heads
// CHECK:         weft.slice %arg0 from [0, 4*min(2*rank_tp, 3)]
// CHECK:         weft.reshape {{.*}} to [n, pos(2*rank_tp - 3) - pos(2*rank_tp - 1) + 2, 4]
// CHECK:         weft.all_gather {{.*}} dim 0 to [3] over<tp = 2>
func.func @heads(%x: !weft.tensor<[n, 12], f32> {weft.placement = #weft.placement<[_, tp]>}) -> !weft.tensor<[3, n, 4], f32>
    attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %a = weft.abs %x : (!weft.tensor<[n, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %r = weft.reshape %a to [n, 3, 4] : (!weft.tensor<[n, 12], f32>) -> !weft.tensor<[n, 3, 4], f32>
  %t = weft.transpose %r [1, 0, 2] : (!weft.tensor<[n, 3, 4], f32>) -> !weft.tensor<[3, n, 4], f32>
  return %t : !weft.tensor<[3, n, 4], f32>
}

// Positions are split, the table is not.
// CHECK-LABEL: func.func @table
// CHECK:         %[[I:.*]] = weft.slice %arg0 from [min(rank_dp*ceildiv(b, 2), b), 0]
// CHECK:         weft.gather %arg1, %[[I]] axis 0
// CHECK:         weft.all_gather {{.*}} dim 0 to [b] over<dp = 2>
func.func @table(%ids: !weft.tensor<[b, s], i64> {weft.placement = #weft.placement<[dp, _]>}, %table: !weft.tensor<[100, 8], f32>) -> !weft.tensor<[b, s, 8], f32>
    attributes {weft.split_over = #weft.mesh<dp = 2>, weft.symbols = #weft.symbols<b, s>} {
  %y = weft.gather %table, %ids axis 0 : (!weft.tensor<[100, 8], f32>, !weft.tensor<[b, s], i64>) -> !weft.tensor<[b, s, 8], f32>
  return %y : !weft.tensor<[b, s, 8], f32>
}

// A placement of a result outweighs that of a weight, which every rank has all the same.
// CHECK-LABEL: func.func @asked
// CHECK:         %[[X:.*]] = weft.slice %arg0 from [min(rank_tp*ceildiv(n, 2), n), 0]
// CHECK:         weft.contract "m k, k j -> m j" %[[X]], %arg1
// CHECK-NOT:     weft.all_reduce
// CHECK:         weft.all_gather {{.*}} dim 0 to [n]
func.func @asked(%x: !weft.tensor<[n, 8], f32>, %up: !weft.tensor<[8, 12], f32> {weft.placement = #weft.placement<[tp, _]>}) -> !weft.tensor<[n, 12], f32>
    attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %h = weft.contract "m k, k j -> m j" %x, %up accumulate f32 {weft.placement = #weft.placement<[tp, _]>} : (!weft.tensor<[n, 8], f32>, !weft.tensor<[8, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %g = weft.activation gelu %h : (!weft.tensor<[n, 12], f32>) -> !weft.tensor<[n, 12], f32>
  return %g : !weft.tensor<[n, 12], f32>
}

// Parts along another dimension.
// CHECK-LABEL: func.func @turned
// CHECK:         %[[G:.*]] = weft.contract
// CHECK:         %[[T:.*]] = weft.all_to_all %[[G]] split 1 join 0 to [n] over<tp = 2> {weft.because = "{{.*}} needs parts along dimension 1, but {{.*}} gives them along 0"}
// CHECK:         weft.activation gelu %[[T]]
// CHECK:         weft.all_gather {{.*}} dim 1 to [12]
func.func @turned(%x: !weft.tensor<[n, 8], f32> {weft.placement = #weft.placement<[tp, _]>}, %w: !weft.tensor<[8, 12], f32>) -> !weft.tensor<[n, 12], f32>
    attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %e = weft.exp %x : (!weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32>
  %g = weft.contract "m k, k j -> m j" %e, %w accumulate f32 : (!weft.tensor<[n, 8], f32>, !weft.tensor<[8, 12], f32>) -> !weft.tensor<[n, 12], f32>
  %h = weft.activation gelu %g {weft.placement = #weft.placement<[_, tp]>} : (!weft.tensor<[n, 12], f32>) -> !weft.tensor<[n, 12], f32>
  return %h : !weft.tensor<[n, 12], f32>
}

// A sum that is read in parts becomes parts at once, between tokens that are split.
// CHECK-LABEL: func.func @scattered
// CHECK:         %[[P:.*]] = weft.contract
// CHECK:         %[[S:.*]] = weft.reduce_scatter sum %[[P]] dim 0 over<tp = 2>
// CHECK:         weft.add %{{.*}}, %[[S]]
func.func @scattered(%x: !weft.tensor<[n, 8], f32> {weft.placement = #weft.placement<[tp, _]>}, %h: !weft.tensor<[n, 12], f32> {weft.placement = #weft.placement<[_, tp]>}, %down: !weft.tensor<[12, 8], f32>) -> !weft.tensor<[n, 8], f32>
    attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %d = weft.contract "m k, k j -> m j" %h, %down accumulate f32 : (!weft.tensor<[n, 12], f32>, !weft.tensor<[12, 8], f32>) -> !weft.tensor<[n, 8], f32>
  %y = weft.add %x, %d : (!weft.tensor<[n, 8], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[n, 8], f32>
  return %y : !weft.tensor<[n, 8], f32>
}

// Both operands and the result in blocks of a grid: each is gathered along the axis that the product does not have.
// CHECK-LABEL: func.func @grid
// CHECK:         weft.contract "m k, k j -> m j" {{.*}} : (!weft.tensor<[4, 8], f32>, !weft.tensor<[8, 6], f32>) -> !weft.tensor<[4, 6], f32>
func.func @grid(%a: !weft.tensor<[8, 8], f32> {weft.placement = #weft.placement<[r, c]>}, %b: !weft.tensor<[8, 12], f32> {weft.placement = #weft.placement<[r, c]>}) -> !weft.tensor<[8, 12], f32>
    attributes {weft.split_over = #weft.mesh<r = 2, c = 2>, weft.symbols = #weft.symbols<>} {
  %y = weft.contract "m k, k j -> m j" %a, %b accumulate f32 {weft.placement = #weft.placement<[r, c]>} : (!weft.tensor<[8, 8], f32>, !weft.tensor<[8, 12], f32>) -> !weft.tensor<[8, 12], f32>
  return %y : !weft.tensor<[8, 12], f32>
}

// What a region reads is whole, and an operator without cuts is computed by all.
// CHECK-LABEL: func.func @whole
// CHECK:         %[[E:.*]] = weft.exp
// CHECK:         %[[W:.*]] = weft.all_gather %[[E]] dim 0 to [8]
// CHECK:         weft.slice %[[W]] from [7]
func.func @whole(%x: !weft.tensor<[8], f32> {weft.placement = #weft.placement<[tp]>}) -> !weft.tensor<[8], f32>
    attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<>} {
  %e = weft.exp %x : (!weft.tensor<[8], f32>) -> !weft.tensor<[8], f32>
  %y = weft.slice %e from [7] size [8] step [-1] : (!weft.tensor<[8], f32>) -> !weft.tensor<[8], f32>
  return %y : !weft.tensor<[8], f32>
}

// A rank adds what the parts before its own sum to.
// CHECK-LABEL: func.func @running
// CHECK:         %[[O:.*]] = weft.cumulate sum %[[P:.*]] axis 0
// CHECK:         %[[T:.*]] = weft.reduce sum %[[P]] [0]
// CHECK:         %[[A:.*]] = weft.all_gather %{{.*}} dim 0 to [2] over<tp = 2> {weft.because = "{{.*}} needs what other ranks have"}
// CHECK:         %[[B:.*]] = weft.cumulate sum %[[A]] axis 0 {exclusive}
// CHECK:         %[[S:.*]] = weft.slice %[[B]] from [rank_tp] size [1]
// CHECK:         weft.add %[[O]], %[[S]]
func.func @running(%x: !weft.tensor<[8], f32> {weft.placement = #weft.placement<[tp]>}) -> !weft.tensor<[8], f32>
    attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<>} {
  %y = weft.cumulate sum %x axis 0 : (!weft.tensor<[8], f32>) -> !weft.tensor<[8], f32>
  return %y : !weft.tensor<[8], f32>
}

// Rows below zero, and behind the last, are those of the border; a neighbour's part is at least one row.
// CHECK-LABEL: func.func @rows
// CHECK:         weft.permute %{{.*}} by 1 over<t = 3>
// CHECK:         weft.permute %{{.*}} by 2 over<t = 3>
// CHECK:         weft.concat
// CHECK:         weft.conv %{{.*}}, %arg1 strides [1, 1] dilations [1, 1] low [0, 1] high [0, 1] groups 1
func.func @rows(%x: !weft.tensor<[1, 2, h, 8], f32> {weft.placement = #weft.placement<[_, _, t, _]>}, %f: !weft.tensor<[4, 2, 3, 3], f32>) -> !weft.tensor<[1, 4, h, 8], f32>
    attributes {weft.split_over = #weft.mesh<t = 3>, weft.symbols = #weft.symbols<h>} {
  %e = weft.abs %x : (!weft.tensor<[1, 2, h, 8], f32>) -> !weft.tensor<[1, 2, h, 8], f32>
  %y = weft.conv %e, %f strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32 : (!weft.tensor<[1, 2, h, 8], f32>, !weft.tensor<[4, 2, 3, 3], f32>) -> !weft.tensor<[1, 4, h, 8], f32>
  return %y : !weft.tensor<[1, 4, h, 8], f32>
}

// Blocks of 4 bits: by columns, and what is summed by whole blocks.
// CHECK-LABEL: func.func @blocks
// CHECK-DAG:     %[[UPS:.*]] = weft.slice %{{.*}} from [4*rank_tp, 0] size [4, 32] {{.*}} (!weft.tensor<[8, 32], ui4>)
// CHECK-DAG:     weft.fill 8 : ui4 -> <[4, 2], ui4>
// CHECK:         weft.dequantize_blocks %[[UPS]], {{.*}} axis 1 block 16
// CHECK:         weft.contract
// CHECK-NOT:     weft.all_gather
// CHECK:         return
func.func @blocks(%x: !weft.tensor<[n, 32], f32>) -> !weft.tensor<[n, 2], f32> attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %q = weft.constant dense<3> : tensor<8x32xui4> {weft.placement = #weft.placement<[tp, _]>} -> !weft.tensor<[8, 32], ui4>
  %s = weft.constant dense<0.5> : tensor<8x2xf32> -> !weft.tensor<[8, 2], f32>
  %z = weft.fill 8 : ui4 -> !weft.tensor<[8, 2], ui4>
  %w = weft.dequantize_blocks %q, %s, %z axis 1 block 16 : (!weft.tensor<[8, 32], ui4>, !weft.tensor<[8, 2], f32>, !weft.tensor<[8, 2], ui4>) -> !weft.tensor<[8, 32], f32>
  %h = weft.contract "m k, j k -> m j" %x, %w accumulate f32 : (!weft.tensor<[n, 32], f32>, !weft.tensor<[8, 32], f32>) -> !weft.tensor<[n, 8], f32>
  %d = weft.constant dense<0.25> : tensor<8x2xf32> -> !weft.tensor<[8, 2], f32>
  %y = weft.contract "m j, j o -> m o" %h, %d accumulate f32 : (!weft.tensor<[n, 8], f32>, !weft.tensor<[8, 2], f32>) -> !weft.tensor<[n, 2], f32>
  return %y : !weft.tensor<[n, 2], f32>
}

// CHECK-LABEL: func.func @depth
// CHECK-DAG:     weft.slice %{{.*}} from [0, 64*rank_tp] size [8, 64] {{.*}} (!weft.tensor<[8, 128], ui4>)
// CHECK-DAG:     weft.slice %{{.*}} from [0, 4*rank_tp] size [8, 4] {{.*}} (!weft.tensor<[8, 8], f32>)
// CHECK-DAG:     weft.slice %arg0 from [0, 64*rank_tp] size [n, 64]
// CHECK:         weft.round_blocks %{{.*}} block 16 : (!weft.tensor<[n, 64], f32>)
// CHECK:         weft.all_reduce sum
func.func @depth(%x: !weft.tensor<[n, 128], f32>) -> !weft.tensor<[n, 8], f32> attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %q = weft.constant dense<3> : tensor<8x128xui4> {weft.placement = #weft.placement<[_, tp]>} -> !weft.tensor<[8, 128], ui4>
  %s = weft.constant dense<0.5> : tensor<8x8xf32> -> !weft.tensor<[8, 8], f32>
  %w = weft.dequantize_blocks %q, %s axis 1 block 16 : (!weft.tensor<[8, 128], ui4>, !weft.tensor<[8, 8], f32>) -> !weft.tensor<[8, 128], f32>
  %r = weft.round_blocks %x block 16 : (!weft.tensor<[n, 128], f32>) -> !weft.tensor<[n, 128], f32>
  %y = weft.contract "m k, j k -> m j" %r, %w accumulate f32 : (!weft.tensor<[n, 128], f32>, !weft.tensor<[8, 128], f32>) -> !weft.tensor<[n, 8], f32>
  return %y : !weft.tensor<[n, 8], f32>
}

// A block that two ranks would have parts of is cut by nobody: all ranks have all of the product.
// CHECK-LABEL: func.func @one_block
// CHECK-NOT:     weft.all_
// CHECK:         weft.dequantize_blocks {{.*}} -> !weft.tensor<[8, 16], f32>
// CHECK-NOT:     weft.all_
// CHECK:         return
func.func @one_block(%x: !weft.tensor<[n, 16], f32>) -> !weft.tensor<[n, 8], f32> attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %q = weft.constant dense<3> : tensor<8x16xui4> {weft.placement = #weft.placement<[_, tp]>} -> !weft.tensor<[8, 16], ui4>
  %s = weft.constant dense<0.5> : tensor<8x1xf32> -> !weft.tensor<[8, 1], f32>
  %w = weft.dequantize_blocks %q, %s axis 1 block 16 : (!weft.tensor<[8, 16], ui4>, !weft.tensor<[8, 1], f32>) -> !weft.tensor<[8, 16], f32>
  %y = weft.contract "m k, j k -> m j" %x, %w accumulate f32 : (!weft.tensor<[n, 16], f32>, !weft.tensor<[8, 16], f32>) -> !weft.tensor<[n, 8], f32>
  return %y : !weft.tensor<[n, 8], f32>
}

// What is computed of constants is had by all: tokens are split, and nobody gathers weights.
// CHECK-LABEL: func.func @known
// CHECK:         %[[W:.*]] = weft.dequantize {{.*}} -> !weft.tensor<[4, 6], f32>
// CHECK:         weft.contract "m k, k j -> m j" %{{.*}}, %[[W]]
func.func @known(%x: !weft.tensor<[n, 4], f32> {weft.placement = #weft.placement<[tp, _]>}) -> !weft.tensor<[n, 6], f32> attributes {weft.split_over = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n>} {
  %q = weft.constant dense<3> : tensor<4x6xi8> {weft.placement = #weft.placement<[_, tp]>} -> !weft.tensor<[4, 6], i8>
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.dequantize %q, %s, %z : (!weft.tensor<[4, 6], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 6], f32>
  %a = weft.abs %x : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  %y = weft.contract "m k, k j -> m j" %a, %w accumulate f32 : (!weft.tensor<[n, 4], f32>, !weft.tensor<[4, 6], f32>) -> !weft.tensor<[n, 6], f32>
  return %y : !weft.tensor<[n, 6], f32>
}
