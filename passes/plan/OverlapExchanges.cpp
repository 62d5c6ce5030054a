//===- OverlapExchanges.cpp - Ranks compute while an exchange goes on ---------------------------------===//
//
// Names of memory that stand between the two move in front of both. Where it is a choice, the price of both decides (passes/cost/OverlapPrice.h), at
// the sizes that are given or 128; they stay on the exchange, and the best number of pieces on the overlap. Their ratio is nearly that of any number of rows, and few rows are not cut at run time. What neighbours of a ring send each
// other travels beside launches that have nothing to do with it (Beside.h). The price is an estimate: where a record of what was measured says otherwise it is followed, and what may be picked
// stays on the exchange, too (passes/cost/OverlapOffer.h).
//===------------------------------------------------------------------------------------------===//

#include "passes/cost/KernelWork.h"
#include "passes/cost/Link.h"
#include "passes/cost/OverlapPrice.h"
#include "passes/plan/Beside.h"
#include "passes/plan/OverlapKey.h"
#include "passes/plan/Passes.h"
#include "weft/artifact.h"
#include <cmath>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_OVERLAPEXCHANGES
#include "passes/plan/Passes.h.inc"

namespace {

/// Whether it only gives memory a name.
bool isName(Operation *op) { return isa<plan::MemoryOp, plan::PartOp, plan::WeightOp>(op); }

/// Whether one reads what the other writes: it may want rows that the other makes later.
bool depends(plan::LaunchOp later, plan::LaunchOp earlier) {
  return llvm::any_of(later.reads(),
                      [&](Value buffer) { return llvm::is_contained(earlier.writes(), buffer); });
}

/// The launches that follow the exchange, which read the rows that it brings and nothing of each other. What has to do with none of them comes before all.
SmallVector<plan::LaunchOp> readersBehind(plan::ExchangeOp exchange) {
  SmallVector<plan::LaunchOp> readers;
  for (Operation *op = exchange->getNextNode(); op; op = op->getNextNode()) {
    if (isName(op))
      continue;
    auto launch = dyn_cast<plan::LaunchOp>(op);
    if (!launch || readers.size() == WEFT_MAX_PARTS ||
        llvm::any_of(readers, [&](plan::LaunchOp each) { return depends(launch, each); }))
      break;
    if (launch.followsRowsOf(exchange))
      readers.push_back(launch);
    else if (llvm::is_contained(launch.getInputs(), exchange.getReceived()))
      break;
  }
  return readers;
}

/// The launch in front of the exchange, when it makes the rows that are sent.
SmallVector<plan::LaunchOp> writerBefore(plan::ExchangeOp exchange) {
  Operation *op = exchange->getPrevNode();
  while (op && isName(op))
    op = op->getPrevNode();
  auto launch = dyn_cast_or_null<plan::LaunchOp>(op);
  if (launch && launch.followsRowsOf(exchange))
    return {launch};
  return {};
}

/// `pieces`: the most; 0: as many as there can be.
void overlap(plan::ExchangeOp exchange, SmallVector<plan::LaunchOp> launches, bool comesFirst,
             int64_t pieces) {
  Operation *last = comesFirst ? launches.back().getOperation() : exchange.getOperation();
  OpBuilder b(exchange.getContext());
  b.setInsertionPointAfter(last);
  auto step = b.create<plan::OverlapOp>(exchange.getLoc(),
                                        pieces ? b.getI64IntegerAttr(pieces) : IntegerAttr());
  Block &body = step.getBody().emplaceBlock();
  auto append = [&](Operation *op) { op->moveBefore(&body, body.end()); };
  if (comesFirst)
    append(exchange);
  for (plan::LaunchOp launch : launches)
    append(launch);
  if (!comesFirst)
    append(exchange);
}

/// What expressions are at the sizes that are given.
class Sizes {
public:
  Sizes(plan::FuncOp function, ArrayRef<std::string> given) {
    SymbolsAttr symbols = symbolsOf(function);
    SymFacts facts = symbols.asFacts();
    SmallVector<StringAttr> names(symbols.getNames());
    llvm::append_range(names, symbols.getBoundNames());
    for (StringAttr name : names) {
      SymInterval bounds = facts.bounds(SymExpr::symbol(name));
      values[name] =
          std::max(std::min(kGuess, bounds.high.value_or(kGuess)), bounds.low.value_or(0));
    }
    for (const std::string &text : given) {
      auto [name, value] = StringRef(text).split('=');
      value.getAsInteger(10, values[StringAttr::get(function.getContext(), name)]);
    }
    for (StringAttr symbol : rankSymbols(meshOf(function)))
      values[symbol] = 0;
  }

