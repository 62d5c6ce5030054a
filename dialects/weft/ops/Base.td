//===- Base.td - What all operator families share ----------------------------------------------===//
#ifndef WEFT_OPS_BASE_TD
#define WEFT_OPS_BASE_TD

include "dialects/weft/WeftDialect.td"
include "dialects/weft/interfaces/Interfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Weft_Op<string mnemonic, list<Trait> traits = []> : Op<Weft_Dialect, mnemonic, traits>;

/// A pure operator whose result types follow from operands and attributes; the verifier compares them with the declared ones.
class Weft_PureOp<string mnemonic, list<Trait> traits = []> : Weft_Op<mnemonic, [Pure, InferTypeOpAdaptor, Weft_SplitInterface] # traits> {
  let results = (outs Weft_Tensor:$result);
  string operandsFormat = "operands";
  let assemblyFormat = operandsFormat # " attr-dict `:` functional-type(operands, results)";
}

/// With a rule whose text is fixed.
class Weft_RuleText<string text> {
  string ruleDeclaration = "std::string ruleText() { return \"" # text # "\"; }\n";
}

defvar Weft_Rule = DeclareOpInterfaceMethods<Weft_RuleInterface>;
defvar Weft_Element = DeclareOpInterfaceMethods<Weft_ElementInterface>;
defvar Weft_Reference = DeclareOpInterfaceMethods<Weft_ReferenceInterface, ["evaluate"]>;
defvar Weft_ElementBy = Weft_ElementInterface;

def Weft_CombinerAttr : I32EnumAttr<"CombinerKind", "an associative combiner", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]> {
  let cppNamespace = "::weft";
}

def Weft_Outside : I32EnumAttr<"Outside", "what a position outside of the operand does", [
    I32EnumAttrCase<"Refused", 0, "refused">, I32EnumAttrCase<"Clamped", 1, "clamped">, I32EnumAttrCase<"Unchecked", 2, "unchecked">]> {
  let cppNamespace = "::weft";
}

defvar Weft_Positions = DeclareOpInterfaceMethods<Weft_PositionsInterface, ["positionDims"]>;
defvar Weft_OutsideAttr = DefaultValuedAttr<Weft_Outside, "::weft::Outside::Refused">;

#endif
