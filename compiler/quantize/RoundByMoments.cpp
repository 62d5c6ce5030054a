//===- RoundByMoments.cpp ---------------------------------------------------------------------===//

#include "compiler/quantize/RoundByMoments.h"
#include <array>
#include <cmath>

namespace weft {
namespace {

constexpr size_t kColumns = 32; ///< that are rounded at once, in vectors
constexpr size_t kLazy = 128;   ///< channels whose errors stay in the first-level cache
constexpr size_t kBlock = size_t(kWeightBlock);

using Lanes = std::array<float, kColumns>;
using Sums = std::array<double, kColumns>;
using Rows = std::array<Lanes, kBlock>; ///< of a block, by channel

void addTimes(Lanes &into, float factor, const Lanes &from) {
  for (size_t n = 0; n < kColumns; ++n)
    into[n] += factor * from[n];
}

/// What was tried for a block of all columns of a tile.
struct TriedBlock {
  Lanes scales{}, zeros{};
  Rows numbers{}, errors{};
  Sums error{};
};

/// Neighbouring columns, whose channels are walked block by block.
class Tile {
public:
  Tile(const WeightGrid &grid, llvm::ArrayRef<float> weight, llvm::ArrayRef<float> factors,
       const MomentFactor &moments, size_t tile)
      : grid(grid), weight(weight), factors(factors), moments(moments), first(tile * kColumns),
        columns(std::min(kColumns, size_t(grid.columns) - first)),
        errors(size_t(grid.channels), Lanes{}) {}

  void round(ScaleType scales, BlockWeight &into) {
    for (size_t block = 0; block < size_t(grid.blocks()); ++block) {
      gather(block * kBlock);
      TriedBlock best = bestOf(block * kBlock, scales);
      std::copy(best.errors.begin(), best.errors.end(), errors.begin() + long(block * kBlock));
      store(block, best, into);
    }
  }

  double errorOf(const BlockWeight &rounded) {
    double error = 0;
    for (size_t block = 0; block < size_t(grid.blocks()); ++block) {
      gather(block * kBlock);
      for (size_t i = 0; i < kBlock; ++i) {
        size_t k = block * kBlock + i;
        errors[k] = differences(k, rounded);
        for (size_t j = 0; j < i; ++j)
          addTimes(owed[i], float(moments.share(k)[block * kBlock + j]), errors[k - i + j]);
        for (size_t n = 0; n < columns; ++n) {
          double off = double(errors[k][n]) + double(owed[i][n]);
          error += moments.power(k) * off * off;
        }
      }
    }
    return error;
  }

private:
  float factorOf(size_t k) const { return factors.empty() ? 1 : factors[k]; }
  float element(size_t k, size_t n) const {
    return weight[size_t(grid.element(int64_t(k), int64_t(first + n)))];
  }

  Lanes differences(size_t k, const BlockWeight &rounded) const {
    Lanes all{};
    for (size_t n = 0; n < columns; ++n) {
      auto column = int64_t(first + n);
      size_t block = size_t(grid.block(int64_t(k / kBlock), column));
      float restored = (float(rounded.numbers[size_t(grid.element(int64_t(k), column))]) -
                        float(rounded.zeros[block])) *
                       rounded.scales[block];
      all[n] = element(k, n) - restored / factorOf(k);
    }
    return all;
  }

  /// What the channels of the block at `begin` must make up for of all before it.
  void gather(size_t begin) {
    owed = {};
    for (size_t from = 0; from < begin; from += kLazy)
      for (size_t i = 0; i < kBlock; ++i) {
        const double *share = moments.share(begin + i);
        Lanes sum = owed[i];
        for (size_t j = from; j < std::min(from + kLazy, begin); ++j)
          addTimes(sum, float(share[j]), errors[j]);
        owed[i] = sum;
      }
  }

