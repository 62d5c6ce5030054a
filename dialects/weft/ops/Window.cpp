//===- Window.cpp - conv, conv_transpose, pool, pool_index: types, rules and code ---------------===//

#include "dialects/weft/code/Emit.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

/// Attributes of one window dimension, of whatever operator.
struct Window {
  int64_t stride, dilation;
  SymExpr low, high;
};

std::string braces(SymExpr expr) { return "{" + expr.str() + "}"; }
std::string name(char prefix, size_t i) { return prefix + std::to_string(i); }
std::string times(int64_t factor, const std::string &name) {
  return factor == 1 ? name : std::to_string(factor) + "*" + name;
}

/// `s*p+d*x-low`.
std::string windowAccess(const Window &w, const std::string &p, const std::string &x) {
  std::string text = times(w.stride, p);
  if (!x.empty())
    text += "+" + times(w.dilation, x);
  return w.low.isConstant(0) ? text : text + "-" + braces(w.low);
}

/// A filter of one element that visits every element in place: the dimension is a point.
bool isPointwise(const Window &w, SymExpr kernel) {
  return w.stride == 1 && kernel.isConstant(1) && w.low.isConstant(0) && w.high.isConstant(0);
}

SymExpr windowsIn(SymExpr size, SymExpr kernel, const Window &w) {
  SymExpr room = size + w.low + w.high - (kernel - 1) * w.dilation - 1;
  return SymExpr::floordiv(room, w.stride) + 1;
}

/// Entries of the attributes, or failure with a message when some list has another length or a step is not positive.
template <typename Adaptor>
FailureOr<SmallVector<Window>> readWindows(Adaptor op, size_t rank, StringRef name,
                                           std::optional<Location> location) {
  if (op.getStrides().size() != rank || op.getDilations().size() != rank ||
      op.getLow().size() != rank || op.getHigh().size() != rank)
    return emitOptionalError(location, "'weft.", name, "' needs a stride, a dilation and two ",
                             "amounts of padding for each of its ", rank, " window dimensions");
  SmallVector<Window> windows;
  for (size_t d = 0; d < rank; ++d) {
    windows.push_back({op.getStrides()[d], op.getDilations()[d], op.getLow()[d], op.getHigh()[d]});
    if (windows[d].stride < 1 || windows[d].dilation < 1)
      return emitOptionalError(location, "'weft.", name,
                               "' strides and dilations must be positive");
  }
  return windows;
}

/// The windows of a verified operation.
template <typename Op> SmallVector<Window> windowsOf(Op op) {
  SmallVector<Window> windows;
  for (size_t d = 0; d < op.getStrides().size(); ++d)
    windows.push_back({op.getStrides()[d], op.getDilations()[d], op.getLow()[d], op.getHigh()[d]});
  return windows;
}

//===-- What conv and conv_transpose share -------------------------------------------------------===//

bool isNarrowInteger(Type type) { return isa<IntegerType>(type) && elementBits(type) <= 8; }

/// The constraints that do not depend on the direction: ranks, element types, accumulation.
template <typename Adaptor>
FailureOr<SmallVector<Window>> verifyConvolution(Adaptor op, StringRef name,
                                                 std::optional<Location> location) {
  auto input = tensorType(op.getInput()), filter = tensorType(op.getFilter());
  if (input.getRank() != filter.getRank() || input.getRank() < 3 || input.getRank() > 5) // R1
    return emitOptionalError(location, "'weft.", name,
                             "' operands must have one rank from 3 to 5, ", "but are ", input,
                             " and ", filter);
  Type lhs = input.getElementType(), rhs = filter.getElementType();
  if (lhs != rhs && !(isNarrowInteger(lhs) && isNarrowInteger(rhs))) // R2
    return emitOptionalError(location, "'weft.", name, "' operands must have one element type, ",
                             "but are ", lhs, " and ", rhs);
  if (failed(verifyAccumulate(name, location, lhs, op.getAccumulate()))) // R3
    return failure();
  if (int64_t(op.getGroups()) < 1)
    return emitOptionalError(location, "'weft.", name, "' needs at least 1 group");
  return readWindows(op, input.getRank() - 2, name, location);
}

LogicalResult refuseGroups(StringRef name, std::optional<Location> location, int64_t groups,
                           SymTensorType input, SymTensorType filter) {
  return emitOptionalError(location, "'weft.", name, "' with ", groups,
                           " groups cannot apply a filter ", filter, " to ", input);
}

template <typename Op> Value emitProduct(Op op, ImplicitLocOpBuilder &b, Value x, Value y) {
  Type accumulate = op.getAccumulate();
  x = widen(b, x, elementOf(op.getInput()), accumulate);
  y = widen(b, y, elementOf(op.getFilter()), accumulate);
  return isFloat(accumulate) ? Value(b.create<arith::MulFOp>(x, y)) : b.create<arith::MulIOp>(x, y);
}

} // namespace

