//===- RequireSizes.cpp - No value has a size below zero ------------------------------------------------===//

#include "passes/graph/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_REQUIRESIZES
#include "passes/graph/Passes.h.inc"

namespace {

/// The sizes of all values that operators make, each once, in the order of the program.
llvm::SetVector<SymExpr> sizesIn(func::FuncOp function) {
  llvm::SetVector<SymExpr> sizes;
  auto add = [&](Type type) {
    if (auto tensor = dyn_cast<SymTensorType>(type))
      for (SymExpr size : tensor.getDims())
        sizes.insert(size);
  };
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArgumentTypes(), add);
  });
  return sizes;
}

/// 0 <= size, with the number on the left: of `n - 1` that makes a range of `n`.
SymPred notBelowZero(SymExpr size) {
  int64_t number = 0;
  for (const SymTerm &term : size.terms())
    if (term.factors.empty())
      number = term.coefficient;
  return SymPred::le(SymExpr::constant(size.getContext(), -number), size - number);
}

/// Constants were looked at when types were verified, and no symbol is below zero.
bool isPlain(SymExpr size) { return size.asConstant() || size.asSymbol(); }

struct RequireSizes : impl::RequireSizesBase<RequireSizes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SymbolsAttr symbols = symbolsOf(function);
    SmallVector<SymPred> facts = symbols.getFacts();
    size_t known = facts.size();
    SymFacts together(&getContext()); // also about symbols that data bind: all hold where a value is made
    for (const SymPred &fact : facts)
      together = together.with(fact);
    for (SymExpr size : sizesIn(function)) {
      SymPred holds = notBelowZero(size);
      if (isPlain(size) || together.prove(holds) == Proof::Yes)
        continue;
      facts.push_back(holds);
      together = together.with(holds);
    }
    if (facts.size() > known)
      function->setAttr(kSymbolsAttr, SymbolsAttr::get(&getContext(), symbols.getNames(), facts,
                                                       symbols.getBoundNames()));
  }
};

} // namespace
} // namespace weft