  /// Of each column the range with the least error.
  TriedBlock bestOf(size_t begin, ScaleType scales) const {
    Lanes least{}, most{};
    for (size_t i = 0; i < kBlock; ++i)
      for (size_t n = 0; n < columns; ++n) {
        float wanted = (element(begin + i, n) + owed[i][n]) * factorOf(begin + i);
        least[n] = std::min(least[n], wanted);
        most[n] = std::max(most[n], wanted);
      }
    TriedBlock best, tried;
    best.error.fill(INFINITY);
    for (float reach : kBlockReaches) {
      for (size_t n = 0; n < columns; ++n) {
        auto [scale, zero] = blockScale(reach * least[n], reach * most[n], grid.largest(), scales);
        tried.scales[n] = scale;
        tried.zeros[n] = float(zero);
      }
      roundBlock(begin, tried);
      for (size_t n = 0; n < columns; ++n)
        if (tried.error[n] < best.error[n])
          take(best, tried, n);
    }
    return best;
  }

  /// One channel after the other; what those before are off by is made up for.
  void roundBlock(size_t begin, TriedBlock &tried) const {
    tried.error.fill(0);
    for (size_t i = 0; i < kBlock; ++i) {
      size_t k = begin + i;
      Lanes more = owed[i];
      for (size_t j = 0; j < i; ++j)
        addTimes(more, float(moments.share(k)[begin + j]), tried.errors[j]);
      float factor = factorOf(k);
      for (size_t n = 0; n < columns; ++n) {
        float wanted = element(k, n) + more[n];
        float number =
            blockNumber(wanted * factor, tried.scales[n], tried.zeros[n], grid.largest());
        float restored = (number - tried.zeros[n]) * tried.scales[n] / factor;
        tried.numbers[i][n] = number;
        tried.errors[i][n] = element(k, n) - restored;
        double off = double(wanted) - double(restored);
        tried.error[n] += moments.power(k) * off * off;
      }
    }
  }

  static void take(TriedBlock &best, const TriedBlock &tried, size_t n) {
    best.scales[n] = tried.scales[n];
    best.zeros[n] = tried.zeros[n];
    best.error[n] = tried.error[n];
    for (size_t i = 0; i < kBlock; ++i) {
      best.numbers[i][n] = tried.numbers[i][n];
      best.errors[i][n] = tried.errors[i][n];
    }
  }

  void store(size_t block, const TriedBlock &found, BlockWeight &into) const {
    for (size_t n = 0; n < columns; ++n) {
      auto column = int64_t(first + n);
      size_t at = size_t(grid.block(int64_t(block), column));
      into.scales[at] = found.scales[n];
      into.zeros[at] = uint8_t(found.zeros[n]);
      for (size_t i = 0; i < kBlock; ++i)
        into.numbers[size_t(grid.element(int64_t(block * kBlock + i), column))] =
            uint8_t(found.numbers[i][n]);
    }
  }

  const WeightGrid &grid;
  llvm::ArrayRef<float> weight, factors;
  const MomentFactor &moments;
  size_t first, columns;
  std::vector<Lanes> errors; ///< by channel that was rounded
  Rows owed{};               ///< by channel of the block at hand
};

size_t tilesOf(const WeightGrid &grid) { return (size_t(grid.columns) + kColumns - 1) / kColumns; }

} // namespace

BlockWeight roundByMoments(const WeightGrid &grid, llvm::ArrayRef<float> weight,
                           llvm::ArrayRef<float> factors, const MomentFactor &moments,
                           const Workers &workers) {
  BlockWeight rounded = emptyBlocks(grid);
  ScaleType scales = scaleTypeOf(grid, weight, factors);
  workers(tilesOf(grid),
          [&](size_t tile) { Tile(grid, weight, factors, moments, tile).round(scales, rounded); });
  return rounded;
}

double errorByMoments(const WeightGrid &grid, llvm::ArrayRef<float> weight,
                      llvm::ArrayRef<float> factors, const BlockWeight &rounded,
                      const MomentFactor &moments, const Workers &workers) {
  std::vector<double> errors(tilesOf(grid));
  workers(errors.size(), [&](size_t tile) {
    errors[tile] = Tile(grid, weight, factors, moments, tile).errorOf(rounded);
  });
  double error = 0; // in an order that does not depend on the workers
  for (double each : errors)
    error += each;
  return error;
}

} // namespace weft
