//===- Move.cpp - Code of reshape, pad, concat -------------------------------------------------===//

#include "dialects/weft/ops/Move.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

//===-- reshape ----------------------------------------------------------------------------------===//

Value ReshapeOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto result = tensorType(getResult()), input = tensorType(getInput());
  SmallVector<IndexValue> position(input.getRank());
  for (const ReshapeRun &run : matchRuns(result, input)) {
    IndexValue linear = e.constant(0);
    for (unsigned d = run.resultFirst; d < run.resultEnd; ++d)
      linear = d == run.resultFirst ? index[d]
                                    : e.add(e.mul(linear, e.symbolic(result.getDim(d))), index[d]);
    for (unsigned d = run.inputEnd; d-- > run.inputFirst;) {
      if (d == run.inputFirst) {
        position[d] = linear;
        break;
      }
      std::tie(linear, position[d]) = e.divmod(linear, e.symbolic(input.getDim(d)));
    }
  }
  return e.operand(0, position);
}

//===-- pad --------------------------------------------------------------------------------------===//

Value PadOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto input = tensorType(getInput());
  SmallVector<IndexValue> position;
  Value inside;
  auto &b = e.builder();
  for (auto [d, i] : llvm::enumerate(index)) {
    if (getLow()[d].isConstant(0) && getHigh()[d].isConstant(0)) {
      position.push_back(i);
      continue;
    }
    position.push_back(e.sub(i, e.symbolic(getLow()[d])));
    Value here = b.create<arith::AndIOp>(e.nonNegative(position.back()),
                                         e.less(position.back(), e.symbolic(input.getDim(d))));
    inside = inside ? b.create<arith::AndIOp>(inside, here) : here;
  }
  if (!inside)
    return e.operand(0, position);
  return e.guarded(
      inside, [&] { return e.operand(0, position); }, e.operand(1, {}));
}

//===-- concat -----------------------------------------------------------------------------------===//

/// Operand by operand from the last to the first: each reads only where the index falls into its segment.
Value ConcatOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  SmallVector<SymExpr> starts;
  SymExpr start = SymExpr::constant(getContext(), 0);
  for (Value input : getInputs()) {
    starts.push_back(start);
    start = start + tensorType(input).getDim(getDim());
  }
  SmallVector<IndexValue> position(index);
  Type type = computeType(elementOf(getResult()));
  TypedAttr zero =
      isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, 0.0)) : IntegerAttr::get(type, 0);
  Value result = e.constantData(type, zero);
  auto &b = e.builder();
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    position[getDim()] = e.sub(index[getDim()], e.symbolic(starts[i]));
    Value inside = b.create<arith::AndIOp>(
        e.nonNegative(position[getDim()]),
        e.less(position[getDim()], e.symbolic(tensorType(input).getDim(getDim()))));
    result = e.guarded(
        inside, [&, i = i] { return e.operand(i, position); }, result);
  }
  return result;
}

} // namespace weft
