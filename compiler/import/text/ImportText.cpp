//===- ImportText.cpp - Textual IR, behind limits that MLIR's parser does not have --------------------------------------===//

#include "compiler/import/text/ImportText.h"
#include "compiler/import/text/TextGuard.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace weft {
namespace {

weft::Diagnostic error(const char *code, const std::string &where, const std::string &text) {
  return {weft::Diagnostic::Error, code, where, text, ""};
}

/// Maps the files that weights name; their paths are relative to the text's folder.
Result<void> openWeights(Module::Impl &impl, const std::string &path) {
  std::string folder = llvm::sys::path::parent_path(path).str();
  for (auto weight : impl.module->getOps<WeightOp>()) {
    std::string name = weight.getFile().str();
    if (impl.files.count(name))
      continue;
    auto file = MappedFile::openInside(folder.empty() ? "." : folder, name);
    if (!file)
      return error("W0204", path,
                   "weight '" + weight.getSymName().str() +
                       "': " + llvm::toString(file.takeError()));
    impl.files[name] = *file;
    if (!impl.weightBytes(weight.getSymName()))
      return error("W0204", path,
                   "weight '" + weight.getSymName().str() + "' lies outside file '" + name + "'");
  }
  return {};
}

/// The rest of the compiler takes functions of tensors for granted.
Result<void> checkFunctions(ModuleOp module, const std::string &path) {
  for (auto function : module.getOps<func::FuncOp>())
    for (Type type :
         llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      if (!isa<SymTensorType>(type)) {
        std::string text =
            "function '" + function.getName().str() + "' takes or gives a value of type ";
        llvm::raw_string_ostream(text) << type << ", which is not a tensor of Weft";
        return error("W0201", path, text);
      }
  return {};
}

} // namespace

Result<OwningOpRef<ModuleOp>> parseText(MLIRContext *context, const std::string &path,
                                        StringRef text, const Limits &limits) {
  if (Result<void> done = checkText(path, text, limits); !done)
    return done.diagnostics();
  DiagnosticCollector collector(context, "W0201");
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, path);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context);
  if (!module) {
    std::vector<weft::Diagnostic> found = collector.take();
    if (found.empty()) // MLIR's lexer passes over some stray bytes without a word
      found.push_back(error("W0201", path, "the text is not textual IR"));
    return found;
  }
  if (Result<void> done = checkFunctions(*module, path); !done)
    return done.diagnostics();
  uint64_t operations = 0;
  (*module)->walk([&](Operation *) { ++operations; });
  if (operations - 1 > limits.nodes) // but for the module
    return error("W0203", path, tooManyOperations(limits));
  return module;
}

Result<Module> importText(const std::string &path, StringRef text, const Limits &limits) {
  auto impl = Module::Impl::create(llvm::sys::path::stem(path).str());
  Result<OwningOpRef<ModuleOp>> module = parseText(impl->context.get(), path, text, limits);
  if (!module)
    return module.diagnostics();
  impl->module = std::move(*module);
  if (Result<void> done = openWeights(*impl, path); !done)
    return done.diagnostics();
  return Module(impl);
}

} // namespace weft
