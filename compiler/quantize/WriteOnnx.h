//===- WriteOnnx.h - What an ONNX file with QuantizeLinear can say ----------------------------===//
//
//   Expected<std::vector<std::string>> why = refusedByOnnx(module, layers, "model.onnx");
//   if (!(*why)[3].empty()) …              // "its node " + (*why)[3]: the layer has to stay in f32
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_WRITEONNX_H
#define WEFT_COMPILER_QUANTIZE_WRITEONNX_H

#include "passes/quant/IntegerLayers.h"
#include "weft/quantize.hpp"
#include "llvm/Support/Error.h"

namespace weft {

/// By layer what keeps weft::writeOnnx from writing it with integers, as what its node is or does;
/// empty where nothing does. An error where no layer of that file can be.
llvm::Expected<std::vector<std::string>> refusedByOnnx(const Module &module,
                                                       const std::vector<IntegerLayer> &layers,
                                                       const std::string &model);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_WRITEONNX_H
