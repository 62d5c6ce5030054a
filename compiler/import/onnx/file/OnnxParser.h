//===- OnnxParser.h - The reader behind readOnnx ----------------------------------------------===//
//
// Private to this folder. One method per message of onnx.proto; each returns false once an error is
// recorded, and the first error stands. The stack of Place objects says where in the model the
// reader is:
//
//   Place here(*this, "node", graph.nodes.size(), &node.name);     // "node 7 ('/a/b'): "
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXPARSER_H
#define WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXPARSER_H

#include "compiler/import/onnx/file/OnnxReader.h"
#include "compiler/import/onnx/file/WireReader.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace weft {

/// "'model.onnx' is not an ONNX model: ", and a reason follows.
std::string notAModel(const MappedFile &file);

class OnnxParser {
public:
  OnnxParser(const MappedFile &file, const OnnxLimits &limits) : file(file), limits(limits) {}

  /// False on an error, which error() then holds.
  bool parseModel(OnnxModel &model);
  const std::string &error() const { return message; }
  bool isOverLimit() const { return overLimit; } ///< of weft::Limits

private:
  /// Names a part of the model while it lives. Without an index it prints as "attribute 'axis'".
  class Place {
  public:
    static constexpr uint64_t noIndex = ~uint64_t(0);
    Place(OnnxParser &parser, const char *kind, uint64_t index, const llvm::StringRef *name)
        : parser(parser) {
      parser.places.push_back({kind, index, name});
    }
    ~Place() { parser.places.pop_back(); }

  private:
    OnnxParser &parser;
  };
  struct PlaceEntry {
    const char *kind;
    uint64_t index;
    const llvm::StringRef *name;
  };

  // The model's messages (OnnxReader.cpp).
  bool parseModelField(const WireField &field, OnnxModel &model, bool &hasGraph);
  bool parseGraph(llvm::ArrayRef<char> bytes, OnnxGraph &graph);
  bool parseFunction(llvm::ArrayRef<char> bytes, OnnxFunction &function);
  bool parseNode(llvm::ArrayRef<char> bytes, OnnxNode &node);
  bool parseOpset(llvm::ArrayRef<char> bytes, OnnxOpset &opset);
  bool parseEntry(llvm::ArrayRef<char> bytes, llvm::StringRef &key, llvm::StringRef &value);
  bool appendNode(const WireField &field, std::vector<OnnxNode> &nodes);
  bool appendOpset(const WireField &field, std::vector<OnnxOpset> &opsets);
  bool appendValueInfo(const WireField &field, const char *kind,
                       std::vector<OnnxValueInfo> &values);

  // Attributes (OnnxAttributeReader.cpp).
  bool appendAttribute(const WireField &field, std::vector<OnnxAttribute> &attributes);
  bool parseAttribute(llvm::ArrayRef<char> bytes, OnnxAttribute &attribute);
  bool parseAttributeValue(const WireField &field, OnnxAttribute &attribute,
                           OnnxAttribute::Kind kind);
  bool settleAttributeKind(const char *at, OnnxAttribute &attribute, unsigned presentKinds);

  // Types and tensors (OnnxTensorReader.cpp).
  bool parseValueInfo(llvm::ArrayRef<char> bytes, OnnxValueInfo &info);
  bool parseType(llvm::ArrayRef<char> bytes, OnnxType &type);
  bool parseTensorType(llvm::ArrayRef<char> bytes, OnnxType &type);
  bool parseInnerType(llvm::ArrayRef<char> bytes, OnnxType &type, unsigned innerField);
  bool parseShape(llvm::ArrayRef<char> bytes, OnnxType &type);
  bool parseDim(llvm::ArrayRef<char> bytes, OnnxDim &dim);
  bool parseTensor(llvm::ArrayRef<char> bytes, OnnxTensor &tensor);
  bool parseTensorStorage(const WireField &field, OnnxTensor &tensor);
  bool countTyped(const WireField &field, OnnxTensor &tensor);
  bool parseExternalEntry(const WireField &field, OnnxExternalData &external);
  bool checkTensor(const char *at, const OnnxTensor &tensor);
  bool parseSparseTensor(llvm::ArrayRef<char> bytes, OnnxSparseTensor &sparse);
  bool appendTensor(const WireField &field, const char *kind, std::vector<OnnxTensor> &tensors);
  bool appendSparse(const WireField &field, const char *kind,
                    std::vector<OnnxSparseTensor> &tensors);
  bool checkDims(const char *at, llvm::ArrayRef<int64_t> dims);

  // Values of single fields (OnnxParser.cpp).
  bool fail(const char *at, const llvm::Twine &reason);
  bool expect(const WireField &field, WireType type);
  bool readName(const WireField &field, llvm::StringRef &out);
  bool readDomain(const WireField &field, llvm::StringRef &out);
  bool readText(const WireField &field, llvm::StringRef &out);
  bool readInt(const WireField &field, int64_t &out);
  bool readInt32(const WireField &field, int32_t &out);
  bool readFloat(const WireField &field, float &out);
  bool appendName(const WireField &field, std::vector<llvm::StringRef> &out);
  bool appendText(const WireField &field, std::vector<llvm::StringRef> &out);
  bool appendInts(const WireField &field, std::vector<int64_t> &out);
  bool appendFloats(const WireField &field, std::vector<float> &out);
  bool count(const char *at, uint64_t &total, uint64_t limit, const char *what, uint64_t more = 1);
  bool countNode(const char *at);
  bool enter(const char *at);
  bool failOver(const char *at, const llvm::Twine &reason, llvm::StringRef flag);

  /// Calls `visit(field)` for each field of a message until it returns false.
  template <typename Visit> bool eachField(llvm::ArrayRef<char> bytes, Visit visit) {
    WireCursor cursor(bytes);
    for (WireField field; cursor.next(field);)
      if (!visit(field))
        return false;
    return !cursor.problem() || fail(cursor.position(), cursor.problem());
  }

  const MappedFile &file;
  const OnnxLimits &limits;
  std::string message;
  bool overLimit = false;
  bool isModel = false; ///< some field was read that models have
  llvm::SmallVector<PlaceEntry, 16> places;
  unsigned depth = 0;
  uint64_t nodes = 0, attributes = 0, tensors = 0, values = 0, functions = 0, listItems = 0;
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXPARSER_H
