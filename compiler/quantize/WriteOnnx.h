//===- WriteOnnx.h - What an ONNX file with QuantizeLinear can say ----------------------------===//
//
//   Expected<OnnxLimits> file = limitsOfOnnx(module, layers, stays, "model.onnx");
//   if (!file->layers[3].empty()) …         // "its node " + file->layers[3]: it has to stay in f32
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_WRITEONNX_H
#define WEFT_COMPILER_QUANTIZE_WRITEONNX_H

#include "passes/quant/IntegerLayers.h"
#include "weft/quantize.hpp"
#include "llvm/Support/Error.h"

namespace weft {

/// What is written for other engines, by layer.
struct OnnxLimits {
  /// What keeps weft::writeOnnx from writing it with integers, and from rounding its input for
  /// whatever else reads that, as what its node is or does; empty where nothing does.
  std::vector<std::string> layers, everywhere;
  /// How many operators behind it stands what has to be rounded, too.
  std::vector<std::vector<unsigned>> results;
  /// What divides channels of its input.
  enum Division {
    None, ///< nothing: a node would keep a convolution from being fused
    Node, ///< a node that takes time
    Maker ///< the constants of what makes them
  };
  std::vector<Division> divisions;
};

/// An error where no layer of that file can be. Those that stay in f32 have a reason in `stays`.
llvm::Expected<OnnxLimits> limitsOfOnnx(const Module &module,
                                        const std::vector<IntegerLayer> &layers,
                                        const std::vector<std::string> &stays,
                                        const std::string &model);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_WRITEONNX_H
