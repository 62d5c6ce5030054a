//===- Windows.h - Attributes of operators that move a window over an image -------------------===//
//
// Kernel sizes, strides, dilations and padding, one entry per spatial dimension, whichever way a node
// gives them:
//
//   auto w = readWindows(n, spatialDims, kernelSizes);
//   if (w) n.emit<ConvOp>({x, filter}, w->attributes(n));
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_OPERATORS_WINDOWS_H
#define WEFT_COMPILER_IMPORT_ONNX_OPERATORS_WINDOWS_H

#include "compiler/import/onnx/graph/NodeImport.h"

namespace weft::onnx {

struct Windows {
  Dims kernel;
  llvm::SmallVector<int64_t> strides, dilations;
  Dims low, high;
  Dims sizes; ///< of the result

  /// How many elements a window spans.
  SymExpr extent(unsigned d) const { return (kernel[d] - 1) * dilations[d] + 1; }
  /// `strides`, `dilations`, `low` and `high`.
  llvm::SmallVector<mlir::NamedAttribute> attributes(GraphBuilder &g) const;
};

/// The dimensions behind batch and channels; none (and refused) when there are fewer than one or
/// more than three.
Dims spatialDims(NodeImport &n, Value x);

/// One integer per spatial dimension; `otherwise` for each when the attribute is absent.
std::optional<llvm::SmallVector<int64_t>> perDimension(NodeImport &n, llvm::StringRef name,
                                                       size_t count, int64_t otherwise);

/// Reads strides, dilations, pads and auto_pad, and requires that no result size is negative. With
/// `roundUp` windows that start inside but end outside are kept.
std::optional<Windows> readWindows(NodeImport &n, llvm::ArrayRef<SymExpr> spatial, Dims kernel,
                                   bool roundUp = false);

/// [C] as [C, 1, ..]: beside `rank` dimensions whose second is C. Null when it has another length.
Value channelParameter(NodeImport &n, Value parameter, unsigned rank, SymExpr channels);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_OPERATORS_WINDOWS_H
