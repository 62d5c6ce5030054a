//===- KernelWords.h - What a call of a kernel hands over -----------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_KERNELWORDS_H
#define WEFT_PASSES_KERNEL_KERNELWORDS_H

#include "passes/kernel/KernelGroups.h"

namespace weft {

constexpr unsigned kMostKernelWords = 64; ///< that the runtime has room for

/// Addresses of tensors and sizes, at most.
class KernelWords {
public:
  /// Of a kernel of these operators.
  explicit KernelWords(llvm::ArrayRef<mlir::Operation *> operations);
  bool fit() const;

private:
  bool isInside(mlir::Operation *op) const { return inside.contains(op); }
  void addSizes(mlir::Operation *op);
  void addSizes(mlir::Type type);
  void addSize(SymExpr expr);
  void addRead(mlir::Value value);
  bool isReadOutside(mlir::Value value) const;

  llvm::SmallPtrSet<mlir::Operation *, 16> inside;
  llvm::DenseSet<mlir::Value> tensors;
  llvm::DenseSet<SymExpr>
      sizes; ///< one word each, or one for each of their symbols: the kernel decides
  llvm::DenseSet<mlir::StringAttr> symbols;
};

} // namespace weft

#endif // WEFT_PASSES_KERNEL_KERNELWORDS_H
