//===- GeneratedCalls.cpp ---------------------------------------------------------------------===//

#include "tools/weft/quantize/GeneratedCalls.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>

namespace weft::cli {
namespace {

constexpr size_t kMostSizes = 64;

bool isFloat(uint32_t element) {
  return std::string(weft_element_name(element)).find('f') != std::string::npos;
}

Result<Inputs> generatedInputs(const Signature &signature, const SymbolValues &sizes,
                               int64_t seed) {
  InputRequest request;
  request.dims = sizes;
  request.seed = seed;
  for (const InputSpec &input : signature.inputs)
    if (!isFloat(input.element) && input.below.empty())
      request.sources.push_back({input.name, "", "ones"});
  return prepareInputs(signature, request);
}

Result<Call> generatedCall(const Signature &signature, const SymbolValues &sizes, int64_t seed) {
  Result<Inputs> inputs = generatedInputs(signature, sizes, seed);
  if (!inputs)
    return inputs.failure();
  Call call{"generated call " + std::to_string(seed), {}};
  for (size_t i = 0; i < inputs->tensors.size(); ++i) {
    auto owner = std::make_shared<HostTensor>(inputs->tensors[i].tensor);
    call.tensors.push_back({signature.inputs[i].name, weft_element_name(owner->element()),
                            owner->dims(), owner->data(), owner});
  }
  return call;
}

} // namespace

Result<std::vector<SymbolValues>> readAt(const ParsedOptions &options, const Signature &signature) {
  std::vector<SymbolValues> all;
  for (const std::string &text : options.values("at")) {
    std::vector<SymbolValues> points(1);
    for (const std::string &part : splitSymbols(text)) {
      auto sizes = parseSizes(part);
      if (!sizes || points[0].count(sizes->first))
        return Failure{ExitWrongUsage, "'--at " + text + "' must give each symbol whole numbers",
                       "write --at batch=1,seq=16,128", ""};
      const std::string &name = sizes->first;
      if (std::none_of(signature.symbols.begin(), signature.symbols.end(),
                       [&](const SymbolSpec &each) { return each.name == name; }))
        return Failure{ExitWrongUsage, "'--at " + text + "': there is no symbol '" + name + "'",
                       "'weft inspect MODEL' lists them", ""};
      std::vector<SymbolValues> longer;
      for (const SymbolValues &point : points)
        for (int64_t value : sizes->second) {
          longer.push_back(point);
          longer.back()[name] = value;
        }
      points = std::move(longer);
    }
    all.insert(all.end(), points.begin(), points.end());
  }
  if (all.size() > kMostSizes)
    return Failure{ExitWrongUsage,
                   "'--at' gives more than " + std::to_string(kMostSizes) + " sizes", "", ""};
  return all;
}

Result<GeneratedCalls> generatedCalls(const Signature &signature,
                                      const std::vector<SymbolValues> &sizes, size_t each) {
  std::vector<SymbolValues> points = sizes.empty() ? std::vector<SymbolValues>(1) : sizes;
  size_t count = points.size();
  Result<Inputs> trial = generatedInputs(signature, points[0], 1);
  if (!trial)
    return trial.failure();
  Calls calls{count * each, [=](size_t i) -> weft::Result<Call> {
                Result<Call> call = generatedCall(signature, points[i % count], int64_t(i + 1));
                if (!call)
                  return Diagnostic{Diagnostic::Error, "W0320", "", call.failure().message,
                                    call.failure().hint};
                return *call;
              }};
  return GeneratedCalls{calls, trial->assumed};
}

} // namespace weft::cli
