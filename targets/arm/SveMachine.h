//===- SveMachine.h - Vectors of SVE, of one length that is known ---------------------------------------===//
#ifndef WEFT_TARGETS_ARM_SVEMACHINE_H
#define WEFT_TARGETS_ARM_SVEMACHINE_H

#include "targets/cpu/machine/VectorMachine.h"

namespace weft {

/// Code is right for registers of this length only. Loads and stores take predicates as masks.
class SveMachine : public VectorMachine {
public:
  /// What SVE was extended by: products of unsigned by signed bytes, of matrices of bytes, and of bf16.
  struct Extensions {
    bool mixedDots = false, matrices = false, halves = false;
  };
  SveMachine(unsigned lanes, Extensions has);

  bool masks(unsigned) const override { return true; }
  mlir::Value multiplyAdd(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y,
                          mlir::Value sum) const override;
  bool addsByteProducts(ByteSigns signs) const override;
  mlir::Value addByteProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value left,
                              mlir::Value right, ByteSigns signs) const override;
  bool multipliesByteMatrices(ByteSigns signs) const override;
  mlir::Value addByteMatrices(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value rows,
                              mlir::Value columns, ByteSigns signs) const override;
  bool addsHalfProducts() const override { return has.halves; }
  mlir::Value addHalfProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value sum, mlir::Value x,
                              mlir::Value y) const override;
  mlir::Value roundForHalfProducts(mlir::ImplicitLocOpBuilder &b, mlir::Value reals) const override;
  /// Nothing, as without SVE.
  void prefetch(mlir::ImplicitLocOpBuilder &, mlir::Value, Cache, bool) const override {}

private:
  const Extensions has;
};

} // namespace weft

#endif // WEFT_TARGETS_ARM_SVEMACHINE_H
