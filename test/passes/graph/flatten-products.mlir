// RUN: weft-opt %s --weft-flatten-products | FileCheck %s

// Steps first where batches come first: rows are multiplied as they lie.
// CHECK-LABEL: func @turned
// CHECK:         %[[C:.*]] = weft.contract "... k, n k -> ... n" %arg0, %{{.*}} -> !weft.tensor<[b, s, 3], f32>
// CHECK:         %[[T:.*]] = weft.transpose %[[C]] [1, 0, 2]
// CHECK:         return %[[T]]
func.func @turned(%x: !weft.tensor<[b, s, 2], f32>) -> !weft.tensor<[s, b, 3], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %w = weft.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32> -> !weft.tensor<[3, 2], f32>
  %0 = weft.transpose %x [1, 0, 2] : (!weft.tensor<[b, s, 2], f32>) -> !weft.tensor<[s, b, 2], f32>
  %1 = weft.contract "m b k, n k -> m b n" %0, %w accumulate f32 : (!weft.tensor<[s, b, 2], f32>, !weft.tensor<[3, 2], f32>) -> !weft.tensor<[s, b, 3], f32>
  return %1 : !weft.tensor<[s, b, 3], f32>
}

// An einsum's weight of three dimensions is a matrix.
// CHECK-LABEL: func @heads
// CHECK:         %[[W:.*]] = weft.reshape %{{.*}} to [2, 6]
// CHECK:         %[[C:.*]] = weft.contract "... k, k n -> ... n" %{{.*}}, %[[W]]
// CHECK:         %[[R:.*]] = weft.reshape %[[C]] to [b, s, 3, 2]
// CHECK:         weft.transpose %[[R]] [0, 2, 1, 3]
func.func @heads(%x: !weft.tensor<[b, s, 2], f32>) -> !weft.tensor<[b, 3, s, 2], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %w = weft.constant dense<1.5> : tensor<2x3x2xf32> -> !weft.tensor<[2, 3, 2], f32>
  %0 = weft.contract "b s d, d h e -> b h s e" %x, %w accumulate f32 : (!weft.tensor<[b, s, 2], f32>, !weft.tensor<[2, 3, 2], f32>) -> !weft.tensor<[b, 3, s, 2], f32>
  return %0 : !weft.tensor<[b, 3, s, 2], f32>
}

// And one that sums over two dimensions.
// CHECK-LABEL: func @merged
// CHECK:         %[[X:.*]] = weft.reshape %{{.*}} to [b, s, 6]
// CHECK:         %[[W:.*]] = weft.reshape %{{.*}} to [6, 4]
// CHECK:         weft.contract "... k, k n -> ... n" %[[X]], %[[W]]
func.func @merged(%x: !weft.tensor<[b, s, 3, 2], f32>) -> !weft.tensor<[b, s, 4], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %w = weft.constant dense<1.5> : tensor<3x2x4xf32> -> !weft.tensor<[3, 2, 4], f32>
  %0 = weft.contract "b s h e, h e d -> b s d" %x, %w accumulate f32 : (!weft.tensor<[b, s, 3, 2], f32>, !weft.tensor<[3, 2, 4], f32>) -> !weft.tensor<[b, s, 4], f32>
  return %0 : !weft.tensor<[b, s, 4], f32>
}

// A batch of one is no batch of the weight, and moving it moves nothing.
// CHECK-LABEL: func @units
// CHECK-NOT:     weft.transpose
// CHECK:         weft.contract "... k, k n -> ... n" %arg0, %{{.*}} : (!weft.tensor<[1, s, 2], f32>, !weft.tensor<[2, 3], f32>)
// CHECK-NOT:     weft.transpose
func.func @units(%x: !weft.tensor<[1, s, 2], f32>) -> !weft.tensor<[s, 1, 3], f32> attributes {weft.symbols = #weft.symbols<s>} {
  %w = weft.constant dense<1.5> : tensor<1x2x3xf32> -> !weft.tensor<[1, 2, 3], f32>
  %0 = weft.contract "b s k, b k n -> s b n" %x, %w accumulate f32 : (!weft.tensor<[1, s, 2], f32>, !weft.tensor<[1, 2, 3], f32>) -> !weft.tensor<[s, 1, 3], f32>
  return %0 : !weft.tensor<[s, 1, 3], f32>
}

// One row stays a row, and a vector is one.
// CHECK-LABEL: func @one_row
// CHECK:         %[[A:.*]] = weft.contract "... k, k n -> ... n" %arg0, %{{.*}} -> !weft.tensor<[1, 3], f32>
// CHECK:         %[[B:.*]] = weft.contract "... k, k n -> ... n" %{{.*}}, %{{.*}} : (!weft.tensor<[1, 2], f32>, {{.*}} -> !weft.tensor<[1, 3], f32>
// CHECK:         %[[C:.*]] = weft.reshape %[[B]] to [3]
// CHECK:         return %[[A]], %[[C]]
func.func @one_row(%x: !weft.tensor<[1, 2], f32>, %y: !weft.tensor<[2], f32>) -> (!weft.tensor<[1, 3], f32>, !weft.tensor<[3], f32>) {
  %w = weft.constant dense<1.5> : tensor<2x3xf32> -> !weft.tensor<[2, 3], f32>
  %0 = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[1, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[1, 3], f32>
  %1 = weft.contract "k, k n -> n" %y, %w accumulate f32 : (!weft.tensor<[2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[3], f32>
  return %0, %1 : !weft.tensor<[1, 3], f32>, !weft.tensor<[3], f32>
}

// What is repeated along the other's batch has no dimension for it.
// CHECK-LABEL: func @repeated
// CHECK:         %[[Y:.*]] = weft.reshape %arg1 to [2, t]
// CHECK:         weft.contract "b m k, k n -> b m n" %arg0, %[[Y]]
func.func @repeated(%x: !weft.tensor<[b, s, 2], f32>, %y: !weft.tensor<[1, 2, t], f32>) -> !weft.tensor<[b, s, t], f32> attributes {weft.symbols = #weft.symbols<b, s, t>} {
  %0 = weft.contract "b m k, 1 k n -> b m n" %x, %y accumulate f32 : (!weft.tensor<[b, s, 2], f32>, !weft.tensor<[1, 2, t], f32>) -> !weft.tensor<[b, s, t], f32>
  return %0 : !weft.tensor<[b, s, t], f32>
}

// Channels in front of the places that they have stay there: results would be scattered.
// CHECK-LABEL: func @channels_first
// CHECK:         weft.contract "b c s, o c -> b o s"
func.func @channels_first(%x: !weft.tensor<[b, 2, s], f32>) -> !weft.tensor<[b, 3, s], f32> attributes {weft.symbols = #weft.symbols<b, s>} {
  %w = weft.constant dense<1.5> : tensor<3x2xf32> -> !weft.tensor<[3, 2], f32>
  %0 = weft.contract "b c s, o c -> b o s" %x, %w accumulate f32 : (!weft.tensor<[b, 2, s], f32>, !weft.tensor<[3, 2], f32>) -> !weft.tensor<[b, 3, s], f32>
  return %0 : !weft.tensor<[b, 3, s], f32>
}
