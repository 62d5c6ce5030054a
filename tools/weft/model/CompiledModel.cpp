//===- CompiledModel.cpp ----------------------------------------------------------------------===//

#include "tools/weft/model/CompiledModel.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/RankedCall.h"
#include "tools/weft/cli/TimedCalls.h"
#include "tools/weft/model/ModelImport.h"

namespace weft::cli {

Result<std::string> compileAside(const Module &module, CompileOptions options,
                                 const TemporaryFolder &folder) {
  options.outputPath = folder.path() + "/model.weft";
  options.cancelled = interrupted;
  weft::Result<weft::Artifact> done = Compiler().compile(module, options);
  if (!done)
    return failureOf(done.diagnostics());
  return options.outputPath;
}

namespace {

/// Outputs that the runtime allocated, and the context they belong to.
struct Call {
  Artifact artifact;
  FunctionView function;
  Context context;
  CallInputs inputs;
  std::vector<weft_tensor_t> raw;
  std::vector<std::vector<HostTensor>> parts; ///< by output, and rank
  ~Call() {
    for (weft_tensor_t &output : raw)
      weft_tensor_release(context.get(), &output);
  }
};

Result<Done> callAlone(Call &call, const Inputs &inputs, const weft_context_options_t &options,
                       InterruptGuard &guard) {
  Result<Context> context = call.artifact.createContext(options);
  if (!context)
    return context.failure();
  call.context = *context;
  Result<CallInputs> roomy = giveRoom(call.function, inputs);
  if (!roomy)
    return roomy.failure();
  call.inputs = std::move(*roomy);
  Result<double> seconds =
      timeCalls(guard, call.context.get(), call.function.index, call.inputs.views, call.raw);
  return seconds ? Result<Done>(Done{}) : seconds.failure();
}

Result<Done> callOnRanks(Call &call, const Inputs &inputs, const weft_context_options_t &options,
                         InterruptGuard &guard, const Caller &caller) {
  RankedCall ranked(call.artifact, call.function, inputs, 0);
  if (!caller.ranksMustAgree)
    ranked.letRanksDiffer();
  LocalRanks ranks = caller.ranks;
  ranks.world = static_cast<int32_t>(ranksOf(call.function));
  Result<Done> done = ranked.run(ranks, options, guard, call.raw, call.context);
  call.parts = ranked.partsOfOutputs();
  return done;
}

} // namespace

Result<CalledModel> callArtifact(const std::string &path, const std::string &name,
                                 const Inputs &inputs, InterruptGuard &guard,
                                 const Caller &caller) {
  Result<Artifact> artifact = Artifact::open(path, false, "", caller.ranks.world);
  if (!artifact)
    return artifact.failure();
  Result<FunctionView> function = artifact->function(name);
  if (!function)
    return function.failure();
  weft_context_options_t options{};
  options.struct_size = sizeof options;
  options.spin_us = -1;
  options.device = caller.device.empty() ? nullptr : caller.device.c_str();
  std::shared_ptr<Call> call(new Call{*artifact, *function, {}, {}, {}, {}});
  call->raw.assign(function->outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
  bool isAlone = function->mesh.empty();
  Result<Done> done = isAlone ? callAlone(*call, inputs, options, guard)
                              : callOnRanks(*call, inputs, options, guard, caller);
  if (!done)
    return done.failure();
  CalledModel called{artifact->info().target, isAlone ? "" : printMesh(*function), {}};
  for (size_t i = 0; i < call->raw.size(); ++i) {
    Result<HostTensor> output = partOfOutput(*function, i) ? joinParts(*function, i, call->parts[i])
                                                           : withoutGaps(call->raw[i], call);
    if (!output)
      return output.failure();
    called.outputs.push_back({function->outputs[i].name, std::move(*output)});
  }
  return called;
}

} // namespace weft::cli
