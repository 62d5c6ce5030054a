//===- ImportText.h - Textual IR --------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_TEXT_IMPORTTEXT_H
#define WEFT_COMPILER_IMPORT_TEXT_IMPORTTEXT_H

#include "compiler/model/ModuleImpl.h"

namespace weft {

/// Bytes of weights that are part of a text, by the name that weights use.
using FilesInText = std::map<std::string, std::shared_ptr<MappedFile>>;

/// The module in a context of the caller's, which has the graph level's dialects loaded. Weights' files are not opened; `files`, if any,
/// gets those in the text.
Result<mlir::OwningOpRef<mlir::ModuleOp>> parseText(mlir::MLIRContext *context,
                                                    const std::string &path, llvm::StringRef text,
                                                    const Limits &limits,
                                                    FilesInText *files = nullptr);

/// Textual IR. `path` names it in messages, and its folder holds the files of weights. Hostile text ends in a diagnostic.
Result<Module> importText(const std::string &path, llvm::StringRef text, const Limits &limits = {});

} // namespace weft

#endif
