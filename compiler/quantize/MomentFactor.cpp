//===- MomentFactor.cpp -----------------------------------------------------------------------===//
//
// The last channels are factored first, a panel of rows at a time; what a panel has is then taken
// from all rows before it, by chunks of columns that stay in the first-level cache.
//===------------------------------------------------------------------------------------------===//

#include "compiler/quantize/MomentFactor.h"
#include <algorithm>
#include <array>
#include <cmath>

namespace weft {

constexpr double kDamping = 0.01; ///< of the mean diagonal
constexpr size_t kPanel = 64;     ///< rows
constexpr size_t kChunk = 32;     ///< columns

MomentFactor::MomentFactor(std::vector<double> moments, size_t channels, double rows)
    : matrix(std::move(moments)), count(channels) {
  shrink(rows);
  dampen();
  for (size_t end = count; end > 0;) {
    size_t begin = end > kPanel ? end - kPanel : 0;
    factorPanel(begin, end);
    updateRows(begin, end);
    end = begin;
  }
}

/// By the variance that correlations of independent rows have, beside what they are.
void MomentFactor::shrink(double rows) {
  double squares = 0, pairs = 0; // of correlations
  for (size_t k = 0; k < count; ++k)
    for (size_t j = 0; j < k; ++j)
      if (double both = power(k) * power(j); both > 0) {
        squares += row(k)[j] * row(k)[j] / both;
        ++pairs;
      }
  double kept = squares > 0 ? std::max(1 - (pairs + squares) / (rows * squares), 0.0) : 1;
  for (size_t k = 0; k < count; ++k)
    for (size_t j = 0; j < k; ++j)
      row(k)[j] *= kept;
}

void MomentFactor::dampen() {
  double sum = 0;
  for (size_t k = 0; k < count; ++k)
    sum += power(k);
  double more =
      sum > 0 ? kDamping * sum / double(count) : 1; // where nothing was read all are alike
  for (size_t k = 0; k < count; ++k)
    row(k)[k] += more;
}

void MomentFactor::factorPanel(size_t begin, size_t end) {
  for (size_t k = end; k-- > begin;) {
    double *shares = row(k), power = shares[k];
    for (size_t j = 0; j < k; ++j)
      shares[j] /= power;
    for (size_t i = begin; i < k; ++i) {
      double *into = row(i), part = power * shares[i];
      for (size_t j = 0; j <= i; ++j)
        into[j] -= part * shares[j];
    }
  }
}

/// Of rows in front of a panel.
void MomentFactor::updateRows(size_t begin, size_t end) {
  std::array<double, kPanel> parts;
  for (size_t chunk = 0; chunk < begin; chunk += kChunk)
    for (size_t i = chunk; i < begin; ++i) {
      for (size_t k = begin; k < end; ++k)
        parts[k - begin] = row(k)[k] * row(k)[i];
      double *into = row(i) + chunk;
      size_t columns = std::min(kChunk, i + 1 - chunk);
      if (columns == kChunk) { // of a known number, which vectors hold
        std::array<double, kChunk> sums{};
        for (size_t k = begin; k < end; ++k)
          for (size_t j = 0; j < kChunk; ++j)
            sums[j] += parts[k - begin] * row(k)[chunk + j];
        for (size_t j = 0; j < kChunk; ++j)
          into[j] -= sums[j];
        continue;
      }
      for (size_t k = begin; k < end; ++k)
        for (size_t j = 0; j < columns; ++j)
          into[j] -= parts[k - begin] * row(k)[chunk + j];
    }
}

bool MomentFactor::isUsable() const {
  for (size_t k = 0; k < count; ++k)
    if (!(power(k) > 0) || !std::isfinite(power(k)))
      return false;
  return true;
}

} // namespace weft
