//===- Explain.h - What was decided about a model's kernels, and why --------------------------------===//
//
//   Result<Explanation> explained = explain(module, options);      // for the best target; nothing is written
//   for (const ExplainedKernel &kernel : explained->kernels) …
//
// The reasons are those of the tests that decide: FormKernels keeps why two operators are apart, schedules say why they decline.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_EXPLAIN_H
#define WEFT_COMPILER_DRIVER_EXPLAIN_H

#include "compiler/tuning/Tuning.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/parallel/PlanSearch.h"
#include "weft/compiler.hpp"

namespace weft {

/// An operand that another kernel computes.
struct ExplainedEdge {
  unsigned producer;    ///< number of the kernel
  std::string from, to; ///< places of the operators in the model
  std::string reason;   ///< why they are not in one kernel
  std::string by;       ///< place of the operator that the reason speaks of; mostly empty
};

/// How a kernel is computed, and how it could be.
struct ExplainedChoices {
  std::string kernel;                 ///< what records know it by
  std::vector<std::string> schedules; ///< that may compute it, the one that does by itself first
  std::vector<Choice> choices;        ///< of the schedule that does
  Picks picks;                        ///< of a record; empty when all is as estimated
  std::optional<TuningRecord> record;
};

/// A call of a kernel.
struct ExplainedKernel {
  unsigned number; ///< from 1, in the order of the program
  std::string function, symbol, schedule;
  std::vector<std::string> nodes;
  std::vector<ExplainedEdge> edges;
  std::vector<DeclinedSchedule>
      declined; ///< asked before the one that takes the kernel by itself, in that order
  ExplainedChoices chosen;
  Unit unit = Unit::Reals;
  bool hasHalves = false; ///< it reads, computes or stores floats of 16 bits
};

/// An exchange that products could send or receive while they compute.
struct ExplainedExchange {
  std::string kind, node;
  double apart, together; ///< nanoseconds of both with the products
  bool isTogether;
  int64_t pieces;          ///< at most, where it is together; 0: it stays whole
  ExplainedChoices chosen; ///< "together" or "apart", and pieces
};

struct Explanation {
  std::string target;
  std::string scope;              ///< what records name as their target
  std::optional<PlanResult> plan; ///< of ranks, when one was looked for
  std::vector<ExplainedKernel> kernels;
  std::vector<ExplainedExchange> exchanges;
};

Result<Explanation> explain(const Module &module, const CompileOptions &options);

/// Of a grouped program for the target, whose kernels know why they are apart.
Explanation explainKernels(const KernelTarget &target, mlir::ModuleOp module, const Tuning &tuning);

/// Of a plan for the target of the explanation.
void explainExchanges(mlir::ModuleOp plan, const Tuning &tuning, Explanation &explanation);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_EXPLAIN_H
