//===- Tensor.cpp - Reference tensors and their bytes -------------------------------------------===//

#include "dialects/weft/Reference.h"
#include "dialects/weft/Weft.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using llvm::APFloat;

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

unsigned elementBits(Type element) { return element.getIntOrFloatBitWidth(); }

int64_t elementBytes(Type element, int64_t count) {
  unsigned bits = element.isInteger(1) ? 8 : elementBits(element);
  return (count * bits + 7) / 8;
}

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

static APFloat convertReal(Type element, double value) {
  APFloat result(value);
  bool lost;
  result.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return result;
}

double roundReal(Type element, double value) {
  if (element.isF64())
    return value;
  if (element.isF32())
    return double(float(value));
  APFloat result = convertReal(element, value);
  bool lost;
  result.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return result.convertToDouble();
}

namespace {
template <typename T> T load(const char *bytes, int64_t i) {
  T value;
  memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}
template <typename T> void store(char *bytes, int64_t i, T value) {
  memcpy(bytes + i * sizeof(T), &value, sizeof(T));
}
} // namespace

RefTensor fromBytes(Type element, ArrayRef<int64_t> dims, const char *bytes) {
  RefTensor tensor(element, dims);
  int64_t count = tensor.size();
  unsigned bits = element.isInteger(1) ? 8 : elementBits(element);
  for (int64_t i = 0; i < count; ++i) {
    if (tensor.kind == Scalar::Real) {
      if (bits == 64)
        tensor.reals[i] = load<double>(bytes, i);
      else if (bits == 32)
        tensor.reals[i] = load<float>(bytes, i);
      else {
        APFloat value(
            cast<FloatType>(element).getFloatSemantics(),
            llvm::APInt(bits, bits == 16 ? load<uint16_t>(bytes, i) : load<uint8_t>(bytes, i)));
        bool lost;
        value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
        tensor.reals[i] = value.convertToDouble();
      }
      continue;
    }
    int64_t value = 0;
    switch (bits) {
    case 4:
      value = (uint8_t(bytes[i / 2]) >> (i % 2 * 4)) & 15;
      break;
    case 8:
      value = load<int8_t>(bytes, i);
      break;
    case 16:
      value = load<int16_t>(bytes, i);
      break;
    case 32:
      value = load<int32_t>(bytes, i);
      break;
    default:
      value = load<int64_t>(bytes, i);
      break;
    }
    tensor.integers[i] = element.isInteger(1) ? value != 0 : wrapInteger(element, value);
  }
  return tensor;
}

void toBytes(const RefTensor &tensor, char *bytes) {
  unsigned bits = tensor.element.isInteger(1) ? 8 : elementBits(tensor.element);
  for (int64_t i = 0, count = tensor.size(); i < count; ++i) {
    if (tensor.kind == Scalar::Real) {
      double value = tensor.reals[i];
      if (bits == 64)
        store(bytes, i, value);
      else if (bits == 32)
        store(bytes, i, float(value));
      else {
        uint64_t raw = convertReal(tensor.element, value).bitcastToAPInt().getZExtValue();
        bits == 16 ? store(bytes, i, uint16_t(raw)) : store(bytes, i, uint8_t(raw));
      }
      continue;
    }
    int64_t value = tensor.integers[i];
    switch (bits) {
    case 4:
      if (i % 2 == 0)
        bytes[i / 2] = char(value & 15);
      else
        bytes[i / 2] = char(bytes[i / 2] | (value & 15) << 4);
      break;
    case 8:
      store(bytes, i, int8_t(value));
      break;
    case 16:
      store(bytes, i, int16_t(value));
      break;
    case 32:
      store(bytes, i, int32_t(value));
      break;
    default:
      store(bytes, i, value);
      break;
    }
  }
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
