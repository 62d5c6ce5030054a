//===- Points.cpp - A thread for each element, everything else pulled -------------------------------===//
//
//   thread of the grid, where there is an element with its number                  [points]
//     elements of all results are pulled, and then stored
//   elements that share bytes: the first thread writes one after the other         [packed]
//===------------------------------------------------------------------------------------------===//

#include "targets/common/match/Points.h"
#include "targets/common/ScheduledTarget.h"
#include "targets/cuda/SimtKernel.h"

using namespace mlir;

namespace weft {
namespace {

class PointsSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "loop"; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return matchPoints(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    if (writesPackedElements(spec))
      return blocks(SymExpr::constant(spec.getContext(), 1), 1);
    return blocks(matchPoints(spec)->getElements(), threads());
  }

  void emit(SimtKernel &k) const override {
    SymTensorType space = *matchPoints(k.spec);
    SmallVector<SymExpr> dims = space.getDims();
    Value count = k.e.uniform(space.getElements());
    // [points]
    if (!writesPackedElements(k.spec))
      return k.when(k.less(k.thread, count), [&] { k.storeResults(k.pointIndex(dims, k.thread)); });
    // [packed]
    k.when(k.less(k.thread, constantI64(k.b, 1)), [&] {
      k.loop(constantI64(k.b, 0), count, 1, [&](Value number) {
        k.e.forget();
        k.storeResults(k.pointIndex(dims, number));
        k.e.forget();
      });
    });
  }
};

} // namespace

const SimtSchedule *simtPoints() {
  static const PointsSchedule schedule;
  return &schedule;
}

} // namespace weft
