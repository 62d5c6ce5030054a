//===- Serial.cpp - Plain loops that the operator writes itself -----------------------------------===//
//
// A kernel with one operator of root kind serial: units are what that operator calls independent, and each runs scalar code. Views and
// values made from nothing may stand in front of it; nothing is fused behind it.
//===------------------------------------------------------------------------------------------===//

#include "targets/common/SerialLoops.h"
#include "targets/common/match/SerialShape.h"
#include "targets/cpu/schedules/Schedules.h"

using namespace mlir;

namespace weft {
namespace {

/// Lines are taken in vectors.
class Loops : public SerialLoops {
public:
  Loops(KernelContext &c, Operation *root) : SerialLoops(c, root, c.scratch), c(c) {}

private:
  void line(SymExpr size, function_ref<void(IndexValue)> body) override {
    c.e.setLanes(c.machine.lanes());
    c.vectors(size, body);
    c.e.setLanes(1);
  }

  KernelContext &c;
};

class SerialSchedule : public Schedule {
public:
  StringRef name() const override { return "serial"; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return matchSerial(spec).decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &) const override {
    ElementOpInterface root = *matchSerial(spec);
    SymExpr one = SymExpr::constant(spec.getContext(), 1), units = root.serialUnits();
    SymExpr words = root.serialScratch();
    SymExpr bytes =
        words ? SymExpr::ceildiv(words, 8) * 64 : SymExpr::constant(spec.getContext(), 0);
    return {units ? units : one, one, bytes};
  }

  void emit(KernelContext &c) const override {
    ElementOpInterface root = *matchSerial(c.spec);
    c.e.setLanes(1);
    Loops loops(c, root);
    loops.loop(c.begin, c.end, [&](Value unit) { root.emitSerial(loops, unit); });
  }
};

} // namespace

const Schedule *serialSchedule() {
  static const SerialSchedule schedule;
  return &schedule;
}

} // namespace weft
