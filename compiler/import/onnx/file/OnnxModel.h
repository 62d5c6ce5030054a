//===- OnnxModel.h - An ONNX file as plain structs --------------------------------------------===//
//
// What OnnxReader.h fills: one struct per message of onnx.proto, checked for form but not for
// meaning.
//
//   for (const OnnxNode &node : model.graph.nodes)
//     if (const OnnxAttribute *axis = node.attribute("axis")) use(axis->i);
//
// Every StringRef and ArrayRef points into `OnnxModel::file`, which the model keeps mapped; nothing
// of a weight is copied.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXMODEL_H
#define WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXMODEL_H

#include "compiler/import/readers/MappedFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// TensorProto.DataType. A file may hold other numbers; the reader keeps them, reading such a
/// tensor's data is refused.
enum class OnnxElementType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
  Float6E2M3 = 27,
  Float6E3M2 = 28,
};

/// Name as in the ONNX documentation ("float", "int64", "float8e4m3fn"); "element type 77" for an
/// unknown number.
std::string elementTypeName(OnnxElementType type);

/// Width of one element in bits (4 for int4); 0 for strings, undefined and unknown types.
unsigned elementBits(OnnxElementType type);

/// One dimension of a declared shape. A stored value of -1 and an empty parameter name mean
/// Unknown.
struct OnnxDim {
  enum class Kind { Unknown, Value, Param };
  Kind kind = Kind::Unknown;
  int64_t value = 0;
  llvm::StringRef param;
};

/// A declared type. Sequence and Optional have one element in `inner`, Map has its value type
/// there.
struct OnnxType {
  enum class Kind { None, Tensor, SparseTensor, Sequence, Optional, Map, Opaque };
  Kind kind = Kind::None;
  OnnxElementType elementType = OnnxElementType::Undefined; ///< of tensors; the key type of maps
  bool hasShape = false;                                    ///< false: the rank is unknown
  std::vector<OnnxDim> dims;
  std::vector<OnnxType> inner;
};

struct OnnxValueInfo {
  llvm::StringRef name;
  OnnxType type; ///< Kind::None when the file states no type
};

/// Where a tensor's bytes lie outside the model file, as written there; checked when OnnxTensorData
/// reads them.
struct OnnxExternalData {
  llvm::StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

/// A constant. `storage` says which of the fields below carries it; OnnxTensorData.h turns any of
/// them into plain bytes. For element types known here the reader has checked that the stored
/// amount agrees with `dims` (External: when read).
struct OnnxTensor {
  enum class Storage { None, Raw, Typed, Strings, External };
  llvm::StringRef name;
  OnnxElementType elementType = OnnxElementType::Undefined;
  std::vector<int64_t> dims; ///< all >= 0
  Storage storage = Storage::None;
  llvm::ArrayRef<char> raw; ///< Raw: the bytes
  unsigned typedField = 0;  ///< Typed, Strings: the field number in TensorProto
  uint64_t typedCount = 0;  ///< Typed, Strings: entries in that field
  llvm::ArrayRef<char>
      message; ///< the serialised TensorProto, from which typed fields are decoded on demand
  OnnxExternalData external; ///< External
};

struct OnnxSparseTensor {
  OnnxTensor values;
  OnnxTensor indices;
  std::vector<int64_t> dims;
};

struct OnnxGraph;

/// A named attribute. The single kinds Tensor, Graph, SparseTensor and Type use element 0 of the
/// list of the same name. When `refName` is not empty the attribute takes its value from that
/// attribute of the enclosing function, and holds none.
struct OnnxAttribute {
  enum class Kind {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    Type = 13,
    Types = 14,
  };
  llvm::StringRef name;
  llvm::StringRef refName;
  Kind kind = Kind::Undefined;
  float f = 0;
  int64_t i = 0;
  llvm::StringRef s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<llvm::StringRef> strings;
  std::vector<OnnxTensor> tensors;
  std::vector<OnnxGraph> graphs;
  std::vector<OnnxSparseTensor> sparseTensors;
  std::vector<OnnxType> types;
};

/// "float", "ints", "graph", ...
llvm::StringRef attributeKindName(OnnxAttribute::Kind kind);

/// A call of an operator or of a model-local function. An empty input name is an omitted optional
/// input. The domain "ai.onnx" is stored as "", here, in functions and in operator set imports.
struct OnnxNode {
  llvm::StringRef name;
  llvm::StringRef opType;
  llvm::StringRef domain;
  llvm::StringRef overload;
  std::vector<llvm::StringRef> inputs;
  std::vector<llvm::StringRef> outputs;
  std::vector<OnnxAttribute> attributes; ///< names are distinct
  uint64_t fileOffset = 0;               ///< of the serialised node, for messages

  /// Null when there is no such attribute.
  const OnnxAttribute *attribute(llvm::StringRef attributeName) const {
    for (const OnnxAttribute &candidate : attributes)
      if (candidate.name == attributeName)
        return &candidate;
    return nullptr;
  }
};

struct OnnxGraph {
  llvm::StringRef name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxSparseTensor> sparseInitializers;
  std::vector<OnnxValueInfo> inputs;
  std::vector<OnnxValueInfo> outputs;
  std::vector<OnnxValueInfo> valueInfo;
};

struct OnnxOpset {
  llvm::StringRef domain;
  int64_t version = 0;
};

struct OnnxFunction {
  llvm::StringRef domain;
  llvm::StringRef name;
  llvm::StringRef overload;
  std::vector<llvm::StringRef> inputs;
  std::vector<llvm::StringRef> outputs;
  std::vector<llvm::StringRef> attributes;      ///< parameters without a default
  std::vector<OnnxAttribute> attributeDefaults; ///< parameters with one (`attribute_proto`)
  std::vector<OnnxNode> nodes;
  std::vector<OnnxOpset> opsets;
  std::vector<OnnxValueInfo> valueInfo;
};

struct OnnxModel {
  std::shared_ptr<MappedFile> file; ///< what all references point into
  int64_t irVersion = 0;
  std::vector<OnnxOpset> opsets; ///< domains are distinct
  llvm::StringRef producerName;
  llvm::StringRef producerVersion;
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> metadata;

  /// The imported version of a domain ("" for standard operators), if imported.
  std::optional<int64_t> opsetVersion(llvm::StringRef domain) const {
    for (const OnnxOpset &opset : opsets)
      if (opset.domain == domain)
        return opset.version;
    return std::nullopt;
  }
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_ONNX_FILE_ONNXMODEL_H
