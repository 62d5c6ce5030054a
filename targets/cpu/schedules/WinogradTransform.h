//===- WinogradTransform.h - The small matrices of Winograd's convolution, as vector code ---------------------------===//
//
// F(m, 3) computes m results of a filter of 3 taps from n = m + 2 elements with n products: y = A^T ((G w) * (B^T d)). In two
// dimensions each transform is applied to columns and to rows. G is applied to filters while compiling (compiler/artifact/WinogradLayout.h).
//
//   WinogradTransform t(4);
//   SmallVector<Value> products = t.input(b, elements);   // B^T d, every element a vector of lanes
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINOGRADTRANSFORM_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINOGRADTRANSFORM_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

class WinogradTransform {
public:
  /// m is 2 or 4.
  explicit WinogradTransform(int64_t m);
  int64_t results() const { return m; }
  int64_t elements() const { return m + 2; }

  using Values = llvm::SmallVector<mlir::Value, 6>;
  Values input(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::Value> elements) const;
  Values output(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::Value> products) const;

private:
  int64_t m;
  const float *inputMatrix, *outputMatrix; ///< row-major
};

/// The first `phases` of: lanes l * m, l * m + 1, … of m vectors that follow each other, as vectors over l.
llvm::SmallVector<mlir::Value, 4>
separateLanes(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::Value> vectors, int64_t phases);
/// The inverse for all of them: element i of vector j goes to position i * m + j.
llvm::SmallVector<mlir::Value, 4> joinLanes(mlir::ImplicitLocOpBuilder &b,
                                            llvm::ArrayRef<mlir::Value> phases);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINOGRADTRANSFORM_H
