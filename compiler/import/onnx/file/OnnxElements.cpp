//===- OnnxElements.cpp - How each ONNX element type is stored --------------------------------===//

#include "compiler/import/onnx/file/OnnxElements.h"
#include "compiler/import/onnx/file/OnnxTensorData.h"

using namespace llvm;

namespace weft {

namespace {
struct ElementFacts {
  const char *name;
  unsigned bits;              ///< of one element in raw_data
  unsigned typedField;        ///< of TensorProto
  unsigned elementsPerEntry;  ///< in that field
  unsigned entriesPerElement; ///< in that field
};
} // namespace

/// Indexed by the number of the type.
static const ElementFacts elementTable[] = {
    {"undefined", 0, 0, 1, 1},      {"float", 32, 4, 1, 1},     {"uint8", 8, 5, 1, 1},
    {"int8", 8, 5, 1, 1},           {"uint16", 16, 5, 1, 1},    {"int16", 16, 5, 1, 1},
    {"int32", 32, 5, 1, 1},         {"int64", 64, 7, 1, 1},     {"string", 0, 6, 1, 1},
    {"bool", 8, 5, 1, 1},           {"float16", 16, 5, 1, 1},   {"double", 64, 10, 1, 1},
    {"uint32", 32, 11, 1, 1},       {"uint64", 64, 11, 1, 1},   {"complex64", 64, 4, 1, 2},
    {"complex128", 128, 10, 1, 2},  {"bfloat16", 16, 5, 1, 1},  {"float8e4m3fn", 8, 5, 1, 1},
    {"float8e4m3fnuz", 8, 5, 1, 1}, {"float8e5m2", 8, 5, 1, 1}, {"float8e5m2fnuz", 8, 5, 1, 1},
    {"uint4", 4, 5, 2, 1},          {"int4", 4, 5, 2, 1},       {"float4e2m1", 4, 5, 2, 1},
    {"float8e8m0", 8, 5, 1, 1},     {"uint2", 2, 5, 4, 1},      {"int2", 2, 5, 4, 1},
    {"float6e2m3", 6, 5, 1, 1},     {"float6e3m2", 6, 5, 1, 1},
};

static const ElementFacts *factsOf(OnnxElementType type) {
  auto index = static_cast<int32_t>(type);
  bool known = index >= 0 && index < static_cast<int32_t>(std::size(elementTable));
  return known ? &elementTable[index] : nullptr;
}

std::string elementTypeName(OnnxElementType type) {
  if (const ElementFacts *facts = factsOf(type))
    return facts->name;
  return "element type " + std::to_string(static_cast<int32_t>(type));
}

unsigned elementBits(OnnxElementType type) {
  const ElementFacts *facts = factsOf(type);
  return facts ? facts->bits : 0;
}

std::optional<uint64_t> elementCount(ArrayRef<int64_t> dims) {
  for (int64_t dim : dims)
    if (dim == 0)
      return 0;
  uint64_t product = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(product, static_cast<uint64_t>(dim), &product))
      return std::nullopt;
  return product;
}

std::optional<uint64_t> rawByteCount(OnnxElementType type, uint64_t elements) {
  uint64_t bits;
  if (!elementBits(type) || __builtin_mul_overflow(elements, elementBits(type), &bits))
    return std::nullopt;
  return bits / 8 + (bits % 8 != 0);
}

bool isTypedDataField(unsigned field) {
  return (field >= 4 && field <= 7) || field == 10 || field == 11;
}

WireType typedDataWire(unsigned field) {
  switch (field) {
  case 4:
    return WireType::Fixed32;
  case 10:
    return WireType::Fixed64;
  case 6:
    return WireType::Bytes;
  default:
    return WireType::Varint;
  }
}

std::optional<uint64_t> typedEntryCount(OnnxElementType type, uint64_t elements, unsigned field) {
  const ElementFacts *facts = factsOf(type);
  if (!facts || facts->typedField != field)
    return std::nullopt;
  uint64_t entries = elements / facts->elementsPerEntry + (elements % facts->elementsPerEntry != 0);
  if (__builtin_mul_overflow(entries, facts->entriesPerElement, &entries))
    return std::nullopt;
  return entries;
}

unsigned typedEntryBits(OnnxElementType type) {
  const ElementFacts *facts = factsOf(type);
  return facts ? facts->bits * facts->elementsPerEntry / facts->entriesPerElement : 0;
}

} // namespace weft
