//===- CompiledModel.cpp ----------------------------------------------------------------------===//

#include "tools/weft/model/CompiledModel.h"
#include "tools/weft/cli/Room.h"
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
  Context context;
  CallInputs inputs;
  std::vector<weft_tensor_t> raw;
  ~Call() {
    for (weft_tensor_t &output : raw)
      weft_tensor_release(context.get(), &output);
  }
};

} // namespace

Result<CalledModel> callArtifact(const std::string &path, const std::string &name,
                                 const Inputs &inputs, InterruptGuard &guard,
                                 const std::string &device) {
  Result<Artifact> artifact = Artifact::open(path, false);
  if (!artifact)
    return artifact.failure();
  Result<FunctionView> function = artifact->function(name);
  if (!function)
    return function.failure();
  weft_context_options_t options{};
  options.struct_size = sizeof options;
  options.spin_us = -1;
  options.device = device.empty() ? nullptr : device.c_str();
  Result<Context> context = artifact->createContext(options);
  if (!context)
    return context.failure();
  std::shared_ptr<Call> call(new Call{*artifact, *context, {}, {}});
  call->raw.assign(function->outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
  Result<CallInputs> roomy = giveRoom(*function, inputs);
  if (!roomy)
    return roomy.failure();
  call->inputs = std::move(*roomy);
  if (Result<double> seconds =
          timeCalls(guard, context->get(), function->index, call->inputs.views, call->raw);
      !seconds)
    return seconds.failure();
  CalledModel called{artifact->info().target, {}};
  for (size_t i = 0; i < call->raw.size(); ++i) {
    Result<HostTensor> output = withoutGaps(call->raw[i], call);
    if (!output)
      return output.failure();
    called.outputs.push_back({function->outputs[i].name, std::move(*output)});
  }
  return called;
}

} // namespace weft::cli
