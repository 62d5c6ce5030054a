// RUN: weft-opt %s --weft-place="mesh=tp=2 place=*.up=[_]" | FileCheck %s

// CHECK:       func.func @main(%arg0: !weft.tensor<[n], f32> {weft.name = "layer.up", weft.placement = #weft.placement<[_]>}, %arg1: !weft.tensor<[n], f32> {weft.name = "up"})
// CHECK-SAME:    weft.split_over = #weft.mesh<tp = 2>
func.func @main(%x: !weft.tensor<[n], f32> {weft.name = "layer.up"}, %y: !weft.tensor<[n], f32> {weft.name = "up"}) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %z = weft.add %x, %y : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  return %z : !weft.tensor<[n], f32>
}
