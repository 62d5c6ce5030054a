//===- Rounding.td - Reals that bytes can stand for -----------------------------------------------------===//
#ifndef WEFT_OPS_ROUNDING_TD
#define WEFT_OPS_ROUNDING_TD

include "dialects/weft/ops/Base.td"

def Weft_RoundBlocksOp : Weft_PureOp<"round_blocks", [Weft_RuleInterface, Weft_Reference,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement", "rootKind"]>]> {
  let summary = "reals rounded to multiples of a step that every block of the last dimension has for itself";
  let description = [{
    Rule: `... s~ -> ... s~`. The step is the largest magnitude of `block` neighbours divided by 127, so that every result is a signed byte
    times its block's step: `round(x * (127 / largest)) * (largest / 127)`, ties to even, the quotients rounded to f32. Where the first
    quotient overflows, a block of zeros among others, results are 0; a nan or an infinity makes nans of its block.

    A product of rounded rows with a constant of bytes or less (`dequantize_blocks` with the same blocks) is summed in integers where the
    processor has such products.

    Ranks share it along any dimension; along the last a rank has whole blocks.

    (R1) The operand has f32 elements and at least one dimension, of which the last is constant.
    (R2) `block` is positive.

    ```mlir
    %r = weft.round_blocks %x block 32 : (!weft.tensor<[m, 96], f32>) -> !weft.tensor<[m, 96], f32>
    ```
  }];
  let arguments = (ins Weft_Tensor:$input, I64Attr:$block);
  let assemblyFormat = "$input `block` $block attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    std::string ruleText() { return "... s~ -> ... s~"; }
    ::llvm::SmallVector<::weft::Cut, 4> cuts();
    int64_t scalarCost() { return 3; }
    /// Whether rows are whole blocks, and blocks whole vectors that fit into registers: schedules then round a block at once.
    static bool isRegular(SymTensorType rows, int64_t block);
  }];
}

#endif
