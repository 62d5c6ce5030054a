//===- OnnxEdits.h - Single edits of an ONNX file ---------------------------------------------===//
//
// All may leave nodes that nothing needs: OnnxDraft::prune follows.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_REDUCE_ONNXEDITS_H
#define WEFT_COMPILER_REDUCE_ONNXEDITS_H

#include "compiler/reduce/ReduceOnnx.h"

namespace weft {

/// Takes nodes out. False when the type of a value that others still read is not known.
bool removeNodes(OnnxDraft &draft, const std::vector<size_t> &nodes, const OnnxTypes &types);

/// The input of the node that has its only output's type; empty when there is none.
std::string forwardedInput(const OnnxDraftNode &node, const OnnxTypes &types);
/// Readers of the nodes' outputs read their inputs. False where a subgraph reads one.
bool forwardNodes(OnnxDraft &draft, const std::vector<size_t> &nodes, const OnnxTypes &types);

/// The content of the branch 'then_branch' or 'else_branch'; empty when the node has none.
llvm::StringRef branchOf(const OnnxDraftNode &node, llvm::StringRef attribute);
/// The nodes of a branch take the place of each `If`.
bool inlineBranches(OnnxDraft &draft, const std::vector<size_t> &nodes, llvm::StringRef attribute);

/// A node without some of its attributes, numbered in their order.
OnnxDraftNode withoutAttributes(const OnnxDraftNode &node, const std::vector<size_t> &attributes);
size_t countAttributes(const OnnxDraftNode &node);

/// The stored tensor of that name, when it is large enough to be in the way.
const OnnxTensor *largeTensor(const OnnxDraft &draft, const OnnxPart &initializer);
/// All elements zero or one; nothing when the element type has no such bytes here.
std::optional<OnnxPart> uniformTensor(const OnnxPart &initializer, const OnnxTensor &tensor,
                                      int value);
/// An input of the tensor's type.
OnnxPart inputFor(const OnnxTensor &tensor);

} // namespace weft

#endif // WEFT_COMPILER_REDUCE_ONNXEDITS_H
