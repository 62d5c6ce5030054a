//===- WeightBytes.cpp ----------------------------------------------------------------------------===//

#include "passes/quant/WeightBytes.h"
#include <functional>
#include <numeric>

using namespace mlir;

namespace weft {

Value outsideKernel(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp()))
      return kernel.getInputs()[argument.getArgNumber()];
  return value;
}

std::optional<SmallVector<int8_t>> bytesOf(ConstantOp constant, const WeightReader &weight) {
  auto sizes = cast<SymTensorType>(constant.getResult().getType()).getConstantDims();
  if (!sizes)
    return std::nullopt;
  SmallVector<int8_t> bytes;
  if (auto name = dyn_cast<FlatSymbolRefAttr>(constant.getValue())) {
    auto data = reinterpret_cast<const int8_t *>(weight ? weight(name.getValue()) : nullptr);
    if (!data)
      return std::nullopt;
    bytes.assign(data, data + std::accumulate(sizes->begin(), sizes->end(), int64_t(1),
                                              std::multiplies<>()));
  } else {
    for (const APInt &each : cast<DenseElementsAttr>(constant.getValue()).getValues<APInt>())
      bytes.push_back(int8_t(each.getZExtValue()));
  }
  return bytes;
}

} // namespace weft
