//===- Interfaces.td - The questions every operator answers -----------------------------------===//
#ifndef WEFT_INTERFACES_TD
#define WEFT_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Weft_RuleInterface : OpInterface<"RuleOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    How every dimension of every operand and result walks over named factors (docs/design.md, "the iteration rule").
    Shape inference, cost, the reference interpreter and the loop-nest generator read nothing else.
  }];
  let methods = [
    InterfaceMethod<"The rule as text", "std::string", "ruleText">,
    InterfaceMethod<"Arithmetic operations per point of the iteration space", "int64_t", "scalarCost", (ins), [{}], [{ return 1; }]>
  ];
  let extraSharedClassDeclaration = [{
    /// The rule bound to the operand and result types of this operation. Verified operations always have one.
    ::weft::IterationRule rule() { return ::weft::IterationRule::of($_op); }
  }];
}

def Weft_ElementInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    How to compute elements of the results. Operators with a rule give the scalar function twice: as reference semantics on
    doubles, integers and expressions, and as code for scalars or vectors. The rest is derived from the rule.
  }];
  let methods = [
    InterfaceMethod<"The scalar function on reference values", "::weft::Scalar", "evaluateScalar",
      (ins "::llvm::ArrayRef<::weft::Scalar>":$elements, "const ::weft::SymFacts *":$facts), [{}], [{ return elements.front(); }]>,
    InterfaceMethod<"The scalar function as code: elements are scalars or vectors of the compute type", "::mlir::Value", "emitScalar",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::ValueRange":$elements), [{}], [{ return elements.front(); }]>,
    InterfaceMethod<"Elements of a result at an index, by pulling elements of operands", "::mlir::Value", "emitElement",
      (ins "::weft::ElementBuilder &":$builder, "unsigned":$result, "::llvm::ArrayRef<::weft::IndexValue>":$index),
      [{}], [{ return ::weft::emitElementByRule($_op, builder, index); }]>,
    InterfaceMethod<"The family of schedules that can be the root of a kernel with this operation", "::weft::RootKind", "rootKind",
      (ins), [{}], [{ return ::weft::RootKind::Loop; }]>,
    InterfaceMethod<"For RootKind::Serial: one unit of work as plain loops", "void", "emitSerial",
      (ins "::weft::SerialBuilder &":$builder, "::mlir::Value":$unit), [{}],
      [{ llvm_unreachable("operators of root kind serial override this"); }]>,
    InterfaceMethod<"For RootKind::Serial: units of work that do not depend on each other; null for one", "::weft::SymExpr", "serialUnits",
      (ins), [{}], [{ return ::weft::SymExpr(); }]>,
    InterfaceMethod<"For RootKind::Serial: words of memory that a unit needs; null for none", "::weft::SymExpr", "serialScratch",
      (ins), [{}], [{ return ::weft::SymExpr(); }]>
  ];
}

def Weft_ReferenceInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    Reference semantics in double, integer or expression arithmetic, independent of lowering. Operators with a rule get it from the
    rule and their scalar function.
  }];
  let methods = [
    InterfaceMethod<"Computes results from operands", "::llvm::LogicalResult", "evaluate", (ins "::weft::ReferenceCall &":$call),
      [{}], [{ return ::weft::evaluateByRule($_op, call); }]>
  ];
}

def Weft_PositionsInterface : OpInterface<"PositionsOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    Operand 0 is addressed by data: operand 1 holds positions in some of its dimensions, counted from the end when negative.
  }];
  let methods = [
    InterfaceMethod<"The dimensions of operand 0 that positions are in: one, or one for each place of the last dimension of operand 1",
      "::llvm::SmallVector<unsigned>", "positionDims">,
    InterfaceMethod<"What a position outside does", "::weft::Outside", "getOutside">,
    InterfaceMethod<"Sets what a position outside does", "void", "setOutside", (ins "::weft::Outside":$outside)>
  ];
}

def Weft_CompositeInterface : OpInterface<"CompositeOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{ An operator that can be written with smaller ones. }];
  let methods = [
    InterfaceMethod<"Builds the same values from smaller operators", "::llvm::SmallVector<::mlir::Value>", "decompose",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder)>
  ];
}

def Weft_SplitInterface : OpInterface<"SplitOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    How ranks may share the work of an operator. By default this follows from its rule: a dimension is cut as a factor is, a factor that results
    lack leaves every rank with a result of its part, where the rule names what combines them, and a factor of whole lines with those of the smaller operators that the
    operator is made of.
  }];
  let methods = [
    InterfaceMethod<"The rule by which the operator is cut; empty when it is not", "std::string", "splitText", (ins), [{}],
      [{ return ::weft::splitTextByRule($_op); }]>,
    InterfaceMethod<"All ways to cut it", "::llvm::SmallVector<::weft::Cut, 4>", "cuts", (ins), [{}],
      [{ return ::weft::cutsByText($_op, ::mlir::cast<::weft::SplitOpInterface>($_op.getOperation()).splitText()); }]>,
    InterfaceMethod<"The attribute that lists the dimensions of the result, which are a rank's in its part; empty without one", "::llvm::StringRef",
      "sizesName", (ins), [{}], [{ return {}; }]>
  ];
}

def Weft_CollectiveInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    What the ranks of a group do together. Every rank of the group comes to it, in the same order as to all others. It has one operand and
    one result, which lie in memory: the host program calls for it between kernels.
  }];
  let methods = [
    InterfaceMethod<"The group: ranks that differ along these axes alone", "::weft::MeshAttr", "getGroup">,
    InterfaceMethod<"Computes the results of all ranks of a group, in the order of places, and counts what each of them sends",
      "::llvm::LogicalResult", "exchange", (ins "::llvm::MutableArrayRef<::weft::ReferenceCall>":$calls, "::llvm::MutableArrayRef<::weft::Sent>":$sent)>,
    InterfaceMethod<"How elements lie that ranks give each other", "::weft::ExchangeForm", "getForm">,
    InterfaceMethod<"Bytes that a rank sends to others", "::weft::SymExpr", "sentBytes">,
    InterfaceMethod<"Messages that a rank sends, empty ones included", "::weft::SymExpr", "sentMessages">
  ];
}

def Weft_HostInterface : OpInterface<"HostOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    What the host program does between kernels: it reads small values from memory, decides and repeats. Kernels never span one.
  }];
  let methods = [
    InterfaceMethod<"Symbols that have values inside the regions", "::llvm::SmallVector<::mlir::StringAttr, 1>", "symbolsInside", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"Symbols that have values behind the operation", "::llvm::SmallVector<::mlir::StringAttr, 1>", "symbolsAfter", (ins), [{}], [{ return {}; }]>
  ];
}

#endif
