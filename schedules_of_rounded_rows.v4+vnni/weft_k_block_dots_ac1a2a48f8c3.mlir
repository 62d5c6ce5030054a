// x86:v4+vnni block_dots
module {
  func.func @kernel(%arg0: !weft.tensor<[s0, 64], f32>, %arg1: !weft.tensor<[64, 64], i4> {weft.weight}, %arg2: !weft.tensor<[64, 2], f32> {weft.weight}, %arg3: !weft.tensor<[64], f32>) -> !weft.tensor<[s0, 64], f32> attributes {weft.symbols = #weft.symbols<s0>} {
    %0 = weft.round_blocks %arg0 block 32 : (!weft.tensor<[s0, 64], f32>) -> !weft.tensor<[s0, 64], f32>
    %1 = weft.dequantize_blocks %arg1, %arg2 axis 1 block 32 : (!weft.tensor<[64, 64], i4>, !weft.tensor<[64, 2], f32>) -> !weft.tensor<[64, 64], f32>
    %2 = weft.contract "... k, n k -> ... n" %0, %1 accumulate f32 : (!weft.tensor<[s0, 64], f32>, !weft.tensor<[64, 64], f32>) -> !weft.tensor<[s0, 64], f32>
    %3 = weft.add %2, %arg3 : (!weft.tensor<[s0, 64], f32>, !weft.tensor<[64], f32>) -> !weft.tensor<[s0, 64], f32>
    return %3 : !weft.tensor<[s0, 64], f32>
  }
}
