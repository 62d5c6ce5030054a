//===- Reduction.td - One value per line --------------------------------------------------------===//
#ifndef WEFT_OPS_REDUCTION_TD
#define WEFT_OPS_REDUCTION_TD

include "dialects/weft/ops/Base.td"

def Weft_ReduceOp : Weft_PureOp<"reduce", [Weft_RuleInterface, Weft_ReferenceInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind"]>]> {
  let summary = "combines the elements along some dimensions, which the result lacks";
  let description = "An empty line gives the combiner's identity: of an extremum infinity, or the largest or least number of a type that has none.";
  let arguments = (ins Weft_CombinerAttr:$kind, Weft_Tensor:$input, DenseI64ArrayAttr:$axes);
  let assemblyFormat = "$kind $input $axes attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "std::string ruleText();";
}

#endif
