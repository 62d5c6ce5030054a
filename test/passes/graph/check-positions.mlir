// RUN: weft-opt %s --split-input-file --weft-check-positions | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-check-positions="outside=clamped" | FileCheck %s --check-prefix=CLAMPED

// Positions that are given are checked before anything is computed; the widened and repeated ones are not looked at.
// CHECK-LABEL: func.func @embedding
// CHECK-NEXT:    weft.check_positions %arg1 sizes [30522] : <[b, s], i32>
// CHECK:         weft.gather %{{.*}}, %{{.*}} axis 0 :
// CLAMPED-LABEL: func.func @embedding
// CLAMPED-NOT:     check_positions
// CLAMPED:         weft.gather %{{.*}}, %{{.*}} axis 0 outside clamped :
func.func @embedding(%table: !weft.tensor<[30522, 64], f32>, %ids: !weft.tensor<[b, s], i32>) -> !weft.tensor<[b, s, 64], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %0 = weft.neg %table : (!weft.tensor<[30522, 64], f32>) -> !weft.tensor<[30522, 64], f32>
  %1 = weft.convert %ids to i64 : (!weft.tensor<[b, s], i32>) -> !weft.tensor<[b, s], i64>
  %2 = weft.gather %0, %1 axis 0 : (!weft.tensor<[30522, 64], f32>, !weft.tensor<[b, s], i64>) -> !weft.tensor<[b, s, 64], f32>
  return %2 : !weft.tensor<[b, s, 64], f32>
}

// -----

// The same positions in the same size are checked once, and computed ones behind what is formed to kernels.
// CHECK-LABEL: func.func @computed
// CHECK:         %[[AT:.*]] = weft.add
// CHECK:         weft.gather
// CHECK:         weft.gather
// CHECK-NEXT:    weft.check_positions %[[AT]] sizes [n] : <[k], i64>
// CHECK-NEXT:    return
func.func @computed(%x: !weft.tensor<[n], f32>, %y: !weft.tensor<[n], f32>, %at: !weft.tensor<[k], i64>) -> (!weft.tensor<[k], f32>, !weft.tensor<[k], f32>) attributes {weft.symbols = #weft.symbols<n, k>} {
  %0 = weft.add %at, %at : (!weft.tensor<[k], i64>, !weft.tensor<[k], i64>) -> !weft.tensor<[k], i64>
  %1 = weft.gather %x, %0 axis 0 : (!weft.tensor<[n], f32>, !weft.tensor<[k], i64>) -> !weft.tensor<[k], f32>
  %2 = weft.gather %y, %0 axis 0 : (!weft.tensor<[n], f32>, !weft.tensor<[k], i64>) -> !weft.tensor<[k], f32>
  return %1, %2 : !weft.tensor<[k], f32>, !weft.tensor<[k], f32>
}

// -----

// Constants that are inside for all sizes need no check; others do where a size decides.
// CHECK-LABEL: func.func @constants
// CHECK-NOT:     check_positions {{.*}} sizes [n]
// CHECK:         weft.check_positions %{{.*}} sizes [m] : <[2], i64>
// CHECK-NOT:     check_positions
// CHECK:         return
func.func @constants(%x: !weft.tensor<[n], f32>, %y: !weft.tensor<[m], f32>) -> (!weft.tensor<[2], f32>, !weft.tensor<[2], f32>) attributes {weft.symbols = #weft.symbols<n, m : "4 <= n">} {
  %0 = weft.constant dense<[3, -4]> : tensor<2xi64> -> !weft.tensor<[2], i64>
  %1 = weft.gather %x, %0 axis 0 : (!weft.tensor<[n], f32>, !weft.tensor<[2], i64>) -> !weft.tensor<[2], f32>
  %2 = weft.gather %y, %0 axis 0 : (!weft.tensor<[m], f32>, !weft.tensor<[2], i64>) -> !weft.tensor<[2], f32>
  return %1, %2 : !weft.tensor<[2], f32>, !weft.tensor<[2], f32>
}

// -----

// Each place of a tuple has a size of its own. What is written is checked as what is read.
// CHECK-LABEL: func.func @tuples
// CHECK-NEXT:    weft.check_positions %arg1 sizes [h, w] : <[n, 2], i64>
// CHECK-NEXT:    weft.scatter_nd
func.func @tuples(%x: !weft.tensor<[h, w], f32>, %at: !weft.tensor<[n, 2], i64>, %u: !weft.tensor<[n], f32>) -> !weft.tensor<[h, w], f32> attributes {weft.symbols = #weft.symbols<h, w, n>} {
  %0 = weft.scatter_nd set %x, %at, %u : (!weft.tensor<[h, w], f32>, !weft.tensor<[n, 2], i64>, !weft.tensor<[n], f32>) -> !weft.tensor<[h, w], f32>
  return %0 : !weft.tensor<[h, w], f32>
}

