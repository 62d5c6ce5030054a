//===- RoundedWeights.h - Numbers that a strategy cannot say in its lines ---------------------===//
//
//   std::string bytes = writeRounded(weights);                            // a .safetensors file
//   Expected<RoundedWeights> read = readRounded(file);
//
// A layer has three tensors, such as `00003.numbers`, `00003.scales` and `00003.zeros`. Any bytes
// are read into weights whose sizes fit each other, or an error; nothing in here knows MLIR.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_ROUNDEDWEIGHTS_H
#define WEFT_COMPILER_QUANTIZE_ROUNDEDWEIGHTS_H

#include "compiler/import/readers/MappedFile.h"
#include "passes/quant/PackedBlocks.h"
#include <map>

namespace weft {

/// By layer.
using RoundedWeights = std::map<int64_t, std::shared_ptr<const PackedBlocks>>;

/// The same weights give the same bytes.
std::string writeRounded(const RoundedWeights &weights);
llvm::Expected<RoundedWeights> readRounded(std::shared_ptr<MappedFile> file);

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_ROUNDEDWEIGHTS_H
