//===- libfuzzer.cpp - libFuzzer's hooks: mutations of a target's format ------------------------===//
//
//   onnx_fuzz --write-seeds=FOLDER          the target's seeds, for a corpus
//===------------------------------------------------------------------------------------------===//
#include "test/fuzz/Target.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

using namespace weft::fuzz;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static const Mutator &mutator() {
  static const Mutator mutator(&targetFormat(), seeds());
  return mutator;
}

static size_t give(const std::string &result, uint8_t *out, size_t most) {
  size_t size = std::min(result.size(), most);
  std::memcpy(out, result.data(), size);
  return size;
}

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  const std::string flag = "--write-seeds=", first = *count == 2 ? (*arguments)[1] : "";
  if (first.rfind(flag, 0) == 0) {
    writeSeeds(first.substr(flag.size()));
    _exit(0); // libFuzzer takes exit() for a finding
  }
  return 0;
}

/// One in four changes is libFuzzer's own, which knows what comparisons look for.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  if (random() % 4 == 0)
    return LLVMFuzzerMutate(data, size, most);
  return give(mutator().mutate({reinterpret_cast<char *>(data), size}, random, most), data, most);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t oneSize,
                                            const uint8_t *other, size_t otherSize, uint8_t *out,
                                            size_t most, unsigned seed) {
  Random random(seed);
  return give(mutator().cross({reinterpret_cast<const char *>(one), oneSize},
                              {reinterpret_cast<const char *>(other), otherSize}, random, most),
              out, most);
}
