//===- Scatter.cpp - Code of scatter_elements, scatter_nd --------------------------------------===//

#include "dialects/weft/ops/Scatter.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

/// A position from data as i64, counted from the end when negative.
Value positionOf(SerialBuilder &s, Value data, Value size) {
  auto &b = s.builder();
  if (!data.getType().isInteger(64))
    data = b.create<arith::ExtSIOp>(b.getI64Type(), data);
  return s.select(s.less(data, s.constant(0)), s.add(data, size), data);
}

Value always(SerialBuilder &s) {
  return s.builder().create<arith::ConstantOp>(s.builder().getBoolAttr(true));
}

/// Whether 0 <= position < size, and `all`.
Value isInside(SerialBuilder &s, Value all, Value position, Value size) {
  auto &b = s.builder();
  Value here = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, position, size);
  return b.createOrFold<arith::AndIOp>(all, here);
}

} // namespace

//===-- scatter_elements -------------------------------------------------------------------------===//

void ScatterElementsOp::emitSerial(SerialBuilder &s, Value) {
  auto input = tensorType(getInput()), indices = tensorType(getIndices());
  s.copy(0, 0);
  s.box(indices.getDims(), [&](ArrayRef<Value> from) {
    SmallVector<Value> to(from);
    Value size = s.symbolic(input.getDim(getAxis()));
    to[getAxis()] = positionOf(s, s.load(1, from), size);
    Value inside = always(s);
    if (getOutside() != Outside::Unchecked)
      inside = isInside(s, inside, to[getAxis()], size);
    for (unsigned d = 0; d < input.getRank(); ++d)
      if (d != getAxis() && input.getDim(d) != indices.getDim(d))
        inside = isInside(s, inside, to[d], s.symbolic(input.getDim(d)));
    s.when(inside, [&] { s.update(2, from, 0, to, {}, combinerOf(getKind())); });
  });
}

//===-- scatter_nd -------------------------------------------------------------------------------===//

void ScatterNdOp::emitSerial(SerialBuilder &s, Value) {
  auto input = tensorType(getInput()), indices = tensorType(getIndices());
  SmallVector<SymExpr> dims = input.getDims(), outer = indices.getDims();
  int64_t tuple = *outer.pop_back_val().asConstant();
  s.copy(0, 0);
  s.box(outer, [&](ArrayRef<Value> at) {
    SmallVector<Value> to;
    Value inside = always(s);
    for (int64_t t = 0; t < tuple; ++t) {
      SmallVector<Value> index(at);
      index.push_back(s.constant(t));
      Value size = s.symbolic(dims[t]);
      to.push_back(positionOf(s, s.load(1, index), size));
      if (getOutside() != Outside::Unchecked)
        inside = isInside(s, inside, to.back(), size);
    }
    s.when(inside, [&] {
      s.update(2, at, 0, to, ArrayRef(dims).drop_front(tuple), combinerOf(getKind()));
    });
  });
}

} // namespace weft
