//===- EmulatedCall.h - Calls artifacts of another processor under an emulator --------------------------===//
//
//   if (isEmulated("arm:v8"))
//     failure = callEmulated(path, inputs, results);
//
// WEFT_TEST_EMULATED is the command line of test/emulated/call_artifact under an emulator, WEFT_TEST_TARGETS what it runs:
// "arm:v8,arm:v8.2". Tests that try several targets then try these instead. A file of tensors is 64-bit words, and bytes behind the
// last of each: how many tensors; of each element, rank, dimensions, and how many bytes.
// WEFT_TEST_DEVICE is a device of the runtime, "emulated", that runs kernels of WEFT_TEST_TARGETS in this process.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_EMULATEDCALL_H
#define WEFT_TEST_SUPPORT_EMULATEDCALL_H

#include "weft/runtime.h"
#include <string>
#include <vector>

namespace weft::test {

struct EmulatedTensor {
  uint32_t element = 0;
  std::vector<int64_t> dims;
  std::vector<char> bytes;
};

/// Whether artifacts for this target are called by the emulator.
bool isEmulated(const std::string &target);

/// `own`, or the targets that are emulated, or computed by a device, if any are.
std::vector<std::string> targetsToTry(std::vector<std::string> own);

/// Whether a target that a test names is one of these: under an emulator those of other processors have nothing to show that they do not
/// show without one.
bool isTried(const std::string &target);

/// Where kernels for this target run, for weft_context_options_t; null: where they do by themselves.
const char *deviceFor(const std::string &target);

/// What went wrong; nothing when `results` are the call's.
std::string callEmulated(const std::string &artifact, const std::vector<weft_tensor_t> &inputs,
                         std::vector<EmulatedTensor> &results, int threads = 1);

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_EMULATEDCALL_H
