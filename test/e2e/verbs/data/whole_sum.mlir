func.func @main(%x: !weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
    attributes {weft.mesh = #weft.mesh<tp = 3>, weft.symbols = #weft.symbols<n>} {
  %y = weft.all_reduce sum %x over<tp = 3> : (!weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32>
  return %y : !weft.tensor<[n, 4], f32>
}
