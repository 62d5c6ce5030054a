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

RoundedRows::Rounded RoundedRows::round(Value from, Value nth,
                                        function_ref<void(int64_t, Value)> store) {
  auto vector = VectorType::get({c.machine.lanes()}, c.b.getF32Type());
  SmallVector<Value> x = load(from, nth);
  BlockStep step = blockStep(c.b, largestBits(x));
  Value inverse = c.b.create<vector::SplatOp>(step.inverse, vector), sum;
  for (auto [i, part] : llvm::enumerate(x)) {
    Value bits = roundedBits(c.b, part, inverse);
    sum = sum ? Value(c.b.create<arith::AddIOp>(sum, bits)) : bits;
    store(i, bits);
  }
  // Modulo 2^32, as what is taken away.
  Value total = combineLanes(c.b, Combiner::Sum, c.b.getI32Type(), sum);
  return {step.size,
          c.b.create<arith::SubIOp>(total, integer(int32_t(uint32_t(kRoundingBits) * block)))};
}

void RoundedRows::toBytes(Value from, const Bytes &to, Value first, Value count) {
  Value perRow = constantI64(c.b, k / block), begin = c.mul(first, perRow);
  Type i8 = c.b.getI8Type(), i32 = c.b.getI32Type(), f32 = c.b.getF32Type();
  c.loop(begin, c.add(begin, c.mul(count, perRow)), 1, [&](Value nth) {
    Value bytes = elementPointer(c.b, to.bytes, i8, c.mul(nth, constantI64(c.b, block)));
    Rounded rounded = round(from, nth, [&](int64_t i, Value bits) {
      c.b.create<LLVM::StoreOp>(
          c.b.create<arith::TruncIOp>(VectorType::get({c.machine.lanes()}, i8), bits),
          elementPointer(c.b, bytes, i8, constantI64(c.b, i * c.machine.lanes())), 1);
    });
    c.b.create<LLVM::StoreOp>(rounded.step, elementPointer(c.b, to.steps, f32, nth), 4);
    c.b.create<LLVM::StoreOp>(correction(rounded.sum, rounded.step, to.zero),
                              elementPointer(c.b, to.corrections, i32, nth), 4);
  });
}

/// The lanes of both.
Value RoundedRows::joined(Value first, Value second) {
  int64_t lanes = 2 * cast<VectorType>(first.getType()).getNumElements();
  return c.b.create<vector::ShuffleOp>(first, second,
                                       llvm::to_vector(llvm::seq<int64_t>(0, lanes)));
}

void RoundedRows::toPair(Value from, Value nth, const Place &to) {
  SmallVector<Value> fours;
  Rounded rounded = round(from, nth, [&](int64_t, Value bits) { fours.push_back(bits); });
  // Sixteen are narrowed at once.
  for (int64_t first = 0; first < int64_t(fours.size()); first += 4) {
    auto four = [&](int64_t place) { return fours[to.fourAt(first + place)]; };
    Value all = joined(joined(four(0), four(1)), joined(four(2), four(3)));
    Value bytes = c.b.create<arith::TruncIOp>(VectorType::get({16}, c.b.getI8Type()), all);
    Value eights = c.b.create<LLVM::BitcastOp>(VectorType::get({2}, c.b.getI64Type()), bytes);
    for (int64_t half = 0; half < 2; ++half)
      c.b.create<LLVM::StoreOp>(c.b.create<vector::ExtractOp>(eights, half),
                                to.eightAt(first / 2 + half), 4);
  }
  auto store = [&](Value number, Value pointer) {
    c.b.create<LLVM::StoreOp>(
        c.b.create<vector::SplatOp>(number, VectorType::get({2}, number.getType())), pointer, 4);
  };
  store(rounded.step, to.steps);
  store(correction(rounded.sum, rounded.step, to.zero), to.corrections);
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
