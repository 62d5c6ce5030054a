//===- OverlapOffer.cpp -----------------------------------------------------------------------------------===//

#include "passes/cost/OverlapOffer.h"

using namespace mlir;

namespace weft {
namespace {

constexpr llvm::StringLiteral kKey = "key", kTogether = "together", kPieces = "pieces",
                              kEstimate = "estimate", kAlways = "always";

} // namespace

void writeOffer(const OverlapOffer &offer, plan::ExchangeOp exchange) {
  Builder b(exchange.getContext());
  NamedAttrList list;
  list.set(kKey, b.getStringAttr(offer.key));
  if (offer.estimate.isTogether)
    list.set(kTogether, b.getUnitAttr());
  if (!offer.mayBeApart)
    list.set(kAlways, b.getUnitAttr());
  if (!offer.pieces.empty()) {
    list.set(kEstimate, b.getI64IntegerAttr(offer.estimate.pieces));
    list.set(kPieces, b.getDenseI64ArrayAttr(offer.pieces));
  }
  exchange->setAttr(kOfferAttr, list.getDictionary(exchange.getContext()));
}

std::optional<OverlapOffer> offerOf(plan::ExchangeOp exchange) {
  auto said = exchange->getAttrOfType<DictionaryAttr>(kOfferAttr);
  auto key = said ? said.getAs<StringAttr>(kKey) : StringAttr();
  if (!key)
    return std::nullopt;
  OverlapOffer offer{
      key.getValue().str(), {said.contains(kTogether), 0}, !said.contains(kAlways), {}};
  if (auto estimate = said.getAs<IntegerAttr>(kEstimate))
    offer.estimate.pieces = estimate.getInt();
  if (auto pieces = said.getAs<DenseI64ArrayAttr>(kPieces))
    llvm::append_range(offer.pieces, pieces.asArrayRef());
  return offer;
}

OverlapWay wayOf(plan::ExchangeOp exchange, const OverlapOffer &offer) {
  if (exchange.getBeside())
    return {true, 0};
  auto overlap = dyn_cast<plan::OverlapOp>(exchange->getParentOp());
  if (!overlap)
    return {false, 0};
  return {true, int64_t(overlap.getMostPieces().value_or(uint64_t(offer.estimate.pieces)))};
}

} // namespace weft
