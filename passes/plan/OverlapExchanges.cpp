//===- OverlapExchanges.cpp - Ranks compute while an exchange goes on ---------------------------------===//
//
// Names of memory that stand between the two move in front of both.
//===------------------------------------------------------------------------------------------===//

#include "passes/plan/Passes.h"
#include "weft/artifact.h"

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

/// The launches that follow the exchange, which read the rows that it brings and nothing of each other.
SmallVector<plan::LaunchOp> readersBehind(plan::ExchangeOp exchange) {
  SmallVector<plan::LaunchOp> readers;
  for (Operation *op = exchange->getNextNode(); op; op = op->getNextNode()) {
    if (isName(op))
      continue;
    auto launch = dyn_cast<plan::LaunchOp>(op);
    if (!launch || !launch.followsRowsOf(exchange) || readers.size() == WEFT_MAX_PARTS ||
        llvm::any_of(readers, [&](plan::LaunchOp each) { return depends(launch, each); }))
      break;
    readers.push_back(launch);
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

void overlap(plan::ExchangeOp exchange, SmallVector<plan::LaunchOp> launches, bool comesFirst) {
  Operation *last = comesFirst ? launches.back().getOperation() : exchange.getOperation();
  OpBuilder b(exchange.getContext());
  b.setInsertionPointAfter(last);
  auto step = b.create<plan::OverlapOp>(exchange.getLoc());
  Block &body = step.getBody().emplaceBlock();
  auto append = [&](Operation *op) { op->moveBefore(&body, body.end()); };
  if (comesFirst)
    append(exchange);
  for (plan::LaunchOp launch : launches)
    append(launch);
  if (!comesFirst)
    append(exchange);
}

struct OverlapExchangesPass : impl::OverlapExchangesBase<OverlapExchangesPass> {
  void runOnOperation() override {
    SmallVector<plan::ExchangeOp> exchanges;
    getOperation()->walk([&](plan::ExchangeOp op) { exchanges.push_back(op); });
    for (plan::ExchangeOp exchange : exchanges) {
      bool gathers = exchange.collective().getForm().kind == ExchangeKind::AllGather;
      SmallVector<plan::LaunchOp> launches =
          gathers ? readersBehind(exchange) : writerBefore(exchange);
      if (!launches.empty())
        overlap(exchange, launches, gathers);
    }
  }
};

} // namespace
} // namespace weft
