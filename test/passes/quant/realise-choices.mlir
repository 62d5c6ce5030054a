// RUN: weft-opt %s --weft-realise-choices | FileCheck %s
// RUN: weft-opt %s --weft-realise-choices --weft-move-quantisations --weft-use-integers --weft-store-parameters | FileCheck %s --check-prefix=INTEGERS

// One scale for the whole input; the weight's columns have scales of their own, that of zeros has 1.
// CHECK-LABEL: func @static
// CHECK: %[[Q:.*]] = weft.quantize %arg0, %{{.*}}, %[[ZERO:.*]] : {{.*}} -> !weft.tensor<[m, 2], ui8>
// CHECK: %[[A:.*]] = weft.dequantize %[[Q]]
// CHECK: %[[W:.*]] = weft.constant dense<{{\[\[}}127, 64, 0], [-64, 127, 0]]> : tensor<2x3xi8>
// CHECK: %[[S:.*]] = weft.constant dense<{{.*}}1.000000e+00]]> : tensor<1x3xf32>
// CHECK: %[[B:.*]] = weft.dequantize %[[W]], %[[S]]
// CHECK: weft.contract "m k, k n -> m n" %[[A]], %[[B]] accumulate f32
// CHECK-NOT: weft.cho
// INTEGERS-LABEL: func @static
// INTEGERS: weft.contract {{.*}} accumulate i32
func.func @static(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[254.0, 1.0, 0.0], [-128.0, 2.0, 0.0]]> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{rows}, {scale = 0.5 : f32, zero = 3 : i64}], weft.chosen = 2 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %y : !weft.tensor<[m, 3], f32>
}

