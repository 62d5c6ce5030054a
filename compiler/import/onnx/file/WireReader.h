//===- WireReader.h - Protobuf's wire format, field by field ----------------------------------===//
//
// Splits one serialised message into its fields and knows nothing of their meaning. Never reads
// outside the message.
//
//   WireCursor cursor(message);
//   for (WireField field; cursor.next(field);) use(field);
//   if (cursor.problem()) report(cursor.position(), cursor.problem());
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_FILE_WIREREADER_H
#define WEFT_COMPILER_IMPORT_ONNX_FILE_WIREREADER_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace weft {

/// How a field is encoded, as numbered in the file. 3 and 4 are the obsolete groups, which are
/// refused.
enum class WireType : unsigned { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
  unsigned number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0;         ///< Varint, Fixed32, Fixed64
  llvm::ArrayRef<char> bytes; ///< Bytes: the content
  const char *start = nullptr;
};

/// Reads a varint of at most 64 bits and advances `position`. False when it is cut off or longer.
bool readVarint(const char *&position, const char *end, uint64_t &value);

/// Reads `width` (4 or 8) little-endian bytes and advances `position`. False when fewer are left.
bool readFixed(const char *&position, const char *end, unsigned width, uint64_t &value);

class WireCursor {
public:
  explicit WireCursor(llvm::ArrayRef<char> message)
      : current(message.begin()), end(message.end()) {}

  /// False at the end of the message, and at the first malformed field: then problem() says what is
  /// wrong with it.
  bool next(WireField &field);

  const char *problem() const { return reason; }
  const char *position() const { return current; }

private:
  bool malformed(const char *start, const char *why);
  bool readPayload(WireField &field);

  const char *current;
  const char *end;
  const char *reason = nullptr;
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_ONNX_FILE_WIREREADER_H
