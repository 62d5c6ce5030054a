//===- NodeOrder.cpp - The nodes that outputs need, in an order that can be executed ----------===//

#include "compiler/import/onnx/graph/NodeOrder.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace weft::onnx {

std::string describeNode(const OnnxNode &node) {
  std::string type =
      (node.domain.empty() ? "" : printableText(node.domain) + ":") + printableText(node.opType);
  if (!node.name.empty() || node.outputs.empty())
    return "node " + quotedText(node.name) + " (" + type + ")";
  return "the node that writes " + quotedText(node.outputs[0]) + " (" + type + ")";
}

/// Names that a graph reads from around it.
static void addFreeNames(const OnnxGraph &graph, std::vector<StringRef> &names);

static void addReads(const OnnxNode &node, std::vector<StringRef> &names) {
  for (StringRef name : node.inputs)
    if (!name.empty())
      names.push_back(name);
  for (const OnnxAttribute &attribute : node.attributes)
    for (const OnnxGraph &graph : attribute.graphs)
      addFreeNames(graph, names);
}

static void addFreeNames(const OnnxGraph &graph, std::vector<StringRef> &names) {
  llvm::StringSet<> inner;
  for (const OnnxValueInfo &input : graph.inputs)
    inner.insert(input.name);
  for (const OnnxTensor &tensor : graph.initializers)
    inner.insert(tensor.name);
  std::vector<StringRef> reads;
  for (const OnnxNode &node : graph.nodes) {
    for (StringRef output : node.outputs)
      inner.insert(output);
    addReads(node, reads);
  }
  for (const OnnxValueInfo &output : graph.outputs)
    reads.push_back(output.name);
  for (StringRef name : reads)
    if (!inner.contains(name))
      names.push_back(name);
}

namespace {
/// Depth-first from the outputs, without recursion: chains of nodes are as long as the model.
class Orderer {
public:
  explicit Orderer(ArrayRef<OnnxNode> nodes) : nodes(nodes), state(nodes.size(), Unseen) {}

  llvm::Expected<std::vector<unsigned>> run(ArrayRef<StringRef> outputs) {
    for (auto [i, node] : llvm::enumerate(nodes))
      for (StringRef output : node.outputs)
        if (!output.empty() && !writer.try_emplace(output, unsigned(i)).second)
          return readError("two nodes write the value " + quotedText(output));
    for (StringRef output : outputs) {
      open(output);
      while (!stack.empty())
        if (!step())
          return readError("the graph has a cycle through " +
                           describeNode(nodes[stack.back().node]));
    }
    std::vector<unsigned> sorted = order;
    llvm::sort(sorted);
    return respectsReads(sorted) ? sorted : order;
  }

private:
  enum State : char { Unseen, Open, Done };
  struct Frame {
    unsigned node;
    std::vector<StringRef> reads;
    size_t next = 0;
  };

  /// False when the writer of `name` is being visited already.
  bool open(StringRef name) {
    auto found = writer.find(name);
    if (found == writer.end() || state[found->second] == Done)
      return true;
    if (state[found->second] == Open)
      return false;
    state[found->second] = Open;
    Frame frame{found->second, {}, 0};
    addReads(nodes[frame.node], frame.reads);
    stack.push_back(std::move(frame));
    return true;
  }

  bool step() {
    Frame &frame = stack.back();
    if (frame.next < frame.reads.size())
      return open(frame.reads[frame.next++]);
    state[frame.node] = Done;
    order.push_back(frame.node);
    stack.pop_back();
    return true;
  }

  bool respectsReads(ArrayRef<unsigned> sorted) const {
    for (unsigned i : sorted) {
      std::vector<StringRef> reads;
      addReads(nodes[i], reads);
      for (StringRef name : reads)
        if (auto found = writer.find(name); found != writer.end() && found->second >= i)
          return false;
    }
    return true;
  }

  ArrayRef<OnnxNode> nodes;
  llvm::StringMap<unsigned> writer;
  std::vector<State> state;
  std::vector<Frame> stack;
  std::vector<unsigned> order;
};
} // namespace

llvm::Expected<std::vector<unsigned>> orderNodes(ArrayRef<OnnxNode> nodes,
                                                 ArrayRef<StringRef> outputs) {
  return Orderer(nodes).run(outputs);
}

} // namespace weft::onnx
