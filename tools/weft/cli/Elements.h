//===- Elements.h - Values of element types as doubles and back -------------------------------===//
//
//   double value = decodeFloat(WEFT_BF16, bits);
//   uint32_t bits = encodeFloat(WEFT_F16, 0.1);     // nearest, ties to even
//
// For the floating-point types that C++17 lacks: f16, bf16 and those of 8 and 4 bits.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_ELEMENTS_H
#define WEFT_TOOLS_WEFT_CLI_ELEMENTS_H

#include <cstdint>

namespace weft::cli {

double decodeFloat(uint32_t element, uint32_t bits);
/// Beyond the largest value: infinity, or NaN where the type has no infinity (all of 8 bits but f8e5m2), or the largest
/// where it has neither (f4e2m1).
uint32_t encodeFloat(uint32_t element, double value);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_ELEMENTS_H
