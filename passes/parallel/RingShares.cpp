//===- RingShares.cpp -----------------------------------------------------------------------------===//

#include "passes/parallel/RingShares.h"
#include "dialects/plan/Plan.h"

namespace weft {
namespace {

/// What a share more costs per step, of kernels that begin and end: six of them. Measured on two ranks where there is little to compute: 29 us.
constexpr double kStarts = 30000;
constexpr double kWorthShares = 0.97; ///< less than measurements differ by is no reason

} // namespace

double timeOfRing(const RingShape &shape, unsigned shares) {
  double parts = double(shares) * shape.carried, starts = kStarts * double(shares - 1),
         computed = shape.block / parts + starts / parts, sent = shape.exchange / parts;
  // When each part has come, of this step; and until when the link and the processor are busy.
  llvm::SmallVector<double> here(size_t(parts), 0);
  double link = 0, now = shape.block + starts;
  for (int64_t step = 1; step < shape.ranks; ++step)
    for (double &came : here) {
      link = std::max(link, came) + sent;
      came = link + shape.latency;
      now = std::max(now, came) + computed;
    }
  return now;
}

llvm::SmallVector<unsigned> RingShares::ranked(const RingShape &shape, int64_t heads) const {
  unsigned most = choice == Whole ? 1 : plan::kMostBeside / std::max(shape.carried, 1u);
  llvm::SmallVector<unsigned> counts;
  for (unsigned count = most; count > 1; --count)
    if (heads % count == 0 &&
        (choice == Most || timeOfRing(shape, count) < kWorthShares * timeOfRing(shape, 1)))
      counts.push_back(count);
  if (choice == Priced)
    llvm::stable_sort(counts, [&](unsigned one, unsigned other) {
      return timeOfRing(shape, one) < timeOfRing(shape, other);
    });
  counts.push_back(1);
  return counts;
}

} // namespace weft
