//===- OverlapPrice.h - What it saves to compute while an exchange goes on ---------------------------------===//
//
//   OverlapPrice price = priceOf({ExchangeKind::AllGather, ranks, pieces, product, weights, exchange, latency, isMemory});
//   if (price.pays()) …
//
// In pieces, as the runtime cuts them (runtime/src/call/overlap_order.cpp): of P, the time of the products, what is others' is P (t-1)/t.
//
//   apart                P + X + L                               X: the bytes on the link, L: its latency
//   all_gather           max(P, X + L + others' / pieces)        a rank's own rows first, and the last piece at last
//   reduce_scatter       max(P, others' / pieces + X + L, others' + X / pieces + L)
//   all_reduce           max(P + X / pieces, P / pieces + X) + L
//
// and a run of tiles for every step behind the first, which reads all weights again. So a short exchange is best in few pieces: of all numbers of pieces the
// best is taken. Over memory the processor itself moves bytes: X and L are then spent beside P, and the number is that of the runtime.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_COST_OVERLAPPRICE_H
#define WEFT_PASSES_COST_OVERLAPPRICE_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Times in nanoseconds.
struct OverlapCase {
  ExchangeKind kind;
  int64_t ranks, pieces; ///< the most pieces that the exchange is cut into
  double product;        ///< time of the launches
  double weights;        ///< bytes that they read
  double exchange;       ///< time of the bytes on the link
  double latency;        ///< of its messages
  bool isMemory;         ///< see Link
};

struct OverlapPrice {
  double apart, together;
  int64_t pieces; ///< the best number of them; 0: as many as there can be
  /// By more than what measurements differ by.
  bool pays() const { return together < 0.97 * apart; }
};

OverlapPrice priceOf(const OverlapCase &overlap);
/// What it costs together in at most so many pieces, which is what it costs apart where it is not cut.
double togetherIn(const OverlapCase &overlap, int64_t pieces);

} // namespace weft

#endif // WEFT_PASSES_COST_OVERLAPPRICE_H
