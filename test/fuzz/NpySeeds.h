//===- NpySeeds.h - .npy files from the lines of the corpus --------------------------------------===//
//
// A line is the version of the format and the header's dictionary.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_FUZZ_NPYSEEDS_H
#define WEFT_TEST_FUZZ_NPYSEEDS_H

#include "test/fuzz/Formats.h"

#include <sstream>

namespace weft::fuzz {

/// With 96 bytes of data.
inline std::vector<std::string> npyFiles(const std::vector<std::string> &corpus) {
  std::vector<std::string> files;
  for (const std::string &content : corpus) {
    std::istringstream lines(content);
    for (std::string line; std::getline(lines, line);) {
      char version = static_cast<char>(line[0] - '0');
      std::string header = line.substr(2);
      header.resize((header.size() + 13 + 63) / 64 * 64 - 12, ' ');
      header.back() = '\n';
      files.push_back(std::string("\x93NUMPY") + version + '\0' +
                      fixedBytes(header.size(), version == 1 ? 2 : 4) + header +
                      std::string(96, '\1'));
    }
  }
  return files;
}

} // namespace weft::fuzz

#endif // WEFT_TEST_FUZZ_NPYSEEDS_H
