//===- Import.cpp - Tells what a file is and reads it ----------------------------------------------------------------===//

#include "compiler/pipeline/Import.h"
#if __has_include("compiler/import/checkpoint/Checkpoint.h")
#include "compiler/import/checkpoint/Checkpoint.h"
#define WEFT_WITH_CHECKPOINT
#endif
#if __has_include("compiler/import/onnx/Onnx.h")
#include "compiler/import/onnx/Onnx.h"
#define WEFT_WITH_ONNX
#endif
#include "dialects/weft/Weft.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace weft {
namespace {

constexpr unsigned kMostNesting = 200; ///< brackets; the parser of MLIR recurses
constexpr size_t kMostText = 256 << 20;

weft::Diagnostic error(const char *code, const std::string &where, const std::string &text, const std::string &hint = "") {
  return {weft::Diagnostic::Error, code, where, text, hint};
}

/// MLIR's parser recurses on brackets and reads text up to a NUL: both are bounded here.
std::string refuseText(StringRef text) {
  if (text.size() > kMostText)
    return "the text is larger than " + std::to_string(kMostText >> 20) + " MiB";
  if (text.contains('\0'))
    return "the text contains a zero byte";
  unsigned depth = 0;
  for (char c : text) {
    if (c == '(' || c == '[' || c == '{' || c == '<')
      if (++depth > kMostNesting)
        return "brackets are nested deeper than " + std::to_string(kMostNesting);
    if ((c == ')' || c == ']' || c == '}' || c == '>') && depth > 0)
      --depth;
  }
  return "";
}

/// Maps the files that weights name; their paths are relative to the text's folder.
std::optional<weft::Diagnostic> openWeights(Module::Impl &impl, const std::string &path) {
  std::string folder = llvm::sys::path::parent_path(path).str();
  for (auto weight : impl.module->getOps<WeightOp>()) {
    std::string name = weight.getFile().str();
    if (impl.files.count(name))
      continue;
    auto file = MappedFile::openInside(folder.empty() ? "." : folder, name);
    if (!file)
      return error("W0204", path, "weight '" + weight.getSymName().str() + "': " + llvm::toString(file.takeError()));
    impl.files[name] = *file;
    if (!impl.weightBytes(weight.getSymName()))
      return error("W0204", path, "weight '" + weight.getSymName().str() + "' lies outside file '" + name + "'");
  }
  return std::nullopt;
}

} // namespace

Result<Module> importText(const std::string &path, StringRef text) {
  if (std::string why = refuseText(text); !why.empty())
    return error("W0201", path, why);
  auto impl = Module::Impl::create(llvm::sys::path::stem(path).str());
  DiagnosticCollector collector(impl->context.get(), "W0201");
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, path);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  impl->module = parseSourceFile<ModuleOp>(sources, impl->context.get());
  if (!impl->module) {
    std::vector<weft::Diagnostic> found = collector.take();
    if (found.empty()) // MLIR's lexer passes over some stray bytes without a word
      found.push_back(error("W0201", path, "the text is not textual IR"));
    return found;
  }
  if (std::optional<weft::Diagnostic> bad = openWeights(*impl, path))
    return *bad;
  return Module(impl);
}

static bool isText(const std::string &path, StringRef bytes) {
  // A model file starts with a protobuf field (ir_version: 0x08); text does not contain control characters.
  return llvm::sys::path::extension(path) == ".mlir" || llvm::all_of(bytes.take_front(512), [](char c) {
    return (unsigned char)c >= 32 || c == '\n' || c == '\t' || c == '\r';
  });
}

Result<Module> Compiler::importFile(const std::string &path, const ImportOptions &options) {
  auto onlyOnnx = [&] { return error("W0205", path, "only inputs of ONNX models can be given constants"); };
  if (llvm::sys::fs::is_directory(path)) {
    if (!options.constants.empty())
      return onlyOnnx();
#ifdef WEFT_WITH_CHECKPOINT
    return importCheckpoint(path);
#else
    return error("W0200", path, "checkpoint directories are not supported yet");
#endif
  }
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error("W0200", path, "cannot read '" + path + "': " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  if (isText(path, bytes)) {
    if (!options.constants.empty())
      return onlyOnnx();
    return importText(path, bytes);
  }
#ifdef WEFT_WITH_ONNX
  return importOnnx(path, {{}, options.constants});
#else
  return error("W0200", path, "ONNX files are not supported yet");
#endif
}

} // namespace weft
