//===- ReserveLate.cpp - Blocks for memory whose size data decide ------------------------------------===//
//
// A size with a symbol that nothing of the signature limits is known only behind what binds the symbol. Its memory lies in the first block
// that was asked for on the way there when all symbols of the size had values; when there is none, one is asked for right before it is
// needed. A run of binds thus shares one block.
//===------------------------------------------------------------------------------------------===//

#include "passes/plan/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_RESERVELATE
#include "passes/plan/Passes.h.inc"

namespace {

class LateBlocks {
public:
  explicit LateBlocks(plan::FuncOp function) : symbols(symbolsOf(function)) {}

  /// What is bound in a block has no value behind it, and memory asked for there is asked for again.
  void reserveIn(Block &block) {
    size_t outerKnown = known.size(), outerOpen = open.size();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto memory = dyn_cast<plan::MemoryOp>(op))
        limit(memory);
      auto host = dyn_cast<HostOpInterface>(op);
      if (!host)
        continue;
      size_t before = known.size();
      llvm::append_range(known, host.symbolsInside());
      for (Region &region : op.getRegions())
        reserveIn(region.front());
      known.resize(before);
      llvm::append_range(known, host.symbolsAfter());
    }
    known.resize(outerKnown);
    open.resize(outerOpen);
  }

private:
  struct LateBlock {
    Value block;
    SmallVector<StringAttr> known; ///< when it was asked for
  };

  void limit(plan::MemoryOp memory) {
    SymExpr bytes = memory.getBytes()[0], most = symbols.getUpperBound(bytes),
            here = most ? most : symbols.getUpperBound(bytes, known);
    memory.setBytesAttr(DimsAttr::get(memory.getContext(), {here}));
    if (!most && !symbols.getUpperBound(here))
      memory.getInsideMutable().assign(blockFor(memory, here));
  }

  Value blockFor(plan::MemoryOp memory, SymExpr bytes) {
    for (const LateBlock &each : open)
      if (symbols.getUpperBound(bytes, each.known) == bytes)
        return each.block;
    OpBuilder b(memory);
    open.push_back(
        {b.create<plan::ReserveOp>(memory.getLoc(), b.getType<plan::BlockType>(), DimsAttr()),
         known});
    return open.back().block;
  }

  SymbolsAttr symbols;
  SmallVector<StringAttr> known; ///< bound symbols that have values here
  std::vector<LateBlock> open;   ///< asked for on the way here
};

struct ReserveLatePass : impl::ReserveLateBase<ReserveLatePass> {
  void runOnOperation() override {
    LateBlocks(getOperation()).reserveIn(getOperation().getBody().front());
  }
};

} // namespace
} // namespace weft
