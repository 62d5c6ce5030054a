//===- Import.h - Readers behind weft::Compiler::importFile ------------------------------------------------------------===//
#ifndef WEFT_COMPILER_PIPELINE_IMPORT_H
#define WEFT_COMPILER_PIPELINE_IMPORT_H

#include "compiler/pipeline/ModuleImpl.h"

namespace weft {

/// What importFile takes a path for.
enum class ModelKind { Missing, Checkpoint, Text, Onnx };
ModelKind modelKind(const std::string &path);

/// The same in a context of the caller's, which has the graph level's dialects loaded; weights' files are not opened.
Result<mlir::OwningOpRef<mlir::ModuleOp>> parseText(mlir::MLIRContext *context,
                                                    const std::string &path, llvm::StringRef text,
                                                    const Limits &limits);

/// Textual IR. `path` names it in messages, and its folder holds the files of weights. Hostile text ends in a diagnostic.
Result<Module> importText(const std::string &path, llvm::StringRef text, const Limits &limits = {});

} // namespace weft

#endif
