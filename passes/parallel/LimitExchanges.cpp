//===- LimitExchanges.cpp - What exchanges that nobody asked for send --------------------------------------===//
//
//   before   %2 = weft.all_gather %1 … {weft.because = "'b' needs all of what 'a' gives in parts"}
//   after    %2 = weft.all_gather %1 … {weft.because = "'b' needs all of what 'a' gives in parts: 48*n B by one rank"}
//
// Sums of parts are how a product is split that sums over them; what else is exchanged is there because two operators disagree. Of those one that
// sends more than a limit is refused.
//===------------------------------------------------------------------------------------------===//

#include "passes/parallel/Passes.h"
#include "passes/parallel/PlanSearch.h"
#include "passes/parallel/Price.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_LIMITEXCHANGES
#include "passes/parallel/Passes.h.inc"

namespace {

struct LimitExchanges : impl::LimitExchangesBase<LimitExchanges> {
  using impl::LimitExchangesBase<LimitExchanges>::LimitExchangesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    MeshAttr mesh = meshOf(function);
    if (!mesh)
      return;
    FailureOr<SymValues> values = guessSizes(function, readSizes(ArrayRef<std::string>(sizes)));
    if (failed(values))
      return signalPassFailure();
    for (StringAttr symbol : rankSymbols(mesh))
      (*values)[symbol] = 0;
    bool isRefused = false;
    function.walk([&](CollectiveOpInterface exchange) {
      auto because = exchange->getAttrOfType<StringAttr>(kBecauseAttr);
      if (!because || saysBytes(exchange))
        return;
      if (most > 0 && !exchange.getForm().combiner && !isRefused)
        isRefused =
            failed(check(exchange, because.getValue(), exchange.sentBytes().evaluate(*values)));
      sayBytes(exchange);
    });
    if (isRefused)
      signalPassFailure();
  }

private:
  LogicalResult check(Operation *exchange, StringRef because, FailureOr<int64_t> bytes) {
    if (succeeded(bytes) && *bytes <= most)
      return success();
    return emitError(exchange->getLoc())
           << because << ", for which a rank sends "
           << (failed(bytes) ? std::string("more bytes than 64 bits count")
                             : sizeText(double(*bytes)))
           << ", but the limit is " << sizeText(double(most));
  }
};

} // namespace
} // namespace weft
