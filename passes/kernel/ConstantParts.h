//===- ConstantParts.h - Constants of which every rank reads a part -----------------------------------===//
//
//   %part = weft.slice %w from [0, 96*rank_tp] size [96, 96] …          ->  sizes [96, 96], at [0, rank_tp]
//
// There may be a reshape between the two, as scales of blocks are stored as lists. Such a part is stored as a constant of its own would be: kernels see a weight of constant sizes, which is packed as they want it.
//
//   %part = weft.slice %w from [0, 64*min(2*rank_tp, 3)] size [96, 128 - 64*pos(2*rank_tp - 1) + …] …
//                                                                        ->  sizes [96, 128], at [0, floordiv(min(2*rank_tp, 3), 2)], they differ
//
// Of parts that differ the first ones have these sizes, and the last ones less or nothing. Kernels see a weight whose sizes are symbols, and must be
// able to read it where it lies in the whole; else they take the slice in.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_CONSTANTPARTS_H
#define WEFT_PASSES_KERNEL_CONSTANTPARTS_H

#include "dialects/weft/Weft.h"

namespace weft {

struct ConstantPart {
  mutable ConstantOp whole; ///< a handle; its methods are not const
  SymTensorType type;       ///< of what has the parts: of the constant, or of a reshape of it
  llvm::SmallVector<int64_t> sizes; ///< of all parts; empty: the value is the constant itself
  llvm::SmallVector<SymExpr> at;    ///< which part it is, counted along every dimension
  bool differ = false;              ///< ranks have parts of several sizes; `sizes` are the largest
};

/// The constant that a value is, or whose part it is for each rank; nothing for other values.
std::optional<ConstantPart> constantPart(mlir::Value value);

/// The part of a constant that each rank gives for the value, which only kernels beside it read: ranks may send it as those want it to lie.
std::optional<ConstantPart> gatheredPart(mlir::Value value);

/// The constant that a value is, or that it is a slice of, whoever reads which; null for other values. What decides about numbers asks
/// this; what decides about memory asks for a stored part.
ConstantOp constantBehind(mlir::Value value);

} // namespace weft

#endif // WEFT_PASSES_KERNEL_CONSTANTPARTS_H
