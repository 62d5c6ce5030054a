//===- TiledProduct.h - Sums of products whose results blocks have tiles of --------------------------------===//
//
//   Match<TiledProduct::Owned> product = TiledProduct::match(spec);
//   TileSource left = (*product)->left(k, outer); …
//
// Results are a stack of matrices: rows by columns, each a sum of the products of the left operand's elements of the row and the right one's of the
// column. So is a product of two tensors, and so is a convolution: pixels by filters with channels last, else filters by the pixels of an image; its steps
// are the taps, and of each the channels.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_TILEDPRODUCT_H
#define WEFT_TARGETS_CUDA_TILEDPRODUCT_H

#include "targets/common/match/Match.h"
#include "targets/cuda/TileMemory.h"

namespace weft {

struct TiledProduct {
  using Owned = std::shared_ptr<const TiledProduct>;

  mlir::Value root;                 ///< whose elements are the sums
  mlir::Type leftType, rightType;   ///< elements of operands
  llvm::SmallVector<SymExpr> outer; ///< how many matrices there are
  SymExpr rows, columns, steps;     ///< of each
  SymExpr run;                      ///< so many columns lie side by side in results
  bool holdsLines =
      false; ///< threads hold what lines of an operand have in common (TileSource::hold)

  virtual ~TiledProduct() = default;
  /// Which are summed in i32; else floats in f32. Their steps are neighbours, or gathered so.
  bool hasBytes() const { return llvm::isa<mlir::IntegerType>(leftType); }
  /// Operands of one of the matrices; what depends on the tile's size is not set.
  virtual TileSource left(SimtKernel &k, llvm::ArrayRef<mlir::Value> outer) const = 0;
  virtual TileSource right(SimtKernel &k, llvm::ArrayRef<mlir::Value> outer) const = 0;
  /// Where its results are.
  virtual TileWriter::Index results(SimtKernel &k, llvm::ArrayRef<mlir::Value> outer) const = 0;
  /// How operands shall lie that are packed.
  virtual void setLayouts(llvm::SmallVectorImpl<WeightLayout> &) const {}

  /// The kernel's only root is one.
  static Match<Owned> match(mlir::func::FuncOp spec);
};

/// Of two tensors.
Match<TiledProduct::Owned> matchMatrices(mlir::func::FuncOp spec);
/// Of windows of an image with filters. Depthwise ones, and groups of few filters, have too little to share.
Match<TiledProduct::Owned> matchWindows(mlir::func::FuncOp spec);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_TILEDPRODUCT_H
