//===- WinogradFilters.cpp - G w G^T -----------------------------------------------------------------------------------===//

#include "compiler/artifact/WinogradFilters.h"
#include "dialects/plan/WeightParts.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>
#include <vector>

using namespace llvm;

namespace weft {
namespace {

// For the matrices of targets/cpu/schedules/winograd/WinogradTransform.cpp: interpolation at 0, 1, -1 (and 2, -2) and infinity.
constexpr double kFilter2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double kFilter4[6][3] = {{1.0 / 4, 0, 0},
                                   {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                   {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                   {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                   {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                   {0, 0, 1}};

/// The same without fractions, for kIntegerOutput4 there.
constexpr double kIntegers4[6][3] = {{6, 0, 0}, {1, 1, 1},  {1, -1, 1},
                                     {1, 2, 4}, {1, -2, 4}, {0, 0, 6}};

/// One filter of one channel, multiplied by G from both sides.
template <typename T>
void transform(const double (*g)[3], int64_t n, const double (&w)[9], T *result) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t a = 0; a < 3; ++a)
        for (int64_t b = 0; b < 3; ++b)
          sum += g[i][a] * g[j][b] * w[3 * a + b];
      result[i * n + j] = T(sum);
    }
}

} // namespace

uint64_t WinogradPacker::bytes(SymTensorType type) const {
  return divideCeil(*type.getDim(0).asConstant(), columns) * panelBytes(layout, type);
}

Error WinogradPacker::pack(SymTensorType type, const char *source, Write write) const {
  auto asItIs = [](auto tap) { return double(tap); };
  const double(*g)[3] = integers ? kIntegers4 : m == 2 ? kFilter2 : kFilter4;
  if (const FloatFormat *format = floatFormatOf(type.getElementType()))
    return packPanels<float, uint16_t>(
        type, source, g, [&](uint16_t bits) { return format->decode(bits); }, write);
  if (const FloatFormat *rounding = roundingOf(layout, type))
    return packPanels<float, float>(
        type, source, g, [&](float tap) { return rounding->decode(rounding->encode(tap)); }, write);
  if (!integers)
    return packPanels<float, float>(type, source, g, asItIs, write);
  if (isUnsigned(type.getElementType()))
    return packPanels<int16_t, uint8_t>(type, source, g, asItIs, write);
  return packPanels<int16_t, int8_t>(type, source, g, asItIs, write);
}

template <typename T, typename Tap, typename Decode>
Error WinogradPacker::packPanels(SymTensorType type, const char *source, const double (*g)[3],
                                 Decode decode, Write write) const {
  SmallVector<int64_t> dims = *type.getConstantDims();
  constexpr int64_t together = kWordBytes / sizeof(T);
  int64_t filters = dims[0], channels = dims[1], n = m + 2, ofProduct = words(channels) * columns;
  std::vector<T> panel(n * n * ofProduct * together);
  for (int64_t first = 0; first < filters; first += columns) {
    std::fill(panel.begin(), panel.end(), T(0));
    for (int64_t f = 0; f < std::min(columns, filters - first); ++f)
      for (int64_t c = 0; c < channels; ++c) {
        Tap taps[9];
        double values[9];
        T transformed[36];
        memcpy(taps, source + ((first + f) * channels + c) * sizeof(taps), sizeof(taps));
        std::transform(std::begin(taps), std::end(taps), values, decode);
        transform(g, n, values, transformed);
        for (int64_t p = 0; p < n * n; ++p)
          panel[(p * ofProduct + c / together * columns + f) * together + c % together] =
              transformed[p];
      }
    if (Error error =
            write(StringRef(reinterpret_cast<char *>(panel.data()), panel.size() * sizeof(T))))
      return error;
  }
  return Error::success();
}

} // namespace weft
