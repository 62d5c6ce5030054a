//===- ModuleImpl.h - What stands behind weft::Module ----------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_MODULEIMPL_H
#define WEFT_COMPILER_MODEL_MODULEIMPL_H

#include "compiler/import/readers/MappedFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"
#include "weft/compiler.hpp"

namespace weft {

class WeightOp;

struct Module::Impl {
  std::shared_ptr<mlir::MLIRContext> context; ///< also of the module's copies
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The files that weft.weight operations name, by the name they use.
  std::map<std::string, std::shared_ptr<MappedFile>> files;
  /// Of the model, for messages and the artifact's name.
  std::string name;
  /// What the caller promised when the model was imported, as written.
  std::vector<std::string> facts;

  /// A context with the dialects of the graph level loaded; single-threaded.
  static std::shared_ptr<Impl> create(std::string name);
  /// A copy that can be changed by itself. It shares context and files, so one thread uses both.
  std::shared_ptr<Impl> clone() const;
  /// The bytes of a weight, or null when its file is not open or too short.
  const char *weightBytes(llvm::StringRef symbol);
  const char *bytesOf(WeightOp weight) const;
  /// The module's text, or that of what passes made of it. It is read back beside the same files: bytes that lie in none stand at its end.
  std::string textOf(mlir::ModuleOp program, const mlir::OpPrintingFlags &flags = {}) const;
};

/// Collects MLIR diagnostics of a context as weft::Diagnostic while it lives.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, std::string code);
  ~DiagnosticCollector();
  std::vector<Diagnostic> take() { return std::move(list); }

private:
  struct Handler;
  std::unique_ptr<Handler> handler;
  std::vector<Diagnostic> list;
};

} // namespace weft

#endif // WEFT_COMPILER_MODEL_MODULEIMPL_H
