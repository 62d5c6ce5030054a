//===- EntryPoints.h - The functions that C programs call -------------------------------------===//
#ifndef WEFT_COMPILER_EMBED_ENTRYPOINTS_H
#define WEFT_COMPILER_EMBED_ENTRYPOINTS_H

#include "compiler/embed/Interface.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// The constants of a model, where an object holds them.
constexpr llvm::StringLiteral kEmbeddedWeights = "weft_embedded_weights";

/// A file of weights begins with a line of the caches: 8 bytes of their hash, and zeros. The object
/// asks for its own.
constexpr int64_t kWeightsHead = 64;

/// What a call answers that no check of the function's rows says. Written into headers: they never
/// change.
enum EmbeddedStatus : int32_t {
  EmbeddedNull = -1,      ///< a pointer is null
  EmbeddedUnaligned = -2, ///< arena or weights are not at a multiple of 64
  EmbeddedArena = -3,     ///< the arena is too small
  EmbeddedSize = -4,      ///< a size is negative or more than 2^31 - 1
  EmbeddedForeign = -5    ///< the weights are another object's
};

/// Adds a function for every one of `model` to `module`, which has bind and run of variant 0
/// (Reach::Kernels). `hasWeights`: the object holds some. `mark`: what a file of them begins with.
void emitEntryPoints(mlir::ModuleOp module, const EmbeddedModel &model, bool hasWeights,
                     int64_t mark);

} // namespace weft

#endif
