// RUN: weft-opt %s --weft-bound-pairs | FileCheck %s

// 255 * (64 + 64) is a number of 16 bits; with a second pair it is none.
// CHECK-LABEL: func @one_pair
// CHECK:         weft.contract {{.*}} {weft.pair_sums = 1 : i64}
func.func @one_pair(%x: !weft.tensor<[m, 8], ui8>) -> !weft.tensor<[m, 2], i32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<64> : tensor<8x2xi8> -> !weft.tensor<[8, 2], i8>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate i32 : (!weft.tensor<[m, 8], ui8>, !weft.tensor<[8, 2], i8>) -> !weft.tensor<[m, 2], i32>
  return %y : !weft.tensor<[m, 2], i32>
}

// One weight is more, and who says otherwise is wrong.
// CHECK-LABEL: func @one_beyond
// CHECK-NOT:     weft.pair_sums
func.func @one_beyond(%x: !weft.tensor<[m, 4], ui8>) -> !weft.tensor<[m, 2], i32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[64, 0], [0, 64], [3, -64], [1, -65]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate i32 {weft.pair_sums = 1 : i64} : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[4, 2], i8>) -> !weft.tensor<[m, 2], i32>
  return %y : !weft.tensor<[m, 2], i32>
}

// Neighbours in a column are pairs, here of the rows of a matrix; what is above 0 and what is below count alone.
// CHECK-LABEL: func @two_groups
// CHECK:         weft.contract {{.*}} {weft.pair_sums = 2 : i64}
func.func @two_groups(%x: !weft.tensor<[m, 12], ui8>) -> !weft.tensor<[m, 2], i32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[127, -128, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], [0, 0, -64, 0, 0, 0, -64, 64, 0, 0, 0, 0]]> : tensor<2x12xi8> -> !weft.tensor<[2, 12], i8>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate i32 : (!weft.tensor<[m, 12], ui8>, !weft.tensor<[2, 12], i8>) -> !weft.tensor<[m, 2], i32>
  return %y : !weft.tensor<[m, 2], i32>
}

// Groups of a row begin at its begin: 8 and 9 are no pair of the group of 4 and 5.
// CHECK-LABEL: func @in_order
// CHECK:         weft.contract {{.*}} {weft.pair_sums = 2 : i64}
func.func @in_order(%x: !weft.tensor<[m, 12], i8>) -> !weft.tensor<[m, 1], i32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[0, 0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0]]> : tensor<1x12xi8> -> !weft.tensor<[1, 12], i8>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate i32 : (!weft.tensor<[m, 12], i8>, !weft.tensor<[1, 12], i8>) -> !weft.tensor<[m, 1], i32>
  return %y : !weft.tensor<[m, 1], i32>
}

// A rank's part of the same may begin anywhere.
// CHECK-LABEL: func @part
// CHECK:         weft.contract {{.*}} {weft.pair_sums = 1 : i64}
func.func @part(%x: !weft.tensor<[m, 6], i8>) -> !weft.tensor<[m, 1], i32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m, rank_tp : "rank_tp <= 1">} {
  %all = weft.constant dense<[[0, 0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0]]> : tensor<1x12xi8> -> !weft.tensor<[1, 12], i8>
  %w = weft.slice %all from [0, 6*rank_tp] size [1, 6] step [1, 1] : (!weft.tensor<[1, 12], i8>) -> !weft.tensor<[1, 6], i8>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate i32 : (!weft.tensor<[m, 6], i8>, !weft.tensor<[1, 6], i8>) -> !weft.tensor<[m, 1], i32>
  return %y : !weft.tensor<[m, 1], i32>
}

// A window is summed pixel by pixel: both channels of one, then both of the next.
// CHECK-LABEL: func @pixels
// CHECK:         weft.conv {{.*}} {channels_last, weft.pair_sums = 1 : i64}
func.func @pixels(%x: !weft.tensor<[m, w, 2], ui8>) -> !weft.tensor<[m, w - 3, 1], i32> attributes {weft.symbols = #weft.symbols<m, w>} {
  %f = weft.constant dense<[[[100, 100, 100, 100], [28, 28, 28, 28]]]> : tensor<1x2x4xi8> -> !weft.tensor<[1, 2, 4], i8>
  %y = weft.conv %x, %f strides [1] dilations [1] low [0] high [0] groups 1 accumulate i32 {channels_last} : (!weft.tensor<[m, w, 2], ui8>, !weft.tensor<[1, 2, 4], i8>) -> !weft.tensor<[m, w - 3, 1], i32>
  return %y : !weft.tensor<[m, w - 3, 1], i32>
}

// Groups may begin with any pixel of one channel, so that all neighbours are pairs.
// CHECK-LABEL: func @any_neighbours
// CHECK-NOT:     weft.pair_sums
func.func @any_neighbours(%x: !weft.tensor<[m, w, 1], ui8>) -> !weft.tensor<[m, w - 3, 1], i32> attributes {weft.symbols = #weft.symbols<m, w>} {
  %f = weft.constant dense<[[[0, 100, 100, 0]]]> : tensor<1x1x4xi8> -> !weft.tensor<[1, 1, 4], i8>
  %y = weft.conv %x, %f strides [1] dilations [1] low [0] high [0] groups 1 accumulate i32 {channels_last} : (!weft.tensor<[m, w, 1], ui8>, !weft.tensor<[1, 1, 4], i8>) -> !weft.tensor<[m, w - 3, 1], i32>
  return %y : !weft.tensor<[m, w - 3, 1], i32>
}

// Nothing is known of a weight that is no constant, and unsigned ones are not multiplied so.
// CHECK-LABEL: func @others
// CHECK-NOT:     weft.pair_sums
func.func @others(%x: !weft.tensor<[m, 4], ui8>, %v: !weft.tensor<[4, 2], i8>) -> (!weft.tensor<[m, 2], i32>, !weft.tensor<[m, 2], i32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1> : tensor<4x2xui8> -> !weft.tensor<[4, 2], ui8>
  %y = weft.contract "m k, k n -> m n" %x, %v accumulate i32 : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[4, 2], i8>) -> !weft.tensor<[m, 2], i32>
  %z = weft.contract "m k, k n -> m n" %x, %w accumulate i32 : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[4, 2], ui8>) -> !weft.tensor<[m, 2], i32>
  return %y, %z : !weft.tensor<[m, 2], i32>, !weft.tensor<[m, 2], i32>
}
