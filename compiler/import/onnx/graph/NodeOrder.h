//===- NodeOrder.h - The nodes that outputs need, in an order that can be executed ------------===//
//
//   NodeOrder order = orderNodes(graph.nodes, {"logits"});
//   if (order.problem.empty())
//     for (unsigned i : order.nodes) visit(graph.nodes[i]);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEORDER_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEORDER_H

#include "compiler/import/onnx/file/OnnxModel.h"

namespace weft::onnx {

struct NodeOrder {
  std::vector<unsigned> nodes; ///< the file's order where that is possible
  std::string problem; ///< a cycle, or two nodes that write one name; empty when there is none
};

NodeOrder orderNodes(llvm::ArrayRef<OnnxNode> nodes, llvm::ArrayRef<llvm::StringRef> outputs);

/// "node '/layer/Add' (Add)"; the name of the first output stands in for a missing name.
std::string describeNode(const OnnxNode &node);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_NODEORDER_H
