//===- Create.td - Values from nothing ----------------------------------------------------------===//
#ifndef WEFT_OPS_CREATE_TD
#define WEFT_OPS_CREATE_TD

include "dialects/weft/ops/Base.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Weft_WeightOp : Weft_Op<"weight", [Symbol]> {
  let summary = "a named constant whose bytes lie in a file";
  let description = [{
    The `bytes` bytes at `offset` of `file` are the elements in row-major order, little endian. A file is named as from the text's folder, in
    which it lies or below. Bytes that lie in no file stand behind the program, in the text's resources, under the name that `file` has.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$file, I64Attr:$offset, I64Attr:$bytes, TypeAttrOf<Weft_Tensor>:$type);
  let assemblyFormat = "$sym_name `from` $file `at` $offset `bytes` $bytes attr-dict `:` $type";
  let hasVerifier = 1;
}

def Weft_ConstantOp : Weft_Op<"constant", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>, Weft_ReferenceInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement"]>]> {
  let summary = "a constant: dense elements, or a weight by name";
  let arguments = (ins AnyAttrOf<[ElementsAttr, FlatSymbolRefAttr]>:$value);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "::llvm::LogicalResult evaluate(::weft::ReferenceCall &call);";
}

def Weft_FillOp : Weft_Op<"fill", [Pure, Weft_RuleInterface, Weft_ReferenceInterface, DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement", "evaluateScalar"]>]> {
  let summary = "a tensor of one value";
  let description = "Rule: ` -> ...`. `value` is a number of the element type, written as f32 where the type is one of `!weft`.";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "std::string ruleText() { return \" -> ...\"; }";
}

def Weft_IotaOp : Weft_Op<"iota", [Pure, DeclareOpInterfaceMethods<Weft_ReferenceInterface, ["evaluate"]>, DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement"]>]> {
  let summary = "the index along one dimension";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Weft_DimsValueOp : Weft_Op<"dims_value", [Pure, DeclareOpInterfaceMethods<Weft_ReferenceInterface, ["evaluate"]>, DeclareOpInterfaceMethods<Weft_ElementInterface, ["emitElement"]>]> {
  let summary = "symbolic expressions as data";
  let description = "`weft.dims_value [b, s] : !weft.tensor<[2], i64>`; a 0-D result takes one expression.";
  let arguments = (ins Weft_DimsAttr:$values);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "custom<DimList>($values) attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
