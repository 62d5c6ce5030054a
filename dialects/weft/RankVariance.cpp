//===- RankVariance.cpp - Looks for the place of a rank in what a value is made of ---------------===//

#include "dialects/weft/RankVariance.h"
#include "dialects/weft/ops/Collective.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace weft {

RankVariance::RankVariance(Operation *inside, StringAttr axis)
    : axis(axis), symbol(rankSymbol(axis)), function(inside) {
  while (!isa<FunctionOpInterface>(function))
    function = function->getParentOp();
}

/// What binds a symbol; none for one that the caller's sizes decide. The program is searched when the first one is asked for: most
/// programs have none, and every collective asks.
Operation *RankVariance::binderOf(StringAttr name) {
  if (!llvm::is_contained(symbolsOf(function).getBoundNames(), name))
    return nullptr;
  if (binders.empty())
    function->walk([&](HostOpInterface host) {
      for (auto names : {host.symbolsInside(), host.symbolsAfter()})
        for (StringAttr bound : names)
          binders[bound] = host;
    });
  return binders.lookup(name);
}

bool RankVariance::mayDiffer(SymExpr expr) {
  return llvm::any_of(expr.symbols(), [&](StringAttr name) {
    if (name == symbol)
      return true;
    Operation *binder = binderOf(name);
    return binder && visitedSymbols.insert(name).second && ofOperation(binder);
  });
}

bool RankVariance::mayDiffer(Value value) {
  if (!visited.insert(value).second)
    return false;
  if (auto type = dyn_cast<SymTensorType>(value.getType()))
    if (llvm::any_of(type.getDims(), [&](SymExpr dim) { return mayDiffer(dim); }))
      return true;
  // A kernel's results are looked at one by one: it may give others that differ.
  if (auto kernel = value.getDefiningOp<KernelOp>())
    return mayDiffer(kernel.getBody().front().getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber()));
  if (Operation *op = value.getDefiningOp())
    return ofOperation(op);
  Operation *parent = value.getParentBlock()->getParentOp(); // a function's argument is the same
  if (isa<KernelOp>(parent))
    return mayDiffer(parent->getOperand(cast<BlockArgument>(value).getArgNumber()));
  return !isa<FunctionOpInterface>(parent) && ofOperation(parent);
}

/// Of any of its results, or of a symbol that it binds.
bool RankVariance::ofOperation(Operation *op) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    if (collective.getGroup().getSize(axis))
      return !isa<AllReduceOp, AllGatherOp, BroadcastOp>(op);
  for (NamedAttribute attribute : op->getAttrs())
    if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
      if (llvm::any_of(dims.getDims(), [&](SymExpr dim) { return mayDiffer(dim); }))
        return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return mayDiffer(operand); }) ||
         ofRegions(op);
}

/// What the regions of an operation give.
bool RankVariance::ofRegions(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (!block.empty() &&
          llvm::any_of(block.back().getOperands(), [&](Value given) { return mayDiffer(given); }))
        return true;
  return false;
}

bool RankVariance::mayEnterDifferently(Operation *op) {
  if (auto branch = dyn_cast<IfOp>(op))
    return mayDiffer(branch.getCondition());
  auto loop = dyn_cast<LoopOp>(op);
  if (!loop)
    return false;
  if (mayDiffer(loop.getTrips()[0]))
    return true;
  return loop.isConditional() && (mayDiffer(loop.getInits()[0]) ||
                                  mayDiffer(loop.getBody().front().getTerminator()->getOperand(0)));
}

} // namespace weft
