//===- Units.cpp - Plain loops that the operator writes itself ---------------------------------------===//
//
//   thread of the grid, where there is a unit with its number: the operator's loops   [units]
//   where units need memory of their own, each has a part of the scratch              [scratch]
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
    Launch launch = blocks(unitsOf(root), kThreads);
    if (SymExpr words = root.serialScratch())
      launch.scratch = unitsOf(root) * words * kWordBytes;
    return launch;
  }

  void emit(SimtKernel &k) const override {
    ElementOpInterface root = *matchSerial(k.spec);
    // [units]
    k.when(k.less(k.thread, k.e.uniform(unitsOf(root))), [&] {
      SerialLoops loops(k, root, scratchOf(k, root));
      root.emitSerial(loops, k.thread);
    });
  }

private:
  static constexpr int64_t kWordBytes = 8;

  /// [scratch]
  static Value scratchOf(SimtKernel &k, ElementOpInterface root) {
    SymExpr words = root.serialScratch();
    if (!words)
      return k.scratch;
    return elementPointer(k.b, k.scratch, k.b.getI64Type(), k.mul(k.thread, k.e.uniform(words)));
  }
};

} // namespace

const SimtSchedule *simtUnits() {
  static const UnitsSchedule schedule;
  return &schedule;
}

} // namespace weft