// Rows have a scale each, and channels that are divided by factors make the weight's larger.
// CHECK-LABEL: func @rows
// CHECK: %[[INVERSE:.*]] = weft.constant dense<{{\[\[\[}}5.000000e-01, 2.500000e-01]]]>
// CHECK: %[[X:.*]] = weft.mul %arg0, %[[INVERSE]]
// CHECK: %[[LARGEST:.*]] = weft.reduce max %{{.*}} [2]
// CHECK: weft.quantize %[[X]], %[[SCALE:.*]], %{{.*}} -> !weft.tensor<[b, m, 2], ui8>
// CHECK: weft.constant dense<{{\[\[}}127, 127], [16, 127]]> : tensor<2x2xi8>
// INTEGERS-LABEL: func @rows
// INTEGERS: %[[SUM:.*]] = weft.contract {{.*}} accumulate i32
// INTEGERS: %[[ROWS:.*]] = weft.reshape %{{.*}} to [b, m, 1]
// INTEGERS: %[[Y:.*]] = weft.mul %{{.*}}, %[[ROWS]]
// INTEGERS: return %[[Y]]
func.func @rows(%x: !weft.tensor<[b, m, 2], f32>) -> !weft.tensor<[b, m, 2], f32> attributes {weft.symbols = #weft.symbols<b, m>} {
  %w = weft.constant dense<[[1.0, 0.5], [0.125, 0.5]]> : tensor<2x2xf32> -> <[2, 2], f32>
  %y = weft.contract "... k, n k -> ... n" %x, %w accumulate f32 {weft.choices = [{rows, factors = array<f32: 2.0, 4.0>}], weft.chosen = 1 : i64} : (!weft.tensor<[b, m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[b, m, 2], f32>
  return %y : !weft.tensor<[b, m, 2], f32>
}

// Rows of 16 bits keep their floats where nobody says that the target has such products.
// CHECK-LABEL: func @wide_rows
// CHECK: %[[MOST:.*]] = weft.fill 3.05185094E-5 : f32
// CHECK: weft.quantize %arg0, %{{.*}} -> !weft.tensor<[m, 2], i16>
// CHECK: weft.constant dense<{{\[\[}}127, 64], [-64, 127]]> : tensor<2x2xi8>
// INTEGERS-LABEL: func @wide_rows
// INTEGERS: weft.contract {{.*}} accumulate f32
func.func @wide_rows(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[254.0, 1.0], [-128.0, 2.0]]> : tensor<2x2xf32> -> <[2, 2], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{wide_rows}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// What nothing was chosen for stays.
// CHECK-LABEL: func @plain
// CHECK: %[[W:.*]] = weft.constant dense<1.000000e+00>
// CHECK: weft.contract "m k, k n -> m n" %arg0, %[[W]] accumulate f32
func.func @plain(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{rows}], weft.chosen = 0 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %y : !weft.tensor<[m, 3], f32>
}

// A weight in blocks of 4 bits has a scale of f16 and a zero point for each block along what is summed; what is read stays as it is, but for its factors.
// CHECK-LABEL: func @blocks
// CHECK-DAG: %[[Q:.*]] = weft.constant dense<15> : tensor<2x64xui4>
// CHECK-DAG: %[[S:.*]] = weft.constant dense<9.997550e-02> : tensor<2x2xf16>
// CHECK-DAG: %[[Z:.*]] = weft.constant dense<0> : tensor<2x2xui4>
// CHECK: %[[W:.*]] = weft.dequantize_blocks %[[Q]], %[[S]], %[[Z]] axis 1 block 32
// CHECK: weft.contract "m k, n k -> m n" %arg0, %[[W]] accumulate f32
func.func @blocks(%x: !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.5> : tensor<2x64xf32> -> <[2, 64], f32>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate f32 {weft.choices = [{blocks}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 64], f32>, !weft.tensor<[2, 64], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// What is read may be rounded to bytes in blocks alike, behind its factors.
// CHECK-LABEL: func @byte_blocks
// CHECK: %[[X:.*]] = weft.mul %arg0, %{{.*}}
// CHECK: %[[ROUNDED:.*]] = weft.round_blocks %[[X]] block 32
// CHECK: %[[W:.*]] = weft.dequantize_blocks %{{.*}}, %{{.*}}, %{{.*}} axis 1 block 32
// CHECK: weft.contract "m k, n k -> m n" %[[ROUNDED]], %[[W]] accumulate f32
func.func @byte_blocks(%x: !weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.5> : tensor<2x32xf32> -> <[2, 32], f32>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate f32 {weft.choices = [{byte_blocks, factors = array<f32: 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0>}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 32], f32>, !weft.tensor<[2, 32], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Its numbers may have 5 or 6 bits, of which each then is a byte.
// CHECK-LABEL: func @six_bits
// CHECK-DAG: %[[Q:.*]] = weft.constant dense<63> : tensor<2x32xui8>
// CHECK-DAG: %[[S:.*]] = weft.constant dense<2.380370e-02> : tensor<2x1xf16>
// CHECK-DAG: %[[Z:.*]] = weft.constant dense<0> : tensor<2x1xui8>
// CHECK-DAG: %[[ROUNDED:.*]] = weft.round_blocks %arg0 block 32
// CHECK: %[[W:.*]] = weft.dequantize_blocks %[[Q]], %[[S]], %[[Z]] axis 1 block 32
// CHECK: weft.contract "m k, n k -> m n" %[[ROUNDED]], %[[W]] accumulate f32
func.func @six_bits(%x: !weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.5> : tensor<2x32xf32> -> <[2, 32], f32>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate f32 {weft.choices = [{byte_blocks, bits = 6 : i64}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 32], f32>, !weft.tensor<[2, 32], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Numbers that were rounded already are taken as they are, written down or by name.
// CHECK-LABEL: func @rounded
// CHECK-DAG: %[[Q:.*]] = weft.constant dense<7> : tensor<2x64xui4>
// CHECK-DAG: %[[S:.*]] = weft.constant dense<5.000000e-01> : tensor<2x2xf32>
// CHECK-DAG: %[[Z:.*]] = weft.constant @zeros -> <[2, 2], ui4>
// CHECK: weft.dequantize_blocks %[[Q]], %[[S]], %[[Z]] axis 1 block 32
weft.weight @zeros from "w.bin" at 0 bytes 2 : !weft.tensor<[2, 2], ui4>
func.func @rounded(%x: !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.5> : tensor<2x64xf32> -> <[2, 64], f32>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate f32 {weft.choices = [{blocks, numbers = dense<7> : tensor<2x64xui4>, scales = dense<0.5> : tensor<2x2xf32>, zeros = @zeros}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 64], f32>, !weft.tensor<[2, 64], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Scales of a name are of its type, and those that f16 cannot say stay f32.
// CHECK-LABEL: func @scales
// CHECK-DAG: %[[HALVES:.*]] = weft.constant @halves -> <[2, 2], f16>
// CHECK-DAG: weft.dequantize_blocks %{{.*}}, %[[HALVES]], %{{.*}} axis 1 block 32
// CHECK-DAG: %[[SMALL:.*]] = weft.constant dense<1.000000e-07> : tensor<2x2xf32>
// CHECK-DAG: weft.dequantize_blocks %{{.*}}, %[[SMALL]], %{{.*}} axis 1 block 32
weft.weight @halves from "w.bin" at 0 bytes 8 : !weft.tensor<[2, 2], f16>
func.func @scales(%x: !weft.tensor<[m, 64], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.5> : tensor<2x64xf32> -> <[2, 64], f32>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate f32 {weft.choices = [{blocks, numbers = dense<7> : tensor<2x64xui4>, scales = @halves, zeros = @zeros}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 64], f32>, !weft.tensor<[2, 64], f32>) -> !weft.tensor<[m, 2], f32>
  %v = weft.constant dense<1.5e-6> : tensor<2x64xf32> -> <[2, 64], f32>
  %z = weft.contract "m k, n k -> m n" %x, %v accumulate f32 {weft.choices = [{blocks}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 64], f32>, !weft.tensor<[2, 64], f32>) -> !weft.tensor<[m, 2], f32>
  %s = weft.add %y, %z : (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %s : !weft.tensor<[m, 2], f32>
}

// A table of bytes has a scale for each row, and what is read of it is restored; small tables are none, nor those that something else reads.
// CHECK-LABEL: func @table
// CHECK: %[[BYTES:.*]] = weft.constant dense<127> : tensor<1024x4xi8>
// CHECK: %[[SCALES:.*]] = weft.constant dense<{{.*}}> : tensor<1024x1xf32>
// CHECK: %[[Q:.*]] = weft.gather %[[BYTES]], %arg0 axis 0 : {{.*}} -> !weft.tensor<[m, 4], i8>
// CHECK: %[[S:.*]] = weft.gather %[[SCALES]], %arg0 axis 0 : {{.*}} -> !weft.tensor<[m, 1], f32>
// CHECK: %[[Y:.*]] = weft.dequantize %[[Q]], %[[S]]
// CHECK: return %[[Y]]
func.func @table(%i: !weft.tensor<[m], i64>) -> !weft.tensor<[m, 4], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %t = weft.constant dense<254.0> : tensor<1024x4xf32> -> <[1024, 4], f32>
  %y = weft.gather %t, %i axis 0 {weft.bytes = 1 : i64} : (!weft.tensor<[1024, 4], f32>, !weft.tensor<[m], i64>) -> !weft.tensor<[m, 4], f32>
  return %y : !weft.tensor<[m, 4], f32>
}

// Where an input is rounded everywhere, what is no layer reads it rounded, too, but what the function gives stays; the input may be a layer's result.
// CHECK-LABEL: func @everywhere
// CHECK: %[[A:.*]] = weft.contract
// CHECK: %[[Q:.*]] = weft.quantize %[[A]]
// CHECK: %[[R:.*]] = weft.dequantize %[[Q]]
// CHECK: %[[B:.*]] = weft.contract
// CHECK: %[[Y:.*]] = weft.add %[[R]], %[[B]]
// CHECK: return %[[Y]], %[[A]]
func.func @everywhere(%x: !weft.tensor<[m, 2], f32>) -> (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x2xf32> -> <[2, 2], f32>
  %a = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{scale = 0.5 : f32, zero = 3 : i64}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %b = weft.contract "m k, k n -> m n" %a, %w accumulate f32 {weft.choices = [{rows}, {everywhere, scale = 0.5 : f32, zero = 3 : i64}], weft.chosen = 2 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %y = weft.add %a, %b : (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y, %a : !weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>
}

// Bytes may be other ones: signed with their zero point, one scale for all of the weight, powers of two, and weights up to a number.
// CHECK-LABEL: func @hardware
// CHECK: %[[ZERO:.*]] = weft.fill 0 : i8
// CHECK: weft.quantize %arg0, %{{.*}}, %[[ZERO]] : {{.*}} -> !weft.tensor<[m, 2], i8>
// CHECK: %[[W:.*]] = weft.constant dense<{{\[\[}}64, 32], [-32, 16]]> : tensor<2x2xi8>
// CHECK: %[[S:.*]] = weft.constant dense<4.000000e+00> : tensor<1x1xf32>
// CHECK: weft.dequantize %[[W]], %[[S]]
// INTEGERS-LABEL: func @hardware
// INTEGERS: weft.contract {{.*}} accumulate i32 : (!weft.tensor<[m, 2], i8>, !weft.tensor<[2, 2], i8>)
func.func @hardware(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<[[256.0, 128.0], [-128.0, 64.0]]> : tensor<2x2xf32> -> <[2, 2], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{scale = 0.5 : f32, zero = 128 : i64, signed, one_scale, powers_of_two, most_weight = 64 : i64}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// What a layer gives is rounded where it says so, here behind an activation, for all who read it.
// CHECK-LABEL: func @result
// CHECK: %[[Y:.*]] = weft.contract
// CHECK: %[[A:.*]] = weft.activation relu %[[Y]]
// CHECK: %[[Q:.*]] = weft.quantize %[[A]], %[[S:.*]], %[[ZERO:.*]] : {{.*}} -> !weft.tensor<[m, 3], ui8>
// CHECK: %[[R:.*]] = weft.dequantize %[[Q]], %[[S]], %[[ZERO]]
// CHECK: %[[N:.*]] = weft.neg %[[R]]
// CHECK: return %[[R]], %[[N]]
func.func @result(%x: !weft.tensor<[m, 2], f32>) -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{scale = 0.5 : f32, zero = 3 : i64, results = [{behind = 1 : i64, scale = 0.25 : f32, zero = 0 : i64}]}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %a = weft.activation relu %y : (!weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %n = weft.neg %a : (!weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %a, %n : !weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>
}

// So is a sum behind it, by a scale of its own; operators that round are not counted.
// CHECK-LABEL: func @sum
// CHECK: %[[Y:.*]] = weft.contract
// CHECK: %[[NEAR:.*]] = weft.fill 2.500000e-01
// CHECK: weft.quantize %[[Y]], %[[NEAR]]
// CHECK: %[[R:.*]] = weft.dequantize
// CHECK: %[[SUM:.*]] = weft.add %[[R]], %arg1
// CHECK: %[[FAR:.*]] = weft.fill 7.500000e-01
// CHECK: weft.quantize %[[SUM]], %[[FAR]]
// CHECK: %[[GIVEN:.*]] = weft.dequantize
// CHECK: return %[[GIVEN]]
func.func @sum(%x: !weft.tensor<[m, 2], f32>, %z: !weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{scale = 0.5 : f32, zero = 3 : i64, results = [{behind = 0 : i64, scale = 0.25 : f32, zero = 0 : i64}, {behind = 1 : i64, scale = 0.75 : f32, zero = 9 : i64}]}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %s = weft.add %y, %z : (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %s : !weft.tensor<[m, 3], f32>
}

// Both operands are rounded to bf16, and the sum stays f32.
// CHECK-LABEL: func @half
// CHECK: %[[W:.*]] = weft.convert %{{.*}} to bf16
// CHECK: %[[X:.*]] = weft.convert %arg0 to bf16
// CHECK: weft.contract "m k, k n -> m n" %[[X]], %[[W]] accumulate f32
func.func @half(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{rows}, {half}], weft.chosen = 2 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %y : !weft.tensor<[m, 3], f32>
}

// Products of two values that an operator without weights lies between: both have rounded operands, or none.
// CHECK-LABEL: func @attention
// CHECK-DAG: %[[Q:.*]] = weft.convert %arg0 to bf16
// CHECK-DAG: %[[K:.*]] = weft.convert %arg1 to bf16
// CHECK: %[[S:.*]] = weft.contract "m d, n d -> m n" %[[Q]], %[[K]] accumulate f32
// CHECK: %[[P:.*]] = weft.softmax %[[S]]
// CHECK: %[[R:.*]] = weft.convert %[[P]] to bf16
// CHECK: weft.contract "m n, n d -> m d" %[[R]], %[[K]] accumulate f32
// CHECK: weft.contract "m d, n d -> m n" %arg0, %arg1 accumulate f32
// CHECK-NOT: weft.halves
func.func @attention(%q: !weft.tensor<[m, 8], f32>, %k: !weft.tensor<[n, 8], f32>) -> (!weft.tensor<[m, 8], f32>, !weft.tensor<[m, n], f32>) attributes {weft.symbols = #weft.symbols<m, n>} {
  %s = weft.contract "m d, n d -> m n" %q, %k accumulate f32 {weft.halves = 1 : i64} : (!weft.tensor<[m, 8], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, n], f32>
  %p = weft.softmax %s : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %y = weft.contract "m n, n d -> m d" %p, %k accumulate f32 : (!weft.tensor<[m, n], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32>
  %z = weft.contract "m d, n d -> m n" %q, %k accumulate f32 {weft.halves = 0 : i64} : (!weft.tensor<[m, 8], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, n], f32>
  return %y, %z : !weft.tensor<[m, 8], f32>, !weft.tensor<[m, n], f32>
}

// Where a layer reads what lies between two products, these are no longer computed at once: each decides for itself.
// CHECK-LABEL: func @apart
// CHECK: %[[K:.*]] = weft.convert %arg1 to bf16
// CHECK: %[[S:.*]] = weft.contract "m d, n d -> m n" %arg0, %arg1 accumulate f32
// CHECK: %[[A:.*]] = weft.convert %{{.*}} to bf16
// CHECK: weft.contract "m n, n d -> m d" %[[A]], %[[K]] accumulate f32
func.func @apart(%q: !weft.tensor<[m, 4], f32>, %k: !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<4x4xf32> -> <[4, 4], f32>
  %s = weft.contract "m d, n d -> m n" %q, %k accumulate f32 {weft.halves = 0 : i64} : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %l = weft.contract "m k, k n -> m n" %s, %w accumulate f32 : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %a = weft.add %s, %l : (!weft.tensor<[m, 4], f32>, !weft.tensor<[m, 4], f32>) -> !weft.tensor<[m, 4], f32>
  %y = weft.contract "m n, n d -> m d" %a, %k accumulate f32 {weft.halves = 1 : i64} : (!weft.tensor<[m, 4], f32>, !weft.tensor<[4, 4], f32>) -> !weft.tensor<[m, 4], f32>
  return %y : !weft.tensor<[m, 4], f32>
}

// What a layer gives is rounded once where a reader's choice rounds it everywhere.
// CHECK-LABEL: func @once
// CHECK: %[[A:.*]] = weft.contract
// CHECK-NOT: fill 2.500000e-01
// CHECK: %[[SCALE:.*]] = weft.fill 1.250000e-01
// CHECK: %[[Q:.*]] = weft.quantize %[[A]], %[[SCALE]]
// CHECK: %[[R:.*]] = weft.dequantize %[[Q]]
// CHECK: weft.add %[[R]]
func.func @once(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x2xf32> -> <[2, 2], f32>
  %a = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{scale = 0.5 : f32, zero = 3 : i64, results = [{behind = 0 : i64, scale = 0.25 : f32, zero = 0 : i64}]}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %b = weft.contract "m k, k n -> m n" %a, %w accumulate f32 {weft.choices = [{everywhere, scale = 0.125 : f32, zero = 4 : i64}], weft.chosen = 1 : i64} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %y = weft.add %a, %b : (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}
