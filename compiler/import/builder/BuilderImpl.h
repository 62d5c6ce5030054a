//===- BuilderImpl.h - What stands behind weft::Builder ---------------------------------------===//
//
// Private to this folder. Every operator method of Builder ends in one call:
//
//   mlir::Value sum = impl.create("weft.add", {lhs, rhs}, {});     // null when it was refused
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_BUILDER_BUILDERIMPL_H
#define WEFT_COMPILER_IMPORT_BUILDER_BUILDERIMPL_H

#include "compiler/model/ModuleImpl.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "weft/builder.hpp"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// The codes of the builder's findings.
constexpr llvm::StringLiteral kProgramError = "W0201", kFileError = "W0202";

mlir::Type toType(mlir::MLIRContext *context, Element element);
Element toElement(mlir::Type type);
/// An attribute of the scalar type, or null when the number does not fit it.
mlir::TypedAttr toAttribute(mlir::Type type, Number number);

struct Builder::Impl {
  explicit Impl(const std::string &name);

  //===-- Values ------------------------------------------------------------------------------===//

  Value wrap(mlir::Value value);
  /// Null when the value failed before, or is not of this builder, which is reported.
  mlir::Value unwrap(Value value, const char *operation);
  /// The same for several; false when one is null.
  bool unwrap(llvm::ArrayRef<Value> values, const char *operation,
              llvm::SmallVectorImpl<mlir::Value> &unwrapped);

  //===-- Operations --------------------------------------------------------------------------===//

  using Attributes = llvm::ArrayRef<mlir::NamedAttribute>;
  /// Creates an operation with one result, whose type is inferred.
  Value create(llvm::StringLiteral name, llvm::ArrayRef<Value> operands,
               Attributes attributes = {});
  /// Creates an operation with the given result types; checks it; null on failure.
  mlir::Operation *createTyped(llvm::StringRef name, mlir::ValueRange operands,
                               Attributes attributes, mlir::TypeRange results);
  mlir::NamedAttribute attribute(llvm::StringRef name, mlir::Attribute value) {
    return ops.getNamedAttr(name, value);
  }

  //===-- Text --------------------------------------------------------------------------------===//

  /// Parses sizes; symbols must occur in an input, unless this is one.
  std::optional<llvm::SmallVector<SymExpr>> parseDims(const Dims &dims, bool declares = false);
  DimsAttr dimsAttribute(const Dims &dims); ///< null on failure
  SymTensorType tensorType(Element element, const Dims &dims, bool declares = false);
  /// `axis` counted from 0; reports when the tensor does not have it.
  std::optional<int64_t> countAxis(mlir::Value tensor, int64_t axis, const char *operation);

  //===-- Messages ----------------------------------------------------------------------------===//

  void error(const llvm::Twine &text, const llvm::Twine &hint = "");
  void report(Diagnostic diagnostic);
  mlir::Location location();
  /// Runs `body` with MLIR's diagnostics collected as findings.
  template <typename F> auto collecting(F body);

  void start(); ///< an empty main in an empty module
  Result<Module> finish();
  void declareFunction();
  /// Forgets the finished program, so that further calls cannot change it.
  void clear();

  mlir::MLIRContext *context() { return module->context.get(); }

  std::shared_ptr<Module::Impl> module;
  mlir::OpBuilder ops; ///< at the end of main
  mlir::func::FuncOp function;
  mlir::Block *body;
  uint32_t id; ///< of this program, in its values
  std::vector<mlir::Value> values;
  std::string scope;
  std::vector<std::string> inputNames;
  llvm::MapVector<mlir::StringAttr, mlir::Value> outputs;
  llvm::SetVector<mlir::StringAttr> symbols;
  std::vector<SymPred> facts;
  std::vector<Diagnostic> findings;
  bool failed = false, finished = false;
};

template <typename F> auto Builder::Impl::collecting(F body) {
  DiagnosticCollector collector(context(), kProgramError.str());
  auto result = body();
  for (Diagnostic &diagnostic : collector.take())
    report(std::move(diagnostic));
  return result;
}

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_BUILDER_BUILDERIMPL_H
