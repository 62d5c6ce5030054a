//===- KernelFrame.h - What every kernel's code is emitted in ------------------------------------------===//
//
//   frame.loop(zero, count, 1, [&](Value i) { frame.storeResults({IndexValue{i}}); });
//
// The specification, the function that gets its code, its operands, and loops, branches and arithmetic on indices.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_KERNELFRAME_H
#define WEFT_TARGETS_COMMON_KERNELFRAME_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/common/ElementEmitter.h"

namespace weft {

struct KernelFrame {
  mlir::ImplicitLocOpBuilder &b;
  mlir::func::FuncOp spec, kernel;
  ElementEmitter &e;
  llvm::SmallVector<mlir::Value> inputs = {}, outputs = {}; ///< pointers
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
  void storeResults(llvm::ArrayRef<IndexValue> index) { storePulled(index, pullResults(index)); }
  /// The two halves of this.
  llvm::SmallVector<mlir::Value> pullResults(llvm::ArrayRef<IndexValue> index);
  void storePulled(llvm::ArrayRef<IndexValue> index, llvm::ArrayRef<mlir::Value> data);
  /// The place of line `number` among the lines of these dimensions; the last of it is left open.
  llvm::SmallVector<IndexValue> lineIndex(llvm::ArrayRef<SymExpr> dims, mlir::Value number);
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
/// nobody sees it, and each costs some processors a hundred cycles. `bounded` marks the exponential, whose operand is -87 at least (-708 in f64) or nan.
mlir::Value powerOfNegative(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                            llvm::StringRef bounded = {});

} // namespace weft

#endif // WEFT_TARGETS_COMMON_KERNELFRAME_H
