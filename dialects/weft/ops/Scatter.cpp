//===- Scatter.cpp - scatter_elements, scatter_nd: types and code -------------------------------===//

#include "dialects/weft/ops/Scatter.h"
#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

LogicalResult verifyScatter(StringRef name, std::optional<Location> location, SymTensorType input,
                            SymTensorType indices, SymTensorType updates,
                            ArrayRef<Attribute> updateDims) {
  Type position = indices.getElementType();
  if (!position.isSignlessInteger(64) && !position.isSignlessInteger(32)) // R2
    return emitOptionalError(location, "'weft.", name, "' indices must be i32 or i64, but are ",
                             position);
  auto wanted = SymTensorType::get(input.getContext(), updateDims, input.getElementType());
  if (updates != wanted) // R3
    return emitOptionalError(location, "'weft.", name, "' updates must be ", wanted, ", but are ",
                             updates);
  return success();
}

/// A position from data as i64, counted from the end when negative.
Value positionOf(SerialBuilder &s, Value data, Value size) {
  auto &b = s.builder();
  if (!data.getType().isInteger(64))
    data = b.create<arith::ExtSIOp>(b.getI64Type(), data);
  return s.select(s.less(data, s.constant(0)), s.add(data, size), data);
}

/// Whether 0 <= position < size, and `all`.
Value isInside(SerialBuilder &s, Value all, Value position, Value size) {
  auto &b = s.builder();
  Value here = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, position, size);
  return all ? Value(b.create<arith::AndIOp>(all, here)) : here;
}

/// Combines the update at `from` into the result at `to`.
void update(SerialBuilder &s, ScatterKind kind, Type element, ArrayRef<Value> from,
            ArrayRef<Value> to) {
  Value data = s.load(2, from);
  if (std::optional<Combiner> combiner = combinerOf(kind))
    data = emitCombine(s.builder(), *combiner, element, s.loadResult(0, to), data);
  s.store(0, to, data);
}

} // namespace

std::optional<Combiner> combinerOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Set:
    return std::nullopt;
  case ScatterKind::Add:
    return Combiner::Sum;
  case ScatterKind::Mul:
    return Combiner::Prod;
  case ScatterKind::Max:
    return Combiner::Max;
  case ScatterKind::Min:
    return Combiner::Min;
  }
  llvm_unreachable("closed set of kinds");
}

//===-- scatter_elements -------------------------------------------------------------------------===//

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis(), rank = input.getRank();
  if (rank != int64_t(indices.getRank()) || axis < 0 || axis >= rank) // R1
    return emitOptionalError(location, "'weft.scatter_elements' has no axis ", axis, " in both ",
                             input, " and ", indices);
  results.push_back(input);
  return verifyScatter("scatter_elements", location, input, indices,
                       tensorType(adaptor.getUpdates()), indices.getDimAttributes());
}

RootKind ScatterElementsOp::rootKind() { return RootKind::Serial; }

void ScatterElementsOp::emitSerial(SerialBuilder &s, Value) {
  auto input = tensorType(getInput()), indices = tensorType(getIndices());
  s.copy(0, 0);
  s.box(indices.getDims(), [&](ArrayRef<Value> from) {
    SmallVector<Value> to(from);
    Value size = s.symbolic(input.getDim(getAxis()));
    to[getAxis()] = positionOf(s, s.load(1, from), size);
    Value inside = isInside(s, {}, to[getAxis()], size);
    for (unsigned d = 0; d < input.getRank(); ++d)
      if (d != getAxis() && input.getDim(d) != indices.getDim(d))
        inside = isInside(s, inside, to[d], s.symbolic(input.getDim(d)));
    s.when(inside, [&] { update(s, getKind(), input.getElementType(), from, to); });
  });
}

//===-- scatter_nd -------------------------------------------------------------------------------===//

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  unsigned rank = indices.getRank();
  auto tuple = rank > 0 ? indices.getDim(rank - 1).asConstant() : std::nullopt;
  if (!tuple || *tuple > int64_t(input.getRank())) // R1
    return emitOptionalError(location, "'weft.scatter_nd' cannot index ", input, " with tuples of ",
                             indices);
  SmallVector<Attribute> dims(indices.getDimAttributes().drop_back());
  llvm::append_range(dims, input.getDimAttributes().drop_front(*tuple));
  results.push_back(input);
  return verifyScatter("scatter_nd", location, input, indices, tensorType(adaptor.getUpdates()),
                       dims);
}

RootKind ScatterNdOp::rootKind() { return RootKind::Serial; }

void ScatterNdOp::emitSerial(SerialBuilder &s, Value) {
  auto input = tensorType(getInput()), indices = tensorType(getIndices());
  SmallVector<SymExpr> dims = input.getDims(), outer = indices.getDims();
  int64_t tuple = *outer.pop_back_val().asConstant();
  s.copy(0, 0);
  s.box(outer, [&](ArrayRef<Value> at) {
    SmallVector<Value> to;
    Value inside = s.builder().create<arith::ConstantOp>(s.builder().getBoolAttr(true));
    for (int64_t t = 0; t < tuple; ++t) {
      SmallVector<Value> index(at);
      index.push_back(s.constant(t));
      Value size = s.symbolic(dims[t]);
      to.push_back(positionOf(s, s.load(1, index), size));
      inside = isInside(s, inside, to.back(), size);
    }
    s.when(inside, [&] {
      s.box(ArrayRef(dims).drop_front(tuple), [&](ArrayRef<Value> inner) {
        SmallVector<Value> from(at), target(to);
        llvm::append_range(from, inner);
        llvm::append_range(target, inner);
        update(s, getKind(), input.getElementType(), from, target);
      });
    });
  });
}

} // namespace weft
