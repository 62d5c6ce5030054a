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
  slice(type(result).getDims(), [&](ArrayRef<IndexValue> index) {
    frame.e.store(outputs[result], type(result), index,
                  frame.e.pull(root->getOperand(operand), index));
  });
}

void SerialLoops::update(unsigned operand, ArrayRef<Value> from, unsigned result,
                         ArrayRef<Value> to, ArrayRef<SymExpr> box,
                         std::optional<Combiner> combiner) {
  slice(box, [&](ArrayRef<IndexValue> inside) {
    SmallVector<IndexValue> source = positions(from), target = positions(to);
    llvm::append_range(source, inside);
    llvm::append_range(target, inside);
    Value data = frame.e.pull(root->getOperand(operand), source);
    if (combiner)
      data = emitCombine(b, *combiner, type(result).getElementType(),
                         frame.e.load(outputs[result], type(result), target), data);
    frame.e.store(outputs[result], type(result), target, data);
  });
}

void SerialLoops::slice(ArrayRef<SymExpr> dims, function_ref<void(ArrayRef<IndexValue>)> body) {
  if (dims.empty()) {
    frame.e.forget();
    body({});
    return frame.e.forget();
  }
  box(dims.drop_back(), [&](ArrayRef<Value> outer) {
    SmallVector<IndexValue> index = positions(outer);
    index.emplace_back();
    line(dims.back(), [&](IndexValue i) {
      index.back() = i;
      body(index);
    });
  });
}

void SerialLoops::line(SymExpr size, function_ref<void(IndexValue)> body) {
  SerialBuilder::loop(constant(0), symbolic(size), [&](Value i) {
    frame.e.forget();
    body({i, 1});
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
