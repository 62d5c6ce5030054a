weft.weight @w from "m#w" at 4 bytes 16 : !weft.tensor<[4], f32>
func.func @main(%x: !weft.tensor<[n, 4], f32>) -> !weft.tensor<[n, 4], f32> attributes {weft.symbols = #weft.symbols<n>} {
  %w = weft.constant @w -> !weft.tensor<[4], f32>
  %0 = weft.mul %x, %w : (!weft.tensor<[n, 4], f32>, !weft.tensor<[4], f32>) -> !weft.tensor<[n, 4], f32>
  return %0 : !weft.tensor<[n, 4], f32>
}
{-# external_resources: { weft_weights: { _m$23w: "000000000000803f0000004000004040000080c0" } } #-}
