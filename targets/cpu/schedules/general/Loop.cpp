//===- Loop.cpp - One loop nest over the result, everything else pulled ---------------------------===//
//
// The general schedule: a unit is one line of the innermost dimension (or a block of a vector), vectorised along it. Reductions inside
// are folded per element. It accepts every kernel without composites whose results have the same dimensions.
//===------------------------------------------------------------------------------------------===//

#include "targets/common/match/Points.h"
#include "targets/cpu/schedules/Schedules.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kBlock = 4096; ///< elements of a unit when there is only one dimension
constexpr int64_t kGrainWork =
    16384; ///< elements below which a piece of work is not worth a thread

class LoopSchedule : public Schedule {
public:
  StringRef name() const override { return "loop"; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return matchPoints(spec).decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &) const override {
    SmallVector<SymExpr> dims = matchPoints(spec)->getDims();
    SymExpr one = SymExpr::constant(spec.getContext(), 1),
            zero = SymExpr::constant(spec.getContext(), 0);
    if (dims.empty() || writesPackedElements(spec))
      return {one, one, zero};
    if (dims.size() == 1)
      return {SymExpr::ceildiv(dims[0], kBlock),
              SymExpr::constant(spec.getContext(), kGrainWork / kBlock), zero};
    SymExpr rows = one;
    for (SymExpr dim : ArrayRef(dims).drop_back())
      rows = rows * dim;
    SymExpr inner = SymExpr::max(dims.back(), one);
    return {rows,
            SymExpr::max(SymExpr::floordiv(SymExpr::constant(spec.getContext(), kGrainWork), inner),
                         one),
            zero};
  }

  void emit(KernelContext &c) const override {
    SmallVector<SymExpr> dims = matchPoints(c.spec)->getDims();
    if (dims.empty()) {
      c.e.setLanes(1);
      c.storeResults({});
      return;
    }
    Value end = c.end;
    if (writesPackedElements(c.spec)) {
      c.e.setLanes(1);
      SymExpr units = SymExpr::ceildiv(dims[0], kBlock);
      for (size_t d = 0; d + 1 < dims.size(); ++d)
        units = d == 0 ? dims[0] : units * dims[d];
      end = c.e.uniform(units);
    }
    c.loop(c.begin, end, 1, [&](Value unit) {
      if (dims.size() == 1)
        emitBlock(c, dims[0], unit);
      else
        emitLine(c, dims, unit);
    });
  }

private:
  /// Elements [unit * kBlock, min(size, (unit + 1) * kBlock)) of a vector.
  static void emitBlock(KernelContext &c, SymExpr size, Value unit) {
    StringAttr start = StringAttr::get(c.b.getContext(), ".start");
    Value from = c.mul(unit, constantI64(c.b, kBlock));
    c.e.bindSymbol(start, from);
    SymExpr left =
        SymExpr::min(size - SymExpr::symbol(start), SymExpr::constant(c.b.getContext(), kBlock));
    c.vectors(left, [&](IndexValue i) { c.storeResults({c.e.add(i, {from})}); });
  }

  static void emitLine(KernelContext &c, ArrayRef<SymExpr> dims, Value unit) {
    SmallVector<IndexValue> index = c.lineIndex(dims, unit);
    c.vectors(dims.back(), [&](IndexValue i) {
      index.back() = i;
      c.storeResults(index);
    });
  }
};

} // namespace

const Schedule *loopSchedule() {
  static const LoopSchedule schedule;
  return &schedule;
}

} // namespace weft
