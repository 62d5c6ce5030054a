//===- ReaderTest.h - Errors and temporary folders for the readers' tests ---------------------===//
#ifndef WEFT_TEST_COMPILER_READERS_READERTEST_H
#define WEFT_TEST_COMPILER_READERS_READERTEST_H

#include "compiler/import/readers/MappedFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

namespace weft {

/// The message of a failed result; "" when it succeeded.
template <typename T> std::string errorOf(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}

/// The value of a result that must have succeeded.
template <typename T> T valueOf(llvm::Expected<T> result) {
  std::string error = result ? "" : llvm::toString(result.takeError());
  REQUIRE(error == "");
  return std::move(*result);
}

inline llvm::ArrayRef<char> asBytes(llvm::StringRef text) { return {text.data(), text.size()}; }

inline std::string asText(llvm::ArrayRef<char> bytes) {
  return std::string(bytes.begin(), bytes.end());
}

/// A folder that goes away with everything in it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    llvm::SmallString<128> created;
    REQUIRE(!llvm::sys::fs::createUniqueDirectory("weft-readers", created));
    path = created.str().str();
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }

  /// Writes a file below the folder and returns its path.
  std::string write(const std::string &name, const std::string &content) const {
    std::ofstream(path + "/" + name, std::ios::binary) << content;
    return path + "/" + name;
  }

  std::string path;
};

} // namespace weft

#endif // WEFT_TEST_COMPILER_READERS_READERTEST_H
