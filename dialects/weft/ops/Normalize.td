//===- Normalize.td - Whole lines at once -------------------------------------------------------===//
#ifndef WEFT_OPS_NORMALIZE_TD
#define WEFT_OPS_NORMALIZE_TD

include "dialects/weft/ops/Base.td"

class Weft_RowOp<string mnemonic, string rule> : Weft_PureOp<mnemonic, [Weft_RuleInterface, DeclareOpInterfaceMethods<Weft_ReferenceInterface, ["evaluate"]>,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind"]>, DeclareOpInterfaceMethods<Weft_CompositeInterface>]> {
  let extraClassDeclaration = "std::string ruleText() { return \"" # rule # "\"; }\nint64_t scalarCost() { return 8; }";
}

def Weft_SoftmaxOp : Weft_RowOp<"softmax", "... s~ -> ... s~"> {
  let summary = "e^x over the sum of e^x along the last dimension";
  let description = "Rule: `... s~ -> ... s~`. Computed after subtracting the line's maximum. With `logarithm`, the logarithm of that.";
  let arguments = (ins Weft_Tensor:$input, UnitAttr:$logarithm);
}

def Weft_NormalizeOp : Weft_RowOp<"normalize", "... d~, d, d -> ... d~"> {
  let summary = "each line scaled to unit variance, times `scale` plus `shift`";
  let description = [{
    Rule: `... d~, d, d -> ... d~` along the last dimension. With `center` the mean is subtracted first (layer normalisation), without it the
    mean of squares is used (RMS normalisation). `epsilon` is added to the variance.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$scale, Weft_Tensor:$shift, F64Attr:$epsilon, BoolAttr:$center);
}

#endif