//===-- conv -------------------------------------------------------------------------------------===//

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto windows = verifyConvolution(adaptor, "conv", location);
  if (failed(windows))
    return failure();
  auto input = tensorType(adaptor.getInput()), filter = tensorType(adaptor.getFilter());
  int64_t groups = adaptor.getGroups();
  bool last = adaptor.getChannelsLast();
  SymExpr perGroup = SymExpr::floordiv(filter.getDim(0), groups);
  SymExpr channels = last ? input.getDims().back() : input.getDim(1);
  if (channels != filter.getDim(1) * groups || filter.getDim(0) != perGroup * groups) // R4
    return refuseGroups("conv", location, groups, input, filter);
  SmallVector<SymExpr> dims{input.getDim(0)};
  for (auto [d, window] : llvm::enumerate(*windows))
    dims.push_back(windowsIn(input.getDim(d + (last ? 1 : 2)), filter.getDim(d + 2), window));
  dims.insert(last ? dims.end() : dims.begin() + 1, filter.getDim(0));
  results.push_back(SymTensorType::get(dims, adaptor.getAccumulate()));
  return success();
}

/// Without groups, and with one channel per group and filter, the merges fall away: no divisions in the code.
std::string ConvOp::ruleText() {
  auto filter = tensorType(getFilter());
  int64_t groups = getGroups();
  bool depthwise =
      groups > 1 && filter.getDim(1).isConstant(1) && filter.getDim(0).isConstant(groups);
  std::string channels = "c", right = "o c", filters = "o", extents;
  if (depthwise)
    channels = "g", right = "g 1", filters = "g";
  else if (groups > 1)
    channels = "(g c)", right = "(g o) c", filters = "(g o)",
    extents = " ; g = " + std::to_string(groups);
  std::string walked, places;
  for (auto [d, window] : llvm::enumerate(windowsOf(*this))) {
    bool one = filter.getDim(d + 2).isConstant(1);
    std::string p = name('p', d), x = one ? "" : name('x', d);
    walked += " " + (isPointwise(window, filter.getDim(d + 2)) ? p : windowAccess(window, p, x));
    right += one ? " 1" : " " + x;
    places += " " + p;
  }
  if (getChannelsLast())
    return "n" + walked + " " + channels + ", " + right + " -> n" + places + " " + filters +
           extents;
  return "n " + channels + walked + ", " + right + " -> n " + filters + places + extents;
}

RootKind ConvOp::rootKind() { return RootKind::Window; }

Scalar ConvOp::evaluateScalar(ArrayRef<Scalar> e, const SymFacts *) {
  return combineScalars(Combiner::Prod, getInput().getType().getElementType(), e[0], e[1]);
}

Value ConvOp::emitScalar(ImplicitLocOpBuilder &b, ValueRange e) {
  return emitProduct(*this, b, e[0], e[1]);
}

//===-- conv_transpose ---------------------------------------------------------------------------===//

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto windows = verifyConvolution(adaptor, "conv_transpose", location);
  if (failed(windows))
    return failure();
  auto input = tensorType(adaptor.getInput()), filter = tensorType(adaptor.getFilter());
  int64_t groups = adaptor.getGroups();
  SymExpr perGroup = SymExpr::floordiv(input.getDim(1), groups);
  if (input.getDim(1) != filter.getDim(0) || input.getDim(1) != perGroup * groups) // R4
    return refuseGroups("conv_transpose", location, groups, input, filter);
  SmallVector<SymExpr> dims{input.getDim(0), filter.getDim(1) * groups};
  for (auto [d, w] : llvm::enumerate(*windows)) {
    SymExpr last = (input.getDim(d + 2) - 1) * w.stride;
    dims.push_back(last + (filter.getDim(d + 2) - 1) * w.dilation + 1 - w.low - w.high);
  }
  results.push_back(SymTensorType::get(dims, adaptor.getAccumulate()));
  return success();
}

std::string ConvTransposeOp::ruleText() {
  std::string left = "n (g c)", right = "(g c) o", out = "n (g o)";
  for (auto [d, window] : llvm::enumerate(windowsOf(*this))) {
    left += " " + name('p', d);
    right += " " + name('x', d);
    out += " " + windowAccess(window, name('p', d), name('x', d));
  }
  return left + ", " + right + " -> " + out + " ; g = " + std::to_string(getGroups());
}

RootKind ConvTransposeOp::rootKind() { return RootKind::Window; }

