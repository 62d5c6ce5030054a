//===- Infeasibility.cpp - Phase one of the simplex method on the dual system ------------------===//
//
// Rows a_i*x + b_i >= 0 contradict each other when some weights w_i >= 0 have sum w_i*a_i = 0 and sum w_i*b_i = -1. These are linear
// equations in w; phase one looks for a solution by minimising the sum of one artificial variable per equation. An equality gives two
// weights, one for each direction.
//===------------------------------------------------------------------------------------------===//
#include "dialects/symbolic/Infeasibility.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace weft;
using namespace weft::symbolic;

namespace {
class Tableau {
public:
  explicit Tableau(llvm::ArrayRef<LinearRow> rows) {
    equations = rows.front().values.size();
    for (auto [i, row] : llvm::enumerate(rows)) {
      weights.push_back({unsigned(i), 1.0});
      if (row.equality)
        weights.push_back({unsigned(i), -1.0});
    }
    width = weights.size() + 1; // the last column is the right-hand side
    cells.assign((equations + 1) * width, 0.0);
    for (auto [column, weight] : llvm::enumerate(weights)) {
      llvm::ArrayRef<int64_t> values = rows[weight.row].values;
      double largest = 0;
      for (int64_t value : values)
        largest = std::max(largest, std::abs(double(value)));
      // The last equation is scaled by -1, so that its right-hand side is 1.
      for (size_t k = 0; k < equations && largest > 0; ++k)
        at(k, column) = double(values[k]) / largest * weight.sign * (k + 1 == equations ? -1 : 1);
    }
    scaleEquations();
    at(equations - 1, width - 1) = 1.0;
    basis.assign(equations, -1); // artificial variables; they never come back
    for (size_t column = 0; column < width; ++column)
      for (size_t k = 0; k < equations; ++k)
        at(equations, column) += at(k, column);
  }

  /// True when the sum of the artificial variables reaches zero.
  bool minimise() {
    constexpr unsigned maxPivots = 300;
    for (unsigned pivots = 0; pivots < maxPivots; ++pivots) {
      if (at(equations, width - 1) < tolerance)
        return true;
      // The largest gain first; the first gain when that might be cycling.
      size_t entering = width - 1;
      for (size_t column = 0; column + 1 < width; ++column) {
        double gain = at(equations, column);
        if (gain > tolerance &&
            (entering == width - 1 || (pivots < maxPivots / 2 && gain > at(equations, entering))))
          entering = column;
      }
      if (entering == width - 1 || !pivotInto(entering))
        return false;
    }
    return false;
  }

  llvm::SmallVector<unsigned, 8> usedRows() const {
    llvm::SmallVector<unsigned, 8> used;
    for (size_t k = 0; k < equations; ++k)
      if (basis[k] >= 0 && at(k, width - 1) > tolerance)
        used.push_back(weights[basis[k]].row);
    llvm::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return used;
  }

private:
  struct Weight {
    unsigned row;
    double sign;
  };
  static constexpr double tolerance = 1e-9;

  double &at(size_t row, size_t column) { return cells[row * width + column]; }
  double at(size_t row, size_t column) const { return cells[row * width + column]; }

  void scaleEquations() {
    for (size_t k = 0; k < equations; ++k) {
      double largest = 0;
      for (size_t column = 0; column + 1 < width; ++column)
        largest = std::max(largest, std::abs(at(k, column)));
      for (size_t column = 0; column + 1 < width && largest > 0; ++column)
        at(k, column) /= largest;
    }
  }

  bool pivotInto(size_t entering) {
    size_t leaving = equations;
    for (size_t k = 0; k < equations; ++k) {
      if (at(k, entering) <= tolerance)
        continue;
      // The smallest ratio; of equal ones, which are usual here, the largest pivot.
      double difference = leaving == equations ? -1
                                               : at(k, width - 1) * at(leaving, entering) -
                                                     at(leaving, width - 1) * at(k, entering);
      if (difference < -1e-15 || (difference <= 1e-15 && at(k, entering) > at(leaving, entering)))
        leaving = k;
    }
    if (leaving == equations)
      return false;
    double scale = 1.0 / at(leaving, entering);
    for (size_t column = 0; column < width; ++column)
      at(leaving, column) *= scale;
    for (size_t k = 0; k <= equations; ++k) {
      double factor = at(k, entering);
      if (k == leaving || factor == 0)
        continue;
      for (size_t column = 0; column < width; ++column)
        at(k, column) -= factor * at(leaving, column);
    }
    basis[leaving] = int(entering);
    return true;
  }

  size_t equations = 0, width = 0;
  std::vector<double> cells;
  std::vector<Weight> weights;
  std::vector<int> basis;
};
} // namespace

std::optional<llvm::SmallVector<unsigned, 8>>
symbolic::findContradictingRows(llvm::ArrayRef<LinearRow> rows) {
  if (rows.empty())
    return std::nullopt;
  Tableau tableau(rows);
  if (!tableau.minimise())
    return std::nullopt;
  return tableau.usedRows();
}
