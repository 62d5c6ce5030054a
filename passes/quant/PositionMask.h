//===- PositionMask.h - Positions of a call that nobody looks at ----------------------------------===//
//
//   FailureOr<PositionMask> mask = PositionMask::of(function, "attention_mask");
//   Value seen = mask->applied(b, value);                       // zeros where the input is 0
//   Value rows = mask->rows(b, value, channel);                 // how many elements of each channel count
//
// Calls of many texts are padded to the longest. What a model computes at the padded positions means nothing, and its ranges should not count.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_POSITIONMASK_H
#define WEFT_PASSES_QUANT_POSITIONMASK_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

class PositionMask {
public:
  /// By the input of that name; by none where the name is empty. Fails, with an error, where the function has no such input.
  static mlir::FailureOr<PositionMask> of(mlir::func::FuncOp function, llvm::StringRef name);
  /// Whether a value has the mask's dimensions in their order, one by one or as one, and others.
  bool covers(mlir::Value value) const;
  /// The value, 0 where the mask is. A value that is not covered stays.
  mlir::Value applied(mlir::ImplicitLocOpBuilder &b, mlir::Value value) const;
  /// A number: of a value that is covered, the positions that count times the sizes of other dimensions than the channel's.
  mlir::Value rows(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                   std::optional<unsigned> channel) const;

private:
  /// For each dimension of a value the mask's, or none; `flat` where all of the mask's are one.
  struct Place {
    llvm::SmallVector<bool> isMasked;
    bool isFlat = false;
  };
  std::optional<Place> placeIn(SymTensorType type) const;
  mlir::Value input;
};

} // namespace weft

#endif // WEFT_PASSES_QUANT_POSITIONMASK_H
