//===- Reduction.cpp - reduce -------------------------------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  SmallVector<Attribute> dims(input.getDimAttributes());
  bool bits = adaptor.getKind() == CombinerKind::And || adaptor.getKind() == CombinerKind::Or;
  if (bits && isFloat(input.getElementType()))
    return emitOptionalError(location, "'weft.reduce' combines bits, but its operand has elements ",
                             input.getElementType());
  int64_t last = -1;
  for (int64_t axis : adaptor.getAxes()) {
    if (axis <= last || axis >= input.getRank())
      return emitOptionalError(location, "'weft.reduce' axes must be ascending dimensions of ",
                               input);
    last = axis;
  }
  for (int64_t axis : llvm::reverse(adaptor.getAxes()))
    dims.erase(dims.begin() + axis);
  results.push_back(SymTensorType::get(context, dims, input.getElementType()));
  return success();
}

std::string ReduceOp::ruleText() {
  std::string left, right;
  for (unsigned d = 0; d < tensorType(getInput()).getRank(); ++d) {
    std::string factor = "a" + std::to_string(d) + " ";
    left += factor;
    if (!llvm::is_contained(getAxes(), d))
      right += factor;
  }
  return left + "-> " + right + " : " + stringifyCombinerKind(getKind()).str();
}

RootKind ReduceOp::rootKind() { return RootKind::Row; }

Value combined(ImplicitLocOpBuilder &b, CombinerKind kind, Value x, Value y) {
  switch (kind) {
  case CombinerKind::Sum:
    return b.create<AddOp>(x, y);
  case CombinerKind::Prod:
    return b.create<MulOp>(x, y);
  case CombinerKind::Max:
    return b.create<MaximumOp>(x, y);
  case CombinerKind::Min:
    return b.create<MinimumOp>(x, y);
  case CombinerKind::And:
    return b.create<AndOp>(x, y);
  case CombinerKind::Or:
    return b.create<OrOp>(x, y);
  }
  llvm_unreachable("closed set of combiners");
}

} // namespace weft