  double of(SymExpr expr) const {
    FailureOr<int64_t> value = expr.evaluate(values);
    return failed(value) ? 0 : std::max<double>(0, double(*value));
  }

private:
  static constexpr int64_t kGuess = 128;
  SymValues values;
};

/// What kernels take, in nanoseconds.
class KernelTimes {
public:
  KernelTimes(const Sizes &sizes, const KernelChooser *chooser) : sizes(sizes), chooser(chooser) {}

  /// What is not an operation goes at the rate of all estimates.
  double of(plan::LaunchOp launch) const {
    auto kernel =
        launch->getParentOfType<ModuleOp>().lookupSymbol<plan::KernelOp>(launch.getKernel());
    func::FuncOp specification = kernel.specification();
    llvm::DenseMap<StringAttr, SymExpr> words;
    for (auto [i, name] : llvm::enumerate(symbolsOf(specification).getNames()))
      words[name] = launch.getWords()[i];
    double work = sizes.of(kernel.getWork()[0].substitute(words)),
           operations = std::min(work, sizes.of(kernel.getFlops()[0].substitute(words))),
           rate =
               chooser ? chooser->operationsOfNanosecond(specification) : double(kWorkOfNanosecond);
    return operations / rate + (work - operations) / double(kWorkOfNanosecond);
  }

private:
  const Sizes &sizes;
  const KernelChooser *chooser;
};

/// As the runtime cuts them (runtime/src/call/overlap_order.cpp), of `rows` of all ranks together.
int64_t piecesOf(const OverlapCase &overlap, int64_t rows) {
  bool hasParts = overlap.kind != ExchangeKind::AllReduce;
  int64_t part = hasParts ? llvm::divideCeil(rows, overlap.ranks) : rows;
  int64_t pieces = std::min<int64_t>(WEFT_MOST_PIECES, part / WEFT_LEAST_ROWS);
  return overlap.kind == ExchangeKind::AllGather
             ? pieces
             : std::min(pieces, std::max<int64_t>(2, part / WEFT_LEAST_ROWS_OF_SUM));
}

OverlapCase caseOf(plan::ExchangeOp exchange, const Links &links, const Sizes &sizes) {
  CollectiveOpInterface collective = exchange.collective();
  Link link = links.of(collective.getGroup());
  OverlapCase overlap = {};
  overlap.kind = collective.getForm().kind;
  overlap.ranks = collective.getGroup().getRanks();
  overlap.exchange = sizes.of(collective.sentBytes()) / link.bytesPerNanosecond;
  overlap.latency = sizes.of(collective.sentMessages()) * link.latency;
  overlap.isMemory = link.isMemory;
  return overlap;
}

OverlapCase caseOf(plan::ExchangeOp exchange, ArrayRef<plan::LaunchOp> launches, const Links &links,
                   const Sizes &sizes, const KernelTimes &times) {
  OverlapCase overlap = caseOf(exchange, links, sizes);
  for (plan::LaunchOp launch : launches) {
    overlap.pieces = piecesOf(overlap, int64_t(sizes.of((*launch.getRows())[0])));
    overlap.product += times.of(launch);
    for (Value input : launch.getInputs())
      if (auto weight = input.getDefiningOp<plan::WeightOp>())
        overlap.weights += sizes.of(bytesOf(cast<SymTensorType>(weight.getTensor())));
  }
  return overlap;
}

/// The estimate first, its neighbours, and powers of two.
SmallVector<int64_t> candidatesFor(int64_t estimate) {
  SmallVector<int64_t> candidates = {estimate};
  for (int64_t pieces = 2; pieces <= WEFT_MOST_PIECES; ++pieces)
    if (pieces != estimate &&
        (llvm::isPowerOf2_64(uint64_t(pieces)) || std::abs(pieces - estimate) == 1))
      candidates.push_back(pieces);
  return candidates;
}

/// Whole, so no launch runs twice.
OverlapPrice priceOf(const Beside &beside, const Links &links, const Sizes &sizes,
                     const KernelTimes &times) {
  OverlapCase overlap = caseOf(beside.exchange, links, sizes);
  double product = 0, sent = overlap.exchange + overlap.latency;
  for (plan::LaunchOp launch : beside.launches)
    product += times.of(launch);
  return {product + sent, overlap.isMemory ? product + sent : std::max(product, sent), 0};
}

struct OverlapExchangesPass : impl::OverlapExchangesBase<OverlapExchangesPass> {
  using impl::OverlapExchangesBase<OverlapExchangesPass>::OverlapExchangesBase;
  OverlapExchangesPass(const OverlapExchangesOptions &options,
                       std::shared_ptr<const KernelChooser> chooser,
                       std::shared_ptr<const OverlapChooser> records)
      : OverlapExchangesBase(options), chooser(std::move(chooser)), records(std::move(records)) {}

