//===- ConvolutionShape.h - What the schedules of convolutions know of a kernel ----------------------===//
//
// One or two spatial dimensions, floats of 16 or 32 bits or bytes, constant filters; in one dimension, the image has one row.
//
//   if (auto shape = ConvolutionShape::match(spec)) … shape->window[1].stride …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_CONVOLUTIONSHAPE_H
#define WEFT_TARGETS_COMMON_MATCH_CONVOLUTIONSHAPE_H

#include "dialects/plan/WeightLayout.h"
#include "targets/common/match/Match.h"

namespace weft {

/// Rows or columns.
struct ConvolutionWindow {
  int64_t kernel, stride, dilation;
  SymExpr low, high, in, out;
  /// Every element of the result meets the operand's element in the same place, and only that.
  bool isPointwise() const {
    return kernel == 1 && stride == 1 && low.isConstant(0) && high.isConstant(0);
  }
};

/// Why schedules of convolutions decline.
constexpr const char *kImageIsComputed = "the image is not in memory as it is multiplied",
                     *kHasGroups = "the channels are in groups",
                     *kFewChannels =
                         "channels or filters are so few that transforms cost more than they save",
                     *kWasteful = "the image is so small that tiles of results cover much in vain";

struct ConvolutionShape {
  mutable ConvOp op; ///< a handle; its methods are not const
  unsigned filter;   ///< argument of the specification
  bool roundsFilter; ///< which is of f32, and rounded to the image's 16 bits while it is packed
  int64_t groups, filters, channels; ///< channels of one group
  SymExpr batch;
  bool isLine;                 ///< one spatial dimension
  ConvolutionWindow window[2]; ///< rows, columns

  /// The only root of the kernel, when it is a convolution these schedules can compute and all results have its dimensions.
  /// Of floats; with channels last also of bytes summed in i32.
  static Match<ConvolutionShape> match(mlir::func::FuncOp spec, bool channelsLast = false);

  /// Nothing when every channel of an image in memory has a filter of its own; `image` is the one to be there.
  Decline unlessDepthwise(mlir::Value image) const;
  /// Nothing when an image in memory meets whole filters of 3 by 3, one apart: products of tiles can be saved. Of f32, or of bytes.
  Decline unlessThreeByThree(bool ofBytes = false) const;
  /// Whether bytes are multiplied.
  bool hasBytes() const { return op.getAccumulate().isInteger(32); }
  /// Of the image and the filters.
  mlir::Type element() const {
    return llvm::cast<SymTensorType>(op.getInput().getType()).getElementType();
  }
  /// Of packed filters that are multiplied as f32.
  WeightLayout::Form filterForm() const {
    return !roundsFilter        ? WeightLayout::F32
           : element().isBF16() ? WeightLayout::OfBF16
                                : WeightLayout::OfF16;
  }
  /// What is added to every result before anything else happens to it: a constant per channel, where channels are last.
  struct Bias {
    mlir::Value sum; ///< with it
    mlir::BlockArgument added;
  };
  std::optional<Bias> bias() const;
  SymExpr pixels() const { return window[0].out * window[1].out; }
  /// Whether everything behind the convolution walks over rows and columns as one: operands have all pixels in a row, or one for all.
  bool walksPixelsInOrder() const;
  /// Where pixel p of a plane [rows, columns] lies, for a tensor that has all of them: with p in place of a row or column.
  llvm::SmallVector<IndexValue> at(ElementBuilder &e, IndexValue n, IndexValue channel,
                                   IndexValue pixel) const;
  /// The same with the pixel's row and column.
  llvm::SmallVector<IndexValue> rowAndColumn(ElementBuilder &e, IndexValue n, IndexValue channel,
                                             IndexValue pixel) const;
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_CONVOLUTIONSHAPE_H
