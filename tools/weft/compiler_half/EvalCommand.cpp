//===- EvalCommand.cpp - weft eval --------------------------------------------------------------------------------===//

#include "compiler/eval/Evaluate.h"
#include "compiler/artifact/Descriptor.h"
#include "compiler/pipeline/ModuleImpl.h"
#include "tools/weft/TensorFile.h"
#include "tools/weft/compiler_half/CompilerCommands.h"
#include "compiler/pipeline/EntryPlan.h"

namespace weft::cli {
namespace {

struct Evaluated {
  std::vector<NamedTensor> outputs;
};

Result<Evaluated> evaluate(Module &module, const std::string &name, const Inputs &inputs) {
  Module::Impl &impl = module.get();
  auto function = impl.module->lookupSymbol<mlir::func::FuncOp>(name);
  std::vector<RefTensor> tensors;
  for (auto [i, input] : llvm::enumerate(inputs.tensors)) {
    auto type = mlir::cast<SymTensorType>(function.getArgumentTypes()[i]);
    const HostTensor &host = input.tensor;
    if (host.element() != elementCode(type.getElementType()))
      return Failure{ExitInputRefused, "input '" + inputName(function, i) + "' has element type " + weft_element_name(host.element()) +
                                           ", but the model takes " + weft_element_name(elementCode(type.getElementType())), "", "W0402"};
    tensors.push_back(fromBytes(type.getElementType(), host.dims(), reinterpret_cast<const char *>(host.data())));
  }
  EvaluateOptions options;
  options.weight = [&](llvm::StringRef weight) { return impl.weightBytes(weight); };
  llvm::Expected<std::vector<RefTensor>> results = evaluateFunction(function, tensors, options);
  if (!results)
    return Failure{ExitInputRefused, llvm::toString(results.takeError()), "", "W0410"};
  Evaluated evaluated;
  for (auto [i, result] : llvm::enumerate(*results)) {
    auto element = mlir::cast<SymTensorType>(function.getResultTypes()[i]).getElementType();
    Result<HostTensor> host = HostTensor::allocate(elementCode(element), {result.dims.begin(), result.dims.end()});
    if (!host)
      return host.failure();
    toBytes(result, reinterpret_cast<char *>(host->data()));
    evaluated.outputs.push_back({outputName(function, i), *host});
  }
  return evaluated;
}

Result<Done> write(const ParsedOptions &options, const std::vector<NamedTensor> &outputs) {
  OutputFiles files;
  Result<Done> done = Done{};
  if (options.has("output-dir")) {
    done = files.makeFolder(options.value("output-dir"));
    for (const NamedTensor &output : outputs)
      if (done)
        done = files.addNpy(options.value("output-dir") + "/" + fileName(output.name) + ".npy", output.tensor);
  }
  if (done && options.has("output"))
    done = files.addNpz(options.value("output"), outputs);
  return done ? files.commit() : done;
}

} // namespace

int evalCommand(const ParsedOptions &options, Console &console) {
  Compiler compiler;
  weft::Result<Module> module = compiler.importFile(options.positional()[0]);
  if (!module)
    return refuse(console, module.diagnostics());
  Result<Signature> signature = modelSignature(*module, options.value("function"));
  if (!signature)
    return console.fail(signature.failure());
  Result<InputRequest> request = readInputRequest(options);
  if (!request)
    return console.fail(request.failure());
  Result<Inputs> inputs = prepareInputs(*signature, *request);
  if (!inputs)
    return console.fail(inputs.failure());
  Result<Evaluated> evaluated = evaluate(*module, signature->function, *inputs);
  if (!evaluated)
    return console.fail(evaluated.failure());
  if (Result<Done> done = write(options, evaluated->outputs); !done)
    return console.fail(done.failure());
  for (const NamedTensor &output : evaluated->outputs) {
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (int64_t i = 0; i < output.tensor.count(); ++i) {
      double value = output.tensor.get(i);
      low = std::min(low, value);
      high = std::max(high, value);
      sum += value;
    }
    char text[256];
    snprintf(text, sizeof(text), "  min %.6g  mean %.6g  max %.6g\n", low, sum / double(std::max<int64_t>(1, output.tensor.count())), high);
    console.result(output.name + "  " + weft_element_name(output.tensor.element()) + " " + printDims(output.tensor.dims()) +
                   (output.tensor.count() ? text : "\n"));
  }
  return console.finish();
}

} // namespace weft::cli
