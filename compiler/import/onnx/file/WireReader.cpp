//===- WireReader.cpp - Protobuf's wire format, field by field --------------------------------===//

#include "compiler/import/onnx/file/WireReader.h"

using namespace llvm;

namespace weft {

bool readVarint(const char *&position, const char *end, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; position != end && shift < 64; shift += 7) {
    auto byte = static_cast<unsigned char>(*position++);
    if (shift == 63 && byte > 1)
      return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

bool readFixed(const char *&position, const char *end, unsigned width, uint64_t &value) {
  if (end - position < static_cast<ptrdiff_t>(width))
    return false;
  value = 0;
  for (unsigned i = 0; i < width; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(position[i])) << (8 * i);
  position += width;
  return true;
}

bool WireCursor::malformed(const char *start, const char *why) {
  current = start;
  reason = why;
  return false;
}

bool WireCursor::readPayload(WireField &field) {
  switch (field.type) {
  case WireType::Varint:
    return readVarint(current, end, field.value) ||
           malformed(field.start, "a number is cut off or longer than 64 bits");
  case WireType::Fixed64:
  case WireType::Fixed32:
    return readFixed(current, end, field.type == WireType::Fixed64 ? 8 : 4, field.value) ||
           malformed(field.start, "a number is cut off");
  case WireType::Bytes:
    break;
  }
  uint64_t length;
  if (!readVarint(current, end, length))
    return malformed(field.start, "a length is cut off or longer than 64 bits");
  if (length > static_cast<uint64_t>(end - current))
    return malformed(field.start, "a field reaches beyond the end of what contains it; "
                                  "is the file truncated?");
  field.bytes = ArrayRef<char>(current, length);
  current += length;
  return true;
}

bool WireCursor::next(WireField &field) {
  if (reason || current == end)
    return false;
  field = WireField();
  field.start = current;
  uint64_t tag;
  if (!readVarint(current, end, tag) || tag > UINT32_MAX)
    return malformed(field.start, "a field key is cut off or longer than 32 bits");
  field.number = static_cast<unsigned>(tag >> 3);
  unsigned type = tag & 7;
  if (field.number == 0 || type == 6 || type == 7)
    return malformed(field.start, "not a protobuf field");
  if (type == 3 || type == 4)
    return malformed(field.start, "a protobuf group, which ONNX does not use");
  field.type = static_cast<WireType>(type);
  return readPayload(field);
}

} // namespace weft
