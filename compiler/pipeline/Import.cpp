//===- Import.cpp - Tells what a file is and reads it ----------------------------------------------------------------===//

#include "compiler/pipeline/Import.h"
#include "compiler/import/checkpoint/Checkpoint.h"
#include "compiler/import/onnx/Onnx.h"
#include "compiler/pipeline/Facts.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace weft {

/// `module` with the facts in it.
static Result<Module> withFacts(Result<Module> module, const ImportOptions &options) {
  if (!module)
    return module;
  if (std::optional<Diagnostic> bad = applyFacts(*module->get().module, options.facts))
    return *bad;
  return module;
}

static Result<Module> readModel(const std::string &path, const ImportOptions &options) {
  Diagnostic onlyOnnx{Diagnostic::Error, "W0205", path, "only inputs of ONNX models can be given constants", ""};
  if (llvm::sys::fs::is_directory(path))
    return options.constants.empty() ? withFacts(importCheckpoint(path), options) : Result<Module>(onlyOnnx);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return Diagnostic{Diagnostic::Error, "W0200", path, "cannot read '" + path + "': " + buffer.getError().message(), ""};
  llvm::StringRef bytes = (*buffer)->getBuffer();
  // A model file starts with a protobuf field (ir_version: 0x08); text does not contain control characters.
  bool text = llvm::sys::path::extension(path) == ".mlir" || llvm::all_of(bytes.take_front(512), [](char c) {
    return (unsigned char)c >= 32 || c == '\n' || c == '\t' || c == '\r';
  });
  if (text)
    return options.constants.empty() ? withFacts(importText(path, bytes), options) : Result<Module>(onlyOnnx);
  return importOnnx(path, {options.facts, options.constants}); // facts make shapes simpler while nodes are imported
}

Result<Module> Compiler::importFile(const std::string &path, const ImportOptions &options) {
  Result<Module> module = readModel(path, options);
  if (module)
    module->get().facts = options.facts;
  return module;
}

} // namespace weft
