//===- Blocks.cpp - dequantize_blocks -----------------------------------------------------------===//

#include "dialects/weft/ops/Infer.h"
#include "dialects/weft/reference/Walk.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

LogicalResult DequantizeBlocksOp::inferReturnTypes(MLIRContext *context,
                                                   std::optional<Location> location,
                                                   Adaptor adaptor,
                                                   SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput());
  int64_t axis = adaptor.getAxis(), block = adaptor.getBlock(), rank = input.getRank();
  if (axis < 0 || axis >= rank) // R1
    return emitOptionalError(location, "'weft.dequantize_blocks' has no axis ", axis, " in ",
                             input);
  auto size = input.getDim(axis).asConstant();
  for (Value parameter : adaptor.getOperands().drop_front()) {
    auto type = tensorType(parameter);
    bool agrees = int64_t(type.getRank()) == rank;
    for (int64_t d = 0; agrees && d < rank; ++d)
      agrees = d == axis || type.getDim(d) == input.getDim(d);
    if (!agrees) // R1
      return emitOptionalError(location, "'weft.dequantize_blocks': ", type,
                               " has not one value per block of ", input);
    auto blocks = type.getDim(axis).asConstant();
    if (!size || !blocks || block < 1 || block > (int64_t(1) << 31) ||
        *blocks * block < *size) // R2
      return emitOptionalError(location, "'weft.dequantize_blocks': ", type,
                               " has too few blocks of ", block, " for ", input);
  }
  Type element = input.getElementType();
  if (element.isInteger(1) || elementBits(element) > 16 ||
      !isFloat(elementOf(adaptor.getScale()))) // R3
    return emitOptionalError(
        location,
        "'weft.dequantize_blocks' takes elements of at most 16 bits and floats as scales, but got ",
        element, " and ", elementOf(adaptor.getScale()));
  results.push_back(input.withElement(Float32Type::get(context)));
  return success();
}

/// Computed where it is read: a kernel that reads a dequantised value reads the integers.
RootKind DequantizeBlocksOp::rootKind() { return RootKind::View; }

LogicalResult DequantizeBlocksOp::evaluate(ReferenceCall &call) {
  const RefTensor &in = *call.inputs[0], &scale = *call.inputs[1],
                  *zero = call.inputs.size() > 2 ? call.inputs[2] : nullptr;
  if (in.kind == Scalar::Symbolic || (zero && zero->kind == Scalar::Symbolic))
    return call.fail("dequantisation of symbolic values");
  RefTensor &out = call.outputs.emplace_back(elementOf(getResult()), in.dims);
  int64_t i = 0;
  forBox(in.dims, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> of(index);
    of[getAxis()] /= getBlock();
    double value = in.at(i).asReal();
    if (zero)
      value -= zero->at(rowMajor(of, zero->dims)).asReal();
    out.set(i++, Scalar::of(value * scale.at(rowMajor(of, scale.dims)).asReal()));
  });
  return success();
}

static Value toF32(ElementBuilder &e, Value x, Type element) {
  auto &b = e.builder();
  Type type = e.laneType(b.getF32Type());
  if (element.isF64())
    return b.create<arith::TruncFOp>(type, x);
  if (isFloat(element))
    return x;
  return isUnsigned(element) ? Value(b.create<arith::UIToFPOp>(type, x))
                             : b.create<arith::SIToFPOp>(type, x);
}

Value DequantizeBlocksOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto &b = e.builder();
  SmallVector<IndexValue> of(index);
  of[getAxis()] = e.divmod(index[getAxis()], e.constant(getBlock())).first;
  Value value = toF32(e, e.operand(0, index), elementOf(getInput()));
  if (getZero())
    value = b.create<arith::SubFOp>(value, toF32(e, e.operand(2, of), elementOf(getZero())));
  return b.create<arith::MulFOp>(value, toF32(e, e.operand(1, of), elementOf(getScale())));
}

} // namespace weft
