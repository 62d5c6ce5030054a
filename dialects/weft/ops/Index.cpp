//===- Index.cpp - gather -----------------------------------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/ops/Infer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= input.getRank())
    return emitOptionalError(location, "'weft.gather' has no axis ", axis, " in ", input);
  if (!indices.getElementType().isInteger(64) && !indices.getElementType().isInteger(32))
    return emitOptionalError(location, "'weft.gather' indices must be i32 or i64, but are ", indices.getElementType());
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

Value GatherOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto &b = e.builder();
  unsigned axis = getAxis(), picks = tensorType(getIndices()).getRank();
  IndexValue size = e.symbolic(tensorType(getInput()).getDim(axis));
  IndexValue at = e.toIndex(e.operand(1, index.slice(axis, picks)));
  auto clamp = [&](Value v, Value s, Value zero, Value one) -> Value {
    Value wrapped = b.create<arith::AddIOp>(v, s);
    Value negative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, v, zero);
    Value from = b.create<arith::SelectOp>(negative, wrapped, v);
    return b.create<arith::MaxSIOp>(b.create<arith::MinSIOp>(from, b.create<arith::SubIOp>(s, one)), zero);
  };
  if (at.isUniform())
    at.base = clamp(at.base, size.base, e.constant(0).base, e.constant(1).base);
  else
    at = {{}, 0, clamp(e.materialize(at), e.materialize(size), e.materialize(e.constant(0)), e.materialize(e.constant(1)))};
  SmallVector<IndexValue> position(index.take_front(axis));
  position.push_back(at);
  llvm::append_range(position, index.drop_front(axis + picks));
  return e.operand(0, position);
}

} // namespace weft
