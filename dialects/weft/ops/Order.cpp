//===- Order.cpp - arg_reduce, cumulate, top_k: types and rules --------------------------------===//

#include "dialects/weft/ops/Order.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

LogicalResult verifyAxis(StringRef name, std::optional<Location> location, int64_t axis,
                         SymTensorType input) {
  if (axis >= 0 && axis < int64_t(input.getRank()))
    return success();
  return emitOptionalError(location, "'weft.", name, "' has no axis ", axis, " in ", input);
}

/// Dimensions of a tensor as factors a0, a1, …, the one along `axis` as `line`.
std::string lines(unsigned rank, int64_t axis, StringRef line) {
  std::string text;
  for (unsigned d = 0; d < rank; ++d)
    text += (int64_t(d) == axis ? line.str() : "a" + std::to_string(d)) + " ";
  return text;
}

SymExpr lineCount(SymTensorType type, int64_t axis) {
  SymExpr count = SymExpr::constant(type.getContext(), 1);
  for (SymExpr dim : outerDims(type, axis))
    count = count * dim;
  return count;
}

} // namespace

//===-- arg_reduce -------------------------------------------------------------------------------===//

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  if (failed(verifyAxis("arg_reduce", location, adaptor.getAxis(), input))) // R1
    return failure();
  SmallVector<Attribute> dims(input.getDimAttributes());
  dims.erase(dims.begin() + adaptor.getAxis());
  results.push_back(SymTensorType::get(context, dims, IntegerType::get(context, 64)));
  return success();
}

std::string ArgReduceOp::ruleText() {
  unsigned rank = tensorType(getInput()).getRank();
  return lines(rank, getAxis(), "r") + "-> " + lines(rank, getAxis(), "");
}

RootKind ArgReduceOp::rootKind() { return RootKind::Window; } // the line is read twice

//===-- cumulate ---------------------------------------------------------------------------------===//

LogicalResult CumulateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  results.push_back(adaptor.getInput().getType());
  return verifyAxis("cumulate", location, adaptor.getAxis(), tensorType(adaptor.getInput())); // R1
}

std::string CumulateOp::ruleText() {
  std::string text = lines(tensorType(getInput()).getRank(), getAxis(), "r>");
  return text + "-> " + text + ": " + stringifyCombinerKind(getKind()).str();
}

RootKind CumulateOp::rootKind() { return RootKind::Serial; }
SymExpr CumulateOp::serialUnits() { return lineCount(tensorType(getInput()), getAxis()); }

//===-- top_k ------------------------------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  int64_t axis = adaptor.getAxis();
  if (failed(verifyAxis("top_k", location, axis, input)))
    return failure();
  if (adaptor.getK().size() != 1) // R1
    return emitOptionalError(location, "'weft.top_k' needs one 'k', but has ",
                             adaptor.getK().size());
  SymExpr k = adaptor.getK()[0];
  auto count = k.asConstant(), length = input.getDim(axis).asConstant();
  if (count && (*count < 0 || (length && *count > *length))) // R2
    return emitOptionalError(location, "'weft.top_k' cannot take ", *count, " elements along axis ",
                             axis, " of ", input);
  SmallVector<SymExpr> dims = input.getDims();
  dims[axis] = k;
  results.push_back(SymTensorType::get(dims, input.getElementType()));
  results.push_back(SymTensorType::get(dims, IntegerType::get(context, 64)));
  return success();
}

std::string TopKOp::ruleText() {
  unsigned rank = tensorType(getInput()).getRank();
  std::string result = lines(rank, getAxis(), "k");
  return lines(rank, getAxis(), "n!") + "-> " + result + ", " + result;
}

RootKind TopKOp::rootKind() { return RootKind::Serial; }
SymExpr TopKOp::serialUnits() { return lineCount(tensorType(getInput()), getAxis()); }
SymExpr TopKOp::serialScratch() { return getK()[0]; }

} // namespace weft
