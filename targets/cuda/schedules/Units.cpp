//===- Units.cpp - Plain loops that the operator writes itself ---------------------------------------===//
//
//   thread of the grid, where there is a unit with its number: the operator's loops   [units]
//   where units need memory of their own, the first thread does one after the other   [scratch]
//===------------------------------------------------------------------------------------------===//

#include "targets/common/SerialLoops.h"
#include "targets/common/match/SerialShape.h"
#include "targets/cuda/SimtKernel.h"

using namespace mlir;

namespace weft {
namespace {

/// Units are long and differ: few of them share a block.
constexpr int64_t kThreads = 32;

SymExpr unitsOf(ElementOpInterface root) {
  SymExpr units = root.serialUnits();
  return units ? units : SymExpr::constant(root->getContext(), 1);
}

class UnitsSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "serial"; }
  int64_t threads() const override { return kThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return matchSerial(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    ElementOpInterface root = *matchSerial(spec);
    SymExpr words = root.serialScratch();
    if (!words)
      return blocks(unitsOf(root), kThreads);
    Launch launch = blocks(SymExpr::constant(spec.getContext(), 1), kThreads);
    launch.scratch = words * int64_t(8);
    return launch;
  }

  void emit(SimtKernel &k) const override {
    ElementOpInterface root = *matchSerial(k.spec);
    SerialLoops loops(k, root, k.scratch);
    Value units = k.e.uniform(unitsOf(root));
    // [units]
    if (!root.serialScratch())
      return k.when(k.less(k.thread, units), [&] { root.emitSerial(loops, k.thread); });
    // [scratch]
    k.when(k.less(k.thread, constantI64(k.b, 1)), [&] {
      k.loop(constantI64(k.b, 0), units, 1, [&](Value unit) { root.emitSerial(loops, unit); });
    });
  }
};

} // namespace

const SimtSchedule *simtUnits() {
  static const UnitsSchedule schedule;
  return &schedule;
}

} // namespace weft
