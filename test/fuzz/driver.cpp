// Runs a fuzz target without libFuzzer: a fixed number of inputs, the same ones every time.
//
//   artifact_fuzz_seeded [rounds]       mutates the target's seeds
//   artifact_fuzz_seeded FILE…          runs these inputs, to look at a finding of libFuzzer
//
// A target may define weft_fuzz_seed to say what good inputs look like.
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Writes seed `index` to `out` and returns its size; 0 when there are no more.
extern "C" __attribute__((weak)) size_t weft_fuzz_seed(unsigned index, uint8_t *out, size_t size);

using input = std::vector<uint8_t>;

static std::vector<input> seeds() {
  std::vector<input> result;
  input buffer(1 << 16);
  while (weft_fuzz_seed && result.size() < 100) {
    size_t size = weft_fuzz_seed(unsigned(result.size()), buffer.data(), buffer.size());
    if (size == 0)
      break;
    result.emplace_back(buffer.begin(), buffer.begin() + size);
  }
  if (result.empty())
    result.push_back(input(16));
  return result;
}

/// The letters and digits around a place.
static std::pair<size_t, size_t> word_at(const input &data, size_t at) {
  size_t begin = at, end = at;
  while (begin > 0 && std::isalnum(data[begin - 1]))
    --begin;
  while (end < data.size() && std::isalnum(data[end]))
    ++end;
  return {begin, end};
}

/// A word becomes another word or number: text that often still means something.
static void exchange_word(input &data, std::mt19937_64 &random) {
  static const char *const numbers[] = {
      "0", "1", "2", "7", "-1", "64", "4096", "2147483647", "9223372036854775807"};
  auto [begin, end] = word_at(data, random() % data.size());
  auto [from, to] = word_at(data, random() % data.size());
  input word(data.begin() + from, data.begin() + to);
  if (random() % 3 == 0) {
    const char *number = numbers[random() % (sizeof numbers / sizeof *numbers)];
    word.assign(number, number + std::strlen(number));
  }
  data.erase(data.begin() + begin, data.begin() + end);
  data.insert(data.begin() + begin, word.begin(), word.end());
}

/// One small change: another word or byte, a flipped bit, a lost, repeated or inserted piece, a cut.
static void mutate(input &data, std::mt19937_64 &random) {
  static const uint8_t corners[] = {0, 1, 2, 0x7F, 0x80, 0xFF};
  size_t at = data.empty() ? 0 : random() % data.size();
  size_t length = data.empty() ? 0 : 1 + random() % 8 % (data.size() - at);
  if (!data.empty() && random() % 2)
    return exchange_word(data, random);
  switch (data.empty() ? 4 : random() % 7) {
  case 0:
    data[at] = uint8_t(random());
    break;
  case 1:
    data[at] ^= uint8_t(1u << random() % 8);
    break;
  case 2:
    data[at] = corners[random() % sizeof corners];
    break;
  case 3:
    data.erase(data.begin() + at, data.begin() + at + length);
    break;
  case 4:
    for (unsigned count = 1 + random() % 8; count; --count)
      data.insert(data.begin() + at, uint8_t(random()));
    break;
  case 5: {
    input piece(data.begin() + at, data.begin() + at + length);
    data.insert(data.begin() + random() % data.size(), piece.begin(), piece.end());
    break;
  }
  default:
    if (random() % 8 == 0)
      data.resize(at);
  }
}

/// Sanitizers see reads behind an input only when it is an allocation of exactly its size.
static void run(const input &data) {
  uint8_t *copy = static_cast<uint8_t *>(std::malloc(data.size() ? data.size() : 1));
  std::copy(data.begin(), data.end(), copy);
  LLVMFuzzerTestOneInput(copy, data.size());
  std::free(copy);
}

int main(int count, char **arguments) {
  char *end = nullptr;
  unsigned long rounds = count > 1 ? std::strtoul(arguments[1], &end, 10) : 2000;
  if (end && *end) {
    for (int i = 1; i < count; ++i) {
      std::ifstream file(arguments[i], std::ios::binary);
      if (!file)
        return std::fprintf(stderr, "cannot open %s\n", arguments[i]), 2;
      run(input(std::istreambuf_iterator<char>(file), {}));
    }
    return 0;
  }
  std::vector<input> good = seeds();
  for (const input &seed : good)
    run(seed);
  for (unsigned long round = 0; round < rounds; ++round) {
    std::mt19937_64 random(round);
    input data = good[random() % good.size()];
    for (unsigned changes = 1 + random() % 8 % (1 + random() % 8); changes; --changes)
      mutate(data, random);
    run(data);
  }
  std::printf("%lu inputs from %zu seeds\n", rounds, good.size());
  return 0;
}
