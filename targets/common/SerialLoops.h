//===- SerialLoops.h - Kernels of an operator that writes its loops itself --------------------------===//
//
//   ElementOpInterface root = *matchSerial(spec);
//   SerialLoops loops(frame, root, scratch);
//   root.emitSerial(loops, unit);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_SERIALLOOPS_H
#define WEFT_TARGETS_COMMON_SERIALLOOPS_H

#include "targets/common/KernelFrame.h"

namespace weft {

class SerialLoops : public SerialBuilder {
public:
  SerialLoops(KernelFrame &frame, mlir::Operation *root, mlir::Value scratch);

  mlir::Value symbolic(SymExpr expr) override { return frame.e.uniform(expr); }
  mlir::Value load(unsigned operand, llvm::ArrayRef<mlir::Value> index) override;
  mlir::Value loadResult(unsigned result, llvm::ArrayRef<mlir::Value> index) override;
  void store(unsigned result, llvm::ArrayRef<mlir::Value> index, mlir::Value data) override;
  void copy(unsigned operand, unsigned result) override;
  void update(unsigned operand, llvm::ArrayRef<mlir::Value> from, unsigned result,
              llvm::ArrayRef<mlir::Value> to, llvm::ArrayRef<SymExpr> box,
              std::optional<Combiner> combiner) override;
  mlir::Value scratch(mlir::Value slot) override;
  void setScratch(mlir::Value slot, mlir::Value data) override;

private:
  /// Calls `body` for all places of a line, which it may take in any order, or together.
  virtual void line(SymExpr size, llvm::function_ref<void(IndexValue)> body);
  /// The same for all places of a box.
  void slice(llvm::ArrayRef<SymExpr> dims,
             llvm::function_ref<void(llvm::ArrayRef<IndexValue>)> body);
  SymTensorType type(unsigned result);
  mlir::Value word(mlir::Value slot);

  KernelFrame &frame;
  mlir::Operation *root;
  mlir::Value words;                      ///< the unit's scratch
  llvm::SmallVector<mlir::Value> outputs; ///< pointers by result; null where nobody reads it
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_SERIALLOOPS_H
