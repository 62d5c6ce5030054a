//===- Regions.cpp - A list scheduler that knows what is alive -------------------------------------------===//
//
// Takes the first kernel that is left and puts later ones beside it whose operands are there, in the order of the program. Each must leave
// the live maximum within its limit, when those it overtakes follow one after the other. The limit is that of the program's own order and a
// twentieth more, at every size that is tried; the memory plan finds its places afterwards, with the lifetimes of the new order.
//===------------------------------------------------------------------------------------------===//

#include "passes/plan/Regions.h"
#include "weft/artifact.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
namespace {

/// A kernel overtakes fewer than so many others: what it reads has left the caches by then, and compiling stays linear.
constexpr unsigned kWindow = 128;
/// Growth that nobody notices beside what the process needs anyway.
constexpr int64_t kUnnoticed = 64 << 10;

class RegionFormer {
public:
  RegionFormer(ArrayRef<RegionKernel> kernels, ArrayRef<RegionValue> values)
      : kernels(kernels), values(values), touched(kernels.size()), isDone(kernels.size()),
        now(values.empty() ? 0 : values.front().bytes.size(), 0) {
    for (auto [v, value] : llvm::enumerate(values)) {
      left.push_back(value.readers.size() + value.isKept);
      for (unsigned reader : value.readers)
        touched[reader].read.push_back(v);
      if (value.producer)
        touched[*value.producer].written.push_back(v);
      else
        change(now, v, 1);
    }
    for (unsigned k = 0; k < kernels.size(); ++k)
      order.push_back(k);
    limit = peakOf(order);
    for (int64_t &bytes : limit)
      bytes += std::max(bytes / 20, kUnnoticed);
  }

  Regions run() {
    Regions regions;
    for (unsigned first = 0; first < kernels.size(); ++first)
      if (!isDone[first]) {
        regions.push_back(regionOf(first));
        compute(regions.back(), now, left, nullptr);
        for (unsigned kernel : regions.back())
          isDone[kernel] = true;
      }
    return regions;
  }

private:
  using Bytes = SmallVector<int64_t, 4>;
  struct Touched {
    SmallVector<unsigned> read, written; ///< values
  };

  SmallVector<unsigned> regionOf(unsigned first) {
    SmallVector<unsigned> region{first};
    bool fillsAll = kernels[first].splitsWell;
    unsigned end = std::min<size_t>(kernels.size(), first + kWindow);
    for (unsigned next = first + 1; next < end && region.size() < WEFT_MAX_PARTS; ++next) {
      if (isDone[next] || (fillsAll && kernels[next].splitsWell) || !isReady(next))
        continue;
      region.push_back(next);
      if (fits(region))
        fillsAll &= kernels[next].splitsWell;
      else
        region.pop_back();
    }
    return region;
  }

  /// All it needs was computed by earlier regions.
  bool isReady(unsigned kernel) const {
    return llvm::all_of(kernels[kernel].needs, [&](unsigned each) { return isDone[each]; });
  }

  bool fits(ArrayRef<unsigned> region) {
    SmallVector<unsigned> overtaken;
    for (unsigned k = region.front() + 1; k < region.back(); ++k)
      if (!isDone[k] && !llvm::is_contained(region, k))
        overtaken.push_back(k);
    Bytes alive = now, peak = now;
    SmallVector<unsigned> readersLeft = left;
    compute(region, alive, readersLeft, &peak);
    for (unsigned kernel : overtaken)
      compute(kernel, alive, readersLeft, &peak);
    return llvm::all_of(llvm::zip_equal(peak, limit),
                        [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); });
  }

  /// The kernels run at the same time: what they read is alive until all results are.
  void compute(ArrayRef<unsigned> region, Bytes &alive, SmallVector<unsigned> &readersLeft,
               Bytes *peak) const {
    for (unsigned kernel : region)
      for (unsigned v : touched[kernel].written)
        change(alive, v, 1);
    if (peak)
      for (size_t i = 0; i < alive.size(); ++i)
        (*peak)[i] = std::max((*peak)[i], alive[i]);
    for (unsigned kernel : region) {
      for (unsigned v : touched[kernel].read)
        if (--readersLeft[v] == 0)
          change(alive, v, -1);
      for (unsigned v : touched[kernel].written)
        if (readersLeft[v] == 0)
          change(alive, v, -1);
    }
  }

  Bytes peakOf(ArrayRef<unsigned> sequence) const {
    Bytes alive = now, peak = now;
    SmallVector<unsigned> readersLeft = left;
    for (unsigned kernel : sequence)
      compute(kernel, alive, readersLeft, &peak);
    return peak;
  }

  void change(Bytes &alive, unsigned v, int64_t sign) const {
    for (auto [sum, bytes] : llvm::zip_equal(alive, values[v].bytes))
      sum += sign * bytes;
  }

  ArrayRef<RegionKernel> kernels;
  ArrayRef<RegionValue> values;
  std::vector<Touched> touched; ///< by kernel
  std::vector<bool> isDone;
  SmallVector<unsigned> left;  ///< readers of each value that are still to come
  SmallVector<unsigned> order; ///< of the program
  Bytes now, limit;            ///< alive before the next region, and the most that may be
};

} // namespace

Regions formRegions(ArrayRef<RegionKernel> kernels, ArrayRef<RegionValue> values) {
  return RegionFormer(kernels, values).run();
}

} // namespace weft
