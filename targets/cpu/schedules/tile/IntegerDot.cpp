//===- IntegerDot.cpp - Instructions that sum products of bytes ---------------------------------------===//

#include "targets/cpu/schedules/tile/IntegerDot.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

/// By how much an unsigned byte is too small as a signed one whose highest bit is another.
static constexpr int64_t kShift = 128;

static bool isUnsignedValue(Value value) {
  return isUnsigned(cast<SymTensorType>(value.getType()).getElementType());
}

ByteSigns IntegerDot::signsOf(Value activations, Value weights) {
  return {!isUnsignedValue(activations), !isUnsignedValue(weights)};
}

IntegerDot::IntegerDot(const VectorMachine &machine, Value activations, Value weights)
    : signs(signsOf(activations, weights)), shifted(false), four(machine.addsByteProducts(signs)),
      wideWeights(false) {
  ByteSigns asSigned{true, signs.isRightSigned};
  if (four || signs.isLeftSigned || !machine.addsByteProducts(asSigned))
    return;
  signs = asSigned;
  four = shifted = true;
}

WeightLayout IntegerDot::layout(WeightLayout::Order order, int64_t columns, int64_t taps) const {
  return WeightLayout::dots(columns, order, group(), taps, shifted ? kShift : 0);
}

VectorType IntegerDot::lanes32(KernelContext &c) const {
  return VectorType::get({c.machine.lanes()}, c.b.getI32Type());
}
VectorType IntegerDot::lanes16(KernelContext &c) const {
  return VectorType::get({2 * c.machine.lanes()}, c.b.getI16Type());
}

Value IntegerDot::zero(KernelContext &c) const {
  return c.b.create<arith::ConstantOp>(c.b.getZeroAttr(lanes32(c)));
}

Value IntegerDot::loadWeights(KernelContext &c, Value panel, int64_t offset) const {
  Value at = c.b.create<LLVM::GEPOp>(LLVM::LLVMPointerType::get(c.b.getContext()), c.b.getI8Type(),
                                     panel, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  if (four)
    return c.b.create<LLVM::LoadOp>(lanes32(c), at, 4);
  if (wideWeights)
    return c.b.create<LLVM::LoadOp>(lanes16(c), at, 4);
  Value bytes =
      c.b.create<LLVM::LoadOp>(VectorType::get({2 * c.machine.lanes()}, c.b.getI8Type()), at, 2);
  return signs.isRightSigned ? Value(c.b.create<arith::ExtSIOp>(lanes16(c), bytes))
                             : c.b.create<arith::ExtUIOp>(lanes16(c), bytes);
}

Value IntegerDot::shift(KernelContext &c, Value groups) const {
  if (!shifted)
    return groups;
  auto type = cast<VectorType>(groups.getType());
  Value halves = c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, c.b.getI32IntegerAttr(int32_t(0x80808080))));
  return c.b.create<arith::XOrIOp>(groups, halves);
}

Value IntegerDot::shiftByte(KernelContext &c, Value byte) const {
  Value half = c.b.create<arith::ConstantOp>(c.b.getI8IntegerAttr(int8_t(kShift)));
  return shifted ? Value(c.b.create<arith::XOrIOp>(byte, half)) : byte;
}

Value IntegerDot::loadShift(KernelContext &c, Value panel, int64_t offset) const {
  Value at = c.b.create<LLVM::GEPOp>(panel.getType(), c.b.getI8Type(), panel,
                                     ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return c.b.create<LLVM::LoadOp>(lanes32(c), at, 4);
}

Value IntegerDot::multiplyAdd(KernelContext &c, Value sum, Value activations, Value weights) const {
  if (four)
    return c.machine.addByteProducts(c.b, sum, activations, weights, signs);
  Value pairs = c.b.create<LLVM::BitcastOp>(lanes16(c), activations);
  return c.machine.addPairProducts(c.b, sum, pairs, weights);
}

Value IntegerDot::widen(KernelContext &c, Value bytes, Value tensor) const {
  Type wide = c.b.getI16Type();
  if (auto vector = dyn_cast<VectorType>(bytes.getType()))
    wide = vector.clone(wide);
  return isUnsignedValue(tensor) ? Value(c.b.create<arith::ExtUIOp>(wide, bytes))
                                 : c.b.create<arith::ExtSIOp>(wide, bytes);
}

void IntegerDot::widen(KernelContext &c, Value from, Value to, Value k, int64_t count,
                       Value tensor) const {
  Type byte = c.b.getI8Type(), type = count == 1 ? byte : Type(VectorType::get({count}, byte));
  Value bytes = c.b.create<LLVM::LoadOp>(type, elementPointer(c.b, from, byte, k), 1);
  c.b.create<LLVM::StoreOp>(widen(c, bytes, tensor), elementPointer(c.b, to, c.b.getI16Type(), k),
                            2);
}

} // namespace weft
