// RUN: weft-opt %s --weft-fuse="target=cuda:sm_80" --weft-plan="target=cuda:sm_80" | FileCheck %s
// RUN: weft-opt %s --weft-fuse="target=cuda:sm_80" --weft-plan="target=cuda:sm_80" -o %t
// RUN: weft-opt %t | diff %t -

// Few results of many elements have a pass before the kernel, where sizes call for it; where there never are so many, there is none.
// CHECK:       plan.kernel @weft_k_reduce_{{[0-9a-f]+}} target "cuda:sm_80" schedule "reduce" {{.*}} first [{{.*}}floordiv({{.*}}]
// CHECK:       plan.kernel @weft_k_reduce_{{[0-9a-f]+}} target "cuda:sm_80" schedule "reduce" {{.*}} work [{{[^]]*}}] {
// CHECK-LABEL: plan.func @all
// CHECK-LABEL: plan.func @few
func.func @all(%x: !weft.tensor<[m, n], f32> {weft.name = "x"}) -> (!weft.tensor<[], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<m, n>} {
  %0 = weft.reduce sum %x [0, 1] : (!weft.tensor<[m, n], f32>) -> !weft.tensor<[], f32>
  return %0 : !weft.tensor<[], f32>
}
func.func @few(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}) -> (!weft.tensor<[m], f32> {weft.name = "y"}) attributes {weft.symbols = #weft.symbols<m>} {
  %0 = weft.reduce sum %x [1] : (!weft.tensor<[m, 64], f32>) -> !weft.tensor<[m], f32>
  return %0 : !weft.tensor<[m], f32>
}