// -----

// Pieces of what is inside are inside, and so is the index along a dimension that is no larger.
// CHECK-LABEL: func.func @pieces
// CHECK-NOT:     check_positions
// CHECK:         return
func.func @pieces(%x: !weft.tensor<[64, n], f32>, %y: !weft.tensor<[s], f32>) -> (!weft.tensor<[1, s, n], f32>, !weft.tensor<[s], f32>) attributes {weft.symbols = #weft.symbols<n, s : "s <= 64">} {
  %all = weft.constant dense<7> : tensor<1x64xi64> -> !weft.tensor<[1, 64], i64>
  %some = weft.slice %all from [0, 0] size [1, s] step [1, 1] : (!weft.tensor<[1, 64], i64>) -> !weft.tensor<[1, s], i64>
  %0 = weft.gather %x, %some axis 0 : (!weft.tensor<[64, n], f32>, !weft.tensor<[1, s], i64>) -> !weft.tensor<[1, s, n], f32>
  %index = weft.iota dim 0 : !weft.tensor<[s], i64>
  %1 = weft.gather %y, %index axis 0 : (!weft.tensor<[s], f32>, !weft.tensor<[s], i64>) -> !weft.tensor<[s], f32>
  return %0, %1 : !weft.tensor<[1, s, n], f32>, !weft.tensor<[s], f32>
}

// -----

// Of a tuple of parts only those are checked that can be outside, by their own names.
// CHECK-LABEL: func.func @parts
// CHECK-NEXT:    weft.check_positions %arg1 sizes [w] : <[h], i64>
// CHECK-NOT:     check_positions
// CHECK:         return
func.func @parts(%x: !weft.tensor<[h, w], f32>, %at: !weft.tensor<[h], i64>) -> !weft.tensor<[h], f32> attributes {weft.symbols = #weft.symbols<h, w>} {
  %index = weft.iota dim 0 : !weft.tensor<[h, 1], i64>
  %column = weft.reshape %at to [h, 1] : (!weft.tensor<[h], i64>) -> !weft.tensor<[h, 1], i64>
  %both = weft.concat %index, %column dim 1 : (!weft.tensor<[h, 1], i64>, !weft.tensor<[h, 1], i64>) -> !weft.tensor<[h, 2], i64>
  %0 = weft.gather_nd %x, %both batch 0 : (!weft.tensor<[h, w], f32>, !weft.tensor<[h, 2], i64>) -> !weft.tensor<[h], f32>
  return %0 : !weft.tensor<[h], f32>
}


// -----

// What ranks have parts of is looked at as a whole, by all; other slices only where they are.
// CHECK-LABEL: func.func @ranks
// CHECK-NEXT:    weft.check_positions %arg1 sizes [64] : <[n], i64>
// CHECK-NOT:     check_positions
// CHECK:         %[[SOME:.*]] = weft.slice %arg1 from [2*rank_tp]
// CHECK-NOT:     check_positions
// CHECK:         weft.check_positions %[[SOME]] sizes [32] : <[2], i64>
func.func @ranks(%x: !weft.tensor<[64, 3], f32>, %at: !weft.tensor<[n], i64>, %y: !weft.tensor<[32, 3], f32>)
    -> (!weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 3], f32>, !weft.tensor<[2, 3], f32>)
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, rank_tp : "4 <= n", "rank_tp <= 1">} {
  %part = weft.slice %at from [min(rank_tp*ceildiv(n, 2), n)] size [ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2))] step [1]
      : (!weft.tensor<[n], i64>) -> !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2))], i64>
  %0 = weft.gather %x, %part axis 0 : (!weft.tensor<[64, 3], f32>, !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2))], i64>)
      -> !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 3], f32>
  %some = weft.slice %at from [2*rank_tp] size [2] step [1] : (!weft.tensor<[n], i64>) -> !weft.tensor<[2], i64>
  %1 = weft.gather %y, %some axis 0 : (!weft.tensor<[32, 3], f32>, !weft.tensor<[2], i64>) -> !weft.tensor<[2, 3], f32>
  return %0, %1 : !weft.tensor<[ceildiv(n, 2) + pos(rank_tp*ceildiv(n, 2) - n) - pos(rank_tp*ceildiv(n, 2) - n + ceildiv(n, 2)), 3], f32>, !weft.tensor<[2, 3], f32>
}
