//===- Beside.cpp ----------------------------------------------------------------------------------===//

#include "passes/plan/Beside.h"

using namespace mlir;

namespace weft {
namespace {

/// Whether it only gives memory a name.
bool isName(Operation *op) { return isa<plan::MemoryOp, plan::PartOp, plan::WeightOp>(op); }

bool travels(Operation *op) {
  auto exchange = dyn_cast<plan::ExchangeOp>(op);
  return exchange && exchange.collective().getForm().kind == ExchangeKind::Permute;
}

bool sends(Operation *op, Value buffer) { return cast<plan::ExchangeOp>(op).getSent() == buffer; }

/// Whether an exchange cannot go on while the launch runs.
bool meets(plan::LaunchOp launch, plan::ExchangeOp exchange) {
  return llvm::is_contained(launch.writes(), exchange.getSent()) ||
         llvm::is_contained(launch.writes(), exchange.getReceived()) ||
         llvm::is_contained(launch.reads(), exchange.getReceived());
}

/// A launch that reads what the exchange sends and an earlier one has brought: that is awaited in front of it, and can be sent on.
Operation *firstReader(plan::ExchangeOp exchange) {
  Value sent = exchange.getSent();
  bool wasBrought = llvm::any_of(sent.getUsers(), [&](Operation *user) {
    return travels(user) && cast<plan::ExchangeOp>(user).getReceived() == sent;
  });
  Operation *first = nullptr;
  for (Operation *user : sent.getUsers())
    if (isa<plan::LaunchOp>(user) && user->getBlock() == exchange->getBlock() &&
        user->isBeforeInBlock(exchange) && (!first || user->isBeforeInBlock(first)))
      first = user;
  return wasBrought ? first : nullptr;
}

/// What the exchange can stand behind: what makes the memory that it sends, another exchange, or what the host decides.
Operation *startOf(plan::ExchangeOp exchange) {
  Operation *reader = firstReader(exchange), *op = exchange->getPrevNode();
  for (; op; op = op->getPrevNode()) {
    auto launch = dyn_cast<plan::LaunchOp>(op);
    if (!isName(op) && (!launch || meets(launch, exchange)))
      break;
    if (op == reader)
      return op->getPrevNode();
  }
  return op;
}

/// Moves the exchange, with what names its memory.
void moveBehind(plan::ExchangeOp exchange, Operation *start) {
  Operation *behind = start;
  for (Value buffer : {exchange.getSent(), exchange.getReceived()}) {
    Operation *name = buffer.getDefiningOp();
    bool isLater = name && name->getBlock() == exchange->getBlock() &&
                   start->isBeforeInBlock(name) && isName(name);
    if (!isLater)
      continue;
    // A part is named behind the whole that it is of, which launches behind `start` do not make.
    if (isa<plan::PartOp>(name))
      if (Operation *whole = name->getOperand(0).getDefiningOp();
          whole && isName(whole) && start->isBeforeInBlock(whole))
        whole->moveAfter(behind), behind = whole;
    name->moveAfter(behind);
    behind = name;
  }
  exchange->moveAfter(behind);
}

Beside besideOf(plan::ExchangeOp exchange) {
  Beside beside{exchange, {}, exchange};
  for (Operation *op = exchange->getNextNode(); op; op = op->getNextNode()) {
    auto launch = dyn_cast<plan::LaunchOp>(op);
    if (launch && meets(launch, exchange))
      break;
    if (!launch && !isName(op) && !(travels(op) && !sends(op, exchange.getReceived())))
      break;
    if (launch) {
      beside.launches.push_back(launch);
      beside.last = launch;
    }
  }
  return beside;
}

/// Whether no more exchanges than there is room for go on at a time, and none that is waited for at once.
bool fits(const Beside &beside) {
  unsigned begun = 1;
  plan::ExchangeOp exchange = beside.exchange;
  for (Operation *op = exchange->getNextNode(); op != beside.last; op = op->getNextNode())
    if (auto other = dyn_cast<plan::ExchangeOp>(op)) {
      if (!other.getBeside())
        return false;
      ++begun;
    }
  return begun <= plan::kMostBeside;
}

} // namespace

SmallVector<Beside> exchangesBeside(plan::FuncOp function) {
  SmallVector<plan::ExchangeOp> exchanges;
  function.walk([&](plan::ExchangeOp exchange) {
    if (travels(exchange) && !isa<plan::OverlapOp>(exchange->getParentOp()))
      exchanges.push_back(exchange);
  });
  for (plan::ExchangeOp exchange : exchanges)
    if (Operation *start = startOf(exchange))
      moveBehind(exchange, start);
  SmallVector<Beside> found;
  for (plan::ExchangeOp exchange : exchanges)
    if (Beside beside = besideOf(exchange); !beside.launches.empty())
      found.push_back(beside);
  return found;
}

bool goOnBeside(const Beside &beside) {
  if (!fits(beside))
    return false;
  plan::ExchangeOp exchange = beside.exchange;
  OpBuilder b(exchange.getContext());
  b.setInsertionPointAfter(beside.last);
  b.create<plan::AwaitOp>(exchange.getLoc(), exchange.getSent(), exchange.getReceived());
  exchange.setBeside(true);
  return true;
}

} // namespace weft
