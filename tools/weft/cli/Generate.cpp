//===- Generate.cpp ---------------------------------------------------------------------------===//
#include "tools/weft/cli/Generate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace weft::cli {

namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): element i depends on seed and i only.
uint64_t mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0xD1B54A32D192ED03ull + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

/// Exclusive upper end of generated integers.
int64_t integerEnd(uint32_t element, bool range) {
  switch (element) {
  case WEFT_BOOL:
    return 2;
  case WEFT_I2:
    return 2;
  case WEFT_U2:
    return 4;
  case WEFT_I4:
    return 8;
  case WEFT_U4:
    return 16;
  case WEFT_I8:
    return range ? 128 : 100;
  case WEFT_U8:
    return range ? 256 : 100;
  case WEFT_I16:
    return range ? 32768 : 100;
  case WEFT_U16:
    return range ? 65536 : 100;
  default:
    return range ? std::numeric_limits<int32_t>::max() : 100;
  }
}

class TensorParser {
public:
  explicit TensorParser(std::string_view text) : text(text) {}

  bool run() {
    bool good = value(0);
    skipSpace();
    return good && at == text.size();
  }

  std::vector<int64_t> dims;
  std::vector<double> values;
  std::string error = "it is not a number or a list such as [[1, 2], [3, 4]]";

private:
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }

  bool take(char c) {
    skipSpace();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  bool value(size_t depth) {
    if (!take('['))
      return number(depth);
    if (depth == WEFT_MAX_RANK)
      return fail("it has more than 8 dimensions");
    bool first = dims.size() == depth;
    if (first && sizesKnown)
      return fail("its lists are nested unevenly");
    if (first)
      dims.push_back(-1);
    int64_t count = 0;
    if (!take(']')) {
      do {
        if (!value(depth + 1))
          return false;
        ++count;
      } while (take(','));
      if (!take(']'))
        return false;
    } else {
      sizesKnown = true;
    }
    if (dims[depth] >= 0 && dims[depth] != count)
      return fail("its lists have different lengths: " + std::to_string(dims[depth]) + " and " +
                  std::to_string(count));
    dims[depth] = count;
    return true;
  }

  bool number(size_t depth) {
    if (depth != dims.size())
      return fail("its lists are nested unevenly");
    skipSpace();
    size_t end = std::min(text.find_first_of(",] \n\t", at), text.size());
    std::string word(text.substr(at, end - at));
    if (word.empty())
      return false;
    char *stop = nullptr;
    double parsed = word == "true" ? 1 : word == "false" ? 0 : strtod(word.c_str(), &stop);
    if (stop && (*stop || stop == word.c_str()))
      return fail("'" + word.substr(0, 40) + "' is not a number");
    sizesKnown = true;
    values.push_back(parsed);
    at = end;
    return true;
  }

  bool fail(std::string why) {
    error = std::move(why);
    return false;
  }

  std::string_view text;
  size_t at = 0;
  bool sizesKnown = false; ///< the depth of numbers is: one was seen
};

} // namespace

bool isGenerator(std::string_view word) {
  return word == "zeros" || word == "ones" || word == "rand" || word == "range";
}

std::string fillTensor(HostTensor &tensor, std::string_view generator, uint64_t seed,
                       int64_t below) {
  bool floats = isFloat(tensor.element());
  int64_t end =
      std::max<int64_t>(1, std::min(below, integerEnd(tensor.element(), generator == "range")));
  if (generator == "zeros" || generator == "ones") {
    for (int64_t i = 0; generator == "ones" && i < tensor.count(); ++i)
      tensor.set(i, 1);
    return std::string(generator);
  }
  if (generator == "range") {
    for (int64_t i = 0; i < tensor.count(); ++i)
      tensor.set(i, static_cast<double>(floats ? i : i % end));
    return "range from 0";
  }
  for (int64_t i = 0; i < tensor.count(); ++i) {
    uint64_t random = mix(seed, static_cast<uint64_t>(i));
    // 24 bits, so that f32 holds the value exactly.
    tensor.set(i, floats ? static_cast<double>(random >> 40) / (1 << 23) - 1
                         : static_cast<double>(random % static_cast<uint64_t>(end)));
  }
  return floats ? "uniform in -1..1" : "0.." + std::to_string(end - 1);
}

Result<HostTensor> parseTensor(std::string_view text, uint32_t element) {
  TensorParser parser(text);
  if (!parser.run())
    return Failure{ExitInputRefused, parser.error, {}, "W0441"};
  Result<HostTensor> tensor = HostTensor::allocate(element, parser.dims);
  if (!tensor)
    return tensor;
  for (int64_t i = 0; i < tensor->count(); ++i) {
    double value = parser.values[static_cast<size_t>(i)];
    tensor->set(i, value);
    // Numbers are read as doubles, which hold all whole numbers below 2^53.
    if (!isFloat(element) && (tensor->get(i) != value || std::fabs(value) >= 9007199254740992.0))
      return Failure{ExitInputRefused,
                     "element " + std::to_string(i) + " does not fit " + weft_element_name(element),
                     {},
                     "W0403"};
  }
  return tensor;
}

} // namespace weft::cli
