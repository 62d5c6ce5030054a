//===- ImportText.cpp - Textual IR, behind limits that MLIR's parser does not have --------------------------------------===//

#include "compiler/import/text/ImportText.h"
#include "compiler/import/readers/ReadError.h"
#include "compiler/import/text/TextGuard.h"
#include "compiler/model/BytesInText.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace weft {
namespace {

constexpr const char *kBesideHint =
    "files of weights lie in the folder of the program or below it: "
    "move the program there, or copy them";

weft::Diagnostic error(const char *code, const std::string &where, const std::string &text,
                       const std::string &hint = "") {
  return {weft::Diagnostic::Error, code, where, text, hint};
}

/// One of the text's resources is the bytes of weights.
LogicalResult readBytes(AsmParsedResourceEntry &entry, FilesInText &files) {
  FailureOr<std::string> digits = entry.parseAsString();
  if (failed(digits))
    return failure();
  std::string key = quotedText(entry.getKey());
  std::optional<std::string> name = nameOfBytes(entry.getKey());
  if (!name)
    return entry.emitError() << key << " spells no name of a weight's file";
  auto bytes = std::make_shared<std::string>();
  if (!llvm::tryGetFromHex(*digits, *bytes) || digits->size() % 2 != 0)
    return entry.emitError() << "the bytes of " << key << " are not pairs of hexadecimal digits";
  ArrayRef<char> range(bytes->data(), bytes->size());
  if (!files.emplace(*name, MappedFile::view(*name, range, bytes)).second)
    return entry.emitError() << "the bytes of " << key << " are given twice";
  return success();
}

/// Null when MLIR does not take the text, which it has said.
OwningOpRef<ModuleOp> parseModule(MLIRContext *context, const std::string &path, StringRef text,
                                  FilesInText &files) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, path), llvm::SMLoc());
  ParserConfig config(context);
  config.attachResourceParser(
      kBytesInText, [&](AsmParsedResourceEntry &entry) { return readBytes(entry, files); });
  return parseSourceFile<ModuleOp>(sources, config);
}

/// Maps the files that weights name and that are no part of the text; their paths are relative to the text's folder.
Result<void> openWeights(Module::Impl &impl, const std::string &path) {
  std::string folder = llvm::sys::path::parent_path(path).str();
  for (auto weight : impl.module->getOps<WeightOp>()) {
    std::string name = weight.getFile().str(), about = "weight '" + weight.getSymName().str() + "'";
    if (!impl.files.count(name)) {
      auto file = MappedFile::openInside(folder.empty() ? "." : folder, name);
      if (!file) {
        llvm::Error why = file.takeError();
        const char *hint = isMissing(why) ? kBesideHint : "";
        return error("W0204", path, about + ": " + llvm::toString(std::move(why)), hint);
      }
      impl.files[name] = *file;
    }
    if (!impl.bytesOf(weight))
      return error("W0204", path, about + " lies outside file '" + name + "'");
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
                                        StringRef text, const Limits &limits, FilesInText *files) {
  if (Result<void> done = checkText(path, text, limits); !done)
    return done.diagnostics();
  DiagnosticCollector collector(context, "W0201");
  FilesInText unused;
  OwningOpRef<ModuleOp> module = parseModule(context, path, text, files ? *files : unused);
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
  Result<OwningOpRef<ModuleOp>> module =
      parseText(impl->context.get(), path, text, limits, &impl->files);
  if (!module)
    return module.diagnostics();
  impl->module = std::move(*module);
  if (Result<void> done = openWeights(*impl, path); !done)
    return done.diagnostics();
  return Module(impl);
}

} // namespace weft
