//===- WeightBytes.h - Bytes of weights in the layouts that kernels read --------------------------------===//
//
//   placeWeights(weights);
//   if (llvm::Error error = writeWeights(weights, module, [&](llvm::StringRef bytes) { return file.write(bytes); })) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_WEIGHTBYTES_H
#define WEFT_COMPILER_ARTIFACT_WEIGHTBYTES_H

#include "compiler/model/ModuleImpl.h"
#include "compiler/plan/PlannedProgram.h"

namespace weft {

/// Gives every stored weight its offset and size; order is that of first use.
void placeWeights(std::vector<StoredWeight> &weights);

/// Of all that have their places; 0 also where none of them has an element.
uint64_t bytesOf(llvm::ArrayRef<StoredWeight> weights);

/// Takes bytes, in order.
using WeightSink = llvm::function_ref<llvm::Error(llvm::StringRef)>;

/// All of them, packed, each at its offset.
llvm::Error writeWeights(llvm::ArrayRef<StoredWeight> weights, Module::Impl &module,
                         WeightSink sink);

} // namespace weft

#endif
