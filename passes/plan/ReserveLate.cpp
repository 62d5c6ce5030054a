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
  LogicalResult reserveIn(Block &block) {
    size_t outerKnown = known.size(), outerOpen = open.size();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto memory = dyn_cast<plan::MemoryOp>(op); memory && failed(limit(memory)))
        return failure();
      auto host = dyn_cast<HostOpInterface>(op);
      if (!host)
        continue;
      size_t before = known.size();
      llvm::append_range(known, host.symbolsInside());
      for (Region &region : op.getRegions())
        if (failed(reserveIn(region.front())))
          return failure();
      known.resize(before);
      llvm::append_range(known, host.symbolsAfter());
    }
    known.resize(outerKnown);
    open.resize(outerOpen);
    return success();
  }

private:
  struct LateBlock {
    Value block;
    SmallVector<StringAttr> known; ///< when it was asked for
  };

  LogicalResult limit(plan::MemoryOp memory) {
    SymExpr bytes = memory.getBytes()[0], most = symbols.getUpperBound(bytes),
            here = most ? most : symbols.getUpperBound(bytes, known);
    if (!here)
      return emitError(memory.getLoc())
             << "needs memory for '" << bytes.str()
             << "' bytes before the contents of tensors decide how many they are";
    memory.setBytesAttr(DimsAttr::get(memory.getContext(), {here}));
    if (!most && !symbols.getUpperBound(here))
      memory.getInsideMutable().assign(blockFor(memory, here));
    return success();
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
    if (failed(LateBlocks(getOperation()).reserveIn(getOperation().getBody().front())))
      signalPassFailure();
  }
};

} // namespace
} // namespace weft
