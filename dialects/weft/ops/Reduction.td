//===- Reduction.td - One value per line --------------------------------------------------------===//
#ifndef WEFT_OPS_REDUCTION_TD
#define WEFT_OPS_REDUCTION_TD

include "dialects/weft/ops/Base.td"

def Weft_CombinerAttr : I32EnumAttr<"CombinerKind", "an associative combiner", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]> {
  let cppNamespace = "::weft";
}

def Weft_ReduceOp : Weft_PureOp<"reduce", [Weft_RuleInterface, Weft_ReferenceInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind"]>]> {
  let summary = "combines the elements along some dimensions, which the result lacks";
  let description = "An empty line gives the combiner's identity.";
  let arguments = (ins Weft_CombinerAttr:$kind, Weft_Tensor:$input, DenseI64ArrayAttr:$axes);
  let assemblyFormat = "$kind $input $axes attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "std::string ruleText();";
}

#endif
