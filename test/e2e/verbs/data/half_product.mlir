// A product whose weight is of f16.
func.func @main(%x: !weft.tensor<[m, 2], f16> {weft.name = "x"}) -> (!weft.tensor<[m, 3], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m>} {
  %w = weft.constant dense<1.0> : tensor<2x3xf16> -> <[2, 3], f16>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32
      : (!weft.tensor<[m, 2], f16>, !weft.tensor<[2, 3], f16>) -> !weft.tensor<[m, 3], f32>
  return %y : !weft.tensor<[m, 3], f32>
}
