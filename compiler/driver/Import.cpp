//===- Import.cpp - Tells what a file is and reads it ----------------------------------------------------------------===//

#include "compiler/driver/Import.h"
#include "compiler/import/checkpoint/Checkpoint.h"
#include "compiler/import/onnx/Onnx.h"
#include "compiler/import/readers/ReadError.h"
#include "compiler/import/text/ImportText.h"
#include "compiler/model/Facts.h"
#include "compiler/model/TensorLimit.h"
#include "mlir/Pass/PassManager.h"
#include "passes/quant/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace weft {

/// `module` with the facts in it.
static Result<Module> withFacts(Result<Module> module, const ImportOptions &options) {
  if (!module)
    return module;
  if (Result<void> done = applyFacts(*module->get().module, options.facts); !done)
    return done.diagnostics();
  return module;
}

/// The content decides where the name does not. A model begins with a control character: the number
/// of a protobuf field.
static bool isProgram(const std::string &path, llvm::StringRef bytes) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  return extension == ".mlir" || (extension != ".onnx" && isText(bytes));
}

ModelKind modelKind(const std::string &path) {
  if (llvm::sys::fs::is_directory(path))
    return ModelKind::Checkpoint;
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return ModelKind::Missing;
  return isProgram(path, (*buffer)->getBuffer()) ? ModelKind::Text : ModelKind::Onnx;
}

static Result<Module> readModel(const std::string &path, const ImportOptions &options) {
  auto error = [&](const char *code, const std::string &text) {
    return Diagnostic{Diagnostic::Error, code, path, text, ""};
  };
  Result<void> suits; // whether a model that is not of ONNX can have these options
  if (!options.constants.empty())
    suits = error("W0205", "only inputs of ONNX models can be given constants");
  else if (!options.operators.empty())
    suits = error("W0208", "only ONNX models have operators that can be given");
  if (llvm::sys::fs::is_directory(path))
    return suits ? withFacts(importCheckpoint(path), options) : suits.diagnostics();
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error("W0200", "cannot read '" + path + "': " + buffer.getError().message());
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (bytes.starts_with("\177ELF")) // as artifacts are
    return Diagnostic{Diagnostic::Error, "W0202", path, "is a compiled artifact and no model",
                      "name the model that it was compiled from"};
  if (isProgram(path, bytes))
    return suits ? withFacts(importText(path, bytes, options.limits), options)
                 : suits.diagnostics();
  OnnxImportOptions onnx{options.facts, options.constants, options.operators, options.limits, {}};
  return importOnnx(path, onnx); // facts make shapes simpler while nodes are imported
}

static Result<void> runPass(const Module &module, std::unique_ptr<mlir::Pass> pass,
                            const char *code) {
  DiagnosticCollector collector(module.get().context.get(), code);
  mlir::PassManager manager(module.get().context.get());
  manager.addPass(std::move(pass));
  if (failed(manager.run(*module.get().module)))
    return collector.take();
  return {};
}

/// Caches of the type that is asked for, in place of those that the model has.
static Result<void> roundCaches(const Module &module, const ImportOptions &options) {
  if (options.cache.empty())
    return {};
  RoundCachesOptions round;
  round.element = options.cache;
  return runPass(module, createRoundCaches(round), "W0209");
}

Result<Module> Compiler::importFile(const std::string &path, const ImportOptions &options) {
  if (options.limits.nesting > Limits::mostNesting)
    return Diagnostic{Diagnostic::Error, "W0203", "",
                      "a limit of " + std::to_string(options.limits.nesting) +
                          " for nesting is more than the " + std::to_string(Limits::mostNesting) +
                          " that are safe",
                      ""};
  Result<Module> module = readModel(path, options);
  if (!module)
    return module;
  if (Result<void> done = checkTensors(module->get(), path, options.limits); !done)
    return done.diagnostics();
  if (Result<void> done = runPass(*module, createBareWeights(), "W0200"); !done)
    return done.diagnostics();
  if (Result<void> done = roundCaches(*module, options); !done)
    return done.diagnostics();
  module->get().facts = options.facts;
  return module;
}

} // namespace weft
