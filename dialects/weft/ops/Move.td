//===- Move.td - Elements at other places -------------------------------------------------------===//
#ifndef WEFT_OPS_MOVE_TD
#define WEFT_OPS_MOVE_TD

include "dialects/weft/ops/Base.td"

class Weft_View<string mnemonic> : Weft_PureOp<mnemonic, [
    DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement", "rootKind"]>, DeclareOpInterfaceMethods<Weft_ReferenceInterface, ["evaluate"]>]>;

def Weft_ReshapeOp : Weft_View<"reshape"> {
  let summary = "the same elements in row-major order with other dimensions";
  let description = "(R1) The products of the dimensions are equal.";
  let arguments = (ins Weft_Tensor:$input, Weft_DimsAttr:$dims);
  let assemblyFormat = "$input `to` custom<DimList>($dims) attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "::llvm::SmallVector<::weft::Cut, 4> cuts();\n::llvm::StringRef sizesName() { return \"dims\"; }";
}

def Weft_TransposeOp : Weft_PureOp<"transpose", [Weft_RuleInterface, Weft_ReferenceInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind"]>]> {
  let summary = "dimensions in another order";
  let description = "Result dimension `i` is operand dimension `order[i]`.";
  let arguments = (ins Weft_Tensor:$input, DenseI64ArrayAttr:$order);
  let assemblyFormat = "$input $order attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "std::string ruleText();\nint64_t scalarCost() { return 0; }";
}

def Weft_ExpandOp : Weft_PureOp<"expand", [Weft_RuleInterface, Weft_ReferenceInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind"]>]> {
  let summary = "repeats along dimensions of size 1";
  let description = [{
    Each operand dimension (aligned at the right) is the literal 1, equal to the result's, or maybe 1: then it must be 1 or equal
    when the program runs.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_DimsAttr:$dims);
  let assemblyFormat = "$input `to` custom<DimList>($dims) attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "std::string ruleText();\nint64_t scalarCost() { return 0; }\n::llvm::StringRef sizesName() { return \"dims\"; }";
}

def Weft_SliceOp : Weft_PureOp<"slice", [Weft_RuleInterface, Weft_ReferenceInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["rootKind"]>]> {
  let summary = "elements `start + step*i` of every dimension";
  let description = "`sizes` elements per dimension; steps are constants other than 0.";
  let arguments = (ins Weft_Tensor:$input, Weft_DimsAttr:$starts, Weft_DimsAttr:$sizes, DenseI64ArrayAttr:$steps);
  let assemblyFormat = "$input `from` custom<DimList>($starts) `size` custom<DimList>($sizes) `step` $steps attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "std::string ruleText();\nint64_t scalarCost() { return 0; }\n::llvm::StringRef sizesName() { return \"sizes\"; }";
}

def Weft_PadOp : Weft_PureOp<"pad", [Weft_RuleInterface, Weft_ElementInterface, Weft_ReferenceInterface]> {
  let summary = "a border of one value; negative amounts crop";
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$value, Weft_DimsAttr:$low, Weft_DimsAttr:$high);
  let assemblyFormat = "$input `with` $value `low` custom<DimList>($low) `high` custom<DimList>($high) attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    std::string ruleText();
    ::mlir::Value emitElement(::weft::ElementBuilder &builder, unsigned result, ::llvm::ArrayRef<::weft::IndexValue> index);
    ::llvm::LogicalResult evaluate(::weft::ReferenceCall &call);
  }];
}

def Weft_ConcatOp : Weft_PureOp<"concat", [DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement"]>, DeclareOpInterfaceMethods<Weft_ReferenceInterface, ["evaluate"]>]> {
  let summary = "operands one after the other along a dimension";
  let description = "With `weft.in_place` the result lies in the memory of what it begins with ([aliases](#weftaliases)).";
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, I64Attr:$dim);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "std::string splitText();";
  let hasVerifier = 1;
}

#endif
