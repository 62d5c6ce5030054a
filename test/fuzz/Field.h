//===- Field.h - Inputs of fuzzers as trees of fields -------------------------------------------===//
//
// A format splits the bytes of a good input into fields and writes fields back, so that a mutation changes what the input says and not
// just its bytes: lengths, positions and checksums follow.
//
//   Mutator mutator(onnxFormat(), seeds);
//   std::string next = mutator.mutate(seeds[0], random, 1 << 16);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_FUZZ_FIELD_H
#define WEFT_TEST_FUZZ_FIELD_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::fuzz {

using Random = std::mt19937_64;

struct Field {
  enum Form { Group, Number, Text };
  Form form = Group;
  unsigned kind = 0;                 ///< contents of fields of one kind can take each other's place
  std::string head, tail, separator; ///< the format's: what is around the content and between parts
  uint64_t number = 0;               ///< Number
  std::string text;                  ///< Text: any bytes
  std::vector<Field> parts;          ///< Group
};

/// A file, and the places in it (position, bytes) that follow from the rest: lengths, checksums.
struct Written {
  std::string bytes;
  std::vector<std::pair<size_t, size_t>> derived;
};

class Format {
public:
  virtual ~Format() = default;
  /// Nothing when the bytes are not of this format.
  virtual std::optional<Field> split(std::string_view bytes) const = 0;
  /// Takes any tree that mutations make of one that split() gave.
  virtual Written join(const Field &root) const = 0;
};

class Mutator {
public:
  /// Draws replacements from the fields of `seeds`. Without a format only bytes are changed.
  Mutator(const Format *format, const std::vector<std::string> &seeds);

  /// Some changes; at most `most` bytes.
  std::string mutate(const std::string &input, Random &random, size_t most) const;
  /// `input` with contents of `other`.
  std::string cross(const std::string &input, const std::string &other, Random &random,
                    size_t most) const;

private:
  using Pool = std::map<unsigned, std::vector<Field>>;
  static void collect(const Field &field, Pool &pool);
  std::string change(const std::string &input, const Pool &from, unsigned changes, Random &random,
                     size_t most) const;

  const Format *format;
  Pool pool;
};

/// One small change that knows nothing of the format.
void mutateBytes(std::string &bytes, Random &random);

} // namespace weft::fuzz

#endif // WEFT_TEST_FUZZ_FIELD_H
