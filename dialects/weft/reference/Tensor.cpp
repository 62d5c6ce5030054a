//===- Tensor.cpp - Reference tensors and their bytes -------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/reference/Reference.h"
#include "dialects/weft/types/FloatFormat.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace weft {

RefTensor::RefTensor(Type element, ArrayRef<int64_t> dims, bool symbolic)
    : element(element), dims(dims) {
  kind = isFloat(element) ? Scalar::Real : symbolic ? Scalar::Symbolic : Scalar::Integer;
  size_t count = size();
  if (kind == Scalar::Real)
    reals.resize(count);
  else if (kind == Scalar::Integer)
    integers.resize(count);
  else
    exprs.resize(count);
}

int64_t RefTensor::size() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

Scalar RefTensor::at(int64_t i) const {
  switch (kind) {
  case Scalar::Real:
    return Scalar::of(reals[i]);
  case Scalar::Integer:
    return Scalar::of(integers[i]);
  case Scalar::Symbolic:
    return Scalar::of(exprs[i]);
  }
  llvm_unreachable("closed set of kinds");
}

void RefTensor::set(int64_t i, const Scalar &value) {
  if (kind == Scalar::Real)
    reals[i] = value.asReal();
  else if (kind == Scalar::Integer)
    integers[i] =
        wrapInteger(element, value.kind == Scalar::Real ? int64_t(value.real) : value.integer);
  else if (value.kind == Scalar::Symbolic)
    exprs[i] = value.expr;
  else
    exprs[i] = SymExpr::constant(element.getContext(), value.integer);
}

unsigned elementBits(Type element) {
  const FloatFormat *format = floatFormatOf(element);
  return format ? format->bits() : element.getIntOrFloatBitWidth();
}

bool isByte(Value tensor) {
  Type element = cast<SymTensorType>(tensor.getType()).getElementType();
  return isa<IntegerType>(element) && elementBits(element) == 8;
}

/// Bits of an element in memory: a bool has a byte.
static unsigned widthOf(Type element) { return element.isInteger(1) ? 8 : elementBits(element); }

int64_t elementBytes(Type element, int64_t count) { return (count * widthOf(element) + 7) / 8; }

int64_t wrapInteger(Type element, int64_t value) {
  unsigned width = elementBits(element);
  if (width >= 64)
    return value;
  if (width == 1)
    return value & 1;
  uint64_t low = uint64_t(value) & ((uint64_t(1) << width) - 1);
  if (element.isUnsignedInteger() || !(low >> (width - 1)))
    return int64_t(low);
  return int64_t(low | (~uint64_t(0) << width));
}

double roundReal(Type element, double value) {
  if (const FloatFormat *format = floatFormatOf(element))
    return format->decode(format->encode(value));
  return element.isF32() ? double(float(value)) : value;
}

namespace {

/// Elements of less than a byte share one, the first in the lowest bits.
uint64_t loadBits(const char *bytes, int64_t i, unsigned width) {
  if (width < 8)
    return uint8_t(bytes[i * width / 8]) >> (i * width % 8) & ((1u << width) - 1);
  uint64_t value = 0;
  memcpy(&value, bytes + i * (width / 8), width / 8);
  return value;
}

void storeBits(char *bytes, int64_t i, unsigned width, uint64_t value) {
  if (width >= 8) {
    memcpy(bytes + i * (width / 8), &value, width / 8);
    return;
  }
  unsigned shift = i * width % 8;
  char &byte = bytes[i * width / 8];
  byte = char((shift ? byte : 0) | (value & ((1u << width) - 1)) << shift);
}

double realOf(Type element, uint64_t bits) {
  if (const FloatFormat *format = floatFormatOf(element))
    return format->decode(uint32_t(bits));
  return element.isF32() ? double(llvm::bit_cast<float>(uint32_t(bits)))
                         : llvm::bit_cast<double>(bits);
}

uint64_t bitsOf(Type element, double value) {
  if (const FloatFormat *format = floatFormatOf(element))
    return format->encode(value);
  return element.isF32() ? llvm::bit_cast<uint32_t>(float(value)) : llvm::bit_cast<uint64_t>(value);
}

} // namespace

RefTensor fromBytes(Type element, ArrayRef<int64_t> dims, const char *bytes) {
  RefTensor tensor(element, dims);
  unsigned width = widthOf(element);
  for (int64_t i = 0, count = tensor.size(); i < count; ++i) {
    uint64_t bits = loadBits(bytes, i, width);
    if (tensor.kind == Scalar::Real)
      tensor.reals[i] = realOf(element, bits);
    else
      tensor.integers[i] = element.isInteger(1) ? bits != 0 : wrapInteger(element, int64_t(bits));
  }
  return tensor;
}

void toBytes(const RefTensor &tensor, char *bytes) {
  unsigned width = widthOf(tensor.element);
  for (int64_t i = 0, count = tensor.size(); i < count; ++i)
    storeBits(bytes, i, width,
              tensor.kind == Scalar::Real ? bitsOf(tensor.element, tensor.reals[i])
                                          : uint64_t(tensor.integers[i]));
}

FailureOr<int64_t> ReferenceCall::value(SymExpr expr) {
  if (auto constant = expr.asConstant())
    return *constant;
  if (symbols)
    if (FailureOr<int64_t> result = expr.evaluate(*symbols); succeeded(result))
      return *result;
  return fail("'" + expr.str() + "' has no value here");
}

FailureOr<SmallVector<int64_t, 4>> ReferenceCall::dims(Type tensor) {
  SmallVector<int64_t, 4> dims;
  for (SymExpr dim : cast<SymTensorType>(tensor).getDims()) {
    FailureOr<int64_t> size = value(dim);
    if (failed(size))
      return failure();
    dims.push_back(*size);
  }
  return dims;
}

} // namespace weft
