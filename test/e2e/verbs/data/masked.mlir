// Rows through a product, and a mask that it has no use for. w.bin holds 64 x 96 numbers, and more.
weft.weight @w from "w.bin" at 0 bytes 24576 : !weft.tensor<[64, 96], f32>
func.func @main(%x: !weft.tensor<[m, 64], f32> {weft.name = "x"}, %mask: !weft.tensor<[m], i64> {weft.name = "mask"}) -> (!weft.tensor<[m, 96], f32> {weft.name = "y"})
    attributes {weft.symbols = #weft.symbols<m : "m <= 64">} {
  %w = weft.constant @w -> !weft.tensor<[64, 96], f32>
  %y = weft.contract "m k, k n -> m n" %x, %w accumulate f32
      : (!weft.tensor<[m, 64], f32>, !weft.tensor<[64, 96], f32>) -> !weft.tensor<[m, 96], f32> loc("/first/MatMul")
  return %y : !weft.tensor<[m, 96], f32>
}
