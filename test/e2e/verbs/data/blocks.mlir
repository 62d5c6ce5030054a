// A product with a weight of bytes in blocks of 16.
func.func @main(%x: !weft.tensor<[m, 32], f32>) -> !weft.tensor<[m, 4], f32> attributes {weft.symbols = #weft.symbols<m>} {
  %q = weft.constant dense<"0x135CA5EE3780C9125BA4ED367FC8115AA3EC357EC71059A2EB347DC60F58A1EA337CC50E57A0E9327BC40D569FE8317AC30C559EE73079C20B549DE62F78C10A539CE52E77C009529BE42D76BF08519AE32C75BE075099E22B74BD064F98E12A73BC054E97E02972BB044D96DF2871BA034C95DE2770B9024B94DD266FB8014A"> : tensor<4x32xi8> -> !weft.tensor<[4, 32], i8>
  %s = weft.constant dense<[[0.5, 0.25], [0.125, 1.0], [0.75, 0.5], [0.25, 0.5]]> : tensor<4x2xf32> -> !weft.tensor<[4, 2], f32>
  %w = weft.dequantize_blocks %q, %s axis 1 block 16 : (!weft.tensor<[4, 32], i8>, !weft.tensor<[4, 2], f32>) -> !weft.tensor<[4, 32], f32>
  %y = weft.contract "m k, n k -> m n" %x, %w accumulate f32 : (!weft.tensor<[m, 32], f32>, !weft.tensor<[4, 32], f32>) -> !weft.tensor<[m, 4], f32>
  return %y : !weft.tensor<[m, 4], f32>
}
