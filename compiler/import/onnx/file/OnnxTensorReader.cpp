//===- OnnxTensorReader.cpp - Tensors and declared types --------------------------------------===//

#include "compiler/import/onnx/file/OnnxElements.h"
#include "compiler/import/onnx/file/OnnxParser.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"
#include "compiler/import/readers/ReadError.h"
#include <algorithm>

using namespace llvm;

namespace weft {

//===- Types ----------------------------------------------------------------------------------===//

bool OnnxParser::parseValueInfo(ArrayRef<char> bytes, OnnxValueInfo &info) {
  return eachField(bytes, [&](const WireField &field) {
    if (field.number == 1)
      return readName(field, info.name);
    return field.number != 2 ||
           (expect(field, WireType::Bytes) && parseType(field.bytes, info.type));
  });
}

bool OnnxParser::parseType(ArrayRef<char> bytes, OnnxType &type) {
  using TypeKind = OnnxType::Kind;
  if (!enter(bytes.begin()))
    return false;
  auto begin = [&](const WireField &field, TypeKind kind) {
    if (type.kind != TypeKind::None)
      return fail(field.start, "a value has two types");
    type.kind = kind;
    return expect(field, WireType::Bytes);
  };
  bool wellFormed = eachField(bytes, [&](const WireField &field) {
    switch (field.number) {
    case 1:
      return begin(field, TypeKind::Tensor) && parseTensorType(field.bytes, type);
    case 4:
      return begin(field, TypeKind::Sequence) && parseInnerType(field.bytes, type, 1);
    case 5:
      return begin(field, TypeKind::Map) && parseInnerType(field.bytes, type, 2);
    case 7:
      return begin(field, TypeKind::Opaque);
    case 8:
      return begin(field, TypeKind::SparseTensor) && parseTensorType(field.bytes, type);
    case 9:
      return begin(field, TypeKind::Optional) && parseInnerType(field.bytes, type, 1);
    default:
      return true;
    }
  });
  --depth;
  return wellFormed;
}

bool OnnxParser::parseTensorType(ArrayRef<char> bytes, OnnxType &type) {
  return eachField(bytes, [&](const WireField &field) {
    if (field.number == 1) {
      int32_t number = 0;
      bool read = readInt32(field, number);
      type.elementType = static_cast<OnnxElementType>(number);
      return read;
    }
    if (field.number != 2)
      return true;
    if (type.hasShape)
      return fail(field.start, "a type has two shapes");
    type.hasShape = true;
    return expect(field, WireType::Bytes) && parseShape(field.bytes, type);
  });
}

/// Sequence, Optional and Map differ only in the number of the field that holds the inner type; a
/// map's key is field 1.
bool OnnxParser::parseInnerType(ArrayRef<char> bytes, OnnxType &type, unsigned innerField) {
  return eachField(bytes, [&](const WireField &field) {
    if (field.number == innerField) {
      if (!type.inner.empty())
        return fail(field.start, "a type has two element types");
      return expect(field, WireType::Bytes) && parseType(field.bytes, type.inner.emplace_back());
    }
    if (field.number != 1)
      return true;
    int32_t number = 0;
    bool read = readInt32(field, number);
    type.elementType = static_cast<OnnxElementType>(number);
    return read;
  });
}

bool OnnxParser::parseShape(ArrayRef<char> bytes, OnnxType &type) {
  return eachField(bytes, [&](const WireField &field) {
    if (field.number != 1)
      return true;
    if (type.dims.size() == limits.rank)
      return fail(field.start, "a shape has more than " + Twine(limits.rank) +
                                   " dimensions, the reader's limit");
    return count(field.start, listItems, limits.listItems, "list items") &&
           expect(field, WireType::Bytes) && parseDim(field.bytes, type.dims.emplace_back());
  });
}

bool OnnxParser::parseDim(ArrayRef<char> bytes, OnnxDim &dim) {
  return eachField(bytes, [&](const WireField &field) {
    if (field.number == 1) {
      if (!readInt(field, dim.value))
        return false;
      if (dim.value < -1)
        return fail(field.start, "a dimension is " + Twine(dim.value));
      // Converters from frameworks that write -1 for "any" copy it here.
      dim.kind = dim.value < 0 ? OnnxDim::Kind::Unknown : OnnxDim::Kind::Value;
      dim.value = std::max<int64_t>(dim.value, 0);
      dim.param = "";
    } else if (field.number == 2) {
      if (!readName(field, dim.param))
        return false;
      dim.kind = dim.param.empty() ? OnnxDim::Kind::Unknown : OnnxDim::Kind::Param;
      dim.value = 0;
    }
    return true;
  });
}

//===- Tensors --------------------------------------------------------------------------------===//

bool OnnxParser::appendTensor(const WireField &field, const char *kind,
                              std::vector<OnnxTensor> &list) {
  OnnxTensor &tensor = list.emplace_back();
  Place here(*this, kind, list.size() - 1, &tensor.name);
  return count(field.start, tensors, limits.tensors, "tensors") && expect(field, WireType::Bytes) &&
         parseTensor(field.bytes, tensor);
}

bool OnnxParser::parseTensor(ArrayRef<char> bytes, OnnxTensor &tensor) {
  tensor.message = bytes;
  bool isExternal = false;
  bool wellFormed = eachField(bytes, [&](const WireField &field) {
    switch (field.number) {
    case 1:
      return appendInts(field, tensor.dims);
    case 2: {
      int32_t type = 0;
      bool read = readInt32(field, type);
      tensor.elementType = static_cast<OnnxElementType>(type);
      return read;
    }
    case 3:
      return fail(field.start, "the tensor is stored in segments, which is not supported");
    case 8:
      return readName(field, tensor.name);
    case 13:
      return expect(field, WireType::Bytes) && parseExternalEntry(field, tensor.external);
    case 14:
      if (field.value > 1)
        return fail(field.start,
                    "the tensor's data location " + Twine(field.value) + " is unknown");
      isExternal = field.value == 1;
      return expect(field, WireType::Varint);
    default:
      return parseTensorStorage(field, tensor);
    }
  });
  if (!wellFormed)
    return false;
  if (isExternal) {
    if (tensor.storage != OnnxTensor::Storage::None)
      return fail(bytes.begin(), "the tensor's data is both inline and in another file");
    tensor.storage = OnnxTensor::Storage::External;
  }
  return checkTensor(bytes.begin(), tensor);
}

bool OnnxParser::parseTensorStorage(const WireField &field, OnnxTensor &tensor) {
  using Storage = OnnxTensor::Storage;
  bool isRaw = field.number == 9;
  if (!isRaw && !isTypedDataField(field.number))
    return true;
  // Some writers leave an empty field beside the one they use.
  if (field.type == WireType::Bytes && field.bytes.empty() && field.number != 6)
    return true;
  bool another = isRaw ? tensor.storage != Storage::None
                       : tensor.storage != Storage::None && tensor.typedField != field.number;
  if (another)
    return fail(field.start, "the tensor stores its data twice");
  if (!isRaw) {
    tensor.storage = field.number == 6 ? Storage::Strings : Storage::Typed;
    tensor.typedField = field.number;
    return countTyped(field, tensor);
  }
  tensor.storage = Storage::Raw;
  tensor.raw = field.bytes;
  return expect(field, WireType::Bytes);
}

bool OnnxParser::countTyped(const WireField &field, OnnxTensor &tensor) {
  if (field.number == 6) {
    ++tensor.typedCount;
    return expect(field, WireType::Bytes);
  }
  WireType single = typedDataWire(field.number);
  if (field.type == single) {
    ++tensor.typedCount;
    return true;
  }
  if (!expect(field, WireType::Bytes))
    return false;
  if (single != WireType::Varint) {
    unsigned width = single == WireType::Fixed64 ? 8 : 4;
    tensor.typedCount += field.bytes.size() / width;
    return field.bytes.size() % width == 0 ||
           fail(field.start, "the tensor's data ends within a number");
  }
  for (const char *at = field.bytes.begin(); at != field.bytes.end(); ++tensor.typedCount) {
    const char *start = at;
    uint64_t value;
    if (!readVarint(at, field.bytes.end(), value))
      return fail(start, "a number of the tensor's data is cut off or longer than 64 bits");
  }
  return true;
}

bool OnnxParser::parseExternalEntry(const WireField &field, OnnxExternalData &external) {
  StringRef key, value;
  if (!parseEntry(field.bytes, key, value))
    return false;
  if (key == "location") {
    external.location = value;
  } else if (key == "offset" || key == "length") {
    uint64_t number;
    if (value.getAsInteger(10, number))
      return fail(field.start, "the external data's " + key + " is " + quotedText(value) +
                                   ", but must be a number of bytes");
    if (key == "offset")
      external.offset = number;
    else
      external.length = number;
  }
  return true;
}

bool OnnxParser::checkDims(const char *at, ArrayRef<int64_t> dims) {
  if (dims.size() > limits.rank)
    return fail(at, "the tensor has " + Twine(dims.size()) +
                        " dimensions, but the reader's limit is " + Twine(limits.rank));
  for (int64_t dim : dims)
    if (dim < 0)
      return fail(at, "the tensor has the dimension " + Twine(dim));
  return elementCount(dims) ||
         fail(at, "the shape " + shapeText(dims) + " has more elements than can be counted");
}

/// Compares the amount of data with the shape, for types whose layout is known.
bool OnnxParser::checkTensor(const char *at, const OnnxTensor &tensor) {
  using Storage = OnnxTensor::Storage;
  if (!checkDims(at, tensor.dims))
    return false;
  OnnxElementType type = tensor.elementType;
  uint64_t elements = *elementCount(tensor.dims);
  std::string shaped = elementTypeName(type) + " " + shapeText(tensor.dims);
  bool isString = type == OnnxElementType::String;
  switch (tensor.storage) {
  case Storage::External:
    return true;
  case Storage::None:
    return elements == 0 || fail(at, "the tensor of type " + shaped + " has no data");
  case Storage::Strings:
  case Storage::Typed: {
    if (!isString && !elementBits(type))
      return true;
    std::optional<uint64_t> needed = typedEntryCount(type, elements, tensor.typedField);
    if (!needed)
      return fail(at, "data of type " + elementTypeName(type) + " cannot be stored in field " +
                          Twine(tensor.typedField));
    return *needed == tensor.typedCount ||
           fail(at, "the tensor holds " + Twine(tensor.typedCount) + " numbers or strings, but " +
                        shaped + " needs " + Twine(*needed));
  }
  case Storage::Raw:
    break;
  }
  if (isString)
    return fail(at, "strings cannot be stored as raw data");
  if (!elementBits(type))
    return true;
  std::optional<uint64_t> needed = rawByteCount(type, elements);
  return (needed && *needed == tensor.raw.size()) ||
         fail(at, "the tensor holds " + Twine(tensor.raw.size()) + " bytes, but " + shaped +
                      " needs " + (needed ? Twine(*needed) : Twine("more than can be counted")));
}

bool OnnxParser::appendSparse(const WireField &field, const char *kind,
                              std::vector<OnnxSparseTensor> &list) {
  OnnxSparseTensor &sparse = list.emplace_back();
  Place here(*this, kind, list.size() - 1, &sparse.values.name);
  return count(field.start, tensors, limits.tensors, "tensors", 2) &&
         expect(field, WireType::Bytes) && parseSparseTensor(field.bytes, sparse);
}

bool OnnxParser::parseSparseTensor(ArrayRef<char> bytes, OnnxSparseTensor &sparse) {
  bool hasValues = false, hasIndices = false;
  auto part = [&](const WireField &field, bool &seen, OnnxTensor &tensor) {
    if (seen)
      return fail(field.start, "a part of the sparse tensor is given twice");
    seen = true;
    return expect(field, WireType::Bytes) && parseTensor(field.bytes, tensor);
  };
  bool wellFormed = eachField(bytes, [&](const WireField &field) {
    switch (field.number) {
    case 1:
      return part(field, hasValues, sparse.values);
    case 2:
      return part(field, hasIndices, sparse.indices);
    case 3:
      return appendInts(field, sparse.dims);
    default:
      return true;
    }
  });
  if (!wellFormed)
    return false;
  if (!hasValues || !hasIndices)
    return fail(bytes.begin(), "the sparse tensor lacks its values or its indices");
  return checkDims(bytes.begin(), sparse.dims);
}

} // namespace weft
