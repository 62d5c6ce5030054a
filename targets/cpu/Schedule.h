//===- Schedule.h - From a kernel's specification to loops --------------------------------------===//
//
// What schedules for processors share: a schedule emits the code of units [begin, end).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULE_H
#define WEFT_TARGETS_CPU_SCHEDULE_H

#include "targets/common/ElementEmitter.h"
#include "targets/common/Schedule.h"
#include "targets/cpu/machine/VectorMachine.h"

namespace weft {

/// Everything a schedule needs to emit one kernel.
struct KernelContext {
  mlir::ImplicitLocOpBuilder &b;
  mlir::func::FuncOp spec, kernel;
  ElementEmitter &e;
  const VectorMachine &machine;
  mlir::Value begin, end, scratch;
  llvm::SmallVector<mlir::Value> inputs, outputs; ///< pointers
  mlir::Operation *returnOp() { return spec.getBody().front().getTerminator(); }
  SymTensorType resultType(unsigned i) {
    return llvm::cast<SymTensorType>(spec.getResultTypes()[i]);
  }
  /// for i = from; i < to; i += step
  void loop(mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// The same with values carried along.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  /// if (condition) yes(); else no();
  void choose(mlir::Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no);
  mlir::Value mul(mlir::Value a, mlir::Value c);
  mlir::Value add(mlir::Value a, mlir::Value c);
  mlir::Value sub(mlir::Value a, mlir::Value c);
  /// Elements of all results at one index. All are pulled before the first is stored.
  void storeResults(llvm::ArrayRef<IndexValue> index);
  /// Walks [0, size) of the innermost dimension in vectors: whole ones first, then a masked rest. `index` is the innermost index.
  void vectors(SymExpr size, llvm::function_ref<void(IndexValue index)> body);
};

/// One way to compute kernels on a processor.
class Schedule : public ScheduleFor<VectorMachine> {
public:
  virtual void emit(KernelContext &context) const = 0;
};

/// Combines the lanes of a vector: halves, quarters, …, a fixed order, so results do not depend on anything. A scalar stays as it is.
mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b, Combiner combiner, mlir::Type element,
                         mlir::Value vector);

/// The same by any operation on halves, quarters, … of the lanes.
mlir::Value
foldLanes(mlir::ImplicitLocOpBuilder &b, mlir::Value vector,
          llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value, mlir::Value)>
              combine);
/// e^x of x that is 0 at most, as softmax takes it of scores without their largest. What would be a denormal number is 0: beside e^0
/// nobody sees it, and each costs some processors a hundred cycles.
mlir::Value powerOfNegative(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// Loads the words of a kernel: pointers of inputs and outputs, then symbols; binds them in `context.e`.
void bindWords(KernelContext &context, mlir::Value words);

constexpr int64_t kLineBytes = 64; ///< of the caches
/// What is summed in one chain; chunks are added up: the error of a long sum stays that of a short one.
constexpr int64_t kSumChunk = 96;

/// Elements that share a byte are written one after the other, by one thread: only the loop schedule does that.
bool writesPackedElements(mlir::func::FuncOp spec);

/// The specification's module with code for units [begin, end) in a function `name(words, begin, end, worker)`. The specification is erased.
mlir::LogicalResult emitKernel(mlir::ModuleOp module, llvm::StringRef name,
                               const Schedule &schedule, const VectorMachine &machine);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULE_H
