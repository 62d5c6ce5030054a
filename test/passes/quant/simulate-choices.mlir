// RUN: weft-opt %s --weft-simulate-choices | FileCheck %s

// Each branch is what would be realised; which is taken, and a static choice's scale, are inputs.
// CHECK-LABEL: func @choose
// CHECK-SAME: %[[CHOSEN:.*]]: !weft.tensor<[1], i64> {weft.name = "quantize.chosen"}
// CHECK-SAME: %[[SCALES:.*]]: !weft.tensor<[1], f32> {weft.name = "quantize.scales"}
// CHECK-SAME: %[[ZEROS:.*]]: !weft.tensor<[1], ui8> {weft.name = "quantize.zeros"}
// CHECK: %[[Y:.*]] = weft.if
// CHECK: weft.contract {{.*}} %arg0, %{{.*}} accumulate f32
// CHECK: } else {
// CHECK: weft.if
// CHECK: weft.reduce max
// CHECK: weft.contract
// CHECK: } else {
// CHECK: %[[Q:.*]] = weft.quantize %arg0
// CHECK: weft.contract
// CHECK: return %[[Y]], %[[Z:.*]] :
func.func @choose(%x: !weft.tensor<[m, 2], f32>) -> (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>) attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{rows}, {scale = 0.5 : f32, zero = 3 : i64}]} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %z = weft.contract "m k, k n -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %y, %z : !weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>
}

// A table is read as it is, or of bytes.
// CHECK-LABEL: func @table
// CHECK-SAME: %[[CHOSEN:.*]]: !weft.tensor<[1], i64> {weft.name = "quantize.chosen"}
// CHECK: %[[Y:.*]] = weft.if
// CHECK: weft.gather {{.*}} -> !weft.tensor<[m, 4], f32>
// CHECK: } else {
// CHECK: weft.gather {{.*}} -> !weft.tensor<[m, 4], i8>
// CHECK: return %[[Y]]
func.func @table(%i: !weft.tensor<[m], i64>) -> !weft.tensor<[m, 4], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %t = weft.constant dense<1.0> : tensor<1024x4xf32> -> <[1024, 4], f32>
  %y = weft.gather %t, %i axis 0 {weft.bytes = 0 : i64} : (!weft.tensor<[1024, 4], f32>, !weft.tensor<[m], i64>) -> !weft.tensor<[m, 4], f32>
  return %y : !weft.tensor<[m, 4], f32>
}

// What is no layer reads an input rounded where the choice that rounds it everywhere is taken.
// CHECK-LABEL: func @everywhere
// CHECK-SAME: %[[X:[a-z0-9]*]]: !weft.tensor<[m, 2], f32>, %[[CHOSEN:.*]]: !weft.tensor<[1], i64>
// CHECK: %[[A:.*]] = weft.neg %[[X]]
// CHECK: %[[TWO:.*]] = weft.fill 2 : i64
// CHECK: %[[IS:.*]] = weft.compare eq %{{.*}}, %[[TWO]]
// CHECK: %[[R:.*]] = weft.if %[[IS]]
// CHECK: weft.quantize %[[A]]
// CHECK: } else {
// CHECK: weft.yield %[[A]]
// CHECK: %[[B:.*]] = weft.if
// CHECK: weft.contract {{.*}} %[[A]],
// CHECK: weft.add %[[R]], %[[B]]
func.func @everywhere(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x2xf32> -> <[2, 2], f32>
  %a = weft.neg %x : (!weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %b = weft.contract "m k, k n -> m n" %a, %w accumulate f32 {weft.choices = [{rows}, {everywhere, scale = 0.5 : f32, zero = 3 : i64}]} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %y = weft.add %a, %b : (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// What a layer gives is rounded where the choice is taken that rounds it.
// CHECK-LABEL: func @result
// CHECK: %[[Y:.*]] = weft.if
// CHECK: %[[A:.*]] = weft.activation relu %[[Y]]
// CHECK: %[[ONE:.*]] = weft.fill 1 : i64
// CHECK: %[[IS:.*]] = weft.compare eq %{{.*}}, %[[ONE]]
// CHECK: %[[R:.*]] = weft.if %[[IS]]
// CHECK: weft.quantize %[[A]]
// CHECK: } else {
// CHECK: weft.yield %[[A]]
// CHECK: return %[[R]]
func.func @result(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{scale = 0.5 : f32, zero = 3 : i64, results = [{behind = 1 : i64, scale = 0.25 : f32, zero = 0 : i64}]}]} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %a = weft.activation relu %y : (!weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %a : !weft.tensor<[m, 3], f32>
}

// So is a sum behind it.
// CHECK-LABEL: func @sum
// CHECK: %[[Y:.*]] = weft.if
// CHECK: %[[R:.*]] = weft.if
// CHECK: weft.quantize %[[Y]]
// CHECK: %[[SUM:.*]] = weft.add %[[R]], %arg1
// CHECK: %[[GIVEN:.*]] = weft.if
// CHECK: weft.quantize %[[SUM]]
// CHECK: return %[[GIVEN]]
func.func @sum(%x: !weft.tensor<[m, 2], f32>, %z: !weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf32> -> <[2, 3], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{scale = 0.5 : f32, zero = 3 : i64, results = [{behind = 0 : i64, scale = 0.25 : f32, zero = 0 : i64}, {behind = 1 : i64, scale = 0.75 : f32, zero = 9 : i64}]}]} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 3], f32>) -> !weft.tensor<[m, 3], f32>
  %s = weft.add %y, %z : (!weft.tensor<[m, 3], f32>, !weft.tensor<[m, 3], f32>) -> !weft.tensor<[m, 3], f32>
  return %s : !weft.tensor<[m, 3], f32>
}

