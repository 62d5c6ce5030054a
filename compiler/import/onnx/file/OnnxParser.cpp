//===- OnnxParser.cpp - Fields, limits and errors of the ONNX reader --------------------------===//

#include "compiler/import/onnx/file/OnnxParser.h"
#include "compiler/import/readers/ReadError.h"
#include <cstring>

using namespace llvm;

namespace weft {

std::string notAModel(const MappedFile &file) {
  return "'" + file.path().str() + "' is not an ONNX model: ";
}

bool OnnxParser::fail(const char *at, const Twine &reason) {
  if (!message.empty())
    return false;
  message = isModel ? file.path().str() + ": " : notAModel(file);
  if (at)
    message += "byte " + std::to_string(at - file.bytes().data()) + ": ";
  for (const PlaceEntry &place : places) {
    message += place.kind;
    if (place.index == Place::noIndex)
      message += " " + quotedText(*place.name);
    else if (message += " " + std::to_string(place.index); place.name && !place.name->empty())
      message += " (" + quotedText(*place.name) + ")";
    message += ": ";
  }
  message += reason.str();
  return false;
}

bool OnnxParser::count(const char *at, uint64_t &total, uint64_t limit, const char *what,
                       uint64_t more) {
  // `more` is at most the file's size, so the sum cannot wrap.
  total += more;
  return total <= limit ||
         fail(at, "the model has more than " + Twine(limit) + " " + what + ", the reader's limit");
}

/// Goes one graph or type deeper. The caller steps out again with --depth.
bool OnnxParser::enter(const char *at) {
  return ++depth <= limits.depth ||
         failOver(at,
                  "graphs or types are nested more than " + Twine(limits.depth) + " levels deep",
                  "nesting=N");
}

bool OnnxParser::countNode(const char *at) {
  return ++nodes <= limits.nodes ||
         failOver(at, "the model has more than " + Twine(limits.nodes) + " nodes", "nodes=N");
}

/// Beyond a limit of the caller's, as opposed to the reader's own.
bool OnnxParser::failOver(const char *at, const Twine &reason, StringRef flag) {
  overLimit = true;
  return fail(at, reason + limitText(flag));
}

static const char *wireTypeName(WireType type) {
  switch (type) {
  case WireType::Varint:
    return "an integer";
  case WireType::Fixed32:
    return "a 32-bit number";
  case WireType::Fixed64:
    return "a 64-bit number";
  case WireType::Bytes:
    break;
  }
  return "bytes";
}

bool OnnxParser::expect(const WireField &field, WireType type) {
  return field.type == type ||
         fail(field.start, "field " + Twine(field.number) + " is encoded as " +
                               wireTypeName(field.type) + ", but must be " + wireTypeName(type));
}

bool OnnxParser::readText(const WireField &field, StringRef &out) {
  out = StringRef(field.bytes.data(), field.bytes.size());
  return expect(field, WireType::Bytes);
}

bool OnnxParser::readName(const WireField &field, StringRef &out) {
  if (field.bytes.size() > limits.nameLength)
    return fail(field.start,
                "a name is longer than " + Twine(limits.nameLength) + " bytes, the reader's limit");
  return readText(field, out);
}

bool OnnxParser::readDomain(const WireField &field, StringRef &out) {
  if (!readName(field, out))
    return false;
  if (out == "ai.onnx")
    out = "";
  return true;
}

bool OnnxParser::readInt(const WireField &field, int64_t &out) {
  out = static_cast<int64_t>(field.value);
  return expect(field, WireType::Varint);
}

bool OnnxParser::readInt32(const WireField &field, int32_t &out) {
  int64_t wide;
  if (!readInt(field, wide))
    return false;
  out = static_cast<int32_t>(wide);
  return out == wide || fail(field.start, "field " + Twine(field.number) + " is " + Twine(wide) +
                                              ", but must fit 32 bits");
}

static float floatFromBits(uint64_t value) {
  auto bits = static_cast<uint32_t>(value);
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

bool OnnxParser::readFloat(const WireField &field, float &out) {
  out = floatFromBits(field.value);
  return expect(field, WireType::Fixed32);
}

bool OnnxParser::appendName(const WireField &field, std::vector<StringRef> &out) {
  return count(field.start, listItems, limits.listItems, "list items") &&
         readName(field, out.emplace_back());
}

bool OnnxParser::appendText(const WireField &field, std::vector<StringRef> &out) {
  return count(field.start, listItems, limits.listItems, "list items") &&
         readText(field, out.emplace_back());
}

bool OnnxParser::appendInts(const WireField &field, std::vector<int64_t> &out) {
  if (field.type == WireType::Varint) {
    out.push_back(static_cast<int64_t>(field.value));
    return count(field.start, listItems, limits.listItems, "list items");
  }
  if (!expect(field, WireType::Bytes))
    return false;
  for (const char *at = field.bytes.begin(); at != field.bytes.end();) {
    const char *start = at;
    uint64_t value;
    if (!readVarint(at, field.bytes.end(), value))
      return fail(start, "a number in a list is cut off or longer than 64 bits");
    if (!count(start, listItems, limits.listItems, "list items"))
      return false;
    out.push_back(static_cast<int64_t>(value));
  }
  return true;
}

bool OnnxParser::appendFloats(const WireField &field, std::vector<float> &out) {
  if (field.type == WireType::Fixed32) {
    out.push_back(floatFromBits(field.value));
    return count(field.start, listItems, limits.listItems, "list items");
  }
  if (!expect(field, WireType::Bytes))
    return false;
  if (field.bytes.size() % sizeof(float) != 0)
    return fail(field.start, "a list of floats ends within a number");
  if (!count(field.start, listItems, limits.listItems, "list items",
             field.bytes.size() / sizeof(float)))
    return false;
  for (const char *at = field.bytes.begin(); at != field.bytes.end();) {
    uint64_t bits;
    readFixed(at, field.bytes.end(), sizeof(float), bits);
    out.push_back(floatFromBits(bits));
  }
  return true;
}

} // namespace weft
