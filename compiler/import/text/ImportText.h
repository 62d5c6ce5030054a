//===- ImportText.h - Textual IR --------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_TEXT_IMPORTTEXT_H
#define WEFT_COMPILER_IMPORT_TEXT_IMPORTTEXT_H

#include "compiler/model/ModuleImpl.h"

namespace weft {

/// The module in a context of the caller's, which has the graph level's dialects loaded; weights' files are not opened.
Result<mlir::OwningOpRef<mlir::ModuleOp>> parseText(mlir::MLIRContext *context,
                                                    const std::string &path, llvm::StringRef text,
                                                    const Limits &limits);

/// Textual IR. `path` names it in messages, and its folder holds the files of weights. Hostile text ends in a diagnostic.
Result<Module> importText(const std::string &path, llvm::StringRef text, const Limits &limits = {});

} // namespace weft

#endif
