//===- OperationUse.h - What an operation of a quantised program computes with ----------------===//
//
//   ConstantUses constants; OperationUse use = useOf(op, constants);
//   if (use.kind == OperationUse::Integers) … use.operands[0].element …
//
// A program says with `dequantize` and `quantize` which reals are integers. An operation between
// them computes with integers; which those are follows from the program alone, whoever wrote it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HARDWARE_OPERATIONUSE_H
#define WEFT_COMPILER_HARDWARE_OPERATIONUSE_H

#include "compiler/hardware/HardwareData.h"
#include "dialects/weft/Weft.h"

namespace weft {

/// A tensor that an operation reads or gives, as hardware has it.
struct UsedTensor {
  mlir::Type element;
  mlir::Value integers;    ///< of an operand; null for floats
  mlir::Value scale, zero; ///< null where the program does not say them
  /// What has a scale of its own; nothing where scales differ along what is summed, or cannot be
  /// followed.
  std::optional<ScaleUnit> scalesPer = ScaleUnit{};
  bool isConstant = false;
  llvm::SmallVector<mlir::Operation *, 1>
      views{}; ///< that move its elements before they are read, the last first
};

struct OperationUse {
  enum Kind {
    None,       ///< moves elements, or computes sizes, positions or constants
    Conversion, ///< from reals to integers or back
    Floats,
    Integers, ///< of integers, or of reals that all stand for some
    Optional, ///< the same, but floats would do: it is no product
  };
  Kind kind = None;
  mlir::Operation *op = nullptr;
  bool isProduct = false;
  std::vector<UsedTensor> operands, results; ///< results: each way that what it gives is read

  std::string name() const; ///< as descriptions have it
};

/// Which values are constants, however they are computed.
class ConstantUses {
public:
  bool isConstant(mlir::Value value);

private:
  llvm::DenseMap<mlir::Value, bool> known;
};

OperationUse useOf(mlir::Operation *op, ConstantUses &constants);

/// "ui8"
std::string elementText(mlir::Type element);

} // namespace weft

#endif // WEFT_COMPILER_HARDWARE_OPERATIONUSE_H
