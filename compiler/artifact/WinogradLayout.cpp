//===- WinogradLayout.cpp - G w G^T -----------------------------------------------------------------------------------===//

#include "compiler/artifact/WinogradLayout.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <vector>

using namespace llvm;

namespace weft {
namespace {

// For the matrices of targets/cpu/schedules/WinogradTransform.cpp: interpolation at 0, 1, -1 (and 2, -2) and infinity.
constexpr double kFilter2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double kFilter4[6][3] = {{1.0 / 4, 0, 0},
                                   {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                   {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                   {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                   {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                   {0, 0, 1}};

/// One filter of one channel.
void transform(int64_t m, const float (&w)[9], float *result) {
  const double(*g)[3] = m == 2 ? kFilter2 : kFilter4;
  int64_t n = m + 2;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t a = 0; a < 3; ++a)
        for (int64_t b = 0; b < 3; ++b)
          sum += g[i][a] * g[j][b] * w[3 * a + b];
      result[i * n + j] = float(sum);
    }
}

} // namespace

WinogradLayout::WinogradLayout(StringRef name) {
  name.consume_front("winograd");
  name.consumeInteger(10, m);
  name.consume_front("<");
  name.consumeInteger(10, rows);
}

uint64_t WinogradLayout::bytes(SymTensorType type) const {
  SmallVector<int64_t> dims = *type.getConstantDims();
  return alignTo(dims[0], rows) * dims[1] * (m + 2) * (m + 2) * sizeof(float);
}

Error WinogradLayout::pack(SymTensorType type, const char *source, Write write) const {
  SmallVector<int64_t> dims = *type.getConstantDims();
  int64_t filters = dims[0], channels = dims[1], products = (m + 2) * (m + 2);
  std::vector<float> group(products * channels * rows);
  for (int64_t first = 0; first < filters; first += rows) {
    std::fill(group.begin(), group.end(), 0.0f);
    for (int64_t r = 0; r < std::min(rows, filters - first); ++r)
      for (int64_t c = 0; c < channels; ++c) {
        float taps[9], transformed[36];
        memcpy(taps, source + ((first + r) * channels + c) * sizeof(taps), sizeof(taps));
        transform(m, taps, transformed);
        for (int64_t p = 0; p < products; ++p)
          group[(p * channels + c) * rows + r] = transformed[p];
      }
    if (Error error =
            write(StringRef(reinterpret_cast<char *>(group.data()), group.size() * sizeof(float))))
      return error;
  }
  return Error::success();
}

} // namespace weft
