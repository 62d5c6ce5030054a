//===- Weft.h - The graph dialect: types, attributes, interfaces and operators -----------------===//
#ifndef WEFT_DIALECTS_WEFT_WEFT_H
#define WEFT_DIALECTS_WEFT_WEFT_H

#include "dialects/symbolic/SymDialect.h"
#include "dialects/symbolic/SymExpr.h"
#include "dialects/symbolic/SymFacts.h"
#include "dialects/weft/interfaces/Element.h"
#include "dialects/weft/interfaces/Exchange.h"
#include "dialects/weft/interfaces/IterationRule.h"
#include "dialects/weft/interfaces/Split.h"
#include "dialects/weft/reference/Reference.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/weft/WeftDialect.h.inc"
#include "dialects/weft/WeftEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/weft/WeftAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/weft/WeftInterfaces.h.inc"
#include "dialects/weft/WeftTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/weft/WeftOps.h.inc"

namespace weft {

/// Name of the function attribute that holds a SymbolsAttr.
constexpr llvm::StringLiteral kSymbolsAttr = "weft.symbols";
/// That attribute of the function, empty when it has none.
SymbolsAttr symbolsOf(mlir::Operation *function);
/// The symbols that an operation's attribute lists. What is no name is left out: functions ask before verifiers of operations refuse it.
llvm::SmallVector<mlir::StringAttr, 1> namesIn(mlir::ArrayAttr names);
/// Names of arguments and results for people.
constexpr llvm::StringLiteral kNameAttr = "weft.name";
/// On an argument of a kernel's specification: it is a constant of the program, which is packed as the schedule asks.
constexpr llvm::StringLiteral kWeightAttr = "weft.weight";
/// On a convolution of bytes: no sum takes more bits than this, with the sign, whatever the operand is.
constexpr llvm::StringLiteral kNarrowSumsAttr = "weft.narrow_sums";
constexpr unsigned kNarrowSumBits = 26;

/// `[b, s, 768]` inside attributes and assembly formats.
mlir::ParseResult parseDimList(mlir::AsmParser &parser, DimsAttr &dims);
void printDimList(mlir::AsmPrinter &printer, mlir::Operation *, DimsAttr dims);
inline void printDimList(mlir::AsmPrinter &printer, DimsAttr dims) {
  printDimList(printer, nullptr, dims);
}

bool isFloat(mlir::Type element);
/// f16 or bf16.
bool isHalf(mlir::Type element);
bool isUnsigned(mlir::Type element);
/// Whether two elements share a byte of memory.
bool isPacked(mlir::Type element);
/// The type of attributes that hold numbers of an element type: itself, or f32 where MLIR has no such numbers.
mlir::Type numberType(mlir::Type element);
/// The number of a float type that is nearest to `value`.
mlir::FloatAttr floatAttribute(mlir::Type element, double value);
/// Two values as one, element by element.
mlir::Value combined(mlir::ImplicitLocOpBuilder &b, CombinerKind kind, mlir::Value x,
                     mlir::Value y);
/// Whether a value can have these dimensions. Types that operators infer are judged by the verifier of the function, not when they are made.
mlir::LogicalResult verifyDims(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                               SymTensorType type);
/// Whether tensors can have elements of a type.
bool isElement(mlir::Type type);
/// The same with an error when they cannot.
mlir::LogicalResult verifyElement(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                  mlir::Type type);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_WEFT_H
