//===- Index.cpp - gather, gather_elements, gather_nd -------------------------------------------===//

#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= input.getRank())
    return emitOptionalError(location, "'weft.gather' has no axis ", axis, " in ", input);
  if (!indices.getElementType().isInteger(64) && !indices.getElementType().isInteger(32))
    return emitOptionalError(location, "'weft.gather' indices must be i32 or i64, but are ",
                             indices.getElementType());
  SmallVector<Attribute> dims(input.getDimAttributes().take_front(axis));
  llvm::append_range(dims, indices.getDimAttributes());
  llvm::append_range(dims, input.getDimAttributes().drop_front(axis + 1));
  results.push_back(SymTensorType::get(context, dims, input.getElementType()));
  return success();
}

LogicalResult GatherOp::evaluate(ReferenceCall &call) {
  const RefTensor &in = *call.inputs[0], &indices = *call.inputs[1];
  if (indices.kind == Scalar::Symbolic)
    return call.fail("gather by symbolic positions");
  SmallVector<int64_t> dims(ArrayRef(in.dims).take_front(getAxis()));
  llvm::append_range(dims, indices.dims);
  llvm::append_range(dims, ArrayRef(in.dims).drop_front(getAxis() + 1));
  RefTensor &out = call.outputs.emplace_back(in.element, dims, in.kind == Scalar::Symbolic);
  int64_t size = in.dims[getAxis()], inner = 1, picks = indices.size();
  for (int64_t dim : ArrayRef(in.dims).drop_front(getAxis() + 1))
    inner *= dim;
  if (out.size() > 0 && size == 0)
    return call.fail("gather from an empty dimension");
  for (int64_t i = 0, count = out.size(); i < count; ++i) {
    int64_t pick = indices.integers[i / inner % picks];
    pick = std::clamp<int64_t>(pick < 0 ? pick + size : pick, 0, size - 1);
    out.set(i, in.at((i / inner / picks * size + pick) * inner + i % inner));
  }
  return success();
}

/// A position from data: counted from the end when negative, clamped into [0, size).
static IndexValue clampedPosition(ElementBuilder &e, IndexValue at, IndexValue size) {
  auto &b = e.builder();
  auto clamp = [&](Value v, Value s, Value zero, Value one) -> Value {
    Value wrapped = b.create<arith::AddIOp>(v, s);
    Value negative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, v, zero);
    Value from = b.create<arith::SelectOp>(negative, wrapped, v);
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
  position.push_back(clampedPosition(e, at, size));
  llvm::append_range(position, index.drop_front(axis + picks));
  return e.operand(0, position);
}

//===-- gather_elements, gather_nd ---------------------------------------------------------------===//

static LogicalResult verifyIndices(StringRef name, std::optional<Location> location, Type element) {
  if (element.isSignlessInteger(64) || element.isSignlessInteger(32))
    return success();
  return emitOptionalError(location, "'weft.", name, "' indices must be i32 or i64, but are ",
                           element);
}

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

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                 Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis();
  if (input.getRank() != indices.getRank() || axis < 0 || axis >= int64_t(input.getRank())) // R1
    return emitOptionalError(location, "'weft.gather_elements' has no axis ", axis, " in both ",
                             input, " and ", indices);
  if (failed(verifyIndices("gather_elements", location, indices.getElementType()))) // R2
    return failure();
  for (unsigned d = 0; d < input.getRank(); ++d) { // R3
    auto have = input.getDim(d).asConstant(), want = indices.getDim(d).asConstant();
    if (int64_t(d) != axis && have && want && *want > *have)
      return emitOptionalError(location, "'weft.gather_elements': dimension ", d,
                               " of the indices is ", *want, ", but the operand's is ", *have);
  }
  results.push_back(indices.withElement(input.getElementType()));
  return success();
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
    position[d] = clampedPosition(e, position[d], e.symbolic(input.getDim(d)));
    clamped.push_back(d);
  }
  return pickUnlessEmpty(e, input, position, clamped);
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t batch = adaptor.getBatch(), rank = input.getRank(), picks = indices.getRank();
  auto tuple = picks > 0 ? indices.getDim(picks - 1).asConstant() : std::nullopt;
  if (!tuple || batch < 0 || batch >= picks || batch + *tuple > rank) // R1
    return emitOptionalError(location, "'weft.gather_nd' cannot index ", input, " after ", batch,
                             " batch dimensions with tuples of ", indices);
  if (failed(verifyIndices("gather_nd", location, indices.getElementType()))) // R2
    return failure();
  for (int64_t d = 0; d < batch; ++d) // R3
    if (input.getDim(d) != indices.getDim(d))
      return emitOptionalError(location, "'weft.gather_nd': batch dimension ", d, " is '",
                               input.getDim(d).str(), "' and '", indices.getDim(d).str(), "'");
  SmallVector<Attribute> dims(indices.getDimAttributes().drop_back());
  llvm::append_range(dims, input.getDimAttributes().drop_front(batch + *tuple));
  results.push_back(SymTensorType::get(context, dims, input.getElementType()));
  return success();
}

Value GatherNdOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto input = tensorType(getInput()), indices = tensorType(getIndices());
  unsigned outer = indices.getRank() - 1, tuple = *indices.getDim(outer).asConstant();
  SmallVector<IndexValue> position(index.take_front(getBatch()));
  SmallVector<unsigned> clamped;
  for (unsigned t = 0; t < tuple; ++t) {
    SmallVector<IndexValue> at(index.take_front(outer));
    at.push_back(e.constant(t));
    clamped.push_back(position.size());
    position.push_back(
        clampedPosition(e, e.toIndex(e.operand(1, at)), e.symbolic(input.getDim(position.size()))));
  }
  llvm::append_range(position, index.drop_front(outer));
  return pickUnlessEmpty(e, input, position, clamped);
}

} // namespace weft
