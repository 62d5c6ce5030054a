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
constexpr size_t kPictureRank = 4;

/// Elements some distance apart.
struct Line {
  const float *first;
  size_t size, stride;
  float operator[](size_t i) const { return first[i * stride]; }
};

/// Where the largest element is.
size_t labelOf(const Line &line) {
  size_t label = 0;
  for (size_t i = 1; i < line.size; ++i)
    label = line[i] > line[label] ? i : label;
  return label;
}

/// The logarithm of the sum of e^x.
double logSum(const Line &line) {
  double most = line[labelOf(line)], sum = 0;
  for (size_t i = 0; i < line.size; ++i)
    sum += std::exp(line[i] - most);
  return most + std::log(sum);
}

double divergence(const Line &expected, const Line &got) {
  double first = logSum(expected), second = logSum(got), sum = 0;
  for (size_t i = 0; i < expected.size; ++i)
    sum += std::exp(expected[i] - first) * ((expected[i] - first) - (got[i] - second));
  return sum;
}

/// How an output is compared: which elements have a direction together, and which are a label.
struct Comparison {
  size_t line = 1;                ///< elements
  size_t labels = 1, classes = 1; ///< in a line; a class lies behind all labels of that before

  /// Lines are what the last dimension has, pictures whole ones with the channels of each place.
  /// Lines of one element would have no direction: all are one line then.
  static Comparison of(const weft_tensor_t &tensor, bool isPicture) {
    size_t all = size_t(elementsIn(tensor));
    auto dim = [&](size_t d) { return size_t(tensor.dim[d]); };
    if (isPicture && all > 0 && dim(1) > 1)
      return {all / dim(0), all / dim(0) / dim(1), dim(1)};
    size_t last = isPicture && all > 0 ? all / dim(0) : tensor.rank ? dim(tensor.rank - 1) : 1;
    size_t line = last > 1 ? last : std::max<size_t>(all, 1);
    return {line, 1, line};
  }
};

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

bool CountedPositions::cover(const weft_tensor_t &tensor, size_t lines) const {
  return !counts.empty() && tensor.rank > dims.size() &&
         std::equal(dims.begin(), dims.end(), tensor.dim) && lines % counts.size() == 0;
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
  ++sum.lines;
}

void AccuracySum::add(const std::vector<KeptOutput> &expected,
                      const std::vector<weft_tensor_t> &got, const CountedPositions &positions) {
  sums.resize(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    sums[i].isState = expected[i].isState;
    Comparison rows = Comparison::of(got[i], false);
    bool isCovered = positions.cover(got[i], expected[i].elements.size() / rows.line);
    bool isPicture = got[i].rank >= kPictureRank && !isCovered && !expected[i].isState;
    Comparison by = isPicture ? Comparison::of(got[i], true) : rows;
    size_t lines = expected[i].elements.size() / by.line;
    for (size_t line = 0; line < lines; ++line) {
      if (isCovered && !positions.counts[line / (lines / positions.counts.size())])
        continue;
      const float *first = expected[i].elements.data() + line * by.line,
                  *second = floatsAt(got[i]) + line * by.line;
      addLine(sums[i], first, second, by.line);
      for (size_t label = 0; label < by.labels; ++label) {
        Line wanted{first + label, by.classes, by.labels},
            is{second + label, by.classes, by.labels};
        sums[i].same += labelOf(wanted) == labelOf(is);
        sums[i].kl += divergence(wanted, is);
        ++sums[i].labels;
      }
    }
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
  accuracy.top1 = double(sum.same) / double(sum.labels);
  accuracy.kl = std::isfinite(sum.kl) ? std::max(sum.kl / double(sum.labels), 0.0) : INFINITY;
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
