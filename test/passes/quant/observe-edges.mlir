// RUN: weft-opt %s --weft-observe-edges=strengths=3 | FileCheck %s

// Two products read one value, which is observed once; a window's channels are its second dimension and have no rows.
// CHECK-LABEL: func @observe
// CHECK-SAME: %[[FACTORS:.*]]: !weft.tensor<[6], f32> {weft.name = "quantize.factors"}
// CHECK-SAME: %[[LEVELS:.*]]: !weft.tensor<[132], f32> {weft.name = "quantize.thresholds"}
// CHECK-SAME: weft.name = "edge0.least"
// CHECK-SAME: !weft.tensor<[64], i32> {weft.name = "edge0.counts"}
// CHECK-SAME: weft.name = "edge0.peaks"
// CHECK-SAME: weft.name = "edge1.rows"
// CHECK-NOT: edge2
// CHECK-DAG: %[[LEAST:.*]] = weft.reduce min %arg0 [0]
// CHECK-DAG: %[[MOST:.*]] = weft.reduce max %arg0 [0]
// CHECK-DAG: %[[ROWS:.*]] = weft.dims_value [m]
// CHECK-DAG: %[[SETS:.*]] = weft.reshape %{{.*}} to [3, 2]
// CHECK-DAG: %[[SCALED:.*]] = weft.mul %{{.*}}, %[[SETS]] : {{.*}} -> !weft.tensor<[m, 3, 2], f32>
// CHECK-DAG: %[[INVERSES:.*]] = weft.reshape %{{.*}} to [1, 2] : (!weft.tensor<[2], f32>)
// CHECK-DAG: %[[EQUALISED:.*]] = weft.mul %arg0, %[[INVERSES]]
// CHECK-DAG: %[[EACH:.*]] = weft.reshape %[[EQUALISED]] to [m, 2, 1]
// CHECK-DAG: %[[THRESHOLDS:.*]] = weft.reshape %{{.*}} to [64]
// CHECK-DAG: %[[IS:.*]] = weft.compare le %[[EACH]], %[[THRESHOLDS]]
// CHECK-DAG: %[[NUMBERS:.*]] = weft.convert %[[IS]]
// CHECK-DAG: weft.reduce sum %[[NUMBERS]] [0, 1]
// CHECK-DAG: weft.reduce min %arg1 [0, 2]
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[LEAST]], %[[MOST]], %{{.*}}, %[[ROWS]]
func.func @observe(%x: !weft.tensor<[m, 2], f32>, %i: !weft.tensor<[m, 2, 8], f32>) -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>, !weft.tensor<[m, 4, 8], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %f = weft.constant dense<1.0> : tensor<4x2x3xf32> -> <[4, 2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %z = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %c = weft.conv %i, %f strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 : (!weft.tensor<[m, 2, 8], f32>, !weft.tensor<[4, 2, 3], f32>) -> !weft.tensor<[m, 4, 8], f32>
  return %y, %z, %c : !weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>, !weft.tensor<[m, 4, 8], f32>
}

// What a layer gives is observed behind as many operators as it says, each as a whole.
// CHECK-LABEL: func @result
// CHECK-SAME: weft.name = "edge0.peaks"
// CHECK-SAME: weft.name = "result0.least"
// CHECK-SAME: weft.name = "result0.most"
// CHECK-SAME: weft.name = "result1.least"
// CHECK-SAME: weft.name = "result1.most"
// CHECK: %[[Y:.*]] = weft.contract
// CHECK: %[[A:.*]] = weft.activation relu %[[Y]]
// CHECK: %[[LEAST:.*]] = weft.reduce min %[[Y]] [0, 1]
// CHECK: %[[MOST:.*]] = weft.reduce max %[[Y]] [0, 1]
// CHECK: %[[LEASTA:.*]] = weft.reduce min %[[A]] [0, 1]
// CHECK: %[[MOSTA:.*]] = weft.reduce max %[[A]] [0, 1]
// CHECK: return {{.*}}, %[[LEAST]], %[[MOST]], %[[LEASTA]], %[[MOSTA]]
func.func @result(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.observed_behind = array<i64: 0, 1>} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %a = weft.activation relu %y : (!weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %a : !weft.tensor<[m, 3], f32>
}

// What a branch in a loop reads is observed there, each time that it is taken; what the loop gives is observed behind it.
// CHECK-LABEL: func @inside
// CHECK-SAME: weft.name = "edge0.least"
// CHECK-SAME: weft.name = "edge1.peaks"
// CHECK: %[[NONE:.*]] = weft.fill 0x7F800000 : f32 -> <[2], f32>
// CHECK: %[[LOOP:.*]]:8 = weft.loop "i" trips [3](%arg0, %[[NONE]], {{.*}} -> (!weft.tensor<[m, 2], f32>, {{.*}} !weft.tensor<[3, m], f32>)
// CHECK: ^bb0(%{{[^:]*}}: {{[^%]*}}, %[[BEFORE:[^:]*]]:
// CHECK: %[[SEEN:.*]]:7 = weft.if
// CHECK: %[[TANH:.*]] = weft.tanh
// CHECK: %[[LEAST:.*]] = weft.reduce min %[[TANH]] [0]
// CHECK: weft.yield %{{[^,]*}}, %[[LEAST]],
// CHECK: else
// CHECK: %[[NOTHING:.*]] = weft.fill 0x7F800000 : f32 -> <[2], f32>
// CHECK: weft.yield %{{[^,]*}}, %[[NOTHING]],
// CHECK: %[[STACKED:.*]] = weft.reduce sum %[[SEEN]]#0 [1]
// CHECK: %[[NEXT:.*]] = weft.minimum %[[BEFORE]], %[[SEEN]]#1
// CHECK: weft.yield %[[SEEN]]#0, %[[NEXT]], {{.*}}, %[[STACKED]] :
// CHECK: weft.contract "m k, k n -> m n" %[[LOOP]]#0,
// CHECK: weft.reduce min %[[LOOP]]#0 [0]
// CHECK: return %{{[^,]*}}, %[[LOOP]]#1, %[[LOOP]]#2, %[[LOOP]]#3, %[[LOOP]]#4, %[[LOOP]]#5, %[[LOOP]]#6,
func.func @inside(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m bound i : "i <= 3">} {
  %w = weft.constant dense<1.0> : tensor<2x2xf32> -> <[2, 2], f32>
  %0, %1 = weft.loop "i" trips [3] (%x) : (!weft.tensor<[m, 2], f32>) -> (!weft.tensor<[m, 2], f32>, !weft.tensor<[3, m], f32>) {
  ^bb0(%now: !weft.tensor<[m, 2], f32>):
    %most = weft.reduce max %now [0, 1] : (!weft.tensor<[m, 2], f32>) -> !weft.tensor<[], f32>
    %zero = weft.fill 0.0 : f32 -> !weft.tensor<[], f32>
    %c = weft.compare ge %most, %zero : (!weft.tensor<[], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[], i1>
    %y = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[m, 2], f32> {
      %t = weft.tanh %now : (!weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
      %2 = weft.contract "m k, k n -> m n" %t, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
      weft.yield %2 : !weft.tensor<[m, 2], f32>
    } else {
      weft.yield %now : !weft.tensor<[m, 2], f32>
    }
    %rows = weft.reduce sum %y [1] : (!weft.tensor<[m, 2], f32>) -> !weft.tensor<[m], f32>
    weft.yield %y, %rows : !weft.tensor<[m, 2], f32>, !weft.tensor<[m], f32>
  }
  %3 = weft.contract "m k, k n -> m n" %0, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %3 : !weft.tensor<[m, 2], f32>
}
