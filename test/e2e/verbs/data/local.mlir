func.func @main(%x: !weft.tensor<[n, 6], f32> {weft.name = "x"}, %z: !weft.tensor<[n], f32> {weft.name = "z"})
    -> (!weft.tensor<[n, 6], f32> {weft.name = "y"}, !weft.tensor<[6], f32> {weft.name = "s"}) attributes {weft.symbols = #weft.symbols<n>} {
  %0 = weft.reduce sum %x [0] : (!weft.tensor<[n, 6], f32>) -> !weft.tensor<[6], f32>
  %1 = weft.mul %x, %0 : (!weft.tensor<[n, 6], f32>, !weft.tensor<[6], f32>) -> !weft.tensor<[n, 6], f32>
  return %1, %0 : !weft.tensor<[n, 6], f32>, !weft.tensor<[6], f32>
}
