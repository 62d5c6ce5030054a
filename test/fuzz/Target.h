//===- Target.h - What each fuzz target provides ------------------------------------------------===//
//
// A target is one function over bytes, LLVMFuzzerTestOneInput; what it promises it checks with require(), also in optimised builds.
// libfuzzer.cpp runs it under libFuzzer, driver.cpp without. Both mutate with the target's format.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_FUZZ_TARGET_H
#define WEFT_TEST_FUZZ_TARGET_H

#include "test/fuzz/Formats.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace weft::fuzz {

const Format &targetFormat();

/// Good inputs that the target makes; `corpus` holds the content of the files in its folder of test/fuzz/corpus, in the order of their
/// names.
std::vector<std::string> targetSeeds(const std::vector<std::string> &corpus);

/// The seeds of this target.
std::vector<std::string> seeds();

/// The content of a folder's files in the order of their names.
std::vector<std::string> readFolder(const std::filesystem::path &folder);

/// Writes seeds into a folder, as a corpus for libFuzzer.
void writeSeeds(const std::filesystem::path &folder);

/// Inputs that were accepted so far.
inline size_t accepted = 0;

/// Ends the process when a promise is broken.
inline void require(bool holds, const char *promise) {
  if (holds)
    return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// An error is one line of bounded length that starts with the file's name: "m.onnx: …" or "'m.onnx' is …".
inline void requireError(const std::string &error, const std::string &name) {
  require(error.rfind(name + ": ", 0) == 0 || error.rfind("'" + name + "' is ", 0) == 0,
          "the error starts with the file's name");
  for (char byte : error)
    require(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f,
            "the error has no control characters");
  require(error.size() < 20000, "the error has bounded length");
}

} // namespace weft::fuzz

#endif // WEFT_TEST_FUZZ_TARGET_H
