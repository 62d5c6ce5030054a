//===- RoundedRows.cpp - Blocks of rows as bytes or as rounded reals -----------------------------------===//
//
// Rows lie one behind the other, so the blocks of several rows are one sequence. A block stays in registers from its largest magnitude to
// its bytes.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/RoundedRows.h"
#include "dialects/weft/code/Rounding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

SmallVector<Value> RoundedRows::load(Value from, Value nth) {
  Type f32 = c.b.getF32Type();
  Value first = elementPointer(c.b, from, f32, c.mul(nth, constantI64(c.b, block)));
  SmallVector<Value> vectors;
  for (int64_t at = 0; at < block; at += c.machine.lanes())
    vectors.push_back(
        c.b.create<LLVM::LoadOp>(VectorType::get({c.machine.lanes()}, f32),
                                 elementPointer(c.b, first, f32, constantI64(c.b, at)), 4));
  return vectors;
}

Value RoundedRows::largestBits(ArrayRef<Value> vectors) {
  Value largest;
  for (Value x : vectors) {
    Value bits = magnitudeBits(c.b, x);
    largest = largest ? Value(c.b.create<arith::MaxSIOp>(largest, bits)) : bits;
  }
  return combineLanes(c.b, Combiner::Max, c.b.getI32Type(), largest);
}

Value RoundedRows::integer(int32_t value) {
  return c.b.create<arith::ConstantOp>(c.b.getI32IntegerAttr(value));
}

Value RoundedRows::correction(Value sum, Value step, std::optional<int64_t> zero) {
  if (zero)
    return c.b.create<arith::MulIOp>(sum, integer(-int32_t(*zero)));
  Value real = c.b.create<arith::SIToFPOp>(c.b.getF32Type(), sum);
  return c.b.create<arith::MulFOp>(c.b.create<arith::NegFOp>(real), step);
}

void RoundedRows::toBytes(Value from, const Bytes &to, Value first, Value count) {
  Value perRow = constantI64(c.b, k / block), begin = c.mul(first, perRow);
  Type i8 = c.b.getI8Type(), i32 = c.b.getI32Type(), f32 = c.b.getF32Type();
  auto vector = VectorType::get({c.machine.lanes()}, f32);
  c.loop(begin, c.add(begin, c.mul(count, perRow)), 1, [&](Value nth) {
    SmallVector<Value> x = load(from, nth);
    BlockStep step = blockStep(c.b, largestBits(x));
    Value inverse = c.b.create<vector::SplatOp>(step.inverse, vector), sum;
    Value bytes = elementPointer(c.b, to.bytes, i8, c.mul(nth, constantI64(c.b, block)));
    for (auto [i, part] : llvm::enumerate(x)) {
      Value bits = roundedBits(c.b, part, inverse);
      sum = sum ? Value(c.b.create<arith::AddIOp>(sum, bits)) : bits;
      c.b.create<LLVM::StoreOp>(
          c.b.create<arith::TruncIOp>(vector.clone(i8), bits),
          elementPointer(c.b, bytes, i8, constantI64(c.b, i * c.machine.lanes())), 1);
    }
    Value total = combineLanes(c.b, Combiner::Sum, i32, sum); // modulo 2^32, as what is taken away
    total = c.b.create<arith::SubIOp>(total, integer(int32_t(uint32_t(kRoundingBits) * block)));
    c.b.create<LLVM::StoreOp>(step.size, elementPointer(c.b, to.steps, f32, nth), 4);
    c.b.create<LLVM::StoreOp>(correction(total, step.size, to.zero),
                              elementPointer(c.b, to.corrections, i32, nth), 4);
  });
}

void RoundedRows::toReals(Value from, Value to, Value count) {
  auto vector = VectorType::get({c.machine.lanes()}, c.b.getF32Type());
  c.loop(constantI64(c.b, 0), c.mul(count, constantI64(c.b, k / block)), 1, [&](Value nth) {
    SmallVector<Value> x = load(from, nth);
    BlockStep step = blockStep(c.b, largestBits(x));
    for (Value *part : {&step.size, &step.inverse})
      *part = c.b.create<vector::SplatOp>(*part, vector);
    Value first = elementPointer(c.b, to, c.b.getF32Type(), c.mul(nth, constantI64(c.b, block)));
    for (auto [i, part] : llvm::enumerate(x))
      c.b.create<LLVM::StoreOp>(
          roundedReal(c.b, part, step),
          elementPointer(c.b, first, c.b.getF32Type(), constantI64(c.b, i * c.machine.lanes())), 4);
  });
}

} // namespace weft
