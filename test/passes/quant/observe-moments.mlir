// RUN: weft-opt %s --weft-observe-moments=edges=1,0 --split-input-file --verify-diagnostics | FileCheck %s

// Rows follow each other, channels last; nothing else is returned.
// CHECK-LABEL: func @moments
// CHECK-SAME: -> (!weft.tensor<[4, 4], f32> {weft.name = "edge1.moments"}, !weft.tensor<[2, 2], f32> {weft.name = "edge0.moments"})
// CHECK: %[[LAST:.*]] = weft.transpose %arg1 [0, 2, 1]
// CHECK: %[[ROWS:.*]] = weft.reshape %[[LAST]] to [8*m, 4]
// CHECK: %[[FIRST:.*]] = weft.contract "m k, m l -> k l" %[[ROWS]], %[[ROWS]] accumulate f32
// CHECK: %[[SECOND:.*]] = weft.contract "m k, m l -> k l" %{{.*}}, %{{.*}} accumulate f32
// CHECK: return %[[FIRST]], %[[SECOND]]
func.func @moments(%x: !weft.tensor<[m, 2], f32>, %i: !weft.tensor<[m, 4, 8], f32>) -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 8, 3], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %v = weft.constant dense<1.0> : tensor<4x3xf32> -> <[4, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %z = weft.contract "m k r, k n -> m r n" %i, %v accumulate f32 : (!weft.tensor<[m, 4, 8], f32>, !weft.tensor<[4, 3], f32>) -> !weft.tensor<[m, 8, 3], f32>
  return %y, %z : !weft.tensor<[m, 3], f32>, !weft.tensor<[m, 8, 3], f32>
}

// -----

// expected-error @below {{has no edge 1 with channels}}
func.func @few(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %y : !weft.tensor<[m, 3], f32>
}

// -----

// Of what a loop reads, the sums over all of its turns.
// CHECK-LABEL: func @inside
// CHECK: %[[NONE:.*]] = weft.fill 0.000000e+00 : f32 -> <[2, 2], f32>
// CHECK: %[[LOOP:.*]]:2 = weft.loop "i" trips [3](%arg0, %[[NONE]])
// CHECK: ^bb0(%[[NOW:[^:]*]]: {{[^%]*}}, %[[BEFORE:[^:]*]]:
// CHECK: %[[MOMENTS:.*]] = weft.contract "m k, m l -> k l"
// CHECK: %[[NEXT:.*]] = weft.add %[[BEFORE]], %[[MOMENTS]]
// CHECK: weft.yield %{{[^,]*}}, %[[NEXT]]
// CHECK: return %{{.*}}, %[[LOOP]]#1
func.func @inside(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m bound i : "i <= 3">} {
  %w = weft.constant dense<1.0> : tensor<2x2xf32> -> <[2, 2], f32>
  %0 = weft.loop "i" trips [3] (%x) : (!weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> {
  ^bb0(%now: !weft.tensor<[m, 2], f32>):
    %1 = weft.contract "m k, k n -> m n" %now, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
    weft.yield %1 : !weft.tensor<[m, 2], f32>
  }
  %2 = weft.contract "m k, k n -> m n" %0, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %2 : !weft.tensor<[m, 2], f32>
}
