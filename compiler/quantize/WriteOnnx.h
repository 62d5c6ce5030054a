//===- WriteOnnx.h - What an ONNX file with QuantizeLinear can say ----------------------------===//
//
//   Expected<OnnxRefusals> why = refusedByOnnx(module, layers, "model.onnx");
//   if (!why->layers[3].empty()) …         // "its node " + why->layers[3]: it has to stay in f32
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_WRITEONNX_H
#define WEFT_COMPILER_QUANTIZE_WRITEONNX_H

#include "passes/quant/IntegerLayers.h"
#include "weft/quantize.hpp"
#include "llvm/Support/Error.h"

namespace weft {

/// By layer what keeps weft::writeOnnx from writing it with integers, and from rounding its input
/// for whatever else reads that, as what its node is or does; empty where nothing does.
struct OnnxRefusals {
  std::vector<std::string> layers, everywhere;
};

/// An error where no layer of that file can be.
llvm::Expected<OnnxRefusals> refusedByOnnx(const Module &module,
                                           const std::vector<IntegerLayer> &layers,
                                           const std::string &model);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_WRITEONNX_H
