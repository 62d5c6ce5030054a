// RUN: weft-opt %s --weft-move-quantisations --weft-use-integers --weft-store-parameters | FileCheck %s

// A product of bytes is summed in i32. The zero point of the activations takes away its multiple of the sums of
// the weight's columns (16 and 20), and both scales are one number.
// CHECK-LABEL: func @product
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, 4], ui8>)
// CHECK-DAG:     %[[W:.*]] = weft.constant dense<{{.*}}> : tensor<4x2xi8>
// CHECK:         %[[SUM:.*]] = weft.contract "m k, k n -> m n" %[[X]], %[[W]] accumulate i32
// CHECK:         %[[CORRECTION:.*]] = weft.constant dense<[2048, 2560]> : tensor<2xi32>
// CHECK:         %[[EXACT:.*]] = weft.sub %[[SUM]], %[[CORRECTION]]
// CHECK:         %[[REAL:.*]] = weft.convert %[[EXACT]] to f32
// CHECK:         %[[SCALE:.*]] = weft.constant dense<1.250000e-01> : tensor<f32>
// CHECK:         %[[R:.*]] = weft.mul %[[REAL]], %[[SCALE]]
// CHECK:         return %[[R]]
func.func @product(%x: !weft.tensor<[m, 4], ui8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Without zero points nothing is taken away.
// CHECK-LABEL: func @symmetric
// CHECK:         %[[SUM:.*]] = weft.contract {{.*}} accumulate i32
// CHECK-NOT:     weft.sub
// CHECK:         %[[REAL:.*]] = weft.convert %[[SUM]] to f32
func.func @symmetric(%x: !weft.tensor<[m, 4], i8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Every column of the weight may have a scale of its own.
// CHECK-LABEL: func @scale_per_column
// CHECK:         weft.contract {{.*}} accumulate i32
// CHECK:         %[[SCALES:.*]] = weft.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK:         weft.mul %{{.*}}, %[[SCALES]]
func.func @scale_per_column(%x: !weft.tensor<[m, 4], i8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %sw = weft.constant dense<[0.25, 0.5]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[2], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Zero points of the weight take away their multiple of the sums of the activations' rows, which only the running program knows: a product
// with ones. Sums of columns less their zero points are 16 - 4 and 20 + 4.
// CHECK-LABEL: func @zero_per_column
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, 4], ui8>)
// CHECK-DAG:     %[[ZEROS:.*]] = weft.constant dense<[1, -1]> : tensor<2xi32>
// CHECK-DAG:     %[[FIRST:.*]] = weft.constant dense<[1536, 3072]> : tensor<2xi32>
// CHECK-DAG:     %[[ONES:.*]] = weft.constant dense<1> : tensor<4x1xi8> {weft.parameter}
// CHECK:         %[[ROWS:.*]] = weft.contract "m k, k n -> m n" %[[X]], %[[ONES]] accumulate i32 : {{.*}} -> !weft.tensor<[m, 1], i32>
// CHECK:         %[[SECOND:.*]] = weft.mul %[[ROWS]], %[[ZEROS]]
// CHECK:         %[[BOTH:.*]] = weft.add %[[FIRST]], %[[SECOND]]
// CHECK:         weft.sub %{{.*}}, %[[BOTH]]
func.func @zero_per_column(%x: !weft.tensor<[m, 4], ui8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<[1, -1]> : tensor<2xi8> -> !weft.tensor<[2], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[2], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Scales and zero points that kernels read lie in memory, so that layers which differ in nothing else share their code.
// CHECK-LABEL: func @parameters
// CHECK-DAG:     %[[S:.*]] = weft.constant dense<5.000000e-01> : tensor<f32> {weft.parameter}
// CHECK-DAG:     %[[Z:.*]] = weft.constant dense<128> : tensor<ui8> {weft.parameter}
// CHECK:         weft.quantize %{{.*}}, %[[S]], %[[Z]]
func.func @parameters(%x: !weft.tensor<[m], f32>) -> !weft.tensor<[m], ui8> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %q = weft.quantize %x, %s, %z : (!weft.tensor<[m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m], ui8>
  return %q : !weft.tensor<[m], ui8>
}

// A product whose operands are both computed stays one of floats.
// CHECK-LABEL: func @two_activations
// CHECK-NOT:     accumulate i32
// CHECK:         weft.contract {{.*}} accumulate f32
func.func @two_activations(%x: !weft.tensor<[m, 4], ui8>, %w: !weft.tensor<[4, 2], i8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// So does one whose weight has more than 8 bits.
// CHECK-LABEL: func @wide_weight
// CHECK-NOT:     accumulate i32
// CHECK:         weft.contract {{.*}} accumulate f32
func.func @wide_weight(%x: !weft.tensor<[m, 4], ui8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i16> -> !weft.tensor<[], i16>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi16> -> !weft.tensor<[4, 2], i16>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i16>, !weft.tensor<[], f32>, !weft.tensor<[], i16>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// So does one whose weight has scales along the summed dimension.
// CHECK-LABEL: func @scale_per_row
// CHECK-NOT:     accumulate i32
// CHECK:         weft.contract {{.*}} accumulate f32
func.func @scale_per_row(%x: !weft.tensor<[m, 4], ui8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<[[0.25], [0.5], [1.0], [2.0]]> : tensor<4x1xf32> -> !weft.tensor<[4, 1], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[4, 1], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// So does one whose activations have a scale per column.
// CHECK-LABEL: func @activations_per_column
// CHECK-NOT:     accumulate i32
// CHECK:         weft.contract {{.*}} accumulate f32
func.func @activations_per_column(%x: !weft.tensor<[m, 4], ui8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<[0.5, 0.25, 0.5, 1.0]> : tensor<4xf32> -> !weft.tensor<[4], f32>
  %za = weft.constant dense<[0, 0, 0, 0]> : tensor<4xui8> -> !weft.tensor<[4], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[4], f32>, !weft.tensor<[4], ui8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// So does one whose columns are not the result's last dimension.
// CHECK-LABEL: func @columns_first
// CHECK-NOT:     accumulate i32
// CHECK:         weft.contract {{.*}} accumulate f32
func.func @columns_first(%x: !weft.tensor<[m, 4], ui8>) -> !weft.tensor<[2, m], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %y = weft.contract "m k, k n -> n m" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[2, m], f32>
  return %y : !weft.tensor<[2, m], f32>
}

// So does one whose weight has a dimension that is not summed.
// CHECK-LABEL: func @batched
// CHECK-NOT:     accumulate i32
// CHECK:         weft.contract {{.*}} accumulate f32
func.func @batched(%x: !weft.tensor<[1, m, 4], ui8>) -> !weft.tensor<[1, m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[[1, 2], [3, 4], [5, 6], [7, 8]]]> : tensor<1x4x2xi8> -> !weft.tensor<[1, 4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[1, m, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[1, m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[1, 4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[1, 4, 2], f32>
  %y = weft.contract "b m k, b k n -> b m n" %a, %b accumulate f32 : (!weft.tensor<[1, m, 4], f32>, !weft.tensor<[1, 4, 2], f32>) -> !weft.tensor<[1, m, 2], f32>
  return %y : !weft.tensor<[1, m, 2], f32>
}

// A convolution pads with the zero point, which stands for 0. What is taken away are its multiples of
// the filters' sums (21 and -6).
// CHECK-LABEL: func @convolution
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[n, 2, m], ui8>)
// CHECK-DAG:     %[[Z:.*]] = weft.constant dense<3> : tensor<ui8>
// CHECK-DAG:     %[[CORRECTION:.*]] = weft.constant dense<{{\[\[}}63], [-18{{\]\]}}> : tensor<2x1xi32>
// CHECK-DAG:     %[[PADDED:.*]] = weft.pad %[[X]] with %[[Z]] low [0, 0, 1] high [0, 0, 1]
// CHECK:         %[[SUM:.*]] = weft.conv %[[PADDED]], %{{.*}} low [0] high [0] groups 1 accumulate i32
// CHECK:         weft.sub %[[SUM]], %[[CORRECTION]]
func.func @convolution(%x: !weft.tensor<[n, 2, m], ui8>) -> !weft.tensor<[n, 2, m], f32> attributes {weft.symbols = #weft.symbols<n, m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<3> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[[1, 2, 3], [4, 5, 6]], [[-1, -1, -1], [-1, -1, -1]]]> : tensor<2x2x3xi8> -> !weft.tensor<[2, 2, 3], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[n, 2, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 2, m], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[2, 2, 3], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[2, 2, 3], f32>
  %y = weft.conv %a, %b strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 : (!weft.tensor<[n, 2, m], f32>, !weft.tensor<[2, 2, 3], f32>) -> !weft.tensor<[n, 2, m], f32>
  return %y : !weft.tensor<[n, 2, m], f32>
}

// With a zero point of 0 the padding stays where it was.
// CHECK-LABEL: func @convolution_around_zero
// CHECK-NOT:     weft.pad
// CHECK:         weft.conv {{.*}} low [1] high [1] groups 1 accumulate i32
// CHECK-NOT:     weft.sub
func.func @convolution_around_zero(%x: !weft.tensor<[n, 2, m], ui8>) -> !weft.tensor<[n, 2, m], f32> attributes {weft.symbols = #weft.symbols<n, m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<0> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[[1, 2, 3], [4, 5, 6]], [[-1, -1, -1], [-1, -1, -1]]]> : tensor<2x2x3xi8> -> !weft.tensor<[2, 2, 3], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[n, 2, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 2, m], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[2, 2, 3], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[2, 2, 3], f32>
  %y = weft.conv %a, %b strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 : (!weft.tensor<[n, 2, m], f32>, !weft.tensor<[2, 2, 3], f32>) -> !weft.tensor<[n, 2, m], f32>
  return %y : !weft.tensor<[n, 2, m], f32>
}

// One with groups stays one of floats.
// CHECK-LABEL: func @grouped
// CHECK-NOT:     accumulate i32
// CHECK:         weft.conv {{.*}} accumulate f32
func.func @grouped(%x: !weft.tensor<[n, 2, m], ui8>) -> !weft.tensor<[n, 2, m], f32> attributes {weft.symbols = #weft.symbols<n, m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<3> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi8> -> !weft.tensor<[2, 1, 3], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[n, 2, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 2, m], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[2, 1, 3], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[2, 1, 3], f32>
  %y = weft.conv %a, %b strides [1] dilations [1] low [1] high [1] groups 2 accumulate f32 : (!weft.tensor<[n, 2, m], f32>, !weft.tensor<[2, 1, 3], f32>) -> !weft.tensor<[n, 2, m], f32>
  return %y : !weft.tensor<[n, 2, m], f32>
}

// A zero point of the filters takes away its multiple of the sum under every window: bytes of pixels are summed by a filter of ones, then
// pixels of a window. What the activations' zero point takes away are multiples of the filters' sums less their zero points (21 - 6 and -6 - 6).
// CHECK-LABEL: func @filter_around_one
// CHECK:         %[[X:.*]] = weft.pad
// CHECK:         %[[FIXED:.*]] = weft.constant dense<{{\[\[}}45], [-36]]>
// CHECK:         %[[ONES:.*]] = weft.constant dense<1> : tensor<1x2x1xi8> {weft.parameter}
// CHECK:         %[[PIXELS:.*]] = weft.conv %[[X]], %[[ONES]] {{.*}} -> !weft.tensor<[n, 1, m + 2], i32>
// CHECK:         %[[FIRST:.*]] = weft.slice %[[PIXELS]] from [0, 0, 0] size [n, 1, m]
// CHECK:         %[[SECOND:.*]] = weft.slice %[[PIXELS]] from [0, 0, 1] size [n, 1, m]
// CHECK:         %[[TWO:.*]] = weft.add %[[FIRST]], %[[SECOND]]
// CHECK:         %[[THIRD:.*]] = weft.slice %[[PIXELS]] from [0, 0, 2] size [n, 1, m]
// CHECK:         %[[WINDOWS:.*]] = weft.add %[[TWO]], %[[THIRD]]
// CHECK:         %[[TIMES:.*]] = weft.mul %[[WINDOWS]], %{{.*}}
// CHECK:         %[[CORRECTION:.*]] = weft.add %[[FIXED]], %[[TIMES]]
// CHECK:         %[[PRODUCT:.*]] = weft.conv %[[X]], {{.*}} accumulate i32 : (!weft.tensor<[n, 2, m + 2], ui8>
// CHECK:         weft.sub %[[PRODUCT]], %[[CORRECTION]]
func.func @filter_around_one(%x: !weft.tensor<[n, 2, m], ui8>) -> !weft.tensor<[n, 2, m], f32> attributes {weft.symbols = #weft.symbols<n, m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<3> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<1> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[[1, 2, 3], [4, 5, 6]], [[-1, -1, -1], [-1, -1, -1]]]> : tensor<2x2x3xi8> -> !weft.tensor<[2, 2, 3], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[n, 2, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 2, m], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[2, 2, 3], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[2, 2, 3], f32>
  %y = weft.conv %a, %b strides [1] dilations [1] low [1] high [1] groups 1 accumulate f32 : (!weft.tensor<[n, 2, m], f32>, !weft.tensor<[2, 2, 3], f32>) -> !weft.tensor<[n, 2, m], f32>
  return %y : !weft.tensor<[n, 2, m], f32>
}

// What was dequantised and is quantised with the same numbers again is what it was, also through a view.
// CHECK-LABEL: func @there_and_back
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, 4], ui8>)
// CHECK-NOT:     quantize
// CHECK:         %[[R:.*]] = weft.reshape %[[X]] to [2*m, 2]
// CHECK:         return %[[R]]
func.func @there_and_back(%x: !weft.tensor<[m, 4], ui8>) -> !weft.tensor<[2*m, 2], ui8> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 4], f32>
  %r = weft.reshape %a to [2*m, 2] : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[2*m, 2], f32>
  %q = weft.quantize %r, %s, %z : (!weft.tensor<[2*m, 2], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[2*m, 2], ui8>
  return %q : !weft.tensor<[2*m, 2], ui8>
}

// With other numbers both are done.
// CHECK-LABEL: func @rescaled
// CHECK:         %[[A:.*]] = weft.dequantize
// CHECK:         weft.quantize %[[A]]
func.func @rescaled(%x: !weft.tensor<[m], ui8>) -> !weft.tensor<[m], ui8> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %u = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m], f32>
  %q = weft.quantize %a, %u, %z : (!weft.tensor<[m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m], ui8>
  return %q : !weft.tensor<[m], ui8>
}

// Quantising moves in front of views, to what computes the reals: few bytes are moved then.
// CHECK-LABEL: func @before_views
// CHECK:         %[[E:.*]] = weft.exp
// CHECK:         %[[Q:.*]] = weft.quantize %[[E]]
// CHECK:         %[[T:.*]] = weft.transpose %[[Q]] [1, 0]
// CHECK:         %[[R:.*]] = weft.reshape %[[T]] to [4*m]
// CHECK:         return %[[R]]
func.func @before_views(%x: !weft.tensor<[m, 4], f32>) -> !weft.tensor<[4*m], ui8> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %e = weft.exp %x : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %t = weft.transpose %e [1, 0] : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[4, m], f32>
  %r = weft.reshape %t to [4*m] : (!weft.tensor<[4, m], f32>) -> !weft.tensor<[4*m], f32>
  %q = weft.quantize %r, %s, %z : (!weft.tensor<[4*m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[4*m], ui8>
  return %q : !weft.tensor<[4*m], ui8>
}

// It stays behind a view of an input.
// CHECK-LABEL: func @view_of_input
// CHECK:         %[[T:.*]] = weft.transpose %{{.*}} [1, 0]
// CHECK:         weft.quantize %[[T]]
func.func @view_of_input(%x: !weft.tensor<[m, 4], f32>) -> !weft.tensor<[4, m], ui8> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %t = weft.transpose %x [1, 0] : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[4, m], f32>
  %q = weft.quantize %t, %s, %z : (!weft.tensor<[4, m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[4, m], ui8>
  return %q : !weft.tensor<[4, m], ui8>
}

// It also stays behind a view that somebody else reads.
// CHECK-LABEL: func @view_read_twice
// CHECK:         %[[T:.*]] = weft.transpose %{{.*}} [1, 0]
// CHECK:         weft.quantize %[[T]]
func.func @view_read_twice(%x: !weft.tensor<[m, 4], f32>) -> (!weft.tensor<[4, m], ui8>, !weft.tensor<[4, m], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %e = weft.exp %x : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %t = weft.transpose %e [1, 0] : (!weft.tensor<[m, 4], f32>) -> !weft.tensor<[4, m], f32>
  %q = weft.quantize %t, %s, %z : (!weft.tensor<[4, m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[4, m], ui8>
  return %q, %t : !weft.tensor<[4, m], ui8>, !weft.tensor<[4, m], f32>
}

// The largest of dequantised integers is the largest integer, dequantised.
// CHECK-LABEL: func @largest
// CHECK:         %[[P:.*]] = weft.pool max %{{.*}} : (!weft.tensor<[n, m], ui8>) -> !weft.tensor<[n, m], ui8>
// CHECK:         weft.dequantize %[[P]]
func.func @largest(%x: !weft.tensor<[n, m], ui8>) -> !weft.tensor<[n, m], f32> attributes {weft.symbols = #weft.symbols<n, m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[n, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, m], f32>
  %y = weft.pool max %a kernel [2] strides [1] dilations [1] low [1] high [0] : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m], f32>
  return %y : !weft.tensor<[n, m], f32>
}

// Not with a scale that turns the order around.
// CHECK-LABEL: func @negative_scale
// CHECK:         %[[A:.*]] = weft.dequantize
// CHECK:         weft.pool max %[[A]]
func.func @negative_scale(%x: !weft.tensor<[n, m], ui8>) -> !weft.tensor<[n, m], f32> attributes {weft.symbols = #weft.symbols<n, m>} {
  %s = weft.constant dense<-0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[n, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, m], f32>
  %y = weft.pool max %a kernel [2] strides [1] dilations [1] low [1] high [0] : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m], f32>
  return %y : !weft.tensor<[n, m], f32>
}

// Not where a window may lie outside: its maximum is no integer.
// CHECK-LABEL: func @window_outside
// CHECK:         %[[A:.*]] = weft.dequantize
// CHECK:         weft.pool max %[[A]]
func.func @window_outside(%x: !weft.tensor<[n, m], ui8>) -> !weft.tensor<[n, m + 1], f32> attributes {weft.symbols = #weft.symbols<n, m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[n, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, m], f32>
  %y = weft.pool max %a kernel [2] strides [1] dilations [1] low [2] high [0] : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m + 1], f32>
  return %y : !weft.tensor<[n, m + 1], f32>
}

// A transpose behind a product is another order of the product's dimensions, also with elementwise operators between them.
// CHECK-LABEL: func @transposed
// CHECK-NOT:     weft.transpose
// CHECK:         %[[C:.*]] = weft.contract "b m k, k n -> m b n"
// CHECK:         %[[N:.*]] = weft.neg %[[C]]
// CHECK:         return %[[N]]
func.func @transposed(%x: !weft.tensor<[b, m, 4], i8>) -> !weft.tensor<[m, b, 2], i32> attributes {weft.symbols = #weft.symbols<b, m>} {
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %c = weft.contract "b m k, k n -> b m n" %x, %w accumulate i32 : (!weft.tensor<[b, m, 4], i8>, !weft.tensor<[4, 2], i8>) -> !weft.tensor<[b, m, 2], i32>
  %n = weft.neg %c : (!weft.tensor<[b, m, 2], i32>) -> !weft.tensor<[b, m, 2], i32>
  %t = weft.transpose %n [1, 0, 2] : (!weft.tensor<[b, m, 2], i32>) -> !weft.tensor<[m, b, 2], i32>
  return %t : !weft.tensor<[m, b, 2], i32>
}

// One that moves the innermost dimension stays: stores would be scattered.
// CHECK-LABEL: func @innermost
// CHECK:         %[[C:.*]] = weft.contract "b m k, k n -> b m n"
// CHECK:         weft.transpose %[[C]] [2, 0, 1]
func.func @innermost(%x: !weft.tensor<[b, m, 4], i8>) -> !weft.tensor<[2, b, m], i32> attributes {weft.symbols = #weft.symbols<b, m>} {
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %c = weft.contract "b m k, k n -> b m n" %x, %w accumulate i32 : (!weft.tensor<[b, m, 4], i8>, !weft.tensor<[4, 2], i8>) -> !weft.tensor<[b, m, 2], i32>
  %t = weft.transpose %c [2, 0, 1] : (!weft.tensor<[b, m, 2], i32>) -> !weft.tensor<[2, b, m], i32>
  return %t : !weft.tensor<[2, b, m], i32>
}

// A program without quantised numbers stays as it is, transposes included.
// CHECK-LABEL: func @floats
// CHECK:         weft.contract "b m k, k n -> b m n"
// CHECK:         weft.transpose
func.func @floats(%x: !weft.tensor<[b, m, 4], f32>, %w: !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, b, 2], f32> attributes {weft.symbols = #weft.symbols<b, m>} {
  %c = weft.contract "b m k, k n -> b m n" %x, %w accumulate f32 : (!weft.tensor<[b, m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[b, m, 2], f32>
  %t = weft.transpose %c [1, 0, 2] : (!weft.tensor<[b, m, 2], f32>) -> !weft.tensor<[m, b, 2], f32>
  return %t : !weft.tensor<[m, b, 2], f32>
}

// Products in branches become integers, each by itself.
// CHECK-LABEL: func @branch
// CHECK:         weft.if
// CHECK:         weft.contract {{.*}} accumulate i32
// CHECK:         } else {
// CHECK:         weft.contract {{.*}} accumulate f32
func.func @branch(%c: !weft.tensor<[], i1>, %x: !weft.tensor<[m, 4], i8>, %v: !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 4], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[4, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 2], f32>
  %r = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[m, 2], f32> {
    %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
    weft.yield %y : !weft.tensor<[m, 2], f32>
  } else {
    %u = weft.contract "m k, k n -> m n" %a, %v accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[m, 2], f32>
    weft.yield %u : !weft.tensor<[m, 2], f32>
  }
  return %r : !weft.tensor<[m, 2], f32>
}

// Ranks have two rows of the weight each. What the zero point takes away is a part of a constant, and integers are summed: scaled once, they
// are those of one rank.
// CHECK-LABEL: func @rows_of_ranks
// CHECK:         %[[W:.*]] = weft.slice %{{.*}} from [2*rank_tp, 0] size [2, 2]
// CHECK:         %[[SUM:.*]] = weft.contract "m k, k n -> m n" %arg0, %[[W]] accumulate i32
// CHECK:         %[[ALL:.*]] = weft.constant dense<[512, 768, 1536, 1792]> : tensor<4xi32>
// CHECK:         %[[CORRECTION:.*]] = weft.slice %[[ALL]] from [2*rank_tp] size [2]
// CHECK:         %[[EXACT:.*]] = weft.sub %[[SUM]], %[[CORRECTION]]
// CHECK:         %[[SCALE:.*]] = weft.constant dense<1.250000e-01> : tensor<f32>
// CHECK:         %[[WHOLE:.*]] = weft.all_reduce sum %[[EXACT]] over<tp = 2> {{.*}} -> !weft.tensor<[m, 2], i32>
// CHECK:         %[[REAL:.*]] = weft.convert %[[WHOLE]] to f32
// CHECK:         %[[R:.*]] = weft.mul %[[REAL]], %[[SCALE]]
// CHECK:         return %[[R]]
func.func @rows_of_ranks(%x: !weft.tensor<[m, 2], ui8>) -> !weft.tensor<[m, 2], f32> attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m, rank_tp : "rank_tp <= 1">} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %sw = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %zw = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %all = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %w = weft.slice %all from [2*rank_tp, 0] size [2, 2] step [1, 1] : (!weft.tensor<[4, 2], i8>) -> !weft.tensor<[2, 2], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[m, 2], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 2], f32>
  %b = weft.dequantize %w, %sw, %zw : (!weft.tensor<[2, 2], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[2, 2], f32>
  %p = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %y = weft.all_reduce sum %p over<tp = 2> : (!weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Columns, each with a scale, from a gathered operand: its bytes are gathered. What differs per column stays one constant of all ranks.
// CHECK-LABEL: func @columns_of_ranks
// CHECK:         %[[W:.*]] = weft.slice %{{.*}} from [0, rank_tp] size [4, 1]
// CHECK:         %[[X:.*]] = weft.all_gather %arg0 dim 0 to [m] over<tp = 2> {{.*}} -> !weft.tensor<[m, 4], i8>
// CHECK:         %[[SUM:.*]] = weft.contract "m k, k n -> m n" %[[X]], %[[W]] accumulate i32
// CHECK:         %[[REAL:.*]] = weft.convert %[[SUM]] to f32
// CHECK:         %[[ALL:.*]] = weft.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK:         %[[SCALES:.*]] = weft.slice %[[ALL]] from [rank_tp] size [1]
// CHECK:         %[[SCALE:.*]] = weft.reshape %[[SCALES]] to []
// CHECK:         weft.mul %[[REAL]], %[[SCALE]]
func.func @columns_of_ranks(%x: !weft.tensor<[min(ceildiv(m, 2), max(m - rank_tp*ceildiv(m, 2), 0)), 4], i8>) -> !weft.tensor<[m, 1], f32>
    attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m, rank_tp : "rank_tp <= 1">} {
  %sa = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %steps = weft.constant dense<[0.25, 0.5]> : tensor<2xf32> -> !weft.tensor<[2], f32>
  %sw = weft.slice %steps from [rank_tp] size [1] step [1] : (!weft.tensor<[2], f32>) -> !weft.tensor<[1], f32>
  %all = weft.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8> -> !weft.tensor<[4, 2], i8>
  %w = weft.slice %all from [0, rank_tp] size [4, 1] step [1, 1] : (!weft.tensor<[4, 2], i8>) -> !weft.tensor<[4, 1], i8>
  %a = weft.dequantize %x, %sa, %za : (!weft.tensor<[min(ceildiv(m, 2), max(m - rank_tp*ceildiv(m, 2), 0)), 4], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>)
    -> !weft.tensor<[min(ceildiv(m, 2), max(m - rank_tp*ceildiv(m, 2), 0)), 4], f32>
  %g = weft.all_gather %a dim 0 to [m] over<tp = 2> : (!weft.tensor<[min(ceildiv(m, 2), max(m - rank_tp*ceildiv(m, 2), 0)), 4], f32>) -> !weft.tensor<[m, 4], f32>
  %b = weft.dequantize %w, %sw, %za : (!weft.tensor<[4, 1], i8>, !weft.tensor<[1], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[4, 1], f32>
  %y = weft.contract "m k, k n -> m n" %g, %b accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 1], f32>) -> !weft.tensor<[m, 1], f32>
  return %y : !weft.tensor<[m, 1], f32>
}

// The largest of quantised reals is the quantised largest one, so what stands before a pool stores bytes.
// CHECK-LABEL: func @quantised_largest
// CHECK:         %[[Q:.*]] = weft.quantize %{{.*}} -> !weft.tensor<[n, m], ui8>
// CHECK:         weft.pool max %[[Q]] {{.*}} -> !weft.tensor<[n, m], ui8>
func.func @quantised_largest(%x: !weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m], ui8> attributes {weft.symbols = #weft.symbols<n, m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %r = weft.neg %x : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m], f32>
  %p = weft.pool max %r kernel [2] strides [1] dilations [1] low [1] high [0] : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m], f32>
  %y = weft.quantize %p, %s, %z : (!weft.tensor<[n, m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, m], ui8>
  return %y : !weft.tensor<[n, m], ui8>
}

// Not where something else reads the largest reals.
// CHECK-LABEL: func @largest_read_twice
// CHECK:         weft.pool max %{{.*}} -> !weft.tensor<[n, m], f32>
func.func @largest_read_twice(%x: !weft.tensor<[n, m], f32>) -> (!weft.tensor<[n, m], ui8>, !weft.tensor<[n, m], f32>) attributes {weft.symbols = #weft.symbols<n, m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %r = weft.neg %x : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m], f32>
  %p = weft.pool max %r kernel [2] strides [1] dilations [1] low [1] high [0] : (!weft.tensor<[n, m], f32>) -> !weft.tensor<[n, m], f32>
  %y = weft.quantize %p, %s, %z : (!weft.tensor<[n, m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, m], ui8>
  return %y, %p : !weft.tensor<[n, m], ui8>, !weft.tensor<[n, m], f32>
}

// Unsigned integers of a weight become signed ones, 128 below; with that zero point nothing is left to take away.
// CHECK-LABEL: func @unsigned_weight
// CHECK:         %[[W:.*]] = weft.constant dense<{{\[\[}}-128, 0], [1, 127]]> : tensor<2x2xi8>
// CHECK:         weft.contract "m k, k n -> m n" %arg0, %[[W]] accumulate i32
// CHECK-NOT:     weft.reduce
// CHECK:         return
func.func @unsigned_weight(%x: !weft.tensor<[m, 2], ui8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %za = weft.constant dense<0> : tensor<ui8> -> !weft.tensor<[], ui8>
  %zw = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %w = weft.constant dense<[[0, 128], [129, 255]]> : tensor<2x2xui8> -> !weft.tensor<[2, 2], ui8>
  %a = weft.dequantize %x, %s, %za : (!weft.tensor<[m, 2], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 2], f32>
  %b = weft.dequantize %w, %s, %zw : (!weft.tensor<[2, 2], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[2, 2], f32>
  %y = weft.contract "m k, k n -> m n" %a, %b accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Of dequantised integers at twice the resolution, each stands there several times: what is read is bytes, and quantising them alike is nothing.
// CHECK-LABEL: func @repeated
// CHECK:         %[[R:.*]] = weft.resize nearest %arg0 {{.*}} -> !weft.tensor<[n, 4, 2*h, 2*w], ui8>
// CHECK-NOT:     quantize
// CHECK:         return %[[R]]
func.func @repeated(%x: !weft.tensor<[n, 4, h, w], ui8>) -> !weft.tensor<[n, 4, 2*h, 2*w], ui8> attributes {weft.symbols = #weft.symbols<n, h, w>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[n, 4, h, w], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 4, h, w], f32>
  %r = weft.resize nearest %a to [n, 4, 2*h, 2*w] scales [1.0, 1.0, 2.0, 2.0] coordinates asymmetric rounding floor
     : (!weft.tensor<[n, 4, h, w], f32>) -> !weft.tensor<[n, 4, 2*h, 2*w], f32>
  %y = weft.quantize %r, %s, %z : (!weft.tensor<[n, 4, 2*h, 2*w], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 4, 2*h, 2*w], ui8>
  return %y : !weft.tensor<[n, 4, 2*h, 2*w], ui8>
}

// What there may be none of becomes 0 at a given size, whatever integer stands for that; and neighbours that are weighed are reals.
// CHECK-LABEL: func @sampled
// CHECK:         weft.resize nearest %{{.*}} -> !weft.tensor<[n, 7], f32>
// CHECK:         weft.resize linear %{{.*}} -> !weft.tensor<[n, 2*h], f32>
func.func @sampled(%x: !weft.tensor<[n, h], ui8>) -> (!weft.tensor<[n, 7], ui8>, !weft.tensor<[n, 2*h], ui8>) attributes {weft.symbols = #weft.symbols<n, h>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<128> : tensor<ui8> -> !weft.tensor<[], ui8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[n, h], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, h], f32>
  %r = weft.resize nearest %a to [n, 7] scales [1.0, 0.0] coordinates asymmetric rounding floor : (!weft.tensor<[n, h], f32>) -> !weft.tensor<[n, 7], f32>
  %q = weft.quantize %r, %s, %z : (!weft.tensor<[n, 7], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 7], ui8>
  %l = weft.resize linear %a to [n, 2*h] scales [1.0, 2.0] coordinates half_pixel rounding floor : (!weft.tensor<[n, h], f32>) -> !weft.tensor<[n, 2*h], f32>
  %y = weft.quantize %l, %s, %z : (!weft.tensor<[n, 2*h], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[n, 2*h], ui8>
  return %q, %y : !weft.tensor<[n, 7], ui8>, !weft.tensor<[n, 2*h], ui8>
}

// Sums of a weight that is transposed are known, too, however many bytes there are.
// CHECK-LABEL: func @sums_of_transposed
// CHECK:         %[[SUM:.*]] = weft.constant dense<[10, 26]> : tensor<2xi32>
// CHECK:         weft.mul %{{.*}}, %[[SUM]]
func.func @sums_of_transposed(%x: !weft.tensor<[m, 4], ui8>, %z: !weft.tensor<[m, 1], i32>) -> !weft.tensor<[m, 2], i32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi8> -> !weft.tensor<[2, 4], i8>
  %t = weft.transpose %w [1, 0] : (!weft.tensor<[2, 4], i8>) -> !weft.tensor<[4, 2], i8>
  %y = weft.contract "m k, k n -> m n" %x, %t accumulate i32 : (!weft.tensor<[m, 4], ui8>, !weft.tensor<[4, 2], i8>) -> !weft.tensor<[m, 2], i32>
  %c = weft.convert %t to i32 : (!weft.tensor<[4, 2], i8>) -> !weft.tensor<[4, 2], i32>
  %s = weft.reduce sum %c [0] : (!weft.tensor<[4, 2], i32>) -> !weft.tensor<[2], i32>
  %p = weft.mul %z, %s : (!weft.tensor<[m, 1], i32>, !weft.tensor<[2], i32>) -> !weft.tensor<[m, 2], i32>
  %r = weft.sub %y, %p : (!weft.tensor<[m, 2], i32>, !weft.tensor<[m, 2], i32>) -> !weft.tensor<[m, 2], i32>
  return %r : !weft.tensor<[m, 2], i32>
}

// Bytes with the same scale and zero point are put together before they are restored.
// CHECK-LABEL: func @together
// CHECK:         %[[B:.*]] = weft.concat %{{.*}}, %{{.*}} dim 1 : {{.*}} -> !weft.tensor<[m, 4], ui8>
// CHECK:         %[[R:.*]] = weft.dequantize %[[B]]
// CHECK:         return %[[R]]
func.func @together(%x: !weft.tensor<[m, 2], ui8>, %y: !weft.tensor<[m, 2], ui8>) -> !weft.tensor<[m, 4], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<3> : tensor<ui8> -> !weft.tensor<[], ui8>
  %t = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %u = weft.constant dense<3> : tensor<ui8> -> !weft.tensor<[], ui8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 2], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 2], f32>
  %b = weft.dequantize %y, %t, %u : (!weft.tensor<[m, 2], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 2], f32>
  %c = weft.concat %a, %b dim 1 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 4], f32>
  return %c : !weft.tensor<[m, 4], f32>
}

// With another zero point they stand for other reals.
// CHECK-LABEL: func @other_reals
// CHECK:         weft.concat %{{.*}} -> !weft.tensor<[m, 4], f32>
func.func @other_reals(%x: !weft.tensor<[m, 2], ui8>, %y: !weft.tensor<[m, 2], ui8>) -> !weft.tensor<[m, 4], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<3> : tensor<ui8> -> !weft.tensor<[], ui8>
  %t = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %u = weft.constant dense<4> : tensor<ui8> -> !weft.tensor<[], ui8>
  %a = weft.dequantize %x, %s, %z : (!weft.tensor<[m, 2], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 2], f32>
  %b = weft.dequantize %y, %t, %u : (!weft.tensor<[m, 2], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 2], f32>
  %c = weft.concat %a, %b dim 1 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 4], f32>
  return %c : !weft.tensor<[m, 4], f32>
}

