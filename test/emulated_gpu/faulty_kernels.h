// Kernels that are right, and ways to break them.
#ifndef WEFT_TEST_EMULATED_GPU_FAULTY_KERNELS_H
#define WEFT_TEST_EMULATED_GPU_FAULTY_KERNELS_H

#include <functional>

#include "test/emulated_gpu/gpu.h"

namespace weft_test {

/// A kernel that is right: `run` gives what was found, or "wrong" when its numbers are.
struct sound_kernel {
  const char *name;
  std::string text;
  std::function<std::string(gpu &, const std::string &text)> run;
};

/// A change of its text, and a part of what must be found; alternatives have a | between them.
struct fault {
  const char *kernel, *what, *from, *to;
  int nth;
  const char *expected;
};

const std::vector<sound_kernel> &sound_kernels();
const std::vector<fault> &faults();

} // namespace weft_test

#endif
