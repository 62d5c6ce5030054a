// Convolutions of f16 and bf16 with channels last, for tests: layers as text, and what their results may differ by.
#pragma once
#include "test/support/ConvolutionProgram.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace weft::test {

/// A convolution with channels last, as exporters write it, or with all axes of 1 the product it becomes.
struct HalfLayer {
  std::string element;
  int64_t channels, filters, groups;
  std::vector<Axis> axes;
  bool isComputed = false; ///< the image, on the way
};

/// relu(conv(x) + bias), or of -x; the sum is in f32 and rounded behind the bias.
std::string textOf(const HalfLayer &layer);

/// On every one of the targets that this machine runs, results are within one place of the type, by that schedule.
void agrees(const std::string &text, const std::string &element, std::initializer_list<Sizes> all,
            const std::string &schedule, const std::vector<std::string> &targets);

inline const Axis kSame{3, 1, 1, 1, 1}, kHalf{3, 2, 1, 1, 1};

} // namespace weft::test