// It is not where a reader's choice is taken that rounds it everywhere.
// CHECK-LABEL: func @once
// CHECK: %[[A:.*]] = weft.if
// CHECK: %[[GIVES:.*]] = weft.compare eq
// CHECK: %[[STAYS:.*]] = weft.compare ne
// CHECK: %[[IS:.*]] = weft.and %[[GIVES]], %[[STAYS]]
// CHECK: %[[R:.*]] = weft.if %[[IS]]
// CHECK: weft.quantize %[[A]]
// CHECK: %[[E:.*]] = weft.if
// CHECK: weft.quantize %[[R]]
// CHECK: weft.add %[[E]]
func.func @once(%x: !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x2xf32> -> <[2, 2], f32>
  %a = weft.contract "m k, k n -> m n" %x, %w accumulate f32 {weft.choices = [{scale = 0.5 : f32, zero = 3 : i64, results = [{behind = 0 : i64, scale = 0.25 : f32, zero = 0 : i64}]}]} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %b = weft.contract "m k, k n -> m n" %a, %w accumulate f32 {weft.choices = [{everywhere, scale = 0.125 : f32, zero = 4 : i64}]} : (!weft.tensor<[m, 2], f32>, !weft.tensor<[2, 2], f32>) -> !weft.tensor<[m, 2], f32>
  %y = weft.add %a, %b : (!weft.tensor<[m, 2], f32>, !weft.tensor<[m, 2], f32>) -> !weft.tensor<[m, 2], f32>
  return %y : !weft.tensor<[m, 2], f32>
}

// Products of two values, and what lies between them, are in one branch, as they are or with rounded operands; what else reads of it is given, too.
// CHECK-LABEL: func @attention
// CHECK-SAME: %[[CHOSEN:.*]]: !weft.tensor<[1], i64> {weft.name = "quantize.chosen"}
// CHECK: %[[Y:.*]]:2 = weft.if
// CHECK: weft.contract "m d, n d -> m n" %arg0, %arg1 accumulate f32 :
// CHECK: weft.softmax
// CHECK: weft.contract
// CHECK: } else {
// CHECK: weft.contract "m d, n d -> m n" %{{.*}}, %{{.*}} accumulate f32 : {{.*}}bf16
// CHECK: weft.softmax
// CHECK: weft.contract {{.*}}bf16
// CHECK: return %[[Y]]#1, %[[Y]]#0
func.func @attention(%q: !weft.tensor<[m, 8], f32>, %k: !weft.tensor<[n, 8], f32>) -> (!weft.tensor<[m, 8], f32>, !weft.tensor<[m, n], f32>) attributes {weft.symbols = #weft.symbols<m, n>} {
  %s = weft.contract "m d, n d -> m n" %q, %k accumulate f32 {weft.halves = 0 : i64} : (!weft.tensor<[m, 8], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, n], f32>
  %p = weft.softmax %s : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  %y = weft.contract "m n, n d -> m d" %p, %k accumulate f32 : (!weft.tensor<[m, n], f32>, !weft.tensor<[n, 8], f32>) -> !weft.tensor<[m, 8], f32>
  return %y, %p : !weft.tensor<[m, 8], f32>, !weft.tensor<[m, n], f32>
}
