//===- Constant.h - Text of constants with values from a seed -------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_CONSTANT_H
#define WEFT_TEST_SUPPORT_CONSTANT_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::test {

const std::string f4 = "!weft.f4E2M1FN", powers = "!weft.f8E8M0FNU";

/// `weft.constant` with values from a seed: floats in [-1, 1), those of 4 bits and integers of all values.
struct Constant {
  std::string element;
  std::vector<int64_t> dims;
  unsigned numberBits = 8; ///< that an element of a byte fits in
  std::string type() const;
  std::string numbers(unsigned seed) const; ///< what `text` has between its name and its type
  std::string text(unsigned seed) const;
  /// The same values, of 16 bits.
  std::vector<uint16_t> halves(unsigned seed) const;

private:
  std::string bytes(unsigned seed) const;
};

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_CONSTANT_H
