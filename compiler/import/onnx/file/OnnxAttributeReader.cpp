//===- OnnxAttributeReader.cpp - Attributes ---------------------------------------------------===//

#include "compiler/import/onnx/file/OnnxParser.h"
#include "compiler/import/readers/ReadError.h"

using namespace llvm;

namespace weft {

using Kind = OnnxAttribute::Kind;

StringRef attributeKindName(Kind kind) {
  static const char *const names[] = {"undefined",      "float",   "int",    "string",
                                      "tensor",         "graph",   "floats", "ints",
                                      "strings",        "tensors", "graphs", "sparse tensor",
                                      "sparse tensors", "type",    "types"};
  auto index = static_cast<unsigned>(kind);
  return index < std::size(names) ? names[index] : "unknown";
}

/// The kind whose value a field of AttributeProto carries; Undefined for fields that are no value.
static Kind kindOfField(unsigned number) {
  switch (number) {
  case 2:
    return Kind::Float;
  case 3:
    return Kind::Int;
  case 4:
    return Kind::String;
  case 5:
    return Kind::Tensor;
  case 6:
    return Kind::Graph;
  case 7:
    return Kind::Floats;
  case 8:
    return Kind::Ints;
  case 9:
    return Kind::Strings;
  case 10:
    return Kind::Tensors;
  case 11:
    return Kind::Graphs;
  case 14:
    return Kind::Type;
  case 15:
    return Kind::Types;
  case 22:
    return Kind::SparseTensor;
  case 23:
    return Kind::SparseTensors;
  default:
    return Kind::Undefined;
  }
}

bool OnnxParser::appendAttribute(const WireField &field, std::vector<OnnxAttribute> &list) {
  if (list.size() == limits.nodeAttributes)
    return fail(field.start, "more than " + Twine(limits.nodeAttributes) +
                                 " attributes in one place, the reader's limit");
  OnnxAttribute &attribute = list.emplace_back();
  if (!count(field.start, attributes, limits.attributes, "attributes") ||
      !expect(field, WireType::Bytes) || !parseAttribute(field.bytes, attribute))
    return false;
  for (size_t i = 0; i + 1 < list.size(); ++i)
    if (list[i].name == attribute.name)
      return fail(field.start, "the attribute " + quotedText(attribute.name) + " is given twice");
  return true;
}

bool OnnxParser::parseAttribute(ArrayRef<char> bytes, OnnxAttribute &attribute) {
  Place here(*this, "attribute", Place::noIndex, &attribute.name);
  unsigned presentKinds = 0;
  bool wellFormed = eachField(bytes, [&](const WireField &field) {
    if (Kind kind = kindOfField(field.number); kind != Kind::Undefined) {
      presentKinds |= 1u << static_cast<unsigned>(kind);
      return parseAttributeValue(field, attribute, kind);
    }
    switch (field.number) {
    case 1:
      return readName(field, attribute.name);
    case 20: {
      int32_t kind = 0;
      if (!readInt32(field, kind))
        return false;
      if (kind < 0 || kind > static_cast<int32_t>(Kind::Types))
        return fail(field.start, "the attribute has the unknown type " + Twine(kind));
      attribute.kind = static_cast<Kind>(kind);
      return true;
    }
    case 21:
      return readName(field, attribute.refName);
    default:
      return true;
    }
  });
  return wellFormed && settleAttributeKind(bytes.begin(), attribute, presentKinds);
}

/// The single kinds share the lists of the plural ones; a second value shows when the kind is
/// settled.
bool OnnxParser::parseAttributeValue(const WireField &field, OnnxAttribute &attribute, Kind kind) {
  switch (kind) {
  case Kind::Float:
    return readFloat(field, attribute.f);
  case Kind::Int:
    return readInt(field, attribute.i);
  case Kind::String:
    return readText(field, attribute.s);
  case Kind::Floats:
    return appendFloats(field, attribute.floats);
  case Kind::Ints:
    return appendInts(field, attribute.ints);
  case Kind::Strings:
    return appendText(field, attribute.strings);
  case Kind::Tensor:
  case Kind::Tensors:
    return appendTensor(field, "tensor", attribute.tensors);
  case Kind::SparseTensor:
  case Kind::SparseTensors:
    return appendSparse(field, "sparse tensor", attribute.sparseTensors);
  case Kind::Graph:
  case Kind::Graphs:
    return expect(field, WireType::Bytes) &&
           countNode(field.start) && // an empty graph costs as much as a node
           parseGraph(field.bytes, attribute.graphs.emplace_back());
  case Kind::Type:
  case Kind::Types:
    return expect(field, WireType::Bytes) && count(field.start, values, limits.values, "values") &&
           parseType(field.bytes, attribute.types.emplace_back());
  case Kind::Undefined:
    break;
  }
  return true;
}

bool OnnxParser::settleAttributeKind(const char *at, OnnxAttribute &attribute,
                                     unsigned presentKinds) {
  if (attribute.name.empty())
    return fail(at, "the attribute has no name");
  if (presentKinds & (presentKinds - 1))
    return fail(at, "the attribute carries values of two types");
  if (!attribute.refName.empty())
    return !presentKinds || fail(at, "the attribute refers to " + quotedText(attribute.refName) +
                                         ", but carries a value as well");
  Kind carried = Kind::Undefined;
  for (unsigned i = 1; i <= static_cast<unsigned>(Kind::Types); ++i)
    if (presentKinds == 1u << i)
      carried = static_cast<Kind>(i);
  if (attribute.kind == Kind::Undefined) // Files of the first IR version state no type.
    attribute.kind = carried;
  if (attribute.kind == Kind::Undefined)
    return fail(at, "the attribute has neither a type nor a value");
  if (carried != Kind::Undefined && carried != attribute.kind)
    return fail(at, "the attribute says it is of type " + attributeKindName(attribute.kind) +
                        ", but carries a value of type " + attributeKindName(carried));
  switch (
      attribute
          .kind) { // Numbers, strings and lists left out are 0 and empty; these have no such default.
  case Kind::Tensor:
    return attribute.tensors.size() == 1 || fail(at, "the attribute must carry one tensor");
  case Kind::Graph:
    return attribute.graphs.size() == 1 || fail(at, "the attribute must carry one graph");
  case Kind::Type:
    return attribute.types.size() == 1 || fail(at, "the attribute must carry one type");
  case Kind::SparseTensor:
    return attribute.sparseTensors.size() == 1 ||
           fail(at, "the attribute must carry one sparse tensor");
  default:
    return true;
  }
}

} // namespace weft
