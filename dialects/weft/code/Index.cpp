//===- Index.cpp - Code of gather, gather_elements, gather_nd ----------------------------------===//

#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

/// A position from data: counted from the end when negative, then clamped into [0, size). Refused ones are clamped, too: kernels do not
/// wait for the check.
static IndexValue positionFrom(ElementBuilder &e, IndexValue at, IndexValue size, Outside outside) {
  auto &b = e.builder();
  auto clamp = [&](Value v, Value s, Value zero, Value one) -> Value {
    Value wrapped = b.create<arith::AddIOp>(v, s);
    Value negative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, v, zero);
    Value from = b.create<arith::SelectOp>(negative, wrapped, v);
    if (outside == Outside::Unchecked)
      return from;
    return b.create<arith::MaxSIOp>(b.create<arith::MinSIOp>(from, b.create<arith::SubIOp>(s, one)),
                                    zero);
  };
  IndexValue zero = e.constant(0), one = e.constant(1);
  if (at.isUniform())
    return {clamp(at.base, size.base, zero.base, one.base)};
  return {{},
          0,
          clamp(e.materialize(at), e.materialize(size), e.materialize(zero), e.materialize(one))};
}

Value GatherOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  unsigned axis = getAxis(), picks = tensorType(getIndices()).getRank();
  IndexValue size = e.symbolic(tensorType(getInput()).getDim(axis));
  IndexValue at = e.toIndex(e.operand(1, index.slice(axis, picks)));
  SmallVector<IndexValue> position(index.take_front(axis));
  position.push_back(positionFrom(e, at, size, getOutside()));
  llvm::append_range(position, index.drop_front(axis + picks));
  return e.operand(0, position);
}

//===-- gather_elements, gather_nd ---------------------------------------------------------------===//

/// An element of operand 0, or 0 where one of the dimensions that positions were clamped to is empty.
static Value pickUnlessEmpty(ElementBuilder &e, SymTensorType type, ArrayRef<IndexValue> position,
                             ArrayRef<unsigned> clamped) {
  Value inside;
  for (unsigned d : clamped)
    if (!type.getDim(d).asConstant().value_or(0)) {
      Value some = e.less(e.constant(0), e.symbolic(type.getDim(d)));
      inside = inside ? Value(e.builder().create<arith::AndIOp>(inside, some)) : some;
    }
  if (!inside)
    return e.operand(0, position);
  return e.guarded(
      inside, [&] { return e.operand(0, position); }, zeroOf(e, type.getElementType()));
}

Value GatherElementsOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto input = tensorType(getInput()), indices = tensorType(getIndices());
  SmallVector<IndexValue> position(index);
  position[getAxis()] = e.toIndex(e.operand(1, index));
  SmallVector<unsigned> clamped;
  for (unsigned d = 0; d < input.getRank(); ++d) {
    auto have = input.getDim(d).asConstant(), want = indices.getDim(d).asConstant();
    if (d != getAxis() && (input.getDim(d) == indices.getDim(d) || (have && want)))
      continue;
    // What replaces the index is data, the rest is an index where the operand may be smaller.
    Outside outside = d == getAxis() ? getOutside() : Outside::Clamped;
    position[d] = positionFrom(e, position[d], e.symbolic(input.getDim(d)), outside);
    if (outside != Outside::Unchecked)
      clamped.push_back(d);
  }
  return pickUnlessEmpty(e, input, position, clamped);
}

Value GatherNdOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto input = tensorType(getInput()), indices = tensorType(getIndices());
  unsigned outer = indices.getRank() - 1, tuple = *indices.getDim(outer).asConstant();
  SmallVector<IndexValue> position(index.take_front(getBatch()));
  SmallVector<unsigned> clamped;
  for (unsigned t = 0; t < tuple; ++t) {
    SmallVector<IndexValue> at(index.take_front(outer));
    at.push_back(e.constant(t));
    if (getOutside() != Outside::Unchecked)
      clamped.push_back(position.size());
    position.push_back(positionFrom(e, e.toIndex(e.operand(1, at)),
                                    e.symbolic(input.getDim(position.size())), getOutside()));
  }
  llvm::append_range(position, index.drop_front(outer));
  return pickUnlessEmpty(e, input, position, clamped);
}

} // namespace weft
