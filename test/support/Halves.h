//===- Halves.h - What tests of f16 and bf16 share --------------------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_HALVES_H
#define WEFT_TEST_SUPPORT_HALVES_H

#include "test/support/Program.h"
#include "test/targets/plain/PlainFamily.h"

namespace weft::test {

/// Machines that differ in how they widen and mask elements of 16 bits.
inline const std::vector<std::string> kHalfTargets{"x86:v4+bf16", "plain:v4+bf16", "x86:v4+vnni",
                                                   "x86:v3", "x86:v2"};

/// A place of the type: what one rounding more or less may change.
inline double place(const std::string &element) { return element == "f16" ? 0x1p-10 : 0x1p-7; }

/// softmax(q * k / 4 + mask) * v in one type, with `d` and `e` columns of keys and values. Heads lie side by side in a row, or apart.
std::string attention(const std::string &element, int64_t d = 20, int64_t e = 20,
                      bool sideBySide = false);

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_HALVES_H
