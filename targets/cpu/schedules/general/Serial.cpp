//===- Serial.cpp - Plain loops that the operator writes itself -----------------------------------===//
//
// A kernel with one operator of root kind serial: units are what that operator calls independent, and each runs scalar code. Views and
// values made from nothing may stand in front of it; nothing is fused behind it.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/common/match/Match.h"
#include "targets/cpu/schedules/Schedules.h"

using namespace mlir;

namespace weft {
namespace {

constexpr const char *kNone = "no operator has loops of its own";

/// The operation whose loops the kernel runs.
Match<ElementOpInterface> findRoot(func::FuncOp spec) {
  ElementOpInterface root;
  for (Operation &op : spec.getBody().front()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    if (!element || element.rootKind() == RootKind::Loop || element.rootKind() == RootKind::View)
      continue;
    if (element.rootKind() != RootKind::Serial)
      return Decline::otherKind(kNone);
    if (root)
      return Decline{"two operators have loops of their own"};
    root = element;
  }
  if (!root)
    return Decline::otherKind(kNone);
  return root;
}

class Loops : public SerialBuilder {
public:
  Loops(KernelContext &c, Operation *root) : SerialBuilder(c.b), c(c), root(root) {
    outputs.resize(root->getNumResults());
    for (auto [i, value] : llvm::enumerate(c.returnOp()->getOperands()))
      outputs[cast<OpResult>(value).getResultNumber()] = c.outputs[i];
  }

  Value symbolic(SymExpr expr) override { return c.e.uniform(expr); }

  /// Nothing is remembered between loads: they may lie in different blocks.
  Value load(unsigned operand, ArrayRef<Value> index) override {
    c.e.forget();
    Value data = c.e.pull(root->getOperand(operand), positions(index));
    c.e.forget();
    return data;
  }

  Value loadResult(unsigned result, ArrayRef<Value> index) override {
    return c.e.load(outputs[result], type(result), positions(index));
  }

  void store(unsigned result, ArrayRef<Value> index, Value data) override {
    if (outputs[result])
      c.e.store(outputs[result], type(result), positions(index), data);
  }

  void copy(unsigned operand, unsigned result) override {
    SmallVector<SymExpr> dims = type(result).getDims();
    if (dims.empty())
      return store(result, {}, load(operand, {}));
    box(ArrayRef(dims).drop_back(), [&](ArrayRef<Value> outer) {
      SmallVector<IndexValue> index = positions(outer);
      index.emplace_back();
      c.e.setLanes(c.machine.lanes());
      c.vectors(dims.back(), [&](IndexValue i) {
        index.back() = i;
        c.e.store(outputs[result], type(result), index, c.e.pull(root->getOperand(operand), index));
      });
      c.e.setLanes(1);
    });
  }

  Value scratch(Value slot) override {
    return b.create<LLVM::LoadOp>(b.getI64Type(), word(slot), 8);
  }
  void setScratch(Value slot, Value data) override { b.create<LLVM::StoreOp>(data, word(slot), 8); }

private:
  static SmallVector<IndexValue> positions(ArrayRef<Value> index) {
    return llvm::map_to_vector(index, [](Value i) { return IndexValue{i}; });
  }
  SymTensorType type(unsigned result) {
    return cast<SymTensorType>(root->getResult(result).getType());
  }
  Value word(Value slot) { return elementPointer(b, c.scratch, b.getI64Type(), slot); }

  KernelContext &c;
  Operation *root;
  SmallVector<Value> outputs; ///< pointers by result; null where nobody reads it
};

class SerialSchedule : public Schedule {
public:
  StringRef name() const override { return "serial"; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    Match<ElementOpInterface> root = findRoot(spec);
    if (!root)
      return root.decline();
    for (Value value : spec.getBody().front().getTerminator()->getOperands())
      if (value.getDefiningOp() != *root)
        return {"a result is not computed by the operator with loops of its own"};
    return {};
  }

  Launch launch(func::FuncOp spec, const VectorMachine &) const override {
    ElementOpInterface root = *findRoot(spec);
    SymExpr one = SymExpr::constant(spec.getContext(), 1), units = root.serialUnits();
    SymExpr words = root.serialScratch();
    SymExpr bytes =
        words ? SymExpr::ceildiv(words, 8) * 64 : SymExpr::constant(spec.getContext(), 0);
    return {units ? units : one, one, bytes};
  }

  void emit(KernelContext &c) const override {
    ElementOpInterface root = *findRoot(c.spec);
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
