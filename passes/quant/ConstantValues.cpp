//===- ConstantValues.cpp - Reference semantics of what depends on constants only -------------------===//

#include "passes/quant/ConstantValues.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kMostElements = 1 << 20; ///< of an intermediate value

std::optional<int64_t> countOf(Value value) {
  auto type = dyn_cast<SymTensorType>(value.getType());
  auto dims = type ? type.getConstantDims() : std::nullopt;
  if (!dims)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t dim : *dims)
    count *= dim;
  return count;
}

} // namespace

const RefTensor *ConstantValues::find(Value value) {
  if (auto known = tensors.find(value); known != tensors.end())
    return known->second.get();
  std::shared_ptr<RefTensor> tensor = compute(value);
  tensors[value] = tensor;
  return tensor.get();
}

std::shared_ptr<RefTensor> ConstantValues::compute(Value value) {
  Operation *op = value.getDefiningOp();
  auto reference = dyn_cast_or_null<ReferenceOpInterface>(op);
  if (!reference || op->getNumRegions() > 0 || op->getNumResults() != 1 || isa<HostOpInterface>(op))
    return {};
  if (auto reduce = dyn_cast<ReduceOp>(op))
    if (std::shared_ptr<RefTensor> sums = sumBytes(reduce))
      return sums;
  std::optional<int64_t> count = countOf(value);
  if (!count || *count > kMostElements)
    return {};
  SmallVector<const RefTensor *> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(find(operand));
    if (!inputs.back())
      return {};
  }
  ReferenceCall call;
  call.inputs = inputs;
  call.weight = weight;
  if (failed(evaluateReference(op, call)) || call.outputs[0].kind == Scalar::Symbolic)
    return {};
  return std::make_shared<RefTensor>(std::move(call.outputs[0]));
}

/// Sums of a weight's bytes, which are too many for the general way.
std::shared_ptr<RefTensor> ConstantValues::sumBytes(ReduceOp op) {
  auto convert = op.getInput().getDefiningOp<ConvertOp>();
  auto constant = convert ? convert.getInput().getDefiningOp<ConstantOp>() : ConstantOp();
  auto name = constant ? dyn_cast<FlatSymbolRefAttr>(constant.getValue()) : FlatSymbolRefAttr();
  if (!name || !weight || op.getKind() != CombinerKind::Sum || !convert.getTo().isInteger(32))
    return {};
  auto type = cast<SymTensorType>(constant.getResult().getType());
  Type element = type.getElementType();
  auto dims = type.getConstantDims(),
       resultDims = cast<SymTensorType>(op.getResult().getType()).getConstantDims();
  const char *bytes = weight(name.getValue());
  if (!isa<IntegerType>(element) || elementBits(element) != 8 || !dims || !resultDims || !bytes)
    return {};
  auto sums = std::make_shared<RefTensor>(convert.getTo(), *resultDims);
  SmallVector<int64_t> strides(dims->size(), 0);
  int64_t stride = 1, count = 1;
  for (int64_t d = int64_t(dims->size()) - 1; d >= 0; --d) {
    count *= (*dims)[d];
    if (llvm::is_contained(op.getAxes(), d))
      continue;
    strides[d] = stride;
    stride *= (*dims)[d];
  }
  SmallVector<int64_t> at(dims->size(), 0);
  int64_t target = 0;
  for (int64_t i = 0; i < count; ++i) {
    sums->integers[target] +=
        isUnsigned(element) ? int64_t(uint8_t(bytes[i])) : int64_t(int8_t(bytes[i]));
    for (int64_t d = int64_t(dims->size()) - 1; d >= 0; --d) {
      target += strides[d];
      if (++at[d] < (*dims)[d])
        break;
      target -= strides[d] * at[d];
      at[d] = 0;
    }
  }
  for (int64_t &sum : sums->integers)
    sum = wrapInteger(convert.getTo(), sum);
  return sums;
}

bool ConstantValues::isZero(Value value) {
  const RefTensor *tensor = find(value);
  return tensor && tensor->kind == Scalar::Integer &&
         llvm::all_of(tensor->integers, [](int64_t v) { return v == 0; });
}

bool ConstantValues::areEqual(Value a, Value b) {
  if (a == b)
    return true;
  const RefTensor *left = find(a), *right = find(b);
  return left && right && left->element == right->element && left->size() == 1 &&
         right->size() == 1 && left->reals == right->reals && left->integers == right->integers;
}

} // namespace weft
