//===- MomentFactor.h - What channels say of each other, as a triangle ------------------------===//
//
//   MomentFactor factor(sums, channels, rows);   // sums of x[i] * x[j] over all rows that are read
//   factor.share(k)[j], factor.power(k)          // j < k
//
// A row of weights whose element k is off by e[k] gives products that are off by e H e^T. With
// H = U D U^T, U a unit upper triangle, that is the sum over k of
//   power(k) * (e[k] + sum over j < k of share(k)[j] * e[j])^2
// so a channel that is rounded after others can make up for what they are off by.
//
// Of few rows channels seem to go along with each other that do not: what is made up for then fits
// these rows only. The fewer rows there are beside the correlations that are seen, the more of
// these is taken as chance (Schäfer and Strimmer's shrinkage, for normal rows).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_MOMENTFACTOR_H
#define WEFT_COMPILER_QUANTIZE_MOMENTFACTOR_H

#include <cstddef>
#include <limits>
#include <vector>

namespace weft {

class MomentFactor {
public:
  /// Takes the memory of a square matrix of which the lower half counts, and adds a part of its
  /// mean diagonal to the diagonal: what few calls say nothing of is read, too, and rounding errors
  /// make no part negative.
  MomentFactor(std::vector<double> moments, size_t channels, double rows = kManyRows);
  static constexpr double kManyRows = std::numeric_limits<double>::infinity();

  size_t channels() const { return count; }
  /// What channel `k` must make up for, by channel before it.
  const double *share(size_t k) const { return matrix.data() + k * count; }
  /// What is read of channel `k` that those before it do not have. More than 0.
  double power(size_t k) const { return matrix[k * count + k]; }
  /// False where numbers were so far apart that the factors are none.
  bool isUsable() const;

private:
  void shrink(double rows);
  void dampen();
  void factorPanel(size_t begin, size_t end);
  void updateRows(size_t begin, size_t end);
  double *row(size_t k) { return matrix.data() + k * count; }

  std::vector<double> matrix; ///< shares below the diagonal, powers on it
  size_t count;
};

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_MOMENTFACTOR_H
