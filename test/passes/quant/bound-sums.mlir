// RUN: weft-opt %s --weft-bound-sums | FileCheck %s

// 114 * 9 * 128 * 255 is less than 2^25; the attribute is the same for smaller filters.
// CHECK-LABEL: func @fits
// CHECK:         weft.conv {{.*}} {channels_last, weft.narrow_sums}
func.func @fits(%x: !weft.tensor<[m, h, w, 128], ui8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32> attributes {weft.symbols = #weft.symbols<m, h, w>} {
  %f = weft.constant dense<114> : tensor<2x128x3x3xi8> -> !weft.tensor<[2, 128, 3, 3], i8>
  %y = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate i32 {channels_last} : (!weft.tensor<[m, h, w, 128], ui8>, !weft.tensor<[2, 128, 3, 3], i8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32>
  return %y : !weft.tensor<[m, h - 2, w - 2, 2], i32>
}

// 115 times that is more, and who says otherwise is wrong.
// CHECK-LABEL: func @is_too_large
// CHECK:         weft.conv {{.*}} {channels_last} :
func.func @is_too_large(%x: !weft.tensor<[m, h, w, 128], ui8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32> attributes {weft.symbols = #weft.symbols<m, h, w>} {
  %f = weft.constant dense<-115> : tensor<2x128x3x3xi8> -> !weft.tensor<[2, 128, 3, 3], i8>
  %y = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate i32 {channels_last, weft.narrow_sums} : (!weft.tensor<[m, h, w, 128], ui8>, !weft.tensor<[2, 128, 3, 3], i8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32>
  return %y : !weft.tensor<[m, h - 2, w - 2, 2], i32>
}

// Signed elements are half as large.
// CHECK-LABEL: func @fits_signed
// CHECK:         weft.conv {{.*}} {channels_last, weft.narrow_sums}
func.func @fits_signed(%x: !weft.tensor<[m, h, w, 128], i8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32> attributes {weft.symbols = #weft.symbols<m, h, w>} {
  %f = weft.constant dense<-115> : tensor<2x128x3x3xi8> -> !weft.tensor<[2, 128, 3, 3], i8>
  %y = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate i32 {channels_last} : (!weft.tensor<[m, h, w, 128], i8>, !weft.tensor<[2, 128, 3, 3], i8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32>
  return %y : !weft.tensor<[m, h - 2, w - 2, 2], i32>
}

// Nothing is known of a filter that is no constant.
// CHECK-LABEL: func @is_given
// CHECK:         weft.conv {{.*}} {channels_last} :
func.func @is_given(%x: !weft.tensor<[m, h, w, 8], ui8>, %f: !weft.tensor<[2, 8, 3, 3], i8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32> attributes {weft.symbols = #weft.symbols<m, h, w>} {
  %y = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate i32 {channels_last} : (!weft.tensor<[m, h, w, 8], ui8>, !weft.tensor<[2, 8, 3, 3], i8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32>
  return %y : !weft.tensor<[m, h - 2, w - 2, 2], i32>
}

// What is true of all channels is true of those of a rank.
// CHECK-LABEL: func @part
// CHECK:         weft.conv {{.*}} {channels_last, weft.narrow_sums}
func.func @part(%x: !weft.tensor<[m, h, w, 64], ui8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m, h, w, rank_tp : "rank_tp <= 1">} {
  %all = weft.constant dense<114> : tensor<2x128x3x3xi8> -> !weft.tensor<[2, 128, 3, 3], i8>
  %f = weft.slice %all from [0, 64*rank_tp, 0, 0] size [2, 64, 3, 3] step [1, 1, 1, 1] : (!weft.tensor<[2, 128, 3, 3], i8>) -> !weft.tensor<[2, 64, 3, 3], i8>
  %y = weft.conv %x, %f strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate i32 {channels_last} : (!weft.tensor<[m, h, w, 64], ui8>, !weft.tensor<[2, 64, 3, 3], i8>) -> !weft.tensor<[m, h - 2, w - 2, 2], i32>
  return %y : !weft.tensor<[m, h - 2, w - 2, 2], i32>
}
