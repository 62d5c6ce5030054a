//===- OverlapPrice.cpp -----------------------------------------------------------------------------------===//

#include "passes/cost/OverlapPrice.h"
#include <algorithm>

namespace weft {
namespace {

/// Of a run of tiles that reads weights again: what fetching them ahead leaves of it (measured: 25 us for 4.7 MB).
constexpr double kWeightBytesOfNanosecond = 192;

double apartOf(const OverlapCase &o) { return o.product + o.exchange + o.latency; }

/// In so many pieces.
double timeIn(const OverlapCase &o, int64_t pieces) {
  double others = o.product * double(o.ranks - 1) / double(o.ranks), count = double(pieces);
  double time = 0, runs = 0;
  if (o.kind == ExchangeKind::AllGather) {
    time = std::max(o.product, o.exchange + o.latency + others / count);
    runs = 1 + count;
  } else if (o.kind == ExchangeKind::ReduceScatter) {
    time = std::max({o.product, others / count + o.exchange + o.latency,
                     others + o.exchange / count + o.latency});
    runs = 1 + count * double(o.ranks - 1);
  } else {
    time = std::max(o.product + o.exchange / count, o.product / count + o.exchange) + o.latency;
    runs = count - 1;
  }
  return (o.isMemory ? apartOf(o) : time) + runs * o.weights / kWeightBytesOfNanosecond;
}

} // namespace

OverlapPrice priceOf(const OverlapCase &o) {
  double apart = apartOf(o);
  if (o.pieces < 2)
    return {apart, apart, 0};
  if (o.isMemory)
    return {apart, timeIn(o, o.pieces), 0};
  OverlapPrice best = {apart, timeIn(o, 2), 2};
  for (int64_t pieces = 3; pieces <= o.pieces; ++pieces)
    if (double together = timeIn(o, pieces); together < best.together)
      best = {apart, together, pieces};
  return best;
}

double togetherIn(const OverlapCase &o, int64_t pieces) {
  return o.pieces < 2 ? apartOf(o) : timeIn(o, std::min(o.pieces, pieces));
}

} // namespace weft
