//===- SveRegisters.h - Vectors of a known length in registers of SVE -------------------------------------===//
#ifndef WEFT_TARGETS_ARM_SVEREGISTERS_H
#define WEFT_TARGETS_ARM_SVEREGISTERS_H

#include "targets/arm/Intrinsics.h"

namespace weft::sve {

/// The type of a register as long as SVE says.
mlir::VectorType anyLength(mlir::Type element);
/// A vector as a register, its lanes first; and back.
mlir::Value inRegister(mlir::ImplicitLocOpBuilder &b, mlir::Value vector);
mlir::Value fromRegister(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type type);

/// 128 bits, a segment, again and again.
mlir::Value repeated(mlir::ImplicitLocOpBuilder &b, mlir::Value segment);
/// A lane of a segment in all lanes of a longer vector, or nothing.
mlir::vector::ShuffleOp spreadSegment(mlir::Value all);
/// Which one, as instructions take it.
mlir::Value lane(mlir::ImplicitLocOpBuilder &b, mlir::vector::ShuffleOp spread);

/// What words consist of.
mlir::Value wordsAs(mlir::ImplicitLocOpBuilder &b, mlir::Type element, mlir::Value words);
mlir::Value bytesOf(mlir::ImplicitLocOpBuilder &b, mlir::Value words);
mlir::Value halvesOf(mlir::ImplicitLocOpBuilder &b, mlir::Value words);

} // namespace weft::sve

#endif // WEFT_TARGETS_ARM_SVEREGISTERS_H
