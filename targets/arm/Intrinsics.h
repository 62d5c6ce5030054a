//===- Intrinsics.h - Calls of ARM's instructions, and lanes that they take ----------------------------===//
#ifndef WEFT_TARGETS_ARM_INTRINSICS_H
#define WEFT_TARGETS_ARM_INTRINSICS_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/machine/VectorMachine.h"

namespace weft {

/// Calls "llvm.aarch64.<name>".
mlir::Value callArm(mlir::ImplicitLocOpBuilder &b, mlir::Type type, const llvm::Twine &name,
                    mlir::ValueRange operands);

/// The name of products of matrices of bytes with these signs, rows before columns; null: there is none.
const char *byteMatricesOf(ByteSigns signs);

/// What is a lane of a vector in all lanes, or nothing.
mlir::vector::ShuffleOp spreadLane(mlir::Value all);
/// Which one.
int64_t laneOf(mlir::vector::ShuffleOp spread);

} // namespace weft

#endif // WEFT_TARGETS_ARM_INTRINSICS_H
