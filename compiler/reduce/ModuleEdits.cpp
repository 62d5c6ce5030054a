//===- ModuleEdits.cpp ------------------------------------------------------------------------===//

#include "compiler/reduce/ModuleEdits.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace weft {
namespace {

/// "value0" and so on, without those that arguments or results have.
class NewNames {
public:
  explicit NewNames(func::FuncOp function) : function(function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      note(function.getArgAttrOfType<StringAttr>(i, kNameAttr));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      note(function.getResultAttrOfType<StringAttr>(i, kNameAttr));
  }

  DictionaryAttr next() {
    std::string name;
    do
      name = "value" + std::to_string(count++);
    while (taken.contains(name));
    Builder b(function.getContext());
    return b.getDictionaryAttr(b.getNamedAttr(kNameAttr, b.getStringAttr(name)));
  }

private:
  void note(StringAttr name) {
    if (name)
      taken.insert(name.getValue());
  }

  func::FuncOp function;
  llvm::DenseSet<StringRef> taken;
  unsigned count = 0;
};

Block &bodyOf(func::FuncOp function) { return function.getBody().front(); }

/// What the operation reads from outside, also in its regions.
llvm::SetVector<Value> readBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// Drops the results whose values are to go.
void dropResults(func::FuncOp function, llvm::function_ref<bool(Value)> goes) {
  Operation *end = bodyOf(function).getTerminator();
  llvm::BitVector dropped(function.getNumResults());
  for (OpOperand &operand : end->getOpOperands())
    if (goes(operand.get()))
      dropped.set(operand.getOperandNumber());
  end->eraseOperands(dropped);
  function.eraseResults(dropped);
}

void addResult(func::FuncOp function, Value value, DictionaryAttr name) {
  Operation *end = bodyOf(function).getTerminator();
  function.insertResult(function.getNumResults(), value.getType(), name);
  end->insertOperands(end->getNumOperands(), value);
}

/// The symbols that types and attributes inside the function speak of.
llvm::DenseSet<StringAttr> spokenSymbols(func::FuncOp function) {
  llvm::DenseSet<StringAttr> spoken;
  AttrTypeWalker walker;
  walker.addWalk([&](SymExprAttr attribute) {
    for (StringAttr name : attribute.getExpr().symbols())
      spoken.insert(name);
    return WalkResult::skip();
  });
  walker.walk(function.getFunctionType());
  function.getBody().walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      walker.walk(attribute.getValue());
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        walker.walk(type);
  });
  return spoken;
}

llvm::DenseSet<StringAttr> bindersIn(func::FuncOp function) {
  llvm::DenseSet<StringAttr> bound;
  function.getBody().walk([&](HostOpInterface host) {
    for (StringAttr name : host.symbolsInside())
      bound.insert(name);
    for (StringAttr name : host.symbolsAfter())
      bound.insert(name);
  });
  return bound;
}

/// A symbol that nothing binds any more is one of the signature; one that nothing speaks of goes.
void declareSymbols(func::FuncOp function) {
  SymbolsAttr old = symbolsOf(function);
  llvm::DenseSet<StringAttr> spoken = spokenSymbols(function), binders = bindersIn(function), known;
  SmallVector<StringAttr> names, bound;
  for (ArrayRef<StringAttr> list : {old.getNames(), old.getBoundNames()})
    for (StringAttr name : list) {
      if (!spoken.contains(name) && !binders.contains(name))
        continue;
      (binders.contains(name) ? bound : names).push_back(name);
      known.insert(name);
    }
  SmallVector<SymPred> facts;
  for (const SymPred &fact : old.getFacts())
    if (llvm::all_of(fact.symbols(), [&](StringAttr name) { return known.contains(name); }))
      facts.push_back(fact);
  function->setAttr(kSymbolsAttr, SymbolsAttr::get(function.getContext(), names, facts, bound));
}

} // namespace

SmallVector<Operation *> operatorsOf(func::FuncOp function) {
  SmallVector<Operation *> operators;
  if (!function.isExternal())
    for (Operation &op : bodyOf(function).without_terminator())
      if (!readBy(&op).empty() || op.getNumRegions() > 0)
        operators.push_back(&op);
  return operators;
}

bool removeOperators(func::FuncOp function, const llvm::SetVector<Operation *> &operators) {
  NewNames names(function);
  Block &body = bodyOf(function);
  auto isGone = [&](Operation *op) { return operators.contains(body.findAncestorOpInBlock(*op)); };
  auto isResult = [&](Operation *op) { return op == body.getTerminator(); };
  dropResults(function, [&](Value value) {
    return value.getDefiningOp() && operators.contains(value.getDefiningOp());
  });
  for (Operation *op : operators)
    for (Value value : op->getResults()) {
      auto staysRead = [&](OpOperand &use) {
        return !isGone(use.getOwner()) && !isResult(use.getOwner());
      };
      if (!llvm::any_of(value.getUses(), staysRead))
        continue;
      unsigned position = function.getNumArguments();
      function.insertArgument(position, value.getType(), names.next(), value.getLoc());
      value.replaceUsesWithIf(function.getArgument(position), staysRead);
    }
  for (Operation *op : operators)
    for (Value value : readBy(op)) {
      Operation *source = value.getDefiningOp();
      if (source && !operators.contains(source) && !readBy(source).empty() &&
          llvm::all_of(value.getUsers(), isGone))
        addResult(function, value, names.next());
    }
  for (Operation *op : llvm::reverse(operators)) {
    op->dropAllUses();
    op->erase();
  }
  return function.getNumResults() > 0;
}

Value forwardedOperand(Operation *op) {
  if (op->getNumResults() != 1)
    return {};
  for (Value operand : op->getOperands())
    if (operand.getType() == op->getResult(0).getType())
      return operand;
  return {};
}

bool inlineBranch(IfOp op, Region &branch) {
  Operation *end = branch.front().getTerminator();
  if (!llvm::equal(end->getOperandTypes(), op->getResultTypes()))
    return false;
  op->replaceAllUsesWith(end->getOperands());
  end->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), branch.front().getOperations());
  op->erase();
  return true;
}

void tidy(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(bodyOf(function))))
    if (isOpTriviallyDead(&op))
      op.erase();
  declareSymbols(function);
}

} // namespace weft
