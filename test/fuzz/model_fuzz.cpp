//===- model_fuzz.cpp - Models through compiler and runtime --------------------------------------===//
//
// Any bytes: an ONNX model is refused with a reason, or compiled and run with generated inputs of a few sizes. What it computes is not
// judged here.
//===------------------------------------------------------------------------------------------===//
#include "test/fuzz/ModelText.h"
#include "test/fuzz/Target.h"
#include "tools/weft/cli/Artifact.h"
#include "weft/compiler.hpp"

#include <fstream>
#include <unistd.h>

using namespace weft;
using fuzz::require;

const fuzz::Format &fuzz::targetFormat() { return onnxFormat(); }

std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return modelsOf(corpus);
}

extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0:detect_container_overflow=0"; // MLIR's library is not instrumented
}
extern "C" const char *__ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }

namespace {

constexpr int64_t kMostBytes = 8 << 20, kMostWork = 1 << 28;

/// A folder that disappears when the process ends as it should.
struct Scratch {
  std::filesystem::path path;
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "there is a folder for temporary files");
    path = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

void requireReason(const std::vector<Diagnostic> &diagnostics) {
  bool hasError = false;
  for (const Diagnostic &diagnostic : diagnostics) {
    hasError |= diagnostic.severity == Diagnostic::Error;
    require(!diagnostic.text.empty(), "a diagnostic has a text");
    for (char byte : diagnostic.where + diagnostic.text)
      require(static_cast<unsigned char>(byte) >= 0x20, "a diagnostic is one line");
  }
  require(hasError, "a refusal has a reason");
}

int64_t bytesOf(const cli::InputSpec &spec, const cli::SymbolValues &symbols) {
  int64_t bytes = 8;
  for (const std::string &dim : spec.dims) {
    std::optional<int64_t> size = cli::evaluateFormula(dim, symbols);
    if (!size || __builtin_mul_overflow(bytes, *size, &bytes))
      return INT64_MAX;
  }
  return bytes;
}

/// The symbols' value nearest to `wanted` that their contract allows.
cli::SymbolValues valuesNear(const cli::FunctionView &function, int64_t wanted) {
  cli::SymbolValues values;
  for (const cli::SymbolSpec &symbol : function.signature.symbols) {
    int64_t multiple = std::max<int64_t>(symbol.multiple, 1);
    int64_t value = std::min(std::max(wanted, symbol.min), symbol.max);
    values[symbol.name] = (value + multiple - 1) / multiple * multiple;
  }
  return values;
}

bool isSmall(const cli::Artifact &artifact, const cli::FunctionView &function,
             const cli::SymbolValues &symbols) {
  for (const cli::InputSpec &input : function.signature.inputs)
    if (bytesOf(input, symbols) > kMostBytes)
      return false;
  cli::SymbolValues all = symbols;
  for (const cli::SymbolSpec &bound : function.bound)
    all.emplace(bound.name, std::max<int64_t>(bound.min, 1));
  for (const cli::InputSpec &output : function.outputs)
    if (bytesOf(output, all) > kMostBytes)
      return false;
  cli::Result<weft_cost_t> cost = artifact.cost(function, symbols);
  return cost && cost->arena <= kMostBytes && cost->flops <= kMostWork &&
         cost->bytes_moved <= kMostWork;
}

void call(const cli::Artifact &artifact, const cli::FunctionView &function, int64_t size) {
  cli::InputRequest request;
  request.dims = valuesNear(function, size);
  request.seed = size;
  if (!isSmall(artifact, function, request.dims))
    return;
  cli::Result<cli::Inputs> inputs = cli::prepareInputs(function.signature, request);
  if (!inputs)
    return;
  weft_context_options_t options = {sizeof options, 1, -1, 64 << 20};
  cli::Result<cli::Context> context = artifact.createContext(options);
  require(bool(context), "a context can be made");
  std::vector<weft_tensor_t> views,
      outputs(function.outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
  for (const cli::PreparedInput &input : inputs->tensors)
    views.push_back(input.tensor.view());
  weft_error_t error = WEFT_ERROR_INIT;
  weft_status_t status =
      weft_call_function(context->get(), function.index, views.data(), uint32_t(views.size()),
                         outputs.data(), uint32_t(outputs.size()), &error);
  require(status == WEFT_OK || error.message[0], "a failed call says why");
  for (weft_tensor_t &output : outputs)
    weft_tensor_release(context->get(), &output);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Scratch scratch;
  std::string path = (scratch.path / "model.onnx").string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(data), std::streamsize(size));
  Compiler compiler;
  Result<Module> module = compiler.importFile(path);
  if (!module) {
    requireReason(module.diagnostics());
    return 0;
  }
  CompileOptions options;
  options.outputPath = (scratch.path / "model.weft").string();
  options.jobs = 1;
  Result<weft::Artifact> written = compiler.compile(*module, options);
  if (!written) {
    requireReason(written.diagnostics());
    return 0;
  }
  ++fuzz::accepted;
  cli::Result<cli::Artifact> artifact = cli::Artifact::open(options.outputPath, true);
  require(bool(artifact), "what the compiler writes can be opened");
  for (const cli::FunctionView &function : artifact->functions())
    for (int64_t wanted : {3, 0, 1, 8})
      call(*artifact, function, wanted);
  return 0;
}
