//===- RowScale.cpp ---------------------------------------------------------------------------===//

#include "passes/quant/RowScale.h"

using namespace mlir;

namespace weft {
namespace {

constexpr float kLeastRow = 1e-30f; ///< a row of zeros has a scale, too

} // namespace

Value fill(ImplicitLocOpBuilder &b, TypedAttr number) {
  return b.create<FillOp>(SymTensorType::get(ArrayRef<SymExpr>(), number.getType()), number);
}

Value byteFill(ImplicitLocOpBuilder &b, bool isSigned, int64_t number) {
  return fill(
      b, b.getIntegerAttr(isSigned ? Type(b.getI8Type()) : b.getIntegerType(8, false), number));
}

Value scaleOfRows(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> along, double most) {
  Value largest = b.create<ReduceOp>(CombinerKind::Max, b.create<AbsOp>(x), along);
  SmallVector<SymExpr> dims(cast<SymTensorType>(x.getType()).getDims());
  for (int64_t d : along)
    dims[size_t(d)] = SymExpr::constant(b.getContext(), 1);
  Value rows = b.create<ReshapeOp>(largest, DimsAttr::get(b.getContext(), dims));
  Value some = b.create<MaximumOp>(rows, fill(b, b.getF32FloatAttr(kLeastRow)));
  return b.create<MulOp>(some, fill(b, b.getF32FloatAttr(float(1 / most))));
}

} // namespace weft
