//===- Schedule.h - What a schedule answers, whatever code it emits --------------------------------===//
//
// A kernel's specification is a function on tensors (`func.func @kernel`): operators of one group, weights as arguments, symbols as
// `weft.symbols`. A schedule says whether it takes the kernel, how the work is cut into units, how operands shall lie, and what may be
// picked. Families of targets differ in the machine that their schedules ask, and in how these emit code.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_SCHEDULE_H
#define WEFT_TARGETS_COMMON_SCHEDULE_H

#include "dialects/plan/WeightLayout.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/KernelChoice.h"
#include "targets/common/Decline.h"
#include "targets/common/Effort.h"
#include "targets/common/Picks.h"
#include "targets/common/Unit.h"

namespace weft {

/// How the host starts a kernel; expressions over the specification's symbols.
struct Launch {
  SymExpr units;
  SymExpr grain;   ///< units per piece of work, at least
  SymExpr scratch; ///< bytes per worker
};

template <typename Machine> class ScheduleFor {
public:
  virtual ~ScheduleFor() = default;
  virtual llvm::StringRef name() const = 0;
  /// Why the kernel is left to the next schedule; nothing when this one takes it.
  virtual Decline decline(mlir::func::FuncOp spec, const Machine &machine) const = 0;
  /// Whether results differ from the definition by rounding of its own products and sums only.
  virtual bool isExact() const { return true; }
  virtual Launch launch(mlir::func::FuncOp spec, const Machine &machine) const = 0;
  /// Layouts of the arguments: rows, unless weights are packed.
  virtual llvm::SmallVector<WeightLayout> layouts(mlir::func::FuncOp spec, const Machine &) const {
    return llvm::SmallVector<WeightLayout>(spec.getNumArguments());
  }
  /// How units follow rows, where they do.
  virtual std::optional<RowTiles> rowTiles(mlir::func::FuncOp, const Machine &) const { return {}; }
  /// What multiplies in the loop that takes the time.
  virtual Unit unit(mlir::func::FuncOp, const Machine &) const { return Unit::Reals; }
  /// What kind of loop takes the time.
  virtual LoopKind loops() const { return LoopKind::General; }
  /// What is carried out, where that differs from what operators say.
  virtual KernelEffort effort(mlir::func::FuncOp spec, const Machine &) const {
    return effortByRules(spec);
  }
  /// What it lets be picked of a kernel that it takes. Every candidate is right for all sizes.
  virtual std::vector<Choice> choices(mlir::func::FuncOp, const Machine &) const { return {}; }
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_SCHEDULE_H
