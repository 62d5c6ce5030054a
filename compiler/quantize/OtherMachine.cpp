//===- OtherMachine.cpp -----------------------------------------------------------------------===//

#include "compiler/quantize/OtherMachine.h"
#include "compiler/quantize/CallSizes.h"
#include "compiler/quantize/Strategy.h"
#include "llvm/Support/FileSystem.h"
#include <numeric>

using namespace mlir;

namespace weft {

OtherMachine::OtherMachine(const QuantizeOptions &options)
    : options(options), compile(options.compile) {
  if (compile.target == CompileOptions().target)
    compile.target = targetOf(options.machine);
}

Result<double> OtherMachine::secondsOf(const Module &program,
                                       const std::vector<BoundCall> &calls) const {
  Result<func::FuncOp> function = calledFunction(program);
  if (!function)
    return function.diagnostics();
  std::vector<SymbolSizes> sizes;
  for (const BoundCall &call : calls) {
    sizes.emplace_back();
    for (const auto &[symbol, size] : sizesOf(*function, call))
      sizes.back()[symbol.str()] = size;
  }
  Result<std::vector<double>> seconds =
      predictSeconds(program, compile, options.machine, sizes, options.threads);
  if (!seconds)
    return seconds.diagnostics();
  return std::accumulate(seconds->begin(), seconds->end(), 0.0);
}

Result<uint64_t> OtherMachine::fileBytesOf(const Module &program) const {
  Result<std::string> path = artifactPath(options, "sized");
  if (!path)
    return path.diagnostics();
  CompileOptions sized = compile;
  sized.outputPath = *path;
  sized.cancelled = options.cancelled;
  Result<Artifact> artifact = Compiler().compile(program, sized);
  uint64_t bytes = 0;
  std::error_code unknown = llvm::sys::fs::file_size(*path, bytes);
  llvm::sys::fs::remove(*path);
  if (!artifact)
    return artifact.diagnostics();
  if (unknown)
    return quantizeError("W0311", *path + ": " + unknown.message());
  return bytes;
}

} // namespace weft
