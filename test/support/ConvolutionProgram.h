//===- ConvolutionProgram.h - Programs of one convolution, for tests --------------------------------------------===//
//
//   Convolution c{64, 32, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}};
//   checkConvolution(textOf(c), {sizes(1, 7, 9)}, {"winograd", 1e-4});
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_SUPPORT_CONVOLUTIONPROGRAM_H
#define WEFT_TEST_SUPPORT_CONVOLUTIONPROGRAM_H

#include "test/support/Program.h"

namespace weft::test {

struct Axis {
  int64_t kernel = 1, stride = 1, dilation = 1, low = 0, high = 0;
};

/// "[3, 3]": one number of each.
std::string list(const std::vector<Axis> &axes, int64_t Axis::*field);

/// One convolution of [m, groups * channels, h, w], or of [m, groups * channels, w] when there is one axis; channels may be last.
struct Convolution {
  int64_t channels, filters, groups;
  std::vector<Axis> axes;
  std::string epilogue =
      ""; ///< operations on %y that define %z; $x and $y stand for the types of operand and result
  bool channelsLast = false;
  /// Or bytes, summed in i32, or f16 or bf16.
  std::string element = "f32", filterElement = "f32";
  std::string filterText = ""; ///< unless empty, in place of random numbers
};

/// Numbers of a filter: no two alike, about as large as keeps sums near 1.
std::string filterText(const std::vector<int64_t> &dims);
std::string textOf(const Convolution &convolution);

struct Expectation {
  std::string schedule;
  double tolerance = 1e-5;
  std::vector<std::string> targets = targetsToTry({"x86:host", "x86:v3", "x86:v2"});
  int64_t limit = 8; ///< of generated integers
  bool exact = true; ///< schedules that round more are not asked
};
/// Compiled and evaluated results agree, on every target and with two workers to the bit.
void checkConvolution(const std::string &text, std::initializer_list<Sizes> all,
                      const Expectation &expectation);

inline Sizes sizes(int64_t m, int64_t h, int64_t w) { return {{"m", m}, {"h", h}, {"w", w}}; }
inline Sizes line(int64_t m, int64_t w) { return {{"m", m}, {"w", w}}; }

} // namespace weft::test

#endif // WEFT_TEST_SUPPORT_CONVOLUTIONPROGRAM_H
