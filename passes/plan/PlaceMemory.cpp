//===- PlaceMemory.cpp - Writes the memory plan into the program ---------------------------------------===//

#include "passes/plan/Lifetimes.h"
#include "passes/plan/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_PLACEMEMORY
#include "passes/plan/Passes.h.inc"

namespace {

/// Sets the places of the block's classes.
void place(const Lifetimes &lives, const MemoryPlan &plan, Builder &b) {
  llvm::DenseMap<unsigned, int64_t> places;
  for (auto [place, number] : llvm::enumerate(plan.order)) {
    places[number] = place;
    SmallVector<int64_t> above;
    for (unsigned below : plan.below[number])
      above.push_back(places[below]);
    plan::MemoryOp memory = lives.memory[number];
    memory.setPlaceAttr(b.getI64IntegerAttr(place));
    memory.setAboveAttr(b.getDenseI64ArrayAttr(above));
  }
}

struct PlaceMemoryPass : impl::PlaceMemoryBase<PlaceMemoryPass> {
  void runOnOperation() override {
    plan::FuncOp function = getOperation();
    SymbolsAttr symbols = symbolsOf(function);
    SymFacts facts = symbols.asFacts();
    SmallVector<StringAttr> names(symbols.getNames());
    Lifetimes lives = lifetimesOf(function);
    Builder attributes(&getContext());
    auto planned = [&](unsigned block, auto op) {
      MemoryPlan plan = planMemory(lives.classes, block, names, facts, &getContext());
      place(lives, plan, attributes);
      op.setPeaksAttr(DimsAttr::get(&getContext(), plan.peaks));
      op.setLoose(!plan.isExact);
    };
    Block &body = function.getBody().front();
    for (auto old : llvm::make_early_inc_range(body.getOps<plan::ArenaOp>()))
      old.erase();
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    planned(0, b.create<plan::ArenaOp>(function.getLoc(),
                                       DimsAttr::get(&getContext(), ArrayRef<SymExpr>())));
    llvm::append_range(names, symbols.getBoundNames());
    for (auto [i, reserve] : llvm::enumerate(lives.late))
      planned(i + 1, reserve);
  }
};

} // namespace
} // namespace weft
