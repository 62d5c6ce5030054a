//===- Scatter.cpp - Reference semantics of scatter_elements, scatter_nd -----------------------===//

#include "dialects/weft/ops/Scatter.h"
#include "dialects/weft/reference/Walk.h"

using namespace mlir;

namespace weft {
namespace {

/// A copy of operand 0 that `update` may change.
RefTensor &copyInput(ReferenceCall &call) {
  const RefTensor &input = *call.inputs[0];
  bool symbolic = input.kind == Scalar::Symbolic || call.inputs[2]->kind == Scalar::Symbolic;
  RefTensor &out = call.outputs.emplace_back(input.element, input.dims, symbolic);
  for (int64_t i = 0, count = input.size(); i < count; ++i)
    out.set(i, input.at(i));
  return out;
}

void update(RefTensor &out, ScatterKind kind, ArrayRef<int64_t> to, const Scalar &data) {
  for (auto [position, size] : llvm::zip_equal(to, out.dims))
    if (position < 0 || position >= size)
      return;
  int64_t at = rowMajor(to, out.dims);
  std::optional<Combiner> combiner = combinerOf(kind);
  out.set(at, combiner ? combineScalars(*combiner, out.element, out.at(at), data) : data);
}

} // namespace

LogicalResult ScatterElementsOp::evaluate(ReferenceCall &call) {
  if (call.inputs[1]->kind == Scalar::Symbolic)
    return call.fail("symbolic positions");
  const RefTensor &indices = *call.inputs[1], &updates = *call.inputs[2];
  RefTensor &out = copyInput(call);
  int64_t i = 0;
  forBox(indices.dims, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> to(index);
    int64_t position = indices.integers[i];
    to[getAxis()] = position < 0 ? position + out.dims[getAxis()] : position;
    update(out, getKind(), to, updates.at(i++));
  });
  return success();
}

LogicalResult ScatterNdOp::evaluate(ReferenceCall &call) {
  if (call.inputs[1]->kind == Scalar::Symbolic)
    return call.fail("symbolic positions");
  const RefTensor &indices = *call.inputs[1], &updates = *call.inputs[2];
  RefTensor &out = copyInput(call);
  int64_t tuple = indices.dims.back();
  size_t outer = indices.dims.size() - 1;
  int64_t i = 0;
  forBox(updates.dims, [&](ArrayRef<int64_t> index) {
    int64_t at =
        rowMajor(index.take_front(outer), ArrayRef(indices.dims).take_front(outer)) * tuple;
    SmallVector<int64_t> to;
    for (int64_t t = 0; t < tuple; ++t) {
      int64_t position = indices.integers[at + t];
      to.push_back(position < 0 ? position + out.dims[t] : position);
    }
    llvm::append_range(to, index.drop_front(outer));
    update(out, getKind(), to, updates.at(i++));
  });
  return success();
}

} // namespace weft
