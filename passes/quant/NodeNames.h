//===- NodeNames.h - Nodes of the model, found by patterns ------------------------------------===//
//
//   if (matchesNode(*llvm::GlobPattern::create("*/head/*"), op->getLoc())) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_NODENAMES_H
#define WEFT_PASSES_QUANT_NODENAMES_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/GlobPattern.h"
#include <string>

namespace weft {

/// What the nodes that an operation comes from are called: what stands in quotes of "node '/a/b' (MatMul)",
/// which is how messages describe one, or all of a description without quotes. Operations of a text
/// without names are called "FILE:LINE".
llvm::SmallVector<std::string, 1> nodeNames(mlir::Location location);

/// Whether `pattern` is the name of such a node.
bool matchesNode(const llvm::GlobPattern &pattern, mlir::Location location);

/// Patterns by their texts, or an error at `program`.
mlir::FailureOr<llvm::SmallVector<llvm::GlobPattern>>
nodePatterns(llvm::ArrayRef<std::string> texts, mlir::Operation *program);

} // namespace weft

#endif // WEFT_PASSES_QUANT_NODENAMES_H
