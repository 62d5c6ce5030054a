//===- Exchange.h - What a collective asks of those who carry it out --------------------------------===//
//
//   ExchangeForm form = collective.getForm();
//   form.outer * form.first * form.inner …                    // sizes of row-major memory, as weft/transport.h says them
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_INTERFACES_EXCHANGE_H
#define WEFT_DIALECTS_WEFT_INTERFACES_EXCHANGE_H

#include "dialects/symbolic/SymExpr.h"
#include "dialects/weft/interfaces/IterationRule.h"
#include <optional>

namespace weft {

enum class ExchangeKind { AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, Permute };

/// How elements lie that ranks give each other. Dimensions are put together, so that few sizes say all; a dimension that is split is
/// given whole. Without gaps:
///   all_gather, reduce_scatter   [outer, first, inner], of which `first` is split
///   all_to_all                   [outer, first, middle, second, inner]: `first` is split before and `second` behind, or reversed
///   others                       [outer, first, inner]
struct ExchangeForm {
  ExchangeKind kind;
  SymExpr outer, first, middle, second, inner;
  /// Of a permute whose ranks have other sizes: elements that this one gets, and the most that one sends; else null.
  SymExpr received, longest;
  std::optional<Combiner> combiner = {};
  int64_t peer = 0; ///< the root of a broadcast, or how far a permute goes
  bool isReversed = false;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INTERFACES_EXCHANGE_H
