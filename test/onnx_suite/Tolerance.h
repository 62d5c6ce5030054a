//===- Tolerance.h - Compares as the ONNX backend tests do --------------------------------------===//
//
//   std::string why = differenceOf(got, expected, {1e-3, 1e-7});         // empty when they agree
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_ONNX_SUITE_TOLERANCE_H
#define WEFT_TEST_ONNX_SUITE_TOLERANCE_H

#include "tools/weft/cli/HostTensor.h"

#include <string>

namespace weft::suite {

/// |got - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double relative, absolute;
};

/// Element types and shapes must be equal, integers and booleans too. NaN equals NaN. For bf16 the relative tolerance is at least
/// two steps of that type, as in ONNX's own runner. The data were computed in the type itself, so sums that cancel are only right to
/// its last places: two of the largest element's are added to the absolute tolerance.
std::string differenceOf(const cli::HostTensor &got, const cli::HostTensor &expected,
                         Tolerance tolerance);

/// The same of random choices: the element type, the shape, and that every value is one of the expected ones.
std::string differenceInKind(const cli::HostTensor &got, const cli::HostTensor &expected);

} // namespace weft::suite

#endif // WEFT_TEST_ONNX_SUITE_TOLERANCE_H
