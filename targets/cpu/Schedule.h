//===- Schedule.h - From a kernel's specification to loops --------------------------------------===//
//
// What schedules for processors share: a schedule emits the code of units [begin, end).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULE_H
#define WEFT_TARGETS_CPU_SCHEDULE_H

#include "targets/common/KernelFrame.h"
#include "targets/common/Schedule.h"
#include "targets/common/ScheduledTarget.h"
#include "targets/cpu/machine/VectorMachine.h"

namespace weft {

/// Everything a schedule needs to emit one kernel.
struct KernelContext : KernelFrame {
  const VectorMachine &machine;
  mlir::Value begin, end, scratch;
  /// Walks [from, size) of the innermost dimension in vectors: whole ones first, then a masked rest. `index` is the innermost index, `from` a
  /// multiple of lanes, 0 when it is null.
  void vectors(SymExpr size, llvm::function_ref<void(IndexValue index)> body, SymExpr from = {});
};

/// One way to compute kernels on a processor.
class Schedule : public ScheduleFor<VectorMachine> {
public:
  virtual void emit(KernelContext &context) const = 0;
};

/// Loads the words of a kernel: pointers of inputs and outputs, then symbols; binds them in `context.e`.
void bindWords(KernelContext &context, mlir::Value words);

constexpr int64_t kLineBytes = 64; ///< of the caches
/// What is summed in one chain; chunks are added up: the error of a long sum stays that of a short one.
constexpr int64_t kSumChunk = 96;

/// The specification's module with code for units [begin, end) in a function `name(words, begin, end, worker)`. The specification is erased.
mlir::LogicalResult emitKernel(mlir::ModuleOp module, llvm::StringRef name,
                               const Schedule &schedule, const VectorMachine &machine);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULE_H
