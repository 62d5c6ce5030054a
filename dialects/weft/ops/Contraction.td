//===- Contraction.td - Sums of products --------------------------------------------------------===//
#ifndef WEFT_OPS_CONTRACTION_TD
#define WEFT_OPS_CONTRACTION_TD

include "dialects/weft/ops/Base.td"

def Weft_ContractOp : Weft_PureOp<"contract", [Weft_RuleInterface, Weft_ReferenceInterface,
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["evaluateScalar", "emitScalar", "rootKind"]>]> {
  let summary = "a sum of products over the factors that the result lacks";
  let description = [{
    The rule is the attribute, as in an einsum: `weft.contract "b i k, k j -> b i j" %x, %w`.

    (R1) Both operands have the same element type, or are 8-bit integers, or the left one has signed integers of 16 bits and the right one of 8.
    (R2) Products and sums are computed in `accumulate`, which is also the result's element type.
  }];
  let arguments = (ins StrAttr:$rule, Weft_Tensor:$lhs, Weft_Tensor:$rhs, TypeAttr:$accumulate);
  let assemblyFormat = "$rule $lhs `,` $rhs `accumulate` $accumulate attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    std::string ruleText() { return getRule().str(); }
    std::string splitText() { return getRule().str() + (getRule().contains(" : ") ? "" : " : sum"); }
    int64_t scalarCost() { return 2; }
  }];
}

#endif
