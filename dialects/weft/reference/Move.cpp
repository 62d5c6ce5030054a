//===- Move.cpp - Reference semantics of reshape, pad, concat ----------------------------------===//

#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

//===-- reshape ----------------------------------------------------------------------------------===//

LogicalResult ReshapeOp::evaluate(ReferenceCall &call) {
  auto dims = call.dims(getResult().getType());
  if (failed(dims))
    return failure();
  RefTensor &out = call.outputs.emplace_back(*call.inputs[0]);
  out.dims = *dims;
  return success();
}

//===-- pad --------------------------------------------------------------------------------------===//

LogicalResult PadOp::evaluate(ReferenceCall &call) {
  auto type = tensorType(getResult());
  auto dims = call.dims(type);
  if (failed(dims))
    return failure();
  const RefTensor &in = *call.inputs[0];
  SmallVector<int64_t> low;
  for (SymExpr amount : getLow().getDims()) {
    FailureOr<int64_t> value = call.value(amount);
    if (failed(value))
      return failure();
    low.push_back(*value);
  }
  RefTensor &out =
      call.outputs.emplace_back(type.getElementType(), *dims, in.kind == Scalar::Symbolic);
  for (int64_t i = 0, count = out.size(); i < count; ++i) {
    int64_t rest = i, at = 0, stride = 1;
    bool inside = true;
    for (size_t d = dims->size(); d-- > 0; rest /= (*dims)[d]) {
      int64_t index = rest % (*dims)[d] - low[d];
      inside &= index >= 0 && index < in.dims[d];
      at += index * stride;
      stride *= in.dims[d];
    }
    out.set(i, inside ? in.at(at) : call.inputs[1]->at(0));
  }
  return success();
}

//===-- concat -----------------------------------------------------------------------------------===//

LogicalResult ConcatOp::evaluate(ReferenceCall &call) {
  auto type = tensorType(getResult());
  SmallVector<int64_t, 4> dims = call.inputs[0]->dims;
  bool symbolic = false;
  dims[getDim()] = 0;
  for (const RefTensor *input : call.inputs) {
    dims[getDim()] += input->dims[getDim()];
    symbolic |= input->kind == Scalar::Symbolic;
  }
  RefTensor &out = call.outputs.emplace_back(type.getElementType(), dims, symbolic);
  int64_t outer = 1, inner = 1;
  for (auto [d, dim] : llvm::enumerate(dims))
    (d < getDim() ? outer : inner) *= d == getDim() ? 1 : dim;
  int64_t at = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (const RefTensor *input : call.inputs)
      for (int64_t i = 0, run = input->dims[getDim()] * inner; i < run; ++i)
        out.set(at++, input->at(o * run + i));
  return success();
}

} // namespace weft