/// Gathers: the operand elements whose windows cover the result element are those with s*p == i + low - d*x for some x.
Value ConvTransposeOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  auto input = tensorType(getInput()), filter = tensorType(getFilter());
  auto &b = e.builder();
  SmallVector<Window> windows = windowsOf(*this);
  SymExpr channels = SymExpr::floordiv(input.getDim(1), int64_t(getGroups()));
  auto [group, o] = getGroups() == 1 ? std::pair(e.constant(0), index[1])
                                     : e.divmod(index[1], e.symbolic(filter.getDim(1)));
  IndexValue firstChannel = e.mul(group, e.symbolic(channels)), filterChannel = o;
  SmallVector<SymExpr> extents{channels};
  llvm::append_range(extents, ArrayRef(filter.getDims()).drop_front(2));
  return e.fold(extents, zeroOf(e, getAccumulate()), [&](ArrayRef<IndexValue> at, Value sum) {
    IndexValue channel = e.add(firstChannel, at[0]);
    SmallVector<IndexValue> from{index[0], channel}, tap{channel, filterChannel};
    Value inside;
    for (auto [d, w] : llvm::enumerate(windows)) {
      tap.push_back(at[d + 1]);
      IndexValue back = e.mul(e.constant(w.dilation), at[d + 1]);
      IndexValue scaled = e.sub(e.add(index[d + 2], e.symbolic(w.low)), back);
      auto [p, rest] =
          e.divmod(scaled, e.constant(w.stride)); // of a negative number: excluded below
      from.push_back(p);
      Value here = isInside(e, inside, p, input.getDim(d + 2));
      if (w.stride != 1) {
        Value whole = b.create<arith::AndIOp>(e.nonNegative(scaled), e.equal(rest, e.constant(0)));
        here = b.create<arith::AndIOp>(here, whole);
      }
      inside = here;
    }
    auto add = [&] {
      Value product = emitProduct(*this, b, e.operand(0, from), e.operand(1, tap));
      return emitCombine(b, Combiner::Sum, getAccumulate(), sum, product);
    };
    return e.guarded(inside, add, sum);
  });
}

//===-- pool, pool_index -------------------------------------------------------------------------===//

/// `behind` dimensions follow those with windows.
template <typename Adaptor>
static FailureOr<SmallVector<SymExpr>> inferPool(Adaptor op, size_t behind, StringRef name,
                                                 std::optional<Location> location) {
  auto input = tensorType(op.getInput());
  size_t rank = op.getKernel().size();
  if (rank == 0 || rank + behind > input.getRank()) // R1
    return emitOptionalError(location, "'weft.", name, "' cannot move a kernel of ", rank,
                             " dimensions over ", input);
  auto windows = readWindows(op, rank, name, location);
  if (failed(windows))
    return failure();
  if (llvm::any_of(op.getKernel(), [](int64_t size) { return size < 1; })) // R2
    return emitOptionalError(location, "'weft.", name, "' kernel sizes must be positive");
  std::optional<DimsAttr> sizes = op.getSizes();
  if (sizes && sizes->size() != rank)
    return emitOptionalError(location, "'weft.", name, "' needs ", rank, " sizes, but has ",
                             sizes->size());
  SmallVector<SymExpr> dims = input.getDims();
  for (size_t d = 0; d < rank; ++d) {
    SymExpr &dim = dims[dims.size() - behind - rank + d];
    SymExpr kernel = SymExpr::constant(dim.getContext(), op.getKernel()[d]);
    dim = sizes ? (*sizes)[d] : windowsIn(dim, kernel, (*windows)[d]);
  }
  return dims;
}

template <typename Op> static std::string poolRule(Op op, size_t behind, StringRef combiner) {
  std::string left, right, extents;
  size_t outer = tensorType(op.getInput()).getRank() - op.getKernel().size() - behind;
  auto addPoints = [&](char prefix, size_t count) {
    for (size_t d = 0; d < count; ++d)
      left += name(prefix, d) + " ", right += name(prefix, d) + " ";
  };
  addPoints('a', outer);
  for (auto [d, window] : llvm::enumerate(windowsOf(op))) {
    left += windowAccess(window, name('p', d), name('x', d)) + " ";
    right += name('p', d) + " ";
    extents += (d ? ", " : " ; ") + name('x', d) + " = " + std::to_string(op.getKernel()[d]);
  }
  addPoints('b', behind);
  return left + "-> " + right + ": " + combiner.str() + extents;
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto dims = inferPool(adaptor, adaptor.getChannelsLast(), "pool", location);
  if (failed(dims))
    return failure();
  Type element = elementOf(adaptor.getInput());
  if (adaptor.getKind() == PoolKind::Average && !isFloat(element)) // R3
    return emitOptionalError(location, "'weft.pool' averages floats, but its operand has elements ",
                             element);
  results.push_back(SymTensorType::get(*dims, element));
  return success();
}

std::string PoolOp::ruleText() {
  return poolRule(*this, getChannelsLast(), getKind() == PoolKind::Max ? "max" : "sum");
}
RootKind PoolOp::rootKind() { return RootKind::Window; }

