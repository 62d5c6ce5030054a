//===- WidenedElements.cpp - Floats of 16 bits in memory, as f32 --------------------------------===//

#include "targets/cpu/schedules/tile/WidenedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

/// Without an instruction for it, a mask on elements of 16 bits makes branches, one by one: it is
/// needed at borders only.
static Value loadMasked(KernelContext &c, VectorType type, Value pointer, Value mask) {
  unsigned bits = type.getElementTypeBitWidth();
  auto load = [&]() -> Value {
    Value zeros = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(type));
    return c.b.create<LLVM::MaskedLoadOp>(type, pointer, mask, zeros, bits / 8);
  };
  if (bits == 32 || c.machine.masks(bits))
    return load();
  Value all = c.b.create<vector::ReductionOp>(vector::CombiningKind::AND, mask);
  auto choose = c.b.create<scf::IfOp>(TypeRange{type}, all, true);
  OpBuilder::InsertionGuard insertion(c.b);
  c.b.setInsertionPointToStart(choose.thenBlock());
  Value whole = c.b.create<LLVM::LoadOp>(type, pointer, bits / 8);
  c.b.create<scf::YieldOp>(whole);
  c.b.setInsertionPointToStart(choose.elseBlock());
  Value part = load();
  c.b.create<scf::YieldOp>(part);
  return choose.getResult(0);
}

Value loadReals(KernelContext &c, Type element, Value pointer, Value mask, Value outside) {
  Type memory = memoryType(element);
  auto type = VectorType::get({c.machine.lanes()}, memory);
  unsigned bytes = elementBits(element) / 8;
  if (!isHalf(element)) {
    if (!mask)
      return c.b.create<LLVM::LoadOp>(type, pointer, bytes);
    if (!outside)
      outside = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(type));
    return c.b.create<LLVM::MaskedLoadOp>(type, pointer, mask, outside, bytes);
  }
  Value bits = mask ? loadMasked(c, type, pointer, mask)
                    : Value(c.b.create<LLVM::LoadOp>(type, pointer, bytes));
  Value reals = decodeFloat(c.b, element, bits);
  return outside ? Value(c.b.create<arith::SelectOp>(mask, reals, outside)) : reals;
}

void widen(KernelContext &c, Type element, Value from, Value to, Value count) {
  int64_t lanes = c.machine.lanes();
  Type bits = memoryType(element);
  auto copy = [&](Value first, Type type) {
    Value narrow = c.b.create<LLVM::LoadOp>(type, elementPointer(c.b, from, bits, first), 2);
    c.b.create<LLVM::StoreOp>(decodeFloat(c.b, element, narrow),
                              elementPointer(c.b, to, c.b.getF32Type(), first), 4);
  };
  Value vectors = c.b.createOrFold<arith::DivUIOp>(count, constantI64(c.b, lanes)),
        whole = c.mul(vectors, constantI64(c.b, lanes));
  c.loop(constantI64(c.b, 0), whole, lanes,
         [&](Value first) { copy(first, VectorType::get({lanes}, bits)); });
  c.loop(whole, count, 1, [&](Value first) { copy(first, bits); });
}

} // namespace weft