  void runOnOperation() override {
    if (!meshOf(getOperation()))
      return;
    Links speeds;
    SmallVector<StringRef> texts;
    StringRef(links).split(texts, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef text : texts)
      if (llvm::Error error = readLink(text, speeds)) {
        emitError(UnknownLoc::get(&getContext())) << llvm::toString(std::move(error));
        return signalPassFailure();
      }
    Sizes at(getOperation(), ArrayRef<std::string>(sizes));
    KernelTimes times(at, chooser.get());
    SmallVector<plan::ExchangeOp> exchanges;
    getOperation()->walk([&](plan::ExchangeOp op) { exchanges.push_back(op); });
    for (plan::ExchangeOp exchange : exchanges) {
      bool gathers = exchange.collective().getForm().kind == ExchangeKind::AllGather;
      SmallVector<plan::LaunchOp> launches =
          gathers ? readersBehind(exchange) : writerBefore(exchange);
      if (launches.empty())
        continue;
      OverlapCase given = caseOf(exchange, launches, speeds, at, times);
      OverlapPrice price = priceOf(given);
      // Without a best number there are as many as there can be.
      int64_t estimate = price.pieces ? price.pieces : WEFT_MOST_PIECES;
      OverlapWay way = choose(exchange, launches, speeds, price, candidatesFor(estimate));
      if (way.isTogether && way.pieces != estimate)
        price = {price.apart, togetherIn(given, way.pieces), way.pieces};
      writePrice(exchange, price);
      if (way.isTogether)
        overlap(exchange, launches, gathers, price.pieces);
    }
    SmallVector<Beside> travelling = exchangesBeside(getOperation());
    for (const Beside &beside : llvm::reverse(travelling)) {
      OverlapPrice price = priceOf(beside, speeds, at, times);
      writePrice(beside.exchange, price);
      if (choose(beside.exchange, beside.launches, speeds, price, {}).isTogether)
        goOnBeside(beside);
    }
  }

private:
  /// `pieces`: that may be picked, the estimate first.
  OverlapWay choose(plan::ExchangeOp exchange, ArrayRef<plan::LaunchOp> launches,
                    const Links &speeds, OverlapPrice price, SmallVector<int64_t> pieces) {
    Link link = speeds.of(exchange.collective().getGroup());
    OverlapOffer offer{overlapKey(exchange, launches, link),
                       {!byPrice || price.pays(), pieces.empty() ? 0 : pieces.front()},
                       /*mayBeApart=*/byPrice,
                       std::move(pieces)};
    writeOffer(offer, exchange);
    std::optional<OverlapWay> picked = records ? records->pick(offer) : std::nullopt;
    return picked.value_or(offer.estimate);
  }

  void writePrice(plan::ExchangeOp exchange, OverlapPrice price) {
    int64_t both[] = {std::llround(price.apart), std::llround(price.together)};
    exchange->setAttr(plan::kPricesAttr, Builder(&getContext()).getI64ArrayAttr(both));
  }

  std::shared_ptr<const KernelChooser> chooser;
  std::shared_ptr<const OverlapChooser> records;
};

} // namespace

std::unique_ptr<Pass> createOverlapExchanges(const OverlapExchangesOptions &options,
                                             std::shared_ptr<const KernelChooser> chooser,
                                             std::shared_ptr<const OverlapChooser> records) {
  return std::make_unique<OverlapExchangesPass>(options, std::move(chooser), std::move(records));
}

} // namespace weft
