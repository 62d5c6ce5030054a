//===- SerialLoops.cpp --------------------------------------------------------------------------===//

#include "targets/common/SerialLoops.h"

using namespace mlir;

namespace weft {

static SmallVector<IndexValue> positions(ArrayRef<Value> index) {
  return llvm::map_to_vector(index, [](Value i) { return IndexValue{i}; });
}

SerialLoops::SerialLoops(KernelFrame &frame, Operation *root, Value scratch)
    : SerialBuilder(frame.b), frame(frame), root(root), words(scratch) {
  outputs.resize(root->getNumResults());
  for (auto [i, value] : llvm::enumerate(frame.returnOp()->getOperands()))
    outputs[cast<OpResult>(value).getResultNumber()] = frame.outputs[i];
}

SymTensorType SerialLoops::type(unsigned result) {
  return cast<SymTensorType>(root->getResult(result).getType());
}

/// Nothing is remembered between loads: they may lie in different blocks.
Value SerialLoops::load(unsigned operand, ArrayRef<Value> index) {
  frame.e.forget();
  Value data = frame.e.pull(root->getOperand(operand), positions(index));
  frame.e.forget();
  return data;
}

Value SerialLoops::loadResult(unsigned result, ArrayRef<Value> index) {
  return frame.e.load(outputs[result], type(result), positions(index));
}

void SerialLoops::store(unsigned result, ArrayRef<Value> index, Value data) {
  if (outputs[result])
    frame.e.store(outputs[result], type(result), positions(index), data);
}

void SerialLoops::copy(unsigned operand, unsigned result) {
  SmallVector<SymExpr> dims = type(result).getDims();
  if (dims.empty())
    return store(result, {}, load(operand, {}));
  box(ArrayRef(dims).drop_back(), [&](ArrayRef<Value> outer) {
    SmallVector<IndexValue> index = positions(outer);
    index.emplace_back();
    copyLine(dims.back(), [&](IndexValue i) {
      index.back() = i;
      frame.e.store(outputs[result], type(result), index,
                    frame.e.pull(root->getOperand(operand), index));
    });
  });
}

void SerialLoops::copyLine(SymExpr size, function_ref<void(IndexValue)> copy) {
  SerialBuilder::loop(constant(0), symbolic(size), [&](Value i) {
    frame.e.forget();
    copy({i, 1});
    frame.e.forget();
  });
}

Value SerialLoops::scratch(Value slot) {
  return b.create<LLVM::LoadOp>(b.getI64Type(), word(slot), 8);
}

void SerialLoops::setScratch(Value slot, Value data) {
  b.create<LLVM::StoreOp>(data, word(slot), 8);
}

Value SerialLoops::word(Value slot) { return elementPointer(b, words, b.getI64Type(), slot); }

} // namespace weft
