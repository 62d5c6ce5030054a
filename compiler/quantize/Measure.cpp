//===- Measure.cpp ----------------------------------------------------------------------------===//

#include "compiler/quantize/Measure.h"
#include "weft/runtime.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

constexpr double kNothing = 1e-12; ///< of labels, where all are to stay
constexpr double kNoiseShare = 1e-3;

/// The logarithm of the sum of e^x.
double logSum(const float *line, size_t size) {
  double most = *std::max_element(line, line + size), sum = 0;
  for (size_t i = 0; i < size; ++i)
    sum += std::exp(line[i] - most);
  return most + std::log(sum);
}

double divergence(const float *expected, const float *got, size_t size) {
  double first = logSum(expected, size), second = logSum(got, size), sum = 0;
  for (size_t i = 0; i < size; ++i)
    sum += std::exp(expected[i] - first) * ((expected[i] - first) - (got[i] - second));
  return sum;
}

/// What a metric is now and may be, as distances from an answer without any loss.
std::pair<double, double> distances(const Accuracy &accuracy, const QuantizeBudget &budget) {
  switch (budget.metric) {
  case QuantizeBudget::Cosine:
    return {1 - accuracy.cosine, 1 - budget.bound};
  case QuantizeBudget::Sqnr:
    return {std::pow(10, -accuracy.sqnr / 10), std::pow(10, -budget.bound / 10)};
  case QuantizeBudget::Top1:
    return {1 - accuracy.top1, std::max(1 - budget.bound, kNothing)};
  case QuantizeBudget::Kl:
    return {accuracy.kl, budget.bound};
  case QuantizeBudget::Score: // of single choices nothing is known
    return {accuracy.score < budget.bound ? 2 : 0, 1};
  case QuantizeBudget::Latency:
  case QuantizeBudget::Seconds:
  case QuantizeBudget::Size:
    break;
  }
  return {0, 1};
}

} // namespace

std::vector<KeptOutput> keepOutputs(const std::vector<weft_tensor_t> &outputs, size_t count) {
  std::vector<KeptOutput> kept(count);
  for (size_t i = 0; i < count; ++i) {
    const weft_tensor_t &output = outputs[i];
    if (output.element != WEFT_F32)
      continue;
    kept[i].elements.assign(floatsAt(output), floatsAt(output) + elementsIn(output));
    size_t last = output.rank ? size_t(output.dim[output.rank - 1]) : 1;
    kept[i].line = last > 1 ? last : std::max<size_t>(kept[i].elements.size(), 1);
  }
  return kept;
}

/// Of a type of whole bytes; 0 of others.
static size_t bytesOf(const std::string &name) {
  for (uint32_t element = WEFT_BOOL; weft_element_bits(element); ++element)
    if (name == weft_element_name(element))
      return weft_element_bits(element) / 8;
  return 0;
}

CountedPositions CountedPositions::of(const BoundCall &call, const std::string &input) {
  const std::vector<CallTensor> &tensors = call.call.tensors;
  auto tensor = std::find_if(tensors.begin(), tensors.end(),
                             [&](const CallTensor &each) { return each.name == input; });
  if (input.empty() || tensor == tensors.end())
    return {};
  CountedPositions positions{tensor->dims, {}};
  auto count = size_t(
      std::accumulate(tensor->dims.begin(), tensor->dims.end(), int64_t(1), std::multiplies<>()));
  size_t bytes = bytesOf(tensor->element);
  auto *data = static_cast<const char *>(tensor->data);
  for (size_t i = 0; i < count; ++i)
    positions.counts.push_back(
        std::any_of(data + i * bytes, data + (i + 1) * bytes, [](char byte) { return byte != 0; }));
  return positions;
}

bool CountedPositions::has(const weft_tensor_t &tensor, size_t line, size_t lines) const {
  bool isCovered = !counts.empty() && tensor.rank > dims.size() &&
                   std::equal(dims.begin(), dims.end(), tensor.dim) && lines % counts.size() == 0;
  return !isCovered || counts[line / (lines / counts.size())];
}

