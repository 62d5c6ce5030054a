//===- Evaluation.cpp -------------------------------------------------------------------------===//

#include "tools/weft/model/Evaluation.h"
#include "compiler/artifact/Descriptor.h"
#include "compiler/model/EntryPlan.h"
#include "compiler/model/ModuleImpl.h"

namespace weft::cli {

static Result<std::vector<RefTensor>> toReference(mlir::FunctionOpInterface function,
                                                  const Inputs &inputs) {
  std::vector<RefTensor> tensors;
  for (auto [i, input] : llvm::enumerate(inputs.tensors)) {
    mlir::Type element = mlir::cast<SymTensorType>(function.getArgumentTypes()[i]).getElementType();
    const HostTensor &host = input.tensor;
    if (host.element() != elementCode(element))
      return Failure{ExitInputRefused,
                     "input '" + inputName(function, i) + "': element type is " +
                         weft_element_name(host.element()) + ", but " +
                         weft_element_name(elementCode(element)) + " is needed",
                     "", "W0403"};
    tensors.push_back(fromBytes(element, host.dims(), reinterpret_cast<const char *>(host.data())));
  }
  return tensors;
}

Result<HostTensor> toHostTensor(const RefTensor &tensor) {
  Result<HostTensor> host =
      HostTensor::allocate(elementCode(tensor.element), {tensor.dims.begin(), tensor.dims.end()});
  if (host)
    toBytes(tensor, reinterpret_cast<char *>(host->data()));
  return host;
}

Result<std::vector<NamedTensor>> evaluateModel(const Module &module,
                                               mlir::FunctionOpInterface function,
                                               const Inputs &inputs, const ObserveValues &observe,
                                               std::vector<Traffic> *traffic) {
  Result<std::vector<RefTensor>> tensors = toReference(function, inputs);
  if (!tensors)
    return tensors.failure();
  EvaluateOptions options;
  options.weight = [&](llvm::StringRef weight) { return module.get().weightBytes(weight); };
  options.observe = observe;
  options.traffic = traffic;
  llvm::Expected<std::vector<RefTensor>> results = evaluateFunction(function, *tensors, options);
  if (!results)
    return Failure{ExitInputRefused, llvm::toString(results.takeError()), "", "W0410"};
  std::vector<NamedTensor> outputs;
  for (auto [i, result] : llvm::enumerate(*results)) {
    Result<HostTensor> host = toHostTensor(result);
    if (!host)
      return host.failure();
    outputs.push_back({outputName(function, i), *host});
  }
  return outputs;
}

} // namespace weft::cli
