//===- KernelFrame.cpp --------------------------------------------------------------------------===//

#include "targets/common/KernelFrame.h"
#include "dialects/weft/Aliases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

Value KernelFrame::mul(Value a, Value c) { return b.createOrFold<arith::MulIOp>(a, c); }
Value KernelFrame::add(Value a, Value c) { return b.createOrFold<arith::AddIOp>(a, c); }
Value KernelFrame::sub(Value a, Value c) { return b.createOrFold<arith::SubIOp>(a, c); }

SmallVector<Value> KernelFrame::loop(Value from, Value to, int64_t step, ValueRange init,
                                     function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = b.create<scf::ForOp>(from, to, constantI64(b, step), init);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    b.create<scf::YieldOp>(next);
  return SmallVector<Value>(loop.getResults());
}

void KernelFrame::loop(Value from, Value to, int64_t step, function_ref<void(Value)> body) {
  loop(from, to, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void KernelFrame::choose(Value condition, function_ref<void()> yes, function_ref<void()> no) {
  auto branch = b.create<scf::IfOp>(condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(branch.thenBlock());
  yes();
  b.setInsertionPointToStart(branch.elseBlock());
  no();
}

/// Where an element of a result lies: in a buffer, behind what was there.
static SmallVector<IndexValue> placeOf(ElementEmitter &e, Value result,
                                       ArrayRef<IndexValue> index) {
  SmallVector<IndexValue> place(index);
  if (std::optional<InPlaceWrite> write = inPlaceWrite(result))
    place[write->dim] = e.add(place[write->dim], e.symbolic(write->start));
  return place;
}

SmallVector<Value> KernelFrame::pullResults(ArrayRef<IndexValue> index) {
  // What one result replaces another may still read.
  SmallVector<Value> data;
  for (Value result : returnOp()->getOperands())
    data.push_back(e.pull(writtenValue(result), index));
  return data;
}

void KernelFrame::storePulled(ArrayRef<IndexValue> index, ArrayRef<Value> data) {
  for (auto [i, result] : llvm::enumerate(returnOp()->getOperands()))
    e.store(outputs[i], resultType(i), placeOf(e, result, index), data[i]);
}

SmallVector<IndexValue> KernelFrame::lineIndex(ArrayRef<SymExpr> dims, Value number) {
  SmallVector<IndexValue> index(dims.size());
  IndexValue rest{number};
  for (size_t d = dims.size() - 1; d-- > 1;)
    std::tie(rest, index[d]) = e.divmod(rest, e.symbolic(dims[d]));
  if (dims.size() > 1)
    index[0] = rest;
  return index;
}

Value foldLanes(ImplicitLocOpBuilder &b, Value vector,
                function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine) {
  auto shape = dyn_cast<VectorType>(vector.getType());
  if (!shape)
    return vector;
  for (int64_t width = shape.getNumElements() / 2; width >= 1; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < width; ++l) {
      low.push_back(l);
      high.push_back(l + width);
    }
    Value a = b.create<vector::ShuffleOp>(vector, vector, low),
          d = b.create<vector::ShuffleOp>(vector, vector, high);
    vector = combine(b, a, d);
  }
  return b.create<vector::ExtractOp>(vector, ArrayRef<int64_t>{0});
}

Value combineLanes(ImplicitLocOpBuilder &b, Combiner combiner, Type element, Value vector) {
  return foldLanes(b, vector, [&](ImplicitLocOpBuilder &b, Value a, Value d) {
    return emitCombine(b, combiner, element, a, d);
  });
}

Value powerOfNegative(ImplicitLocOpBuilder &b, Value x, StringRef bounded) {
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  auto constant = [&](double value) -> Value {
    TypedAttr number = b.getFloatAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      number = DenseElementsAttr::get(vector, number);
    return b.create<arith::ConstantOp>(number);
  };
  Value least = constant(element.isF64() ? -708 : -87);
  Value vanishes = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, least);
  auto power = b.create<math::ExpOp>(b.create<arith::SelectOp>(vanishes, least, x).getResult());
  if (!bounded.empty())
    power->setAttr(bounded, b.getUnitAttr());
  return b.create<arith::SelectOp>(vanishes, constant(0), power.getResult());
}

} // namespace weft
