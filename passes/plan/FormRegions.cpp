//===- FormRegions.cpp - Launches that run together ---------------------------------------------------===//
//
// A run is what lies between two decisions of the host. Names of memory and requests that stand in front of a launch move with it.
//===------------------------------------------------------------------------------------------===//

#include "passes/plan/Passes.h"
#include "passes/plan/PlanMemory.h"
#include "passes/plan/Regions.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FORMREGIONS
#include "passes/plan/Passes.h.inc"

namespace {

/// A launch and what was put in front of it.
struct Member {
  plan::LaunchOp launch;
  SmallVector<Operation *> attached;
};

class RegionFormer {
public:
  explicit RegionFormer(plan::FuncOp function) : symbols(symbolsOf(function)) {
    SmallVector<StringAttr> names(symbols.getNames());
    llvm::append_range(names, symbols.getBoundNames());
    facts = symbols.asFacts();
    sizes = sizesToTry(names, *facts);
  }

  void formIn(Block &block) {
    std::vector<Member> run;
    SmallVector<Operation *> attached;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
        run.push_back({launch, std::move(attached)});
        attached.clear();
      } else if (isa<HostOpInterface>(op) || op.hasTrait<OpTrait::IsTerminator>()) {
        form(run);
        run.clear();
        attached.clear();
      } else {
        attached.push_back(&op);
      }
    }
  }

private:
  void form(MutableArrayRef<Member> run) {
    if (run.empty())
      return;
    OpBuilder b(run.front().launch.getContext());
    b.setInsertionPointAfter(run.back().launch);
    Operation *end = &*b.getInsertionPoint();
    for (ArrayRef<unsigned> region : regionsOf(run)) {
      for (unsigned member : region)
        for (Operation *op : run[member].attached)
          op->moveBefore(end);
      plan::TogetherOp together;
      if (region.size() > 1) {
        b.setInsertionPoint(end);
        together = b.create<plan::TogetherOp>(run[region.front()].launch.getLoc());
        together.getBody().emplaceBlock();
      }
      for (unsigned member : region)
        if (together)
          run[member].launch->moveBefore(&together.getBody().front(),
                                         together.getBody().front().end());
        else
          run[member].launch->moveBefore(end);
    }
  }

  Regions regionsOf(MutableArrayRef<Member> run) {
    llvm::DenseMap<Operation *, unsigned> numbers;
    llvm::DenseMap<Value, unsigned> writers;
    std::vector<RegionKernel> kernels(run.size());
    llvm::SetVector<Value> memory;
    for (auto [k, member] : llvm::enumerate(run)) {
      plan::LaunchOp launch = member.launch;
      numbers[launch] = k;
      kernels[k].splitsWell = hasManyPieces(launch);
      for (Value buffer : launch.reads()) {
        if (auto writer = writers.find(buffer); writer != writers.end())
          kernels[k].needs.push_back(writer->second);
        else if (takesMemory(buffer, launch->getBlock()))
          memory.insert(buffer);
      }
      for (Value buffer : launch.writes()) {
        writers[buffer] = k;
        memory.insert(buffer);
      }
    }
    std::vector<RegionValue> values;
    for (Value buffer : memory)
      values.push_back(describe(buffer, run.front().launch->getBlock(), numbers, writers));
    return formRegions(kernels, values);
  }

  RegionValue describe(Value buffer, Block *block,
                       const llvm::DenseMap<Operation *, unsigned> &numbers,
                       const llvm::DenseMap<Value, unsigned> &writers) {
    RegionValue row;
    if (auto writer = writers.find(buffer); writer != writers.end())
      row.producer = writer->second;
    row.isKept = false;
    llvm::SetVector<Operation *> users;
    for (Operation *user : buffer.getUsers())
      users.insert(user);
    for (Operation *user : users) {
      auto launch = dyn_cast<plan::LaunchOp>(user);
      auto number = numbers.find(user);
      if (number == numbers.end())
        row.isKept = true;
      else if (llvm::is_contained(launch.reads(), buffer))
        row.readers.push_back(number->second);
    }
    row.bytes = bytesTried(buffer, block);
    return row;
  }

  /// What comes from outside of the block is alive all along.
  static bool takesMemory(Value buffer, Block *block) {
    auto memory = buffer.getDefiningOp<plan::MemoryOp>();
    return memory && memory->getBlock() == block;
  }

  /// What the buffer takes of the plan, at the sizes that are tried.
  SmallVector<int64_t, 4> bytesTried(Value buffer, Block *block) {
    SmallVector<int64_t, 4> tried(sizes.size(), 0);
    if (!takesMemory(buffer, block))
      return tried;
    SymExpr bytes = buffer.getDefiningOp<plan::MemoryOp>().getBytes()[0],
            most = symbols.getUpperBound(bytes);
    for (auto [place, values] : llvm::zip_equal(tried, sizes))
      place = (most ? most : bytes).evaluate(values).value_or(0);
    return tried;
  }

  /// Whether all workers are busy nearly to the end, for any sizes.
  bool hasManyPieces(plan::LaunchOp launch) {
    constexpr int64_t kMany = 64;
    SymInterval units = facts->bounds(launch.unitsExpr()),
                grain = facts->bounds(launch.grainExpr());
    return units.low && grain.high && *units.low / std::max<int64_t>(*grain.high, 1) >= kMany;
  }

  SymbolsAttr symbols;
  std::optional<SymFacts> facts;
  SmallVector<SymValues> sizes; ///< at which orders are compared
};

struct FormRegionsPass : impl::FormRegionsBase<FormRegionsPass> {
  void runOnOperation() override {
    RegionFormer former(getOperation());
    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Block *block) {
      if (!isa<plan::TogetherOp, plan::OverlapOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      former.formIn(*block);
  }
};

} // namespace
} // namespace weft
