//===- WinogradTransform.h - The small matrices of Winograd's convolution, as vector code ---------------------------===//
//
// F(m, 3) computes m results of a filter of 3 taps from n = m + 2 elements with n products: y = A^T ((G w) * (B^T d)). In two
// dimensions each transform is applied to columns and to rows. G is applied to filters while compiling (compiler/artifact/WinogradLayout.h).
//
//   WinogradTransform t(4);
//   SmallVector<Value> products = t.input(b, elements);   // B^T d, every element a vector of lanes
//
// Integers are exact: G has no fractions then, and A^T gives multiples of the results, by 3 and a power of two in each dimension. Whatever
// the sums lose above their 32 bits is a multiple of 2^32. What remains is multiplied by the inverse of 9 and shifted: the result, when that
// has at most kExactBits.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRADTRANSFORM_H
#define WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRADTRANSFORM_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "targets/common/Effort.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

class WinogradTransform {
public:
  /// m is 2 or 4; 4 of integers.
  explicit WinogradTransform(int64_t m, bool ofIntegers = false);
  static constexpr unsigned kExactBits = 26; ///< with the sign
  int64_t results() const { return m; }
  int64_t elements() const { return m + 2; }

  using Values = llvm::SmallVector<mlir::Value, 6>;
  Values input(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::Value> elements) const;
  Values output(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::Value> products) const;
  /// The result in row i and column j of what output() made of all columns and rows.
  mlir::Value result(mlir::ImplicitLocOpBuilder &b, int64_t i, int64_t j, mlir::Value output) const;

private:
  int64_t m;
  bool ofIntegers;
  const float *inputMatrix, *outputMatrix; ///< row-major
};

/// Of a convolution by `products` (of tiles, for one channel and filter) in the place of its own.
KernelEffort transformedEffort(mlir::func::FuncOp specification, SymExpr products, int64_t channels,
                               int64_t filters);

/// The first `phases` of: lanes l * m, l * m + 1, … of m vectors that follow each other, as vectors over l.
llvm::SmallVector<mlir::Value, 4>
separateLanes(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<mlir::Value> vectors, int64_t phases);
/// The inverse for all of them: element i of vector j goes to position i * m + j.
llvm::SmallVector<mlir::Value, 4> joinLanes(mlir::ImplicitLocOpBuilder &b,
                                            llvm::ArrayRef<mlir::Value> phases);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_WINOGRAD_WINOGRADTRANSFORM_H
