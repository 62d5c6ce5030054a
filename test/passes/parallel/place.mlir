// RUN: weft-opt %s --weft-place="mesh=tp=2 place=*.up=[_]" | FileCheck %s
// RUN: weft-opt %s --weft-place="mesh=dp=1,tp=2 place=*up=[tp],*.up=[dp]" | FileCheck %s --check-prefix=ONE
// RUN: weft-opt %s --weft-place="mesh=dp=1 place=*.up=[dp]" | FileCheck %s --check-prefix=NONE

// CHECK:       func.func @main(%arg0: !weft.tensor<[n], f32> {weft.name = "layer.up", weft.placement = #weft.placement<[_]>}, %arg1: !weft.tensor<[n], f32> {weft.name = "up"})
// CHECK-SAME:    weft.split_over = #weft.mesh<tp = 2>

// An axis of one rank splits nothing: it is left out of the mesh and of placements, in place of what earlier ones said.
// ONE:         func.func @main(%arg0: !weft.tensor<[n], f32> {weft.name = "layer.up"}, %arg1: !weft.tensor<[n], f32> {weft.name = "up", weft.placement = #weft.placement<[tp]>})
// ONE-SAME:      weft.split_over = #weft.mesh<tp = 2>
// NONE-NOT:    placement
// NONE-NOT:    split_over
func.func @main(%x: !weft.tensor<[n], f32> {weft.name = "layer.up"}, %y: !weft.tensor<[n], f32> {weft.name = "up"}) -> !weft.tensor<[n], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %z = weft.add %x, %y : (!weft.tensor<[n], f32>, !weft.tensor<[n], f32>) -> !weft.tensor<[n], f32>
  return %z : !weft.tensor<[n], f32>
}
