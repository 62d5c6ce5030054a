// RUN: weft-opt %s --weft-decompose-composites | FileCheck %s

// A softmax is the powers of what lies below the line's maximum, over their sum.
// CHECK-LABEL: func @softmax
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, n], f32>)
// CHECK-NOT:     weft.softmax
// CHECK:         %[[MOST:.*]] = weft.reduce max %[[X]] [1]
// CHECK:         %[[LINE:.*]] = weft.reshape %[[MOST]] to [m, 1]
// CHECK:         %[[BELOW:.*]] = weft.sub %[[X]], %[[LINE]]
// CHECK:         %[[POWERS:.*]] = weft.exp %[[BELOW]]
// CHECK:         %[[SUM:.*]] = weft.reduce sum %[[POWERS]] [1]
// CHECK:         %[[ALL:.*]] = weft.reshape %[[SUM]] to [m, 1]
// CHECK:         %[[R:.*]] = weft.div %[[POWERS]], %[[ALL]]
// CHECK:         return %[[R]]
func.func @softmax(%x: !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.softmax %x : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %0 : !weft.tensor<[m, n], f32>
}

// Its logarithm takes no quotient, which could be 0.
// CHECK-LABEL: func @logarithm
// CHECK:         %[[BELOW:.*]] = weft.sub
// CHECK:         %[[SUM:.*]] = weft.reduce sum
// CHECK:         %[[ALL:.*]] = weft.reshape %[[SUM]]
// CHECK:         %[[LOG:.*]] = weft.log %[[ALL]]
// CHECK:         weft.sub %[[BELOW]], %[[LOG]]
// CHECK-NOT:     weft.div
func.func @logarithm(%x: !weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32> attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.softmax %x {logarithm} : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[m, n], f32>
  return %0 : !weft.tensor<[m, n], f32>
}

// Elements narrower than f32 are widened first, and the result is rounded once. A line without centre is not shifted.
// CHECK-LABEL: func @narrow
// CHECK-SAME:    (%[[X:.*]]: !weft.tensor<[m, n], f16>, %[[SCALE:.*]]: !weft.tensor<[n], f16>, %[[SHIFT:.*]]: !weft.tensor<[n], f32>)
// CHECK:         %[[WIDE:.*]] = weft.convert %[[X]] to f32
// CHECK:         %[[LENGTH:.*]] = weft.dims_value [n]
// CHECK-NOT:     weft.sub
// CHECK:         %[[SQUARES:.*]] = weft.mul %[[WIDE]], %[[WIDE]]
// CHECK:         weft.rsqrt
// CHECK:         weft.convert %[[SCALE]] to f32
// CHECK:         %[[SUM:.*]] = weft.add %{{.*}}, %[[SHIFT]]
// CHECK:         %[[R:.*]] = weft.convert %[[SUM]] to f16
// CHECK:         return %[[R]]
func.func @narrow(%x: !weft.tensor<[m, n], f16>, %s: !weft.tensor<[n], f16>, %t: !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f16>
    attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.normalize %x, %s, %t {epsilon = 1.0e-5 : f64, center = false}
     : (!weft.tensor<[m, n], f16>, !weft.tensor<[n], f16>, !weft.tensor<[n], f32>) -> !weft.tensor<[m, n], f16>
  return %0 : !weft.tensor<[m, n], f16>
}
