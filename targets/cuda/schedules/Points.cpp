//===- Points.cpp - A thread for 16 bytes of elements, everything else pulled -------------------------===//
//
//   a block has threads x lanes elements that follow each other                    [points]
//     a thread pulls the elements of all results at neighbouring places, and then stores
//       lines of whole chunks: a chunk                                             [chunks]
//       one line: a chunk, or in the last thread what is left                      [ragged]
//       any other sizes: elements that lie as many apart as the block has threads  [singly]
//   elements that share bytes: the first thread writes one after the other         [packed]
//===------------------------------------------------------------------------------------------===//

#include "targets/common/match/Points.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/common/ScheduledTarget.h"
#include "targets/cuda/Stream.h"
#include "targets/cuda/TurnedWeights.h"

using namespace mlir;

namespace weft {
namespace {

class PointsEmitter {
public:
  PointsEmitter(SimtKernel &k, SymTensorType space, int64_t perBlock)
      : k(k), b(k.b), dims(space.getDims()), count(k.e.uniform(space.getElements())),
        perBlock(perBlock) {}

  /// Of elements from..to, `step` apart.
  void walk(Value from, Value to, int64_t step) {
    k.loop(from, to, step, [&](Value number) {
      k.e.forget();
      k.storeResults(k.pointIndex(dims, number));
      k.e.forget();
    });
  }

  /// [chunks] The last dimension is cut into them.
  void chunks(int64_t lanes) {
    Value chunk = k.thread, first = k.mul(chunk, constantI64(b, lanes));
    k.when(k.less(first, count), [&] {
      Value width = k.e.uniform(dims.back());
      Value perLine = b.createOrFold<arith::DivUIOp>(width, constantI64(b, lanes));
      auto [line, place] = k.e.divmod({chunk}, {perLine});
      SmallVector<IndexValue> index = k.lineIndex(dims, line.base);
      index.back() = {k.mul(place.base, constantI64(b, lanes)), 1};
      k.storeResults(index);
    });
  }

  /// [ragged]
  void line(int64_t lanes) {
    Value first = k.mul(k.thread, constantI64(b, lanes)),
          behind = k.add(first, constantI64(b, lanes));
    Value isWhole = b.create<arith::CmpIOp>(arith::CmpIPredicate::sle, behind, count);
    SmallVector<IndexValue> index(dims.size(), k.e.constant(0));
    index[lineDim()] = {first, 1};
    if (dims[lineDim()] == SymExpr::floordiv(dims[lineDim()], lanes) * lanes)
      return k.when(isWhole, [&] { k.storeResults(index); });
    k.choose(
        isWhole,
        [&] {
          k.storeResults(index);
          k.e.forget();
        },
        [&] {
          k.e.setLanes(1);
          walk(first, count, 1);
          k.e.setLanes(unsigned(lanes));
        });
  }

  /// [singly]
  void singly() {
    Value first = k.add(k.mul(k.block, constantI64(b, perBlock)), k.inBlock);
    Value behind = k.mul(k.add(k.block, constantI64(b, 1)), constantI64(b, perBlock));
    walk(first, b.create<arith::MinSIOp>(behind, count), SimtMachine::kThreads);
  }

  bool isLine() const { return llvm::count_if(dims, isMore) == 1; }

private:
  static bool isMore(SymExpr dim) { return !dim.isConstant(1); }
  size_t lineDim() const { return size_t(llvm::find_if(dims, isMore) - dims.begin()); }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  SmallVector<SymExpr> dims;
  Value count;
  int64_t perBlock;
};

class PointsSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "loop"; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return matchPoints(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    if (writesPackedElements(spec))
      return blocks(SymExpr::constant(spec.getContext(), 1), 1);
    return blocks(matchPoints(spec)->getElements(), perBlock(spec));
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec, const SimtMachine &machine) const override {
    SmallVector<WeightLayout> layouts = SimtSchedule::layouts(spec, machine);
    turnWeights(spec, layouts);
    return layouts;
  }

  void emit(SimtKernel &k) const override {
    SymTensorType space = *matchPoints(k.spec);
    readTurnedWeights(k, layouts(k.spec, k.machine));
    PointsEmitter points(k, space, perBlock(k.spec));
    // [packed]
    if (writesPackedElements(k.spec))
      return k.when(k.less(k.thread, constantI64(k.b, 1)),
                    [&] { points.walk(constantI64(k.b, 0), k.e.uniform(space.getElements()), 1); });
    // [points]
    if (space.getRank() == 0)
      return points.singly();
    Stream stream(k, points.isLine() ? SymExpr() : space.getDims().back(), lanesOf(k.spec));
    stream.emit([&](unsigned lanes) {
      if (lanes == 1)
        points.singly();
      else if (points.isLine())
        points.line(lanes);
      else
        points.chunks(lanes);
    });
  }

private:
  static unsigned lanesOf(func::FuncOp spec) { return streamLanes(spec, *matchPoints(spec)); }
  int64_t perBlock(func::FuncOp spec) const { return threads() * int64_t(lanesOf(spec)); }
};

} // namespace

const SimtSchedule *simtPoints() {
  static const PointsSchedule schedule;
  return &schedule;
}

} // namespace weft
