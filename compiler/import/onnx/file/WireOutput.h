//===- WireOutput.h - Writes protobuf's wire format -------------------------------------------===//
//
// The opposite of WireReader.h. Fields that were read are written back as they were:
//
//   WireOutput node;
//   node.text(4, "Add");              // a field of our own
//   node.raw(field.start, end);       // one that was read, known or not
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_FILE_WIREOUTPUT_H
#define WEFT_COMPILER_IMPORT_ONNX_FILE_WIREOUTPUT_H

#include "compiler/import/onnx/file/WireReader.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace weft {

class WireOutput {
public:
  std::string bytes;

  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }
  void integer(unsigned field, int64_t value) {
    varint(uint64_t(field) << 3);
    varint(static_cast<uint64_t>(value));
  }
  void text(unsigned field, llvm::StringRef content) {
    varint(uint64_t(field) << 3 | unsigned(WireType::Bytes));
    varint(content.size());
    bytes += content;
  }
  void raw(llvm::StringRef encoded) { bytes += encoded; }
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_ONNX_FILE_WIREOUTPUT_H
