//===- FuzzTarget.h - What each fuzz target provides ------------------------------------------===//
//
// A target is one function over bytes; what it promises it checks with fuzzRequire, also in
// optimised builds.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_COMPILER_READERS_FUZZTARGET_H
#define WEFT_TEST_COMPILER_READERS_FUZZTARGET_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace weft {

/// Valid inputs from which mutations start.
std::vector<std::string> fuzzSeeds();

/// Inputs that were accepted so far.
inline size_t fuzzAccepted = 0;

/// Ends the process when a promise of the reader is broken.
inline void fuzzRequire(bool holds, const char *promise) {
  if (holds)
    return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// An error is one line of bounded length that starts with the file's name.
inline void fuzzCheckError(const std::string &error, const std::string &name) {
  fuzzRequire(error.rfind(name + ": ", 0) == 0, "the error starts with the file's name");
  for (char byte : error)
    fuzzRequire(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f,
                "the error has no control characters");
  fuzzRequire(error.size() < 20000, "the error has bounded length");
}

} // namespace weft

#endif // WEFT_TEST_COMPILER_READERS_FUZZTARGET_H
