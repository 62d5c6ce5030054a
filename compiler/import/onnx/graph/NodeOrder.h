//===- NodeOrder.h - The nodes that outputs need, in an order that can be executed ------------===//
//
//   llvm::Expected<std::vector<unsigned>> order = orderNodes(graph.nodes, {"logits"});
//   for (unsigned i : *order) visit(graph.nodes[i]);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEORDER_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEORDER_H

#include "compiler/import/onnx/file/OnnxModel.h"
#include "llvm/Support/Error.h"

namespace weft::onnx {

/// Positions of nodes: the file's order where that is possible. Fails when there is a cycle, or when two nodes write one name.
llvm::Expected<std::vector<unsigned>> orderNodes(llvm::ArrayRef<OnnxNode> nodes,
                                                 llvm::ArrayRef<llvm::StringRef> outputs);

/// "node '/layer/Add' (Add)"; the name of the first output stands in for a missing name.
std::string describeNode(const OnnxNode &node);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEORDER_H
