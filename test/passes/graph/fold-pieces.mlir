// RUN: weft-opt %s --weft-fold-constants --canonicalize --split-input-file | FileCheck %s

// Weights of two directions are one constant each.
// CHECK-LABEL: func @pieces
// CHECK-DAG:     weft.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00]]]>
// CHECK-DAG:     weft.constant dense<{{\[\[\[}}3.000000e+00, 4.000000e+00]]]>
// CHECK-NOT:     weft.slice
func.func @pieces(%x: !weft.tensor<[m, 2], f32>) -> (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32> -> !weft.tensor<[2, 1, 2], f32>
  %0 = weft.slice %w from [0, 0, 0] size [1, 1, 2] step [1, 1, 1] : (!weft.tensor<[2, 1, 2], f32>) -> !weft.tensor<[1, 1, 2], f32>
  %1 = weft.slice %w from [1, 0, 0] size [1, 1, 2] step [1, 1, 1] : (!weft.tensor<[2, 1, 2], f32>) -> !weft.tensor<[1, 1, 2], f32>
  %2 = weft.reshape %0 to [2] : (!weft.tensor<[1, 1, 2], f32>) -> !weft.tensor<[2], f32>
  %3 = weft.reshape %1 to [2] : (!weft.tensor<[1, 1, 2], f32>) -> !weft.tensor<[2], f32>
  %4 = weft.mul %x, %2 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[m, 2], f32>
  %5 = weft.mul %x, %3 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[m, 2], f32>
  return %4, %5 : !weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>
}

// -----

// What each rank has is read where it lies, also when all have the same numbers.
// CHECK-LABEL: func @own_part
// CHECK:         weft.slice %{{.*}} from [rank_tp, 0] size [1, 2]
func.func @own_part(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m, rank_tp : "rank_tp <= 1">} {
  %w = weft.constant dense<[[1.0, 2.0], [1.0, 2.0]]> : tensor<2x2xf32> -> !weft.tensor<[2, 2], f32>
  %0 = weft.slice %w from [rank_tp, 0] size [1, 2] step [1, 1] : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[1, 2], f32>
  %1 = weft.reshape %0 to [2] : (!weft.tensor<[1, 2], f32>) -> !weft.tensor<[2], f32>
  %2 = weft.mul %x, %1 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[m, 2], f32>
  return %2 : !weft.tensor<[m, 2], f32>
}

// -----

// Another function may need the whole.
// CHECK-LABEL: func @piece
// CHECK:         weft.slice
func.func @piece(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> !weft.tensor<[2, 2], f32>
  %0 = weft.slice %w from [1, 0] size [1, 2] step [1, 1] : (!weft.tensor<[2, 2], f32>) -> !weft.tensor<[1, 2], f32>
  %1 = weft.reshape %0 to [2] : (!weft.tensor<[1, 2], f32>) -> !weft.tensor<[2], f32>
  %2 = weft.mul %x, %1 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2], f32>) -> !weft.tensor<[m, 2], f32>
  return %2 : !weft.tensor<[m, 2], f32>
}

func.func @whole() -> !weft.tensor<[2, 2], f32> {
  %w = weft.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> !weft.tensor<[2, 2], f32>
  return %w : !weft.tensor<[2, 2], f32>
}
