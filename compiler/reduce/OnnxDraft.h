//===- OnnxDraft.h - An ONNX file that can be cut down ----------------------------------------===//
//
//   Expected<OnnxDraft> draft = OnnxDraft::read("model.onnx");
//   draft->nodes.pop_back();
//   draft->prune();
//   std::string bytes = *draft->serialize();
//
// The main graph's nodes, tensors and values are parts that can be taken away or changed; each is
// the message of the file, so what Weft does not know stays as it is. Copies share the messages.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_REDUCE_ONNXDRAFT_H
#define WEFT_COMPILER_REDUCE_ONNXDRAFT_H

#include "compiler/import/onnx/file/OnnxModel.h"
#include "weft/limits.hpp"
#include "llvm/Support/Error.h"
#include <map>

namespace weft {

/// One field of a message: where it lies in the file, or the bytes that were made for it.
class OnnxPart {
public:
  /// `name` as other parts refer to it; empty for what nobody refers to.
  OnnxPart(unsigned field, std::string name, llvm::StringRef inFile)
      : field(field), name(std::move(name)), inFile(inFile) {}
  OnnxPart(unsigned field, std::string name, std::string bytes)
      : field(field), name(std::move(name)),
        made(std::make_shared<const std::string>(std::move(bytes))) {}

  unsigned field; ///< its number in what it is part of
  std::string name;
  /// The content of the message.
  llvm::StringRef content() const { return made ? llvm::StringRef(*made) : inFile; }

private:
  llvm::StringRef inFile;
  std::shared_ptr<const std::string> made;
};

struct OnnxDraftNode {
  OnnxPart part;
  std::vector<std::string> inputs, outputs; ///< an empty name: left out
  std::vector<std::string> captured;        ///< values that its subgraphs read from outside

  /// Every value it needs.
  std::vector<std::string> reads() const;
};

struct OnnxDraft {
  static llvm::Expected<OnnxDraft> read(const std::string &path, const Limits &limits = {});
  /// The parts of a subgraph alone.
  static OnnxDraft ofGraph(llvm::StringRef graph);
  /// A node of these bytes.
  static OnnxDraftNode nodeOf(OnnxPart part);

  std::shared_ptr<const OnnxModel> model;                        ///< whose file the parts lie in
  std::vector<std::pair<unsigned, llvm::StringRef>> modelFields; ///< encoded, all but the graph
  std::vector<std::pair<unsigned, llvm::StringRef>> graphFields; ///< encoded, all but what follows
  std::vector<OnnxDraftNode> nodes;
  std::vector<OnnxPart> initializers, inputs, outputs, valueInfos;
  std::vector<OnnxPart> kept; ///< whose bytes others are parts of

  /// Takes away nodes that no output needs, and what describes values that do not exist.
  void prune();
  /// A whole file. Contents of other files come in.
  llvm::Expected<std::string> serialize() const;
};

} // namespace weft

#endif // WEFT_COMPILER_REDUCE_ONNXDRAFT_H
