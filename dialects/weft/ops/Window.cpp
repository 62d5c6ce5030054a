//===- Window.cpp - conv, conv_transpose, pool, pool_index: types and rules --------------------===//

#include "dialects/weft/ops/Window.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

std::string braces(SymExpr expr) { return "{" + expr.str() + "}"; }
std::string name(char prefix, size_t i) { return prefix + std::to_string(i); }
std::string times(int64_t factor, const std::string &name) {
  return factor == 1 ? name : std::to_string(factor) + "*" + name;
}

/// `s*p+d*x-low`. A name alone would be a point, which is never outside: `p-{0}` may be, where padding stands behind.
std::string windowAccess(const Window &w, const std::string &p, const std::string &x) {
  std::string text = times(w.stride, p);
  if (!x.empty())
    text += "+" + times(w.dilation, x);
  return w.low.isConstant(0) && text != p ? text : text + "-" + braces(w.low);
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

} // namespace

//===-- What conv and conv_transpose share -------------------------------------------------------===//

namespace {

bool isNarrowInteger(Type type) { return isa<IntegerType>(type) && elementBits(type) <= 8; }

/// The constraints that do not depend on the direction: ranks, element types, accumulation.
template <typename Adaptor>
FailureOr<SmallVector<Window>> verifyConvolution(Adaptor op, StringRef name,
                                                 std::optional<Location> location) {
  auto input = tensorType(op.getInput()), filter = tensorType(op.getFilter());
  if (input.getRank() != filter.getRank() || input.getRank() < 3 || input.getRank() > 5) // R1
    return refuseBeside(location, op.getFilter(), "filter", "'weft.", name,
                        "' operands must have one rank from 3 to 5, but are ", input, " and ",
                        filter);
  Type lhs = input.getElementType(), rhs = filter.getElementType();
  if (lhs != rhs && !(isNarrowInteger(lhs) && isNarrowInteger(rhs))) // R2
    return refuseBeside(location, op.getFilter(), "filter", "'weft.", name,
                        "' operands must have one element type, but are ", lhs, " and ", rhs);
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
  std::string channels = "c", right = "o c", filters = "o", end = " : sum";
  if (depthwise)
    channels = "g", right = "g 1", filters = "g";
  else if (groups > 1)
    channels = "(g c)", right = "(g o) c", filters = "(g o)",
    end += " ; g = " + std::to_string(groups);
  std::string walked, places;
  for (auto [d, window] : llvm::enumerate(windowsOf(*this))) {
    bool one = filter.getDim(d + 2).isConstant(1);
    std::string p = name('p', d), x = one ? "" : name('x', d);
    walked += " " + (isPointwise(window, filter.getDim(d + 2)) ? p : windowAccess(window, p, x));
    right += one ? " 1" : " " + x;
    places += " " + p;
  }
  if (getChannelsLast())
    return "n" + walked + " " + channels + ", " + right + " -> n" + places + " " + filters + end;
  return "n " + channels + walked + ", " + right + " -> n " + filters + places + end;
}

RootKind ConvOp::rootKind() { return RootKind::Window; }

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
  return left + ", " + right + " -> " + out + " : sum ; g = " + std::to_string(getGroups());
}

RootKind ConvTransposeOp::rootKind() { return RootKind::Window; }

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

} // namespace weft
