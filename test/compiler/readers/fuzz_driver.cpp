//===- fuzz_driver.cpp - Runs a fuzz target on seeded mutations, without libFuzzer ------------===//
//
// Linked to a target in normal builds, so that every test run feeds it some ten thousand inputs
// that are the same each time.
//
//   onnx_fuzz                        20,000 inputs of seed 1
//   onnx_fuzz FILE...                just these files, for example what libFuzzer has found
//   onnx_fuzz --write-seeds=FOLDER   the valid seeds, as a corpus for libFuzzer
//
// WEFT_FUZZ_RUNS and WEFT_FUZZ_SEED change the two numbers.
//===------------------------------------------------------------------------------------------===//
#include "test/compiler/readers/FuzzTarget.h"
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

namespace {

using Random = std::mt19937_64;

size_t below(Random &random, size_t bound) { return bound ? random() % bound : 0; }

/// Bytes that readers tend to stumble over: ends of ranges, wire tags, brackets.
char interestingByte(Random &random) {
  static const char bytes[] = "\x00\x01\x7f\x80\xff\xfe\x0a\x12\x2a\x3a\x08{}[]\",:0-e\\/.";
  return random() % 2 ? bytes[below(random, sizeof(bytes) - 1)] : static_cast<char>(random());
}

void mutateOnce(std::string &input, Random &random) {
  size_t at = below(random, input.size());
  size_t length = below(random, std::min<size_t>(input.size() - at, 32)) + 1;
  switch (random() % 8) {
  case 0: // flip a bit
    if (!input.empty())
      input[at] ^= static_cast<char>(1 << random() % 8);
    break;
  case 1: // overwrite a byte
    if (!input.empty())
      input[at] = interestingByte(random);
    break;
  case 2: // insert a byte
    input.insert(at, 1, interestingByte(random));
    break;
  case 3: // insert a run, which makes long varints and deep brackets
    input.insert(at, 1 + below(random, 100), interestingByte(random));
    break;
  case 4: // remove a piece
    input.erase(at, length);
    break;
  case 5: // repeat a piece
    input.insert(below(random, input.size()), input.substr(at, length));
    break;
  case 6: // copy a piece over another
    input.replace(below(random, input.size()), length, input.substr(at, length));
    break;
  case 7: // cut the end off, seldom
    if (random() % 4 == 0)
      input.resize(at);
    break;
  }
}

void run(const std::string &input) {
  // An exact copy on the heap lets the sanitizers see a read behind the end.
  std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

unsigned long numberFrom(const char *variable, unsigned long fallback) {
  const char *text = std::getenv(variable);
  return text ? std::strtoul(text, nullptr, 10) : fallback;
}

int writeSeeds(const std::string &folder) {
  unsigned count = 0;
  for (const std::string &seed : weft::fuzzSeeds())
    std::ofstream(folder + "/seed-" + std::to_string(count++), std::ios::binary) << seed;
  std::cout << "wrote " << count << " seeds to " << folder << "\n";
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  const char *seedFlag = "--write-seeds=";
  if (argc == 2 && std::strncmp(argv[1], seedFlag, std::strlen(seedFlag)) == 0)
    return writeSeeds(argv[1] + std::strlen(seedFlag));
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    run(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  if (argc > 1)
    return 0;

  unsigned long runs = numberFrom("WEFT_FUZZ_RUNS", 20000);
  unsigned long seed = numberFrom("WEFT_FUZZ_SEED", 1);
  Random random(seed);
  std::vector<std::string> seeds = weft::fuzzSeeds();
  for (const std::string &valid : seeds)
    run(valid);
  for (unsigned long i = 0; i < runs; ++i) {
    std::string input = seeds[below(random, seeds.size())];
    for (size_t changes = 1 + below(random, 6); changes > 0; --changes)
      mutateOnce(input, random);
    run(input);
  }
  std::cout << runs << " inputs from seed " << seed << ", " << weft::fuzzAccepted
            << " of all accepted\n";
  // A target that accepts nothing, not even its seeds, tests nothing.
  return weft::fuzzAccepted >= seeds.size() ? 0 : 1;
}