// Windows of floats are multiplied by a filter of floats, however large: none is restored where it is read.
// CHECK-LABEL: func @filter_alone
// CHECK:         %[[W:.*]] = weft.constant dense<1.500000e+00> : tensor<128x64x3x3xf32>
// CHECK:         weft.conv %arg0, %[[W]]
func.func @filter_alone(%x: !weft.tensor<[1, 64, h, w], f32>) -> !weft.tensor<[1, 128, h - 2, w - 2], f32> attributes {weft.symbols = #weft.symbols<h, w>} {
  %f = weft.constant dense<3> : tensor<128x64x3x3xi8> -> !weft.tensor<[128, 64, 3, 3], i8>
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<0> : tensor<i8> -> !weft.tensor<[], i8>
  %w = weft.dequantize %f, %s, %z : (!weft.tensor<[128, 64, 3, 3], i8>, !weft.tensor<[], f32>, !weft.tensor<[], i8>) -> !weft.tensor<[128, 64, 3, 3], f32>
  %y = weft.conv %x, %w strides [1, 1] dilations [1, 1] low [0, 0] high [0, 0] groups 1 accumulate f32 : (!weft.tensor<[1, 64, h, w], f32>, !weft.tensor<[128, 64, 3, 3], f32>) -> !weft.tensor<[1, 128, h - 2, w - 2], f32>
  return %y : !weft.tensor<[1, 128, h - 2, w - 2], f32>
}

