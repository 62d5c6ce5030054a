// RUN: weft-opt %s --weft-observe-edges=mask=mask --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-observe-moments="edges=0 mask=mask" --split-input-file | FileCheck %s --check-prefix=MOMENTS
// RUN: not weft-opt %s --weft-observe-edges=mask=other --split-input-file 2>&1 | FileCheck %s --check-prefix=NONE

// Where the mask is 0, what is read is 0, and is not counted.
// NONE: error: there is no input 'other' to mask positions with
// MOMENTS-LABEL: func @rows
// MOMENTS: %[[SEEN:.*]] = weft.select %{{.*}}, %arg0, %{{.*}} -> !weft.tensor<[b, s, 2], f32>
// MOMENTS: weft.reshape %[[SEEN]] to [b*s, 2]
// CHECK-LABEL: func @rows
// CHECK-DAG: %[[WHERE:.*]] = weft.reshape %{{.*}} to [b, s, 1] : (!weft.tensor<[b, s], i1>)
// CHECK-DAG: %[[SEEN:.*]] = weft.select %[[WHERE]], %arg0, %{{.*}} -> !weft.tensor<[b, s, 2], f32>
// CHECK-DAG: weft.reduce min %[[SEEN]] [0, 1]
// CHECK-DAG: weft.reduce max %[[SEEN]] [0, 1]
// CHECK-DAG: %[[SQUARE:.*]] = weft.mul %[[SEEN]], %[[SEEN]]
// CHECK-DAG: weft.reduce sum %[[SQUARE]] [0, 1]
// CHECK-DAG: %[[COUNT:.*]] = weft.reduce sum %{{.*}} [0, 1] : (!weft.tensor<[b, s], i64>) -> !weft.tensor<[], i64>
// CHECK-DAG: weft.mul %[[COUNT]], %{{.*}} : (!weft.tensor<[], i64>
// CHECK-DAG: weft.abs %[[SEEN]]
func.func @rows(%x: !weft.tensor<[b, s, 2], f32>, %m: !weft.tensor<[b, s], i64> {weft.name = "mask"}) -> !weft.tensor<[b, s, 3], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "... k, k n -> ... n" %x, %w accumulate f32 : (!weft.tensor<[b, s, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[b, s, 3], f32>
  return %y : !weft.tensor<[b, s, 3], f32>
}

// -----

// Both of its dimensions may be one, and stand behind channels; what has none of them counts as a whole.
// CHECK-LABEL: func @places
// CHECK-DAG: weft.reshape %{{.*}} to [b*s, 1] : (!weft.tensor<[b, s], i1>)
// CHECK-DAG: weft.reshape %{{.*}} to [b, 1, s] : (!weft.tensor<[b, s], i1>)
// CHECK-DAG: weft.reduce min %arg2 [0]
func.func @places(%x: !weft.tensor<[b * s, 2], f32>, %i: !weft.tensor<[b, 2, s], f32>, %p: !weft.tensor<[b, 2], f32>, %m: !weft.tensor<[b, s], f32> {weft.name = "mask"}) -> (!weft.tensor<[b * s, 3], f32>, !weft.tensor<[b, 4, s], f32>, !weft.tensor<[b, 3], f32>) attributes {weft.symbols = #weft.symbols<b, s>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %f = weft.constant dense<1.0> : tensor<4x2x3xf32> -> <[4, 2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[b * s, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[b * s, 3], f32>
  %c = weft.conv %i, %f strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 : (!weft.tensor<[b, 2, s], f32>, !weft.tensor<[4, 2, 3], f32>) -> !weft.tensor<[b, 4, s], f32>
  %z = weft.contract "m k, k n -> m n" %p, %w accumulate f32 : (!weft.tensor<[b, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[b, 3], f32>
  return %y, %c, %z : !weft.tensor<[b * s, 3], f32>, !weft.tensor<[b, 4, s], f32>, !weft.tensor<[b, 3], f32>
}
