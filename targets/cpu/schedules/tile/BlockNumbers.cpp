//===- BlockNumbers.cpp - How narrow scales and zero points become f32 -----------------------------===//
//
//   f32 are loaded as they are                                             [words]
//   f16 and floats of 8 bits are decoded                                   [floats]
//   bytes are converted                                                    [bytes]
//   two bf16, or eight numbers of 4 bits, share a word of their column:
//     the block's is shifted to where it is wanted, which is the same
//     for all columns                                                      [shared words]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/tile/BlockNumbers.h"
#include "dialects/weft/types/FloatFormat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {
namespace {

/// Vectors of one length.
class Vectors {
public:
  Vectors(KernelContext &c, int64_t count) : c(c), b(c.b), count(count) {}

  VectorType type(Type element) const { return VectorType::get({count}, element); }
  VectorType words() const { return type(b.getI32Type()); }
  VectorType reals() const { return type(b.getF32Type()); }
  Value load(Type element, Value pointer) const {
    return b.create<LLVM::LoadOp>(type(element), pointer, element.getIntOrFloatBitWidth() / 8);
  }
  Value bits(int64_t value) const {
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(words(), b.getI32IntegerAttr(int32_t(value))));
  }
  Value real(double value) const {
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(reals(), b.getF32FloatAttr(float(value))));
  }
  Value number(int64_t value) const { return constantI64(c.b, value); }
  Value spread(Value number) const {
    Value word = b.create<arith::TruncIOp>(b.getI32Type(), number);
    return b.create<vector::SplatOp>(word, words());
  }

  /// [bytes] Of integers.
  Value converted(Type element, Value loaded) const {
    Value wide = isUnsigned(element) ? Value(b.create<arith::ExtUIOp>(words(), loaded))
                                     : b.create<arith::ExtSIOp>(words(), loaded);
    return b.create<arith::SIToFPOp>(reals(), wide);
  }

  /// [shared words] Of bf16: the bits of an f32, whose lower half is 0.
  Value upperHalf(Value word, Value part) const {
    Value moved = b.create<arith::ShRUIOp>(word, spread(c.mul(part, number(16))));
    return b.create<arith::BitcastOp>(reals(), b.create<arith::ShLIOp>(moved, bits(16)));
  }

  /// [shared words] The first four are the low halves of the word's bytes; signed ones have 8 more (compiler/artifact/Panels.h).
  Value nibble(Type element, Value word, Value part) const {
    Value isHigh = b.create<arith::DivUIOp>(part, number(4)),
          byte = b.create<arith::RemUIOp>(part, number(4));
    Value shift = c.add(c.mul(byte, number(8)), c.mul(isHigh, number(4)));
    Value low = b.create<arith::AndIOp>(b.create<arith::ShRUIOp>(word, spread(shift)), bits(15));
    Value value = b.create<arith::SIToFPOp>(reals(), low);
    return isUnsigned(element) ? value : Value(b.create<arith::SubFOp>(value, real(8)));
  }

private:
  KernelContext &c;
  ImplicitLocOpBuilder &b;
  int64_t count;
};

} // namespace

WeightLayout::Form BlockNumbers::form() const {
  if (element.isF16())
    return WeightLayout::F16;
  if (element.isBF16())
    return WeightLayout::BF16;
  unsigned bits = elementBits(element);
  if (bits == 8)
    return WeightLayout::Bytes;
  return bits == 4 && !isFloat(element) ? WeightLayout::Nibbles : WeightLayout::F32;
}

Value BlockNumbers::row(KernelContext &c, Value panel, Value nth, int64_t columns) const {
  Value words = perWord() == 1
                    ? nth
                    : Value(c.b.createOrFold<arith::DivUIOp>(nth, constantI64(c.b, perWord())));
  return elementPointer(c.b, panel, c.b.getI8Type(),
                        c.mul(words, constantI64(c.b, columns * wordBytes())));
}

Value BlockNumbers::load(KernelContext &c, Value panel, Value nth, int64_t columns, int64_t column,
                         int64_t count) const {
  Vectors v(c, count);
  Value here = elementPointer(c.b, row(c, panel, nth, columns), c.b.getI8Type(),
                              constantI64(c.b, column * wordBytes()));
  auto part = [&] { return c.b.create<arith::RemUIOp>(nth, v.number(perWord())); };
  switch (form()) {
  case WeightLayout::BF16:
    return v.upperHalf(v.load(c.b.getI32Type(), here), part());
  case WeightLayout::Nibbles:
    return v.nibble(element, v.load(c.b.getI32Type(), here), part());
  // [floats] Those of 8 bits are below.
  case WeightLayout::F16:
    return decodeFloat(c.b, element, v.load(c.b.getI16Type(), here));
  case WeightLayout::Bytes: {
    Value loaded = v.load(c.b.getI8Type(), here);
    return isFloat(element) ? decodeFloat(c.b, element, loaded) : v.converted(element, loaded);
  }
  // [words] Nothing is decoded.
  default:
    return v.load(c.b.getF32Type(), here);
  }
}

} // namespace weft
