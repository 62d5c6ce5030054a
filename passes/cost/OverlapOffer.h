//===- OverlapOffer.h - How an exchange may go on beside products -----------------------------------------===//
//
//   OverlapOffer offer{key, /*estimate=*/{true, 2}, /*mayBeApart=*/true, {2, 3, 4, 8}};
//   OverlapWay way = chooser->pick(offer).value_or(offer.estimate);
//   writeOffer(offer, exchange);                                  // on the exchange, for who explains what was chosen
//
// Both ways, and every number of pieces, give the same bits.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_COST_OVERLAPOFFER_H
#define WEFT_PASSES_COST_OVERLAPOFFER_H

#include "dialects/plan/Plan.h"
#include <optional>

namespace weft {

/// Of an exchange: how else it may be, as writeOffer writes it.
constexpr llvm::StringLiteral kOfferAttr = "plan.offer";

struct OverlapWay {
  bool isTogether;
  int64_t pieces; ///< that it is cut into at most, where it is together; 0: it stays whole
  bool operator==(const OverlapWay &other) const {
    return isTogether == other.isTogether && (!isTogether || pieces == other.pieces);
  }
};

struct OverlapOffer {
  std::string
      key; ///< of the exchange, the kernels beside it and the link, the same in every process
  OverlapWay estimate;
  bool mayBeApart;
  llvm::SmallVector<int64_t>
      pieces; ///< that may be picked, where it is together; none: it stays whole
};

/// Who answers, declared below those who know records.
class OverlapChooser {
public:
  virtual ~OverlapChooser() = default;
  /// One of the ways that are offered; nothing: the estimate.
  virtual std::optional<OverlapWay> pick(const OverlapOffer &offer) const = 0;
};

void writeOffer(const OverlapOffer &offer, plan::ExchangeOp exchange);
/// Nothing where it was never a choice.
std::optional<OverlapOffer> offerOf(plan::ExchangeOp exchange);
/// As it stands in the plan.
OverlapWay wayOf(plan::ExchangeOp exchange, const OverlapOffer &offer);

} // namespace weft

#endif // WEFT_PASSES_COST_OVERLAPOFFER_H
