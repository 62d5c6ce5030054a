//===- PlanSearch.h - A mesh and placements by their price ---------------------------------------------===//
//
//   PlanRequest request;
//   request.ranks = 4;                                     // or a mesh
//   FailureOr<PlanResult> found = choosePlan(module, request);   // the module stays as it is
//
// Plans with names first; then one variable after the other takes the placement that makes the whole cheapest, until none changes. The same
// program gives the same plan: work is bounded by what is priced, not by time.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PARALLEL_PLANSEARCH_H
#define WEFT_PASSES_PARALLEL_PLANSEARCH_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/parallel/Price.h"
#include "passes/parallel/RankPlan.h"

namespace weft {

struct PlanRequest {
  int64_t ranks = 0;                   ///< 0: as the mesh has
  std::string mesh;                    ///< empty: chosen, too
  std::vector<std::string> placements; ///< that stay; they need a mesh
  std::string plan = "auto";           ///< or the name of one
  std::map<std::string, int64_t> sizes;
  Links links;
  double memoryLimit = 0; ///< bytes of one rank; 0: none
};

/// Weights that are placed alike, or the inputs.
struct PlanDecision {
  struct Way {
    std::string placement; ///< "[tp, _]", or "open"
    Price price;           ///< of the whole program
    double more = 0;       ///< nanoseconds, than as chosen
  };
  std::string first; ///< member
  size_t members = 0;
  std::string chosen;
  std::vector<std::string> products; ///< the nodes that read the first member
  std::vector<Way> others;
};

struct PlanResult {
  RankPlan plan; ///< with the placements that were given, last
  std::string name;
  std::string sizes; ///< "batch = 1, seq = 128"
  Price price;
  struct Named {
    std::string name, mesh;
    Price price;
  };
  std::vector<Named> named; ///< that were looked at
  std::vector<PlanDecision> decisions;

  /// "mesh tp = 2: 1.2 ms a call at seq = 128 (kernels 1.1 ms, exchanges 0.1 ms), 20.1 MiB by one rank"
  std::string summary() const;
};

/// Errors are reported at no place.
mlir::FailureOr<PlanResult> choosePlan(mlir::ModuleOp module, const PlanRequest &request);

/// "12.3 MiB", "1.23 ms"
std::string sizeText(double bytes);
std::string timeText(double nanoseconds);

} // namespace weft

#endif // WEFT_PASSES_PARALLEL_PLANSEARCH_H
