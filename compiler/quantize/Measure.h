//===- Measure.h - How far outputs are from those of the model in f32 -------------------------===//
//
//   AccuracySum sum(session);
//   sum.add(kept, session.outputs());        // one call; `kept` are copies of the f32 outputs
//   Accuracy all = sum.worst();
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_MEASURE_H
#define WEFT_COMPILER_QUANTIZE_MEASURE_H

#include "compiler/quantize/Session.h"
#include <cmath>

namespace weft {

/// The elements of an output, which outlive the call.
struct KeptOutput {
  std::vector<float> elements; ///< none of outputs that are not of f32
  bool isState = false;        ///< that calls to come read: its lines are no distributions
};
std::vector<KeptOutput> keepOutputs(const std::vector<weft_tensor_t> &outputs, size_t count);

/// The positions of a call that count.
struct CountedPositions {
  std::vector<int64_t> dims; ///< none: all count
  std::vector<bool> counts;

  /// Where elements of an input are not 0.
  static CountedPositions of(const BoundCall &call, const std::string &input);
  /// Whether so many lines of a tensor are those of positions, each as many as another.
  bool cover(const weft_tensor_t &tensor, size_t lines) const;
};

/// Outputs are compared by lines of their last dimension. Those of four dimensions or more that are
/// neither states nor of positions are pictures: each is one line, and the channels of each of its
/// places are a label. (A dark row of a photograph has no direction that says anything.)
class AccuracySum {
public:
  void add(const std::vector<KeptOutput> &expected, const std::vector<weft_tensor_t> &got,
           const CountedPositions &positions = {});
  /// Of one output; of those without elements of f32 nothing differs, and states have neither label
  /// nor divergence: they are nan.
  Accuracy of(size_t output) const;
  /// Of each metric the worst over all outputs.
  Accuracy worst() const;
  size_t outputs() const { return sums.size(); }
  bool hasLines(size_t output) const { return sums[output].lines > 0; }
  /// What the caller's own measure says of all outputs together.
  void setScore(double value) { score = value; }

private:
  struct Sum {
    double cosine = 0, worst = 1, signal = 0, noise = 0, kl = 0;
    size_t lines = 0, labels = 0, same = 0;
    bool isState = false;
  };
  static void addLine(Sum &sum, const float *expected, const float *got, size_t line);
  std::vector<Sum> sums;
  double score = NAN;
};

/// How much of what budgets on accuracy allow is used: the largest share of all, more than 1 where
/// one does not hold. A little of the noise is added, so that what budgets do not see still
/// differs.
double lossOf(const Accuracy &accuracy, const std::vector<QuantizeBudget> &budgets);
/// Whether budgets on accuracy hold, and no more than `part` of what they allow is used.
bool holds(const Accuracy &accuracy, const std::vector<QuantizeBudget> &budgets, double part = 1);
/// Refuses what no model can keep, or every model does.
Result<void> checkBudgets(const std::vector<QuantizeBudget> &budgets);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_MEASURE_H
