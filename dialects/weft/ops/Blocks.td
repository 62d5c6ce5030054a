//===- Blocks.td - Integers with a scale per block of elements ---------------------------------------===//
#ifndef WEFT_OPS_BLOCKS_TD
#define WEFT_OPS_BLOCKS_TD

include "dialects/weft/ops/Base.td"

def Weft_DequantizeBlocksOp : Weft_PureOp<"dequantize_blocks", [
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement", "rootKind"]>, Weft_Reference]> {
  let summary = "reals from narrow numbers with a scale per block of elements along `axis`";
  let description = [{
    `result[.., i, ..] = (input[.., i, ..] - zero[.., i / block, ..]) * scale[.., i / block, ..]` in f32; without a third operand the
    zero point is 0. A product with a dequantised constant reads the packed numbers; the reals never reach memory.

    (R1) All operands have the same rank, `axis` is one of its dimensions and constant in all, and the others agree.
    (R2) There are enough blocks: `block` times their number is at least the size of `axis`.
    (R3) The operand has integers or floats of at most 16 bits, the scale floats.

    Ranks share it along any dimension; along `axis` a rank has whole blocks, and where the last block is a part of one, all ranks have all.

    ```mlir
    %w = weft.dequantize_blocks %q, %s, %z axis 1 block 32
       : (!weft.tensor<[64, 96], ui4>, !weft.tensor<[64, 3], f32>, !weft.tensor<[64, 3], ui4>) -> !weft.tensor<[64, 96], f32>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$scale, Optional<Weft_Tensor>:$zero, I64Attr:$axis, I64Attr:$block);
  let assemblyFormat = "$input `,` $scale (`,` $zero^)? `axis` $axis `block` $block attr-dict `:` functional-type(operands, results)";
}

#endif
