//===- WidenedElements.cpp - Floats of 16 bits in memory, as f32 --------------------------------===//

#include "targets/cpu/schedules/tile/WidenedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

Value loadReals(KernelContext &c, Type element, Value pointer, Value mask, Value outside) {
  Type memory = memoryType(element);
  auto type = VectorType::get({c.machine.lanes()}, memory);
  unsigned bytes = elementBits(element) / 8;
  auto load = [&](Value outside) -> Value {
    if (!mask)
      return c.b.create<LLVM::LoadOp>(type, pointer, bytes);
    if (!outside)
      outside = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(type));
    return c.b.create<LLVM::MaskedLoadOp>(type, pointer, mask, outside, bytes);
  };
  if (!isHalf(element))
    return load(outside);
  Value reals = decodeFloat(c.b, element, load({}));
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
