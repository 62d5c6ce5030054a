//===- NeonMachine.h - Vectors of 128 bits --------------------------------------------------------------===//
#ifndef WEFT_TARGETS_ARM_NEONMACHINE_H
#define WEFT_TARGETS_ARM_NEONMACHINE_H

#include "targets/cpu/machine/VectorMachine.h"

namespace weft {

/// Loads and stores take no mask.
class NeonMachine : public VectorMachine {
public:
  /// What NEON was extended by: products of bytes of equal signs, of unsigned by signed ones, of matrices of both, and of bf16.
  struct Extensions {
    bool dots = false, mixedDots = false, matrices = false, halves = false;
  };
  explicit NeonMachine(Extensions has, bool isInOrder = false);

  bool addsByteProducts(ByteSigns signs) const override;
  mlir::Value addByteProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value left,
                              mlir::Value right, ByteSigns signs) const override;
  mlir::Value addPairProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value x,
                              mlir::Value y) const override;
  bool multipliesByteMatrices(ByteSigns signs) const override;
  mlir::Value addByteMatrices(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value rows,
                              mlir::Value columns, ByteSigns signs) const override;
  void storePair(mlir::ImplicitLocOpBuilder &b, mlir::Value first, mlir::Value second,
                 mlir::Value pointer) const override;
  bool addsHalfProducts() const override { return has.halves; }
  mlir::Value addHalfProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value x,
                              mlir::Value y) const override;
  mlir::Value roundForHalfProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value reals) const override;
  /// Nothing: cores bring lines that are read in order by themselves, and each wish for one is an instruction or two in loops that have
  /// three for every four multiply-adds.
  void prefetch(mlir::ImplicitLocOpBuilder &, mlir::Value, Cache, bool) const override {}

private:
  const Extensions has;
};

} // namespace weft

#endif // WEFT_TARGETS_ARM_NEONMACHINE_H
