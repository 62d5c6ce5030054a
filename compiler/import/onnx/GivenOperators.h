//===- GivenOperators.h - ONNX operators that the caller supplies as functions ----------------===//
//
//   Result<void> read = given.read(options.operators, options.limits); // texts, read once
//   Result<void> parsed = given.parseInto(context);      // functions, in every pass's context
//   if (func::FuncOp function = given.find("com.acme", "ScaledTanh")) ...
//
// docs/howto/bring-an-operator.md says what a function looks like.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GIVENOPERATORS_H
#define WEFT_COMPILER_IMPORT_ONNX_GIVENOPERATORS_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "weft/compiler.hpp"

namespace weft::onnx {

constexpr const char *kWrongOperator = "W0208";

/// Of an argument: the node's attribute that it stands for.
constexpr llvm::StringLiteral kAttributeAttr = "weft.attribute";
/// Of an argument: the elements it has where the node leaves it out.
constexpr llvm::StringLiteral kOtherwiseAttr = "weft.otherwise";
/// Of the function: symbols that are the node's attributes, {k = "block_size"}.
constexpr llvm::StringLiteral kSizesAttr = "weft.sizes";
/// Of the function: attributes that mean nothing to it, ["note"].
constexpr llvm::StringLiteral kIgnoredAttr = "weft.ignored";

class GivenOperators {
public:
  /// Reads the files.
  Result<void> read(const std::vector<OperatorFile> &files, const Limits &limits);
  /// Parses and checks all functions. The context must live until forget().
  Result<void> parseInto(mlir::MLIRContext *context);
  void forget();

  /// Null when the operator was not given.
  mlir::func::FuncOp find(llvm::StringRef domain, llvm::StringRef name);
  /// "com.acme:ScaledTanh", of those that find() never gave.
  std::vector<std::string> unused() const;

private:
  struct Operator {
    std::string domain, name, path, text;
    bool used = false;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    mlir::func::FuncOp function;
  };

  static Result<void> choose(Operator &each);
  static Result<void> checkBody(Operator &each);
  static Result<void> checkOperation(Operator &each, mlir::Operation *op);

  std::vector<Operator> operators;
  Limits limits;
};

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GIVENOPERATORS_H