void AccuracySum::addLine(Sum &sum, const float *expected, const float *got, size_t line) {
  double dot = 0, first = 0, second = 0;
  for (size_t i = 0; i < line; ++i) {
    double difference = double(got[i]) - expected[i];
    dot += double(expected[i]) * got[i];
    first += double(expected[i]) * expected[i];
    second += double(got[i]) * got[i];
    sum.noise += difference * difference;
  }
  sum.signal += first;
  double both = std::sqrt(first) * std::sqrt(second);
  double cosine = both > 0 ? dot / both : double(first == second);
  if (!(cosine <= 1)) // rounded up, or nan
    cosine = cosine > 1 ? 1 : 0;
  sum.cosine += cosine;
  sum.worst = std::min(sum.worst, cosine);
  sum.same += std::max_element(expected, expected + line) - expected ==
              std::max_element(got, got + line) - got;
  sum.kl += divergence(expected, got, line);
  ++sum.lines;
}

void AccuracySum::add(const std::vector<KeptOutput> &expected,
                      const std::vector<weft_tensor_t> &got, const CountedPositions &positions) {
  sums.resize(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    sums[i].isState = expected[i].isState;
    size_t size = expected[i].line, lines = expected[i].elements.size() / size;
    for (size_t line = 0; line < lines; ++line)
      if (positions.has(got[i], line, lines))
        addLine(sums[i], expected[i].elements.data() + line * size, floatsAt(got[i]) + line * size,
                size);
  }
}

Accuracy AccuracySum::of(size_t output) const {
  const Sum &sum = sums[output];
  Accuracy accuracy;
  accuracy.sqnr = INFINITY;
  if (sum.lines == 0)
    return accuracy;
  accuracy.cosine = sum.cosine / double(sum.lines);
  accuracy.worstCosine = sum.worst;
  accuracy.top1 = double(sum.same) / double(sum.lines);
  accuracy.kl = std::isfinite(sum.kl) ? std::max(sum.kl / double(sum.lines), 0.0) : INFINITY;
  if (sum.isState)
    accuracy.top1 = accuracy.kl = NAN;
  if (sum.noise > 0)
    accuracy.sqnr = 10 * std::log10(sum.signal / sum.noise);
  if (!(sum.noise >= 0)) // nan
    accuracy.sqnr = -INFINITY;
  return accuracy;
}

Accuracy AccuracySum::worst() const {
  Accuracy all;
  all.sqnr = INFINITY;
  all.score = score;
  auto larger = [](double a, double b) { return b > a ? b : a; }; // what is nan counts for nothing
  auto smaller = [](double a, double b) { return b < a ? b : a; };
  for (size_t i = 0; i < sums.size(); ++i) {
    Accuracy each = of(i);
    all.cosine = std::min(all.cosine, each.cosine);
    all.worstCosine = std::min(all.worstCosine, each.worstCosine);
    all.sqnr = std::min(all.sqnr, each.sqnr);
    all.top1 = smaller(all.top1, each.top1);
    all.kl = larger(all.kl, each.kl);
  }
  return all;
}

double lossOf(const Accuracy &accuracy, const std::vector<QuantizeBudget> &budgets) {
  double loss = 0;
  for (const QuantizeBudget &budget : budgets) {
    auto [is, may] = distances(accuracy, budget);
    loss = std::max(loss, is / may);
  }
  return loss + kNoiseShare * std::pow(10, -accuracy.sqnr / 10);
}

bool holds(const Accuracy &accuracy, const std::vector<QuantizeBudget> &budgets, double part) {
  return std::all_of(budgets.begin(), budgets.end(), [&](const QuantizeBudget &budget) {
    auto [is, may] = distances(accuracy, budget);
    return is <= part * may;
  });
}

/// Labels may all stay, where numbers differ in their last bits.
static bool isAll(const QuantizeBudget &budget) {
  return budget.metric == QuantizeBudget::Top1 && budget.bound == 1;
}

Result<void> checkBudgets(const std::vector<QuantizeBudget> &budgets) {
  for (const QuantizeBudget &budget : budgets) {
    bool isShare = budget.metric == QuantizeBudget::Cosine ||
                   budget.metric == QuantizeBudget::Top1 ||
                   budget.metric == QuantizeBudget::Latency;
    bool isAny = budget.metric == QuantizeBudget::Score; // whoever measures it knows its sense
    bool fits = isAny     ? std::isfinite(budget.bound)
                : isShare ? budget.bound > 0 && (budget.bound < 1 || isAll(budget))
                          : budget.bound > 0 && std::isfinite(budget.bound);
    if (!fits)
      return quantizeError("W0322", "a budget has the bound " + std::to_string(budget.bound) +
                                        ", which no model can miss or keep");
  }
  return {};
}

} // namespace weft
