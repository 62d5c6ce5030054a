//===- Index.cpp - Reference semantics of gather, gather_elements, gather_nd -------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/reference/Walk.h"

using namespace mlir;

namespace weft {
namespace {

/// Counted from the end when negative, then clamped into [0, size).
int64_t clampedPosition(int64_t position, int64_t size) {
  return std::clamp<int64_t>(position < 0 ? position + size : position, 0,
                             std::max<int64_t>(size - 1, 0));
}

} // namespace

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

LogicalResult GatherElementsOp::evaluate(ReferenceCall &call) {
  if (call.inputs[1]->kind == Scalar::Symbolic)
    return call.fail("symbolic positions");
  const RefTensor &input = *call.inputs[0], &indices = *call.inputs[1];
  RefTensor &out =
      call.outputs.emplace_back(input.element, indices.dims, input.kind == Scalar::Symbolic);
  if (input.size() == 0)
    return success();
  int64_t i = 0;
  forBox(indices.dims, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> from(index);
    from[getAxis()] = indices.integers[i];
    for (auto [position, size] : llvm::zip_equal(from, input.dims))
      position = clampedPosition(position, size);
    out.set(i++, input.at(rowMajor(from, input.dims)));
  });
  return success();
}

LogicalResult GatherNdOp::evaluate(ReferenceCall &call) {
  if (call.inputs[1]->kind == Scalar::Symbolic)
    return call.fail("symbolic positions");
  const RefTensor &input = *call.inputs[0], &indices = *call.inputs[1];
  int64_t batch = getBatch(), tuple = indices.dims.back();
  SmallVector<int64_t, 4> dims(indices.dims.begin(), indices.dims.end() - 1);
  size_t outer = dims.size();
  dims.append(input.dims.begin() + batch + tuple, input.dims.end());
  RefTensor &out = call.outputs.emplace_back(input.element, dims, input.kind == Scalar::Symbolic);
  if (input.size() == 0)
    return success();
  forBox(dims, [&](ArrayRef<int64_t> index) {
    int64_t at = rowMajor(index.take_front(outer), ArrayRef(dims).take_front(outer)) * tuple;
    SmallVector<int64_t> from(index.take_front(batch));
    for (int64_t t = 0; t < tuple; ++t)
      from.push_back(clampedPosition(indices.integers[at + t], input.dims[batch + t]));
    llvm::append_range(from, index.drop_front(outer));
    out.set(rowMajor(index, dims), input.at(rowMajor(from, input.dims)));
  });
  return success();
}

} // namespace weft
