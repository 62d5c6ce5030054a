//===- RoundedCaches.cpp ----------------------------------------------------------------------===//

#include "compiler/quantize/RoundedCaches.h"
#include "compiler/model/ModuleImpl.h"
#include "mlir/Pass/PassManager.h"
#include "passes/quant/Passes.h"
#include <algorithm>

using namespace mlir;

namespace weft {

/// The model with rounded caches, or the program that makes its calls.
static Result<Module> roundedBy(const Module &model, const RoundCachesOptions &how) {
  Module copy(model.get().clone());
  DiagnosticCollector collector(copy.get().context.get(), "W0209");
  PassManager manager(copy.get().context.get());
  manager.addPass(createRoundCaches(how));
  if (failed(manager.run(*copy.get().module)))
    return collector.take();
  return copy;
}

Result<std::unique_ptr<RoundedCaches>> RoundedCaches::create(const Module &model,
                                                             const QuantizeOptions &options) {
  RoundCachesOptions how;
  how.element = options.cache;
  Result<Module> rounded = roundedBy(model, how);
  how.calls = true;
  Result<Module> maker = roundedBy(model, how);
  for (const Result<Module> *made : {&rounded, &maker})
    if (!*made)
      return made->diagnostics();
  std::unique_ptr<RoundedCaches> caches(new RoundedCaches(*rounded));
  Result<std::unique_ptr<Session>> compiled = Session::compile(*maker, options, "calls");
  if (!compiled)
    return compiled.diagnostics();
  caches->maker = std::move(*compiled);
  return caches;
}

Calls RoundedCaches::callsOf(Calls calls) {
  return {calls.count, [this, read = std::move(calls.read)](size_t i) {
            Result<Call> call = read(i);
            return call ? callOf(std::move(*call)) : call;
          }};
}

/// In place of a cache its rounded elements, and behind all others its scales.
Result<Call> RoundedCaches::callOf(Call call) {
  Result<BoundCall> bound = maker->bind(std::move(call));
  if (!bound)
    return bound.diagnostics();
  if (Result<void> done = maker->call(*bound); !done)
    return done.diagnostics();
  call = std::move(bound->call);
  for (size_t i = 0; i < maker->outputs().size(); ++i) {
    const weft_tensor_t &output = maker->outputs()[i];
    auto *data = static_cast<const char *>(output.data);
    auto bytes = std::make_shared<std::vector<char>>(
        data, data + elementsIn(output) * weft_element_bits(output.element) / 8);
    CallTensor tensor{maker->outputName(i), weft_element_name(output.element),
                      std::vector<int64_t>(output.dim, output.dim + output.rank), bytes->data(),
                      bytes};
    auto same = std::find_if(call.tensors.begin(), call.tensors.end(),
                             [&](const CallTensor &each) { return each.name == tensor.name; });
    if (same == call.tensors.end())
      call.tensors.push_back(std::move(tensor));
    else
      *same = std::move(tensor);
  }
  return call;
}

} // namespace weft