// A weight in blocks stays one, however small: schedules restore it where they read it.
// CHECK-LABEL: func @few_blocks
// CHECK:         %[[W:.*]] = weft.dequantize_blocks
// CHECK:         weft.contract "m k, n k -> m n" %{{.*}}, %[[W]] accumulate f32
func.func @few_blocks(%q: !weft.tensor<[m, 32], ui8>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<3> : tensor<ui8> -> !weft.tensor<[], ui8>
  %x = weft.dequantize %q, %s, %z : (!weft.tensor<[m, 32], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[m, 32], f32>
  %n = weft.constant dense<3> : tensor<2x32xui4> -> !weft.tensor<[2, 32], ui4>
  %t = weft.constant dense<0.5> : tensor<2x1xf32> -> !weft.tensor<[2, 1], f32>
  %o = weft.constant dense<8> : tensor<2x1xui4> -> !weft.tensor<[2, 1], ui4>
  %w = weft.dequantize_blocks %n, %t, %o axis 1 block 32 : (!weft.tensor<[2, 32], ui4>, !weft.tensor<[2, 1], f32>, !weft.tensor<[2, 1], ui4>) -> !weft.tensor<[2, 32], f32>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 32], f32>, !weft.tensor<[2, 32], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// A function of one part of what several read stays behind the part, where attention computes it; bytes are made of the whole.
// CHECK-LABEL: func @parts
// CHECK:         %[[A:.*]] = weft.slice %[[X:.*]] from [0, 0]
// CHECK:         %[[R:.*]] = weft.reshape %[[A]]
// CHECK:         weft.mul %[[R]]
// CHECK:         %[[Q:.*]] = weft.quantize %[[X]]
// CHECK:         weft.slice %[[Q]] from [1, 0]
func.func @parts(%q: !weft.tensor<[2, m], ui8>) -> (!weft.tensor<[m], f32>, !weft.tensor<[1, m], ui8>) attributes {weft.symbols = #weft.symbols<m>} {
  %s = weft.constant dense<0.5> : tensor<f32> -> !weft.tensor<[], f32>
  %t = weft.constant dense<0.25> : tensor<f32> -> !weft.tensor<[], f32>
  %z = weft.constant dense<3> : tensor<ui8> -> !weft.tensor<[], ui8>
  %d = weft.dequantize %q, %s, %z : (!weft.tensor<[2, m], ui8>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[2, m], f32>
  %x = weft.add %d, %d : (!weft.tensor<[2, m], f32>, !weft.tensor<[2, m], f32>) -> !weft.tensor<[2, m], f32>
  %a = weft.slice %x from [0, 0] size [1, m] step [1, 1] : (!weft.tensor<[2, m], f32>) -> !weft.tensor<[1, m], f32>
  %b = weft.slice %x from [1, 0] size [1, m] step [1, 1] : (!weft.tensor<[2, m], f32>) -> !weft.tensor<[1, m], f32>
  %c = weft.reshape %a to [m] : (!weft.tensor<[1, m], f32>) -> !weft.tensor<[m], f32>
  %y = weft.mul %c, %t : (!weft.tensor<[m], f32>, !weft.tensor<[], f32>) -> !weft.tensor<[m], f32>
  %r = weft.quantize %b, %t, %z : (!weft.tensor<[1, m], f32>, !weft.tensor<[], f32>, !weft.tensor<[], ui8>) -> !weft.tensor<[1, m], ui8>
  return %y, %r : !weft.tensor<[m], f32>, !weft.tensor<[1, m], ui8>
}
