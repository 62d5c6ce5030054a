//===- Lifetimes.cpp ----------------------------------------------------------------------------===//

#include "passes/plan/Lifetimes.h"

using namespace mlir;

namespace weft {
namespace {

class Clock {
public:
  explicit Clock(plan::FuncOp function) { walk(function.getBody().front()); }

  Lifetimes result;

private:
  using Classes = SmallVector<unsigned>;

  void walk(Block &block) {
    Classes fresh; // memory that the next step begins to use
    for (Operation &op : block) {
      if (auto memory = dyn_cast<plan::MemoryOp>(op))
        fresh.push_back(add(memory));
      else if (auto reserve = dyn_cast<plan::ReserveOp>(op))
        result.late.push_back(reserve);
      else if (auto part = dyn_cast<plan::PartOp>(op))
        lies[part] = lies.lookup(part.getWhole());
      else if (step(op, fresh))
        fresh.clear();
    }
  }

  unsigned add(plan::MemoryOp memory) {
    unsigned number = result.classes.size(), block = 0;
    if (Value inside = memory.getInside())
      block = 1 + (llvm::find(result.late, inside.getDefiningOp<plan::ReserveOp>()) -
                   result.late.begin());
    SymExpr bytes = SymExpr::ceildiv(memory.getBytes()[0], kLine) * kLine;
    result.memory.push_back(memory);
    result.classes.push_back({bytes, time, time, block});
    lies[memory] = {number};
    return number;
  }

  bool step(Operation &op, const Classes &fresh) {
    if (auto branch = dyn_cast<plan::IfOp>(op))
      stepIf(branch, fresh);
    else if (auto loop = dyn_cast<plan::LoopOp>(op))
      stepLoop(loop, fresh);
    else if (isa<plan::BindOp, plan::CheckPositionsOp, plan::LaunchOp, plan::TogetherOp,
                 plan::ExchangeOp, plan::AwaitOp, plan::OverlapOp>(op)) {
      op.walk([&](plan::AccessOpInterface access) { touch(access); });
      ++time;
    } else
      return false;
    return true;
  }

  void stepIf(plan::IfOp branch, const Classes &fresh) {
    touch(branch);
    begin(fresh, ++time);
    SmallVector<Classes> given(branch.getNumResults());
    for (Region &region : branch->getRegions()) {
      walk(region.front());
      auto yield = cast<plan::YieldOp>(region.front().getTerminator());
      touch(yield);
      for (auto [classes, buffer] : llvm::zip_equal(given, yield.getBuffers()))
        llvm::append_range(classes, lies.lookup(buffer));
    }
    for (auto [value, classes] : llvm::zip_equal(branch.getResults(), given)) {
      lies[value] = classes;
      touch(value);
    }
    for (unsigned number : fresh)
      result.classes[number].death = time;
    ++time;
  }

  void stepLoop(plan::LoopOp loop, const Classes &fresh) {
    unsigned first = ++time;
    begin(fresh, first);
    touch(loop);
    size_t carried = loop.getCarried().size();
    for (size_t i = 0; i < carried; ++i) {
      touch(loop.getCarried()[i]);
      Classes any = lies.lookup(loop.getMemory()[2 * i]);
      llvm::append_range(any, lies.lookup(loop.getMemory()[2 * i + 1]));
      llvm::append_range(any, lies.lookup(loop.getCarried()[i]));
      for (Value value : {Value(loop.getBody().getArgument(i)),
                          Value(loop.getBody().getArgument(carried + i)), loop.getResult(i)})
        lies[value] = any;
    }
    ++time;
    walk(loop.getBody().front());
    touch(cast<plan::YieldOp>(loop.getBody().front().getTerminator()));
    // What was written before and read since is needed again the next time.
    for (StorageClass &each : result.classes)
      if (each.birth <= first && each.death >= first)
        each.death = time;
    for (Value value : loop.getResults())
      touch(value);
    ++time;
  }

  void begin(const Classes &fresh, unsigned when) {
    for (unsigned number : fresh)
      result.classes[number].birth = result.classes[number].death = when;
  }

  void touch(plan::AccessOpInterface access) {
    for (Value value : access.reads())
      touch(value);
    for (Value value : access.writes())
      touch(value);
  }
  void touch(Value buffer) {
    for (unsigned number : lies.lookup(buffer))
      result.classes[number].death = time;
  }

  static constexpr int64_t kLine = 64;
  llvm::DenseMap<Value, Classes> lies; ///< classes that a buffer may lie in
  unsigned time = 0;
};

} // namespace

Lifetimes lifetimesOf(plan::FuncOp function) { return std::move(Clock(function).result); }

} // namespace weft
