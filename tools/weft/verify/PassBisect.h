//===- PassBisect.h - The first compiler pass after which a model's outputs change -----------===//
//
//   Result<PassChanges> changes =
//       comparePasses(module, programs, "main", inputs, imported, tolerance);
//   if (!changes) return changes.failure();
//   changes->add("code", called.outputs);           // what the compiled program gave
//   print(changes->table() + changes->verdict());
//
// The program after every pass is evaluated with the same inputs, graph and plan alike. Passes keep
// the meaning of a program, so a difference is the pass's doing, be it a mistake or rounding by
// design. So is a program that the evaluator refuses, such as a plan that reads what nobody wrote.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_VERIFY_PASSBISECT_H
#define WEFT_TOOLS_WEFT_VERIFY_PASSBISECT_H

#include "compiler/driver/PassPrograms.h"
#include "tools/weft/model/Evaluation.h"
#include "tools/weft/verify/Verdict.h"

namespace weft::cli {

/// The step behind the last pass: what the compiled program gives.
constexpr char kCodeStep[] = "code";

/// The worst output behind a step.
struct PassChange {
  std::string pass;
  size_t position;  ///< from 1
  Verdict own;      ///< against the step before
  Verdict total;    ///< against the imported program
  bool isEvaluated; ///< else there are no outputs; both verdicts say why
};

class PassChanges {
public:
  /// What the imported program gives; `tolerance` as compareTensors takes it.
  PassChanges(std::vector<NamedTensor> imported, double tolerance)
      : imported(std::move(imported)), before(this->imported), tolerance(tolerance) {}

  /// What the next step gives.
  void add(std::string pass, std::vector<NamedTensor> outputs);
  /// The next step leaves the program as it is.
  void addSame(std::string pass);
  /// The evaluator refuses what the next step leaves.
  void addRefused(std::string pass, const std::string &why);

  /// What the latest step that was evaluated gave.
  const std::vector<NamedTensor> &latest() const { return before; }
  const std::vector<PassChange> &all() const { return changes; }
  /// The first beyond the tolerance in total, or null.
  const PassChange *first() const;
  /// A line per step; every line ends with a newline.
  std::string table() const;
  /// One line about the first, or that there is none.
  std::string verdict() const;

private:
  std::vector<NamedTensor> imported, before;
  double tolerance;
  std::vector<PassChange> changes;
};

/// Evaluates the function of that name in every program that a pass changed, with the weights of
/// `module`. The first program is the imported one, which gives `imported`.
Result<PassChanges> comparePasses(const Module &module, const std::vector<PassProgram> &programs,
                                  const std::string &function, const Inputs &inputs,
                                  std::vector<NamedTensor> imported, double tolerance);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_VERIFY_PASSBISECT_H
