//===- Samples.cpp ----------------------------------------------------------------------------===//

#include "tools/weft/trials/Samples.h"

#include <algorithm>
#include <cmath>

namespace weft::cli {
namespace {

constexpr int64_t kMostTurns = 10000;

std::string nameOf(const std::string &who, const char *what, size_t size) {
  return who + "." + what + "." + std::to_string(size);
}

Result<Done> addNumbers(std::vector<NamedTensor> &tensors, const std::string &name,
                        std::vector<int64_t> dims, const std::vector<double> &numbers) {
  Result<HostTensor> tensor = HostTensor::allocate(WEFT_F64, std::move(dims));
  if (!tensor)
    return tensor.failure();
  for (size_t i = 0; i < numbers.size(); ++i)
    tensor->set(int64_t(i), numbers[i]);
  tensors.push_back({name, *tensor});
  return Done{};
}

Failure wrong(const std::string &what) { return {ExitInputRefused, what, "", ""}; }

Result<HostTensor> tensorIn(const std::vector<NamedTensor> &tensors, const std::string &name) {
  auto found = std::find_if(tensors.begin(), tensors.end(),
                            [&](const NamedTensor &tensor) { return tensor.name == name; });
  if (found == tensors.end())
    return wrong("no '" + name + "' came");
  return found->tensor;
}

/// Times, of `columns` things: by turn.
Result<std::vector<double>> timesIn(const std::vector<NamedTensor> &tensors,
                                    const std::string &name, const std::vector<int64_t> &dims) {
  Result<HostTensor> tensor = tensorIn(tensors, name);
  if (!tensor)
    return tensor.failure();
  if (tensor->element() != WEFT_F64 || tensor->dims() != dims)
    return wrong("'" + name + "' is " + weft_element_name(tensor->element()) + " " +
                 printDims(tensor->dims()) + ", not f64 " + printDims(dims));
  std::vector<double> times;
  for (int64_t i = 0; i < tensor->count(); ++i)
    times.push_back(tensor->get(i));
  if (!std::all_of(times.begin(), times.end(),
                   [](double time) { return std::isfinite(time) && time >= 0; }))
    return wrong("'" + name + "' has what is no time");
  return times;
}

Result<TimedSamples> samplesOf(const std::vector<NamedTensor> &tensors, const std::string &who,
                               size_t size, size_t kernels) {
  Result<HostTensor> shaped = tensorIn(tensors, nameOf(who, "whole", size));
  if (!shaped)
    return shaped.failure();
  int64_t turns = shaped->dims().size() == 1 ? shaped->dims()[0] : 0;
  if (turns < 1 || turns > kMostTurns)
    return wrong("'" + nameOf(who, "whole", size) + "' is " + printDims(shaped->dims()));
  TimedSamples samples;
  Result<std::vector<double>> whole = timesIn(tensors, nameOf(who, "whole", size), {turns}),
                              parts = timesIn(tensors, nameOf(who, "kernels", size),
                                              {int64_t(kernels), turns});
  if (!whole || !parts)
    return (whole ? parts : whole).failure();
  if (*std::min_element(whole->begin(), whole->end()) <= 0)
    return wrong("'" + nameOf(who, "whole", size) + "' has what is no time");
  samples.whole = *whole;
  for (size_t kernel = 0; kernel < kernels; ++kernel) {
    auto begin = parts->begin() + int64_t(kernel) * turns;
    samples.kernels.emplace_back(begin, begin + turns);
  }
  return samples;
}

} // namespace

Result<Done> addSamples(std::vector<NamedTensor> &tensors, const std::string &who,
                        const TimedModel &model) {
  for (size_t size = 0; size < model.sizes(); ++size) {
    const TimedSamples &samples = model.samples(size);
    auto turns = static_cast<int64_t>(samples.whole.size());
    std::vector<double> parts;
    for (const std::vector<double> &kernel : samples.kernels)
      parts.insert(parts.end(), kernel.begin(), kernel.end());
    Result<Done> done = addNumbers(tensors, nameOf(who, "whole", size), {turns}, samples.whole);
    if (done)
      done = addNumbers(tensors, nameOf(who, "kernels", size),
                        {int64_t(samples.kernels.size()), turns}, parts);
    if (!done)
      return done;
  }
  return addNumbers(tensors, who + ".turn", {}, {model.turnSeconds()});
}

Result<Done> addOutputs(std::vector<NamedTensor> &tensors, const TimedModel &model) {
  for (size_t size = 0; size < model.sizes(); ++size) {
    Result<std::vector<HostTensor>> outputs = model.outputs(size);
    if (!outputs)
      return outputs.failure();
    for (size_t i = 0; i < outputs->size(); ++i)
      tensors.push_back(
          {nameOf("output", std::to_string(i).c_str(), size), std::move((*outputs)[i])});
  }
  return Done{};
}

Result<TakenSamples> samplesIn(const std::vector<NamedTensor> &tensors, const std::string &who,
                               const ExpectedSamples &expected) {
  TakenSamples taken;
  for (size_t size = 0; size < expected.sizes; ++size) {
    Result<TimedSamples> samples = samplesOf(tensors, who, size, expected.kernels);
    if (!samples)
      return samples.failure();
    taken.sizes.push_back(std::move(*samples));
  }
  Result<std::vector<double>> turn = timesIn(tensors, who + ".turn", {});
  if (!turn)
    return turn.failure();
  taken.turnSeconds = turn->front();
  return taken;
}

Result<std::vector<std::vector<HostTensor>>> outputsIn(const std::vector<NamedTensor> &tensors,
                                                       const ExpectedSamples &expected) {
  std::vector<std::vector<HostTensor>> all(expected.sizes);
  for (size_t size = 0; size < expected.sizes; ++size)
    for (size_t i = 0; i < expected.outputs.size(); ++i) {
      Result<HostTensor> tensor =
          tensorIn(tensors, nameOf("output", std::to_string(i).c_str(), size));
      if (tensor)
        tensor = asElement(*tensor, expected.outputs[i], "output " + std::to_string(i + 1));
      if (!tensor)
        return tensor.failure();
      all[size].push_back(*tensor);
    }
  return all;
}

} // namespace weft::cli
