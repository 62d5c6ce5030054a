//===- ZeroPointSums.cpp - Sums of bytes under windows, of rows and of weights ---------------------===//

#include "passes/quant/ZeroPointSums.h"
#include "dialects/weft/ops/Quantize.h"
#include <numeric>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kMostTerms = 32; ///< slices that are added; larger windows are one convolution

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Bytes of 1 in memory, so that schedules see a weight.
Value onesOf(ImplicitLocOpBuilder &b, ArrayRef<SymExpr> dims) {
  auto type = SymTensorType::get(dims, b.getI8Type());
  auto shaped = RankedTensorType::get(*type.getConstantDims(), b.getI8Type());
  auto ones = b.create<ConstantOp>(type, DenseElementsAttr::get(shaped, int8_t(1)));
  ones->setAttr(kParameterAttr, b.getUnitAttr());
  return ones;
}

bool areZero(DimsAttr amounts) {
  return llvm::all_of(amounts.getDims(), [](SymExpr e) { return e.isConstant(0); });
}

/// Zeros around the pixels of [n, 1, h, w].
Value surround(ImplicitLocOpBuilder &b, Value pixels, DimsAttr low, DimsAttr high) {
  if (areZero(low) && areZero(high))
    return pixels;
  SmallVector<SymExpr> before(2, SymExpr::constant(b.getContext(), 0)), after(before);
  llvm::append_range(before, low.getDims());
  llvm::append_range(after, high.getDims());
  Value zero = b.create<FillOp>(SymTensorType::get(ArrayRef<SymExpr>(), b.getI32Type()),
                                b.getI32IntegerAttr(0));
  return b.create<PadOp>(pixels, zero, DimsAttr::get(b.getContext(), before),
                         DimsAttr::get(b.getContext(), after));
}

/// Adds the `count` elements along a spatial dimension that lie in one window.
Value sumAlong(ImplicitLocOpBuilder &b, Value x, ConvOp windows, unsigned spatial, int64_t count) {
  unsigned dim = spatial + 2;
  SmallVector<SymExpr> starts(typeOf(x).getRank(), SymExpr::constant(b.getContext(), 0));
  SmallVector<SymExpr> sizes(typeOf(x).getDims());
  SmallVector<int64_t> steps(sizes.size(), 1);
  sizes[dim] = typeOf(windows.getResult()).getDim(dim);
  steps[dim] = windows.getStrides()[spatial];
  Value sum;
  for (int64_t i = 0; i < count; ++i) {
    starts[dim] = SymExpr::constant(b.getContext(), i * windows.getDilations()[spatial]);
    Value term = b.create<SliceOp>(SymTensorType::get(sizes, b.getI32Type()), x,
                                   DimsAttr::get(b.getContext(), starts),
                                   DimsAttr::get(b.getContext(), sizes), steps);
    sum = sum ? Value(b.create<AddOp>(sum, term)) : term;
  }
  return sum;
}

} // namespace

Value sumOfWindows(ImplicitLocOpBuilder &b, Value x, ConvOp windows, DimsAttr low, DimsAttr high) {
  SmallVector<SymExpr> filter(typeOf(windows.getFilter()).getDims());
  SmallVector<SymExpr> result(typeOf(windows.getResult()).getDims());
  filter[0] = result[1] = SymExpr::constant(b.getContext(), 1);
  SmallVector<int64_t> kernel = llvm::map_to_vector(ArrayRef(filter).drop_front(2), [](SymExpr e) {
    return e.asConstant().value_or(kMostTerms);
  });
  int64_t terms = std::accumulate(kernel.begin(), kernel.end(), int64_t(0));
  if (terms > kMostTerms) {
    Value sum = b.create<ConvOp>(x, onesOf(b, filter), windows.getStridesAttr(),
                                 windows.getDilationsAttr(), low, high, windows.getGroupsAttr(),
                                 TypeAttr::get(b.getI32Type()), UnitAttr());
    sum.setType(SymTensorType::get(result, b.getI32Type())); // the same sizes, written otherwise
    return sum;
  }
  for (SymExpr &dim : MutableArrayRef(filter).drop_front(2))
    dim = SymExpr::constant(b.getContext(), 1);
  SmallVector<int64_t> each(kernel.size(), 1);
  DimsAttr none = DimsAttr::get(
      b.getContext(), SmallVector<SymExpr>(kernel.size(), SymExpr::constant(b.getContext(), 0)));
  auto one = b.getDenseI64ArrayAttr(each);
  Value sum = b.create<ConvOp>(x, onesOf(b, filter), one, one, none, none, windows.getGroupsAttr(),
                               TypeAttr::get(b.getI32Type()), UnitAttr());
  sum = surround(b, sum, low, high);
  for (auto [d, count] : llvm::enumerate(kernel))
    sum = sumAlong(b, sum, windows, unsigned(d), count);
  return sum;
}

Value sumOfRows(ImplicitLocOpBuilder &b, Value rows, Value weight, ContractOp product,
                unsigned column) {
  SmallVector<SymExpr> dims(typeOf(weight).getDims());
  dims[column] = SymExpr::constant(b.getContext(), 1);
  return b.create<ContractOp>(product.getRuleAttr(), rows, onesOf(b, dims),
                              TypeAttr::get(b.getI32Type()));
}

Value sumOfWeight(ImplicitLocOpBuilder &b, Value weight, unsigned channel) {
  SmallVector<int64_t> axes;
  for (unsigned d = 0; d < typeOf(weight).getRank(); ++d)
    if (d != channel)
      axes.push_back(d);
  Value wide = b.create<ConvertOp>(weight, TypeAttr::get(b.getI32Type()));
  return b.create<ReduceOp>(CombinerKind::Sum, wide, axes);
}

} // namespace weft
