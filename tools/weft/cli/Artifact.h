//===- Artifact.h - An opened artifact, as C++ values -----------------------------------------===//
//
//   Result<Artifact> artifact = Artifact::open("model.weft", {});
//   Result<FunctionView> function = artifact->function("main");
//   Result<Context> context = artifact->createContext(options);
//
// Ownership around the runtime's C handles, and its errors as Failures with the exit code that
// belongs to them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_ARTIFACT_H
#define WEFT_TOOLS_WEFT_CLI_ARTIFACT_H

#include "tools/weft/cli/Inputs.h"
#include "weft/runtime.h"

#include <memory>
#include <string>
#include <vector>

namespace weft::cli {

/// An output that lies in the memory of an input with room along `dim`.
struct InPlaceSpec {
  size_t input, output, dim;
};

/// An axis of the mesh of ranks that run a function together.
struct AxisSpec {
  std::string name;
  int64_t size;
};

/// What one rank sends along axes during a call: formulas.
struct TrafficSpec {
  std::string axes, bytes, messages;
};

/// An input or output of which every rank has a part: the axes that split each dimension, and the whole's sizes as formulas.
struct PartSpec {
  size_t index;
  std::vector<std::vector<std::string>> axes;
  std::vector<std::string> whole;
};

/// One function of a module, with all its texts copied out.
struct FunctionView {
  int32_t index;
  Signature signature;
  std::vector<InputSpec> outputs;
  std::vector<InPlaceSpec> inPlace;
  std::vector<SymbolSpec> rooms;  ///< symbols that the strides of inputs in place say
  std::vector<SymbolSpec> bound;  ///< symbols that a call binds while it runs: data decide them
  std::vector<SymbolSpec> places; ///< symbols that say where a rank stands
  std::vector<AxisSpec> mesh;     ///< empty: for one rank
  std::vector<TrafficSpec> traffic;
  std::vector<PartSpec> inputParts, outputParts;
  std::vector<std::string> facts, checks;
  std::string arena, scratch, flops, bytesMoved; ///< formulas; empty where there is none
  std::string weightsRead;                       ///< of a file for several ranks, by one of them
  std::vector<std::string> late, lateScratch;    ///< what a call asks for while it runs
  std::vector<std::vector<uint32_t>> regions;    ///< rows of kernels that run at the same time
};

/// How many ranks run the function together.
int64_t ranksOf(const FunctionView &function);
/// "tp = 2", "dp = 2, tp = 2"
std::string printMesh(const FunctionView &function);

struct KernelView {
  std::string name;
  uint32_t calls;
  std::vector<std::string> nodes;
};

/// What changes numbers, in the words of the manifest; nothing where it is as the model says.
struct NumericsView {
  std::vector<std::string> accuracy, activations, weights, compute, keepF32;
};

/// The code for one target. `missing` is a CPU feature that this machine lacks, or refuses to this process, or empty.
struct VariantView {
  std::string target, missing;
  std::vector<std::string> features;
  bool isChosen, isRefused;
  int64_t ranks; ///< that run it together
};

using Context = std::shared_ptr<weft_context_t>;

class Artifact {
public:
  /// Maps the file. With `verify` the weights are checked, too; with `target` its code is used instead of the best that runs here. Of a file
  /// for several numbers of ranks it is the one for `ranks`, 0: for the fewest; a number that it is not for is refused.
  static Result<Artifact> open(const std::string &path, bool verify, const std::string &target = "",
                               int64_t ranks = 0);

  /// The same to be looked at only: code for any processor, which does not run.
  static Result<Artifact> describe(const std::string &path, const std::string &target = "",
                                   int64_t ranks = 0);

  weft_module_t *module() const { return handle.get(); }
  weft_module_info_t info() const;
  std::vector<FunctionView> functions() const;
  /// By name; empty means the only one, or main.
  Result<FunctionView> function(const std::string &name) const;
  std::vector<KernelView> kernels() const { return kernels(module()); }
  /// Of the variant that calls of the context run.
  static std::vector<KernelView> kernels(const Context &context) {
    return kernels(weft_context_module(context.get()));
  }
  std::vector<VariantView> variants() const;
  /// For which numbers of ranks there is code for the chosen target; the chosen one is among them.
  std::vector<int64_t> ranks() const;
  NumericsView numerics() const;
  /// What the manifest has under a name: one text or a list of them.
  std::vector<std::string> listed(const std::string &name) const;

  Result<Context> createContext(const weft_context_options_t &options) const;
  /// The cost of one call; every symbol of the function needs a value.
  Result<weft_cost_t> cost(const FunctionView &function, const SymbolValues &symbols) const;

private:
  static Result<Artifact> open(const std::string &path, weft_env_t environment,
                               const std::string &target, int64_t ranks);
  FunctionView view(int32_t index) const;
  static std::vector<KernelView> kernels(const weft_module_t *module);
  std::shared_ptr<weft_module_t> handle;
};

/// The runtime's error with the exit code for its status.
Failure failureOf(const weft_error_t &error);

/// The options that `run` and `bench` share: threads, spin-us, max-memory.
Result<weft_context_options_t> contextOptions(const ParsedOptions &options, int32_t threads);

/// "f32 [batch, seq, 768]"
std::string printShape(const InputSpec &argument, bool unicode);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_ARTIFACT_H
