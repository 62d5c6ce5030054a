//===- Generate.h - Tensors without a file: generated, or written on the command line ---------===//
//
//   fillTensor(tensor, "rand", seed)                "uniform in -1..1", what was done, for people
//   parseTensor("[[1, 2], [3, 4]]", WEFT_F32)
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_GENERATE_H
#define WEFT_TOOLS_WEFT_CLI_GENERATE_H

#include "tools/weft/cli/HostTensor.h"

#include <string>
#include <string_view>

namespace weft::cli {

/// zeros, ones, rand or range.
bool isGenerator(std::string_view word);

/// Fills with zeros, ones, 0 1 2 … (range; integers modulo what fits), or rand: floats uniform in
/// [-1, 1), integers in 0..99 or what fits, and less than `below` where they are positions. Depends on the arguments only. Returns what
/// it did.
std::string fillTensor(HostTensor &tensor, std::string_view generator, uint64_t seed,
                       int64_t below = INT64_MAX);

/// Nested lists of numbers, true, false, inf or nan; a plain number is a tensor without dimensions.
Result<HostTensor> parseTensor(std::string_view text, uint32_t element);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_GENERATE_H
