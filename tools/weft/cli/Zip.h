//===- Zip.h - Archives of stored members, as numpy.savez writes them -------------------------===//
//
//   Result<std::vector<ZipMember>> members = readZip(bytes, size);
//
//   ZipWriter zip;
//   zip.add("x.npy", {header, data});        // not copied: they live until the file is written
//   zip.finish() → pieces of the file
//
// Compressed or encrypted members are refused in words. Every position is checked against the file,
// every member against its CRC.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_ZIP_H
#define WEFT_TOOLS_WEFT_CLI_ZIP_H

#include "tools/weft/cli/Result.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

struct ZipMember {
  std::string name;
  size_t begin, size; ///< of the content in the file
};

Result<std::vector<ZipMember>> readZip(const uint8_t *bytes, size_t size);

class ZipWriter {
public:
  void add(std::string_view name, const std::vector<std::string_view> &content);
  /// The file's pieces in order; valid as long as this object and the contents given.
  std::vector<std::string_view> finish();

private:
  std::deque<std::string> headers; ///< a deque does not move what it holds
  std::vector<std::string_view> pieces;
  std::string directory;
  uint64_t position = 0, count = 0;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_ZIP_H