/// How many elements of the window at result position `p` lie in [from, to).
static Value countInside(ElementBuilder &e, const Window &w, int64_t kernel, IndexValue p,
                         SymExpr from, SymExpr to) {
  auto &b = e.builder();
  Type type = e.laneType(b.getI64Type());
  IndexValue first = e.mul(e.constant(w.stride), p);
  IndexValue origin = e.sub(first, e.symbolic(w.low + from));
  Value none = e.constantData(b.getI64Type(), b.getI64IntegerAttr(0));
  SymExpr extent = SymExpr::constant(b.getContext(), kernel);
  return e.fold({extent}, none, [&](ArrayRef<IndexValue> x, Value count) -> Value {
    Value inside = isInside(e, {}, e.add(origin, e.mul(e.constant(w.dilation), x[0])), to - from);
    return b.create<arith::AddIOp>(count, b.create<arith::ExtUIOp>(type, inside));
  });
}

Value PoolOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  Value total = emitElementByRule(*this, e, index);
  if (getKind() != PoolKind::Average)
    return total;
  auto &b = e.builder();
  auto input = tensorType(getInput());
  size_t outer = input.getRank() - getKernel().size() - getChannelsLast();
  Value count = e.constantData(b.getI64Type(), b.getI64IntegerAttr(1));
  for (auto [d, w] : llvm::enumerate(windowsOf(*this))) {
    SymExpr from = SymExpr::constant(getContext(), 0), to = input.getDim(outer + d);
    if (getCountPadding())
      from = from - w.low, to = to + w.high;
    Value here = countInside(e, w, getKernel()[d], index[outer + d], from, to);
    count = b.create<arith::MulIOp>(count, here);
  }
  return b.create<arith::DivFOp>(total, b.create<arith::SIToFPOp>(total.getType(), count));
}

LogicalResult PoolIndexOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto dims = inferPool(adaptor, 0, "pool_index", location);
  if (failed(dims))
    return failure();
  results.push_back(SymTensorType::get(*dims, IntegerType::get(context, 64)));
  return success();
}

std::string PoolIndexOp::ruleText() { return poolRule(*this, 0, "min"); }
RootKind PoolIndexOp::rootKind() { return RootKind::Window; }

namespace {
/// Folds a function of the elements of a window that lie inside the operand, and of their positions.
class WindowWalk {
public:
  using Body = llvm::function_ref<Value(Value element, IndexValue position, Value carried)>;
  WindowWalk(PoolIndexOp op, ElementBuilder &e, ArrayRef<IndexValue> index)
      : op(op), e(e), index(index), windows(windowsOf(op)), input(tensorType(op.getInput())) {}

  Value fold(Value init, Body body) {
    SmallVector<SymExpr> extents;
    for (int64_t size : op.getKernel())
      extents.push_back(SymExpr::constant(op.getContext(), size));
    return e.fold(extents, init, [&](ArrayRef<IndexValue> x, Value carried) {
      size_t outer = input.getRank() - windows.size();
      SmallVector<IndexValue> from(index.take_front(outer));
      IndexValue position = e.constant(0);
      Value inside;
      for (auto [d, w] : llvm::enumerate(windows)) {
        SymExpr size = input.getDim(outer + d);
        IndexValue start = e.sub(e.mul(e.constant(w.stride), index[outer + d]), e.symbolic(w.low));
        from.push_back(e.add(start, e.mul(e.constant(w.dilation), x[d])));
        position = e.add(e.mul(position, e.symbolic(size)), from.back());
        inside = isInside(e, inside, from.back(), size);
      }
      auto here = [&] { return body(e.operand(0, from), position, carried); };
      return e.guarded(inside, here, carried);
    });
  }

private:
  PoolIndexOp op;
  ElementBuilder &e;
  ArrayRef<IndexValue> index;
  SmallVector<Window> windows;
  SymTensorType input;
};
} // namespace

/// First the maximum, then the least position of an element that equals it (or is nan, when it is).
Value PoolIndexOp::emitElement(ElementBuilder &e, unsigned, ArrayRef<IndexValue> index) {
  Type element = elementOf(getInput()), i64 = e.builder().getI64Type();
  auto &b = e.builder();
  WindowWalk walk(*this, e, index);
  Value least = e.constantData(computeType(element), combinerIdentity(Combiner::Max, element));
  Value largest = walk.fold(least, [&](Value x, IndexValue, Value most) {
    return emitCombine(b, Combiner::Max, element, most, x);
  });
  Value none = e.constantData(i64, combinerIdentity(Combiner::Min, i64));
  return walk.fold(none, [&](Value x, IndexValue position, Value first) -> Value {
    Value at = b.create<arith::MinSIOp>(first, e.materialize(position));
    return b.create<arith::SelectOp>(isExtremum(b, element, x, largest), at, first);
  });
}

} // namespace weft
