//===- IntegerLayers.h - Products and convolutions that integers could compute -------------------===//
//
//   for (const IntegerLayer &layer : integerLayers(function)) …         // in program order
//   for (const Edge &edge : edgesOf(layers)) …                          // what they read, each value once
//
// A layer multiplies a value with a constant weight of f32, in branches and loops, too.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_INTEGERLAYERS_H
#define WEFT_PASSES_QUANT_INTEGERLAYERS_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/quant/PackedBlocks.h"
#include <functional>
#include <vector>

namespace weft {

struct IntegerLayer {
  mlir::Operation *op;
  mlir::Value input;
  mutable ConstantOp weight; ///< a handle; its methods are not const
  unsigned column;           ///< the weight's dimension whose indices have scales of their own
  llvm::SmallVector<int64_t, 2>
      summed; ///< the input's dimensions that are summed; of windows its channels
  /// The only dimension of the input that is summed, or its channels, and the weight's that walks alike: its indices may be scaled before they
  /// are rounded, as the weight's are by the inverse.
  std::optional<unsigned> inputChannel, weightChannel;
  bool hasRows;   ///< every row of the input may have a scale of its own
  bool hasBlocks; ///< the weight may be rounded alone, in blocks along `weightChannel`
};

std::vector<IntegerLayer> integerLayers(mlir::func::FuncOp function);
/// What constant weights are where none is one of a layer: "f16", or "integers already"; empty where there are none.
std::string otherWeights(mlir::func::FuncOp function);

/// A value that layers read as integers, in one order of its dimensions.
struct Edge {
  mlir::Value value;
  std::optional<unsigned> channel;
  int64_t channels = 1; ///< the size of that dimension
  bool hasRows =
      false; ///< some layer's rows may have scales of their own, and `channel` is the last dimension
  /// A layer's kernel may compute the value, and operators point by point read it, too, and nothing else but layers.
  bool hasOthers = false;
  std::vector<size_t> layers; ///< positions in the list
};

/// In the order of their first layers.
std::vector<Edge> edgesOf(const std::vector<IntegerLayer> &layers);

/// The block in which an edge is read: that of its layers, where it is one, else that of the value.
mlir::Block *blockReading(const Edge &edge, const std::vector<IntegerLayer> &layers);

/// The elements of a constant of f32, by `weight` those of a named one; empty where they are not known.
std::vector<float> floatsOf(ConstantOp constant,
                            const std::function<const char *(llvm::StringRef)> &weight);

} // namespace weft

#endif // WEFT_PASSES_QUANT_INTEGERLAYERS_H
