//===- IntegerDot.cpp - Instructions that sum products of bytes ---------------------------------------===//

#include "targets/cpu/schedules/tile/IntegerDot.h"
#include "dialects/weft/PairSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

/// A byte of one sign, with its highest bit another, is so much larger or smaller as one of the other sign.
static constexpr int64_t kShift = 128;

static bool isUnsignedValue(Value value) {
  return isUnsigned(cast<SymTensorType>(value.getType()).getElementType());
}

ByteSigns IntegerDot::signsOf(Value activations, Value weights) {
  return {!isUnsignedValue(activations), !isUnsignedValue(weights)};
}

IntegerDot::IntegerDot(const VectorMachine &machine, Operation *product)
    : signs(signsOf(product->getOperand(0), product->getOperand(1))), shifted(0), pairSums(0),
      four(false), wideWeights(false) {
  if (!isByte(product->getOperand(0)))
    return;
  int64_t proven = pairSumsOf(product);
  ByteSigns others{!signs.isLeftSigned, signs.isRightSigned};
  if (takes(machine, signs, proven))
    return;
  // Products of tiles, which take what fours take, have no signed rows.
  bool mayTurn = others.isLeftSigned || machine.multipliesBytePairs();
  if (!mayTurn || !takes(machine, others, proven))
    return;
  shifted = others.isLeftSigned ? kShift : -kShift;
  signs = others;
}

/// Whether groups of four bytes are multiplied with these signs.
bool IntegerDot::takes(const VectorMachine &machine, ByteSigns multiplied, int64_t proven) {
  four = machine.addsByteProducts(multiplied);
  if (!four && multiplied.isMixed() && proven && machine.multipliesBytePairs()) {
    four = true;
    pairSums = proven;
  }
  return four;
}

WeightLayout IntegerDot::layout(WeightLayout::Order order, int64_t columns, int64_t taps) const {
  return WeightLayout::dots(columns, order, group(), taps, shifted);
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

Value IntegerDot::multiplyAdd(KernelContext &c, Value sum, ValueRange activations,
                              ValueRange weights) const {
  if (pairSums) {
    Value shorts;
    for (auto [activation, weight] : llvm::zip_equal(activations, weights)) {
      Value pairs = c.machine.multiplyBytePairs(c.b, activation, weight);
      shorts = shorts ? Value(c.b.create<arith::AddIOp>(shorts, pairs)) : pairs;
    }
    return c.machine.addShorts(c.b, sum, shorts);
  }
  for (auto [activation, weight] : llvm::zip_equal(activations, weights))
    sum = four ? c.machine.addByteProducts(c.b, sum, activation, weight, signs)
               : c.machine.addPairProducts(
                     c.b, sum, c.b.create<LLVM::BitcastOp>(lanes16(c), activation), weight);
  return sum;
}

Value IntegerDot::widen(KernelContext &c, Value bytes, Value tensor) const {
  if (!isByte(tensor))
    return bytes;
  Type wide = c.b.getI16Type();
  if (auto vector = dyn_cast<VectorType>(bytes.getType()))
    wide = vector.clone(wide);
  return isUnsignedValue(tensor) ? Value(c.b.create<arith::ExtUIOp>(wide, bytes))
                                 : c.b.create<arith::ExtSIOp>(wide, bytes);
}

void IntegerDot::widen(KernelContext &c, Value from, Value to, Value k, int64_t count,
                       Value tensor) const {
  Type element = isByte(tensor) ? c.b.getI8Type() : c.b.getI16Type();
  Type type = count == 1 ? element : Type(VectorType::get({count}, element));
  Value elements = c.b.create<LLVM::LoadOp>(type, elementPointer(c.b, from, element, k), 1);
  c.b.create<LLVM::StoreOp>(widen(c, elements, tensor),
                            elementPointer(c.b, to, c.b.getI16Type(), k), 2);
}

} // namespace weft
