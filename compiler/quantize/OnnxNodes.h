//===- OnnxNodes.h - Nodes and tensors that an ONNX file gets ---------------------------------===//
//
//   draft.initializers.push_back(tensorOf<float>("scale", OnnxElementType::Float, {}, {0.5f}));
//   draft.nodes.push_back(nodeOf("QuantizeLinear", {"x", "scale", "zero"}, "bytes"));
//   std::optional<FloatTensor> bias = OnnxConstants(draft).find("bias");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_ONNXNODES_H
#define WEFT_COMPILER_QUANTIZE_ONNXNODES_H

#include "compiler/reduce/OnnxDraft.h"
#include <map>
#include <optional>

namespace weft {

std::string nameOf(const OnnxDraftNode &node);
/// "Conv"; of another domain than the standard one "com.acme:Conv".
std::string operatorOf(const OnnxDraftNode &node);

/// A constant of these bytes.
OnnxPart tensorPart(const std::string &name, OnnxElementType element, llvm::ArrayRef<int64_t> dims,
                    llvm::StringRef bytes);
template <typename Number>
OnnxPart tensorOf(const std::string &name, OnnxElementType element, llvm::ArrayRef<int64_t> dims,
                  llvm::ArrayRef<Number> numbers) {
  return tensorPart(name, element, dims,
                    llvm::StringRef(reinterpret_cast<const char *>(numbers.data()),
                                    numbers.size() * sizeof(Number)));
}

/// A node whose name is that of its result, which may get another name later.
OnnxDraftNode nodeOf(llvm::StringRef type, llvm::ArrayRef<std::string> inputs,
                     const std::string &output, std::optional<int64_t> axis = std::nullopt);
/// The node with another name for its first output.
OnnxDraftNode giving(const OnnxDraftNode &node, const std::string &output);
/// The node with other names for all its inputs.
OnnxDraftNode reading(const OnnxDraftNode &node, llvm::ArrayRef<std::string> inputs);

/// The node as the file has it, with its attributes; null for one that was made.
const OnnxNode *inFile(const OnnxDraft &draft, const OnnxDraftNode &node);
int64_t integerOf(const OnnxNode &node, llvm::StringRef attribute, int64_t otherwise);
float floatOf(const OnnxNode &node, llvm::StringRef attribute, float otherwise);

/// Whether nodes alone read a value: it is no output, and no subgraph takes it from outside.
bool isInner(const OnnxDraft &draft, const std::string &value);

struct FloatTensor {
  std::vector<int64_t> dims;
  std::vector<float> numbers;
};

/// Tensors of f32 that nobody can give another value.
class OnnxConstants {
public:
  explicit OnnxConstants(OnnxDraft &draft) : draft(draft) {}
  std::optional<FloatTensor> find(const std::string &name) const;
  /// The numbers of a tensor of i64, as operators take axes.
  std::optional<std::vector<int64_t>> findIntegers(const std::string &name) const;
  void add(const std::string &name, FloatTensor tensor);

private:
  /// The file's own bytes; nothing for another element type, and for inputs.
  std::optional<FloatTensor> read(const std::string &name, OnnxElementType element,
                                  std::string &bytes) const;

  OnnxDraft &draft;
  std::map<std::string, FloatTensor> made;
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_ONNXNODES_H
