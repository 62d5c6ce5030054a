//===- Slices.cpp - Slice, Split, Pad, CenterCropPad ------------------------------------------===//
//
// Bounds are expressions. Where one may lie beyond the end, the clamp of ONNX's definition becomes part of the expression; where data decide
// it, or its sign is unknown, the program clamps it as data and binds the outcome.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"
#include <limits>

using namespace mlir;

namespace weft::onnx {
namespace {

/// Element `k` of operand `i`: a bound of a slice. Where data decide the axes, that of dimension `k`.
struct BoundOperand {
  unsigned i;
  size_t k;
  SymExpr expr;    ///< null when data decide it
  Value data = {}; ///< found among all elements, where data decide the axes
};

/// The same when the program runs. What is bound is the distance from `low`.
std::optional<SymExpr> bindBound(NodeImport &n, const BoundOperand &bound, SymExpr size,
                                 SymExpr low, SymExpr high) {
  std::string meaning = bound.data ? "along computed axes, " : "";
  meaning += "bound from " + low.str() + " to " + high.str() + " in " + size.str();
  SymExpr distance =
      n.bindOnce(bound.i, bound.k, meaning, n.larger(high - low, n.constant(0)), [&] {
        Value value = bound.data ? bound.data : n.operandElement(bound.i, bound.k);
        Value negative = n.compare(CompareKind::Less, value, n.number(n.i64(), 0.0));
        value = n.select(negative, n.add(value, n.number(n.i64(), size)), value);
        value = n.maximum(n.minimum(value, n.number(n.i64(), high)), n.number(n.i64(), low));
        return n.sub(value, n.number(n.i64(), low));
      });
  return distance ? std::optional(n.simplify(low + distance)) : std::nullopt;
}

/// A bound counted from 0 and clamped to [low, high]; `size` is added to negative ones.
std::optional<SymExpr> clampBound(NodeImport &n, const BoundOperand &operand, SymExpr size,
                                  SymExpr low, SymExpr high) {
  if (!operand.expr)
    return bindBound(n, operand, size, low, high);
  SymExpr bound = operand.expr;
  std::optional<int64_t> number = bound.asConstant();
  if (number && *number >= kMaxSymbolValue)
    return high;
  if (number && *number < -kMaxSymbolValue)
    return low;
  SymExpr zero = n.constant(0);
  bool negative = n.facts().proveLE(bound, n.constant(-1)) == Proof::Yes;
  if (!negative && n.facts().proveLE(zero, bound) != Proof::Yes)
    return bindBound(n, operand, size, low, high);
  return n.simplify(n.larger(low, n.smaller(negative ? bound + size : bound, high)));
}

struct Range {
  SymExpr start, size;
};

std::optional<Range> sliceRange(NodeImport &n, const BoundOperand &start, const BoundOperand &end,
                                int64_t step, SymExpr size) {
  SymExpr low = n.constant(step > 0 ? 0 : -1), high = step > 0 ? size : size - 1;
  // Backwards a start before the first element is the first element (if there is one), as ONNX says; numpy has none there.
  SymExpr least = step > 0 ? low : n.smaller(n.constant(0), high);
  auto first = clampBound(n, start, size, least, high), last = clampBound(n, end, size, low, high);
  if (!first || !last)
    return std::nullopt;
  SymExpr distance = step > 0 ? *last - *first : *first - *last;
  SymExpr count = n.larger(SymExpr::ceildiv(distance, std::abs(step)), n.constant(0));
  return Range{*first, n.simplify(count)};
}

void convertSliceOf(NodeImport &n, const Dims &starts, const Dims &ends,
                    std::optional<SmallVector<int64_t>> axes,
                    std::optional<SmallVector<int64_t>> steps) {
  Value x = n.input(0);
  if (!x)
    return;
  size_t count = starts.size();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  if (!steps)
    steps = SmallVector<int64_t>(count, 1);
  if (ends.size() != count || axes->size() != count || steps->size() != count || count > rankOf(x))
    return (void)n.wrong("starts, ends, axes and steps do not have the same length");
  Dims first(rankOf(x), n.constant(0)), sizes(typeOf(x).getDims());
  SmallVector<int64_t> stride(rankOf(x), 1);
  (void)n.axes(*axes, rankOf(x)); // each once
  for (size_t i = 0; i < count && !n.refused(); ++i) {
    unsigned axis = n.axis((*axes)[i], rankOf(x));
    int64_t step = (*steps)[i];
    if (step == 0 || step == std::numeric_limits<int64_t>::min())
      return (void)n.wrong("a step is " + Twine(step));
    if (std::abs(step) > kMaxSymbolValue)
      step = step > 0 ? kMaxSymbolValue : -kMaxSymbolValue;
    std::optional<Range> range =
        sliceRange(n, {1, i, starts[i]}, {2, i, ends[i]}, step, sizes[axis]);
    if (!range)
      return;
    first[axis] = range->start;
    sizes[axis] = range->size;
    stride[axis] = step;
  }
  n.result(n.slice(x, first, sizes, stride));
}

void convertSliceAttributes(NodeImport &n) {
  auto starts = n.intsAttribute("starts"), ends = n.intsAttribute("ends"),
       axes = n.intsAttribute("axes");
  if (!starts || !ends)
    return (void)n.wrong("attributes 'starts' and 'ends' are missing");
  auto dims = [&](ArrayRef<int64_t> list) {
    return llvm::map_to_vector<6>(list, [&](int64_t v) { return n.constant(v); });
  };
  convertSliceOf(n, Dims(dims(*starts)), Dims(dims(*ends)), axes, std::nullopt);
}

/// Axes that data decide, counted from 0: symbols that are checked when the program runs.
Dims bindAxes(NodeImport &n, Dims axes) {
  SymExpr rank = n.constant(n.rank(0));
  for (auto [k, axis] : llvm::enumerate(axes)) {
    if (axis && !axis.asConstant())
      n.refuse("axis '" + axis.str() + "' is neither a constant nor data, which is not supported");
    else if (axis)
      axis = n.constant(n.axis(*axis.asConstant(), n.rank(0)));
    else
      axis = n.bindOnce(3, k, "axis in rank " + rank.str(), rank - 1, [&, k = k] {
        Value value = n.operandElement(3, k);
        Value negative = n.compare(CompareKind::Less, value, n.number(n.i64(), 0.0));
        return n.select(negative, n.add(value, n.number(n.i64(), rank)), value);
      });
    for (size_t earlier = 0; earlier < k && !n.refused(); ++earlier)
      n.requireDifferent(axes[earlier], axis, "an axis that is named twice");
  }
  return axes;
}

/// The element of operand `i` that belongs to the axis `d`, or `otherwise`.
Value boundOf(NodeImport &n, unsigned i, const Dims &axes, unsigned d, SymExpr otherwise) {
  Value bound = n.number(n.i64(), otherwise), here = n.number(n.i64(), double(d));
  for (auto [k, axis] : llvm::enumerate(axes))
    bound = n.select(n.compare(CompareKind::Equal, n.number(n.i64(), axis), here),
                     n.operandElement(i, k), bound);
  return bound;
}

/// Every dimension is sliced, most of them as a whole.
void convertSliceAlong(NodeImport &n, const Dims &given,
                       const std::optional<SmallVector<int64_t>> &steps) {
  Value x = n.input(0);
  for (int64_t step : steps.value_or(SmallVector<int64_t>()))
    if (step != 1)
      return (void)n.refuse("steps other than 1 along axes that data decide are not supported");
  for (unsigned i : {1, 2})
    if (!typeOf(n.input(i)).getElements().isConstant(given.size()))
      return (void)n.wrong("starts, ends and axes do not have the same length");
  Dims axes = bindAxes(n, given), starts, sizes(typeOf(x).getDims());
  for (unsigned d = 0; d < rankOf(x) && !n.refused(); ++d) {
    std::optional<Range> range =
        sliceRange(n, {1, d, {}, boundOf(n, 1, axes, d, n.constant(0))},
                   {2, d, {}, boundOf(n, 2, axes, d, sizes[d])}, 1, sizes[d]);
    if (!range)
      return;
    starts.push_back(range->start);
    sizes[d] = range->size;
  }
  if (!n.refused())
    n.result(n.slice(x, starts, sizes, SmallVector<int64_t>(rankOf(x), 1)));
}

void convertSlice(NodeImport &n) {
  std::optional<Dims> starts = n.knownOperand(1), ends = n.knownOperand(2), list;
  std::optional<SmallVector<int64_t>> axes, steps;
  if (n.hasInput(4))
    steps = n.constantOperand(4);
  if (n.hasInput(3) && (list = n.knownOperand(3)) && llvm::is_contained(*list, SymExpr()) &&
      n.input(0) && starts && ends && !n.refused())
    return convertSliceAlong(n, *list, steps);
  if (n.hasInput(3) && !n.refused())
    axes = n.constantOperand(3);
  if (starts && ends && !n.refused())
    convertSliceOf(n, *starts, *ends, axes, steps);
}

//===-- Split ---------------------------------------------------------------------------------===//

/// Equal parts. From opset 18 the last may be smaller, before that the dimension is divisible.
std::optional<Dims> equalParts(NodeImport &n, SymExpr size, int64_t count) {
  SymExpr part =
      n.simplify(n.opset >= 18 ? SymExpr::ceildiv(size, count) : SymExpr::floordiv(size, count));
  Dims parts(count, part);
  if (n.opset >= 18)
    parts.back() = n.simplify(n.larger(size - part * (count - 1), n.constant(0)));
  else if (!n.requireEqual(size, part * count, "the dimension that is split"))
    return std::nullopt;
  return parts;
}

std::optional<Dims> splitSizes(NodeImport &n, SymExpr size) {
  if (n.opset >= 13 && n.hasInput(1))
    return n.sizesOperand(1);
  std::optional<Dims> parts;
  if (auto given = n.intsAttribute("split")) {
    parts.emplace();
    for (int64_t part : *given)
      parts->push_back(n.constant(part));
    return parts;
  }
  int64_t count = n.intAttribute("num_outputs", n.node.outputs.size());
  if (count < 1 || count < int64_t(n.node.outputs.size()) || count > 1'000'000)
    return n.wrong("attribute 'num_outputs' is " + Twine(count)), std::nullopt;
  return equalParts(n, size, count);
}

void convertSplit(NodeImport &n) {
  unsigned axis = n.axis(n.intAttribute("axis", 0), n.rank(0));
  if (n.refused())
    return;
  SymExpr size = n.dim(0, axis), start = n.constant(0);
  std::optional<Dims> parts = splitSizes(n, size);
  if (!parts)
    return;
  if (parts->size() < n.node.outputs.size())
    return (void)n.wrong("there are " + Twine(parts->size()) + " parts for " +
                         Twine(n.node.outputs.size()) + " outputs");
  for (SymExpr part : *parts) {
    if (!n.requireAtMost(n.constant(0), part, "a part") || !n.requireAtMost(part, size, "a part"))
      return;
    n.results.push_back(n.sliceDim(n.input(0), axis, start, part));
    start = start + part;
  }
  n.requireEqual(start, size, "the sum of the parts");
}

//===-- Pad -----------------------------------------------------------------------------------===//

/// One border of a dimension made of the input's own elements: `edge` repeats the outermost one,
/// `reflect` mirrors without it, `wrap` continues at the other end.
Value borderOf(NodeImport &n, Value x, unsigned d, SymExpr amount, StringRef mode, bool low) {
  SymExpr size = typeOf(x).getDim(d), one = n.constant(1);
  if (mode == "edge") {
    n.requireAtMost(one, size, "the padded dimension");
    Value edge = n.sliceDim(x, d, low ? n.constant(0) : size - 1, one);
    return edge ? n.expandTo(edge, GraphBuilder::replaced(edge, d, amount)) : Value();
  }
  if (mode == "wrap") {
    n.requireAtMost(amount, size, "the padding");
    return n.sliceDim(x, d, low ? size - amount : n.constant(0), amount);
  }
  n.requireAtMost(amount + 1, size, "the padding");
  Dims starts(rankOf(x), n.constant(0));
  SmallVector<int64_t> steps(rankOf(x), 1);
  starts[d] = low ? amount : size - 2;
  steps[d] = -1;
  return n.slice(x, starts, GraphBuilder::replaced(x, d, amount), steps);
}

Value padWithOwn(NodeImport &n, Value x, const Dims &low, const Dims &high, StringRef mode) {
  for (unsigned d = 0; x && d < rankOf(x) && !n.refused(); ++d) {
    SmallVector<Value> parts;
    for (SymExpr amount : {low[d], high[d]})
      if (!n.requireAtMost(n.constant(0), amount, "padding with mode '" + mode + "'"))
        return {};
    if (!low[d].isConstant(0))
      parts.push_back(borderOf(n, x, d, low[d], mode, true));
    parts.push_back(x);
    if (!high[d].isConstant(0))
      parts.push_back(borderOf(n, x, d, high[d], mode, false));
    x = n.concat(parts, d);
  }
  return x;
}

/// Padding that data decide. With constants it may remove elements: then what it leaves of the dimension is bound.
SymExpr bindPadding(NodeImport &n, unsigned k, SymExpr size, bool mayRemove) {
  auto element = [&] { return n.operandElement(1, k); };
  if (!mayRemove)
    return n.bindOnce(1, k, kItself, {}, element);
  SymExpr sum = n.bindOnce(1, k, "added to " + size.str(), {},
                           [&] { return n.add(element(), n.number(n.i64(), size)); });
  return sum ? n.simplify(sum - size) : sum;
}

void convertPadOf(NodeImport &n, ArrayRef<SymExpr> pads, ArrayRef<int64_t> axes, Value value) {
  std::string mode = n.textAttribute("mode", "constant");
  Value x = n.input(0);
  if (!x || n.refused())
    return;
  if (pads.size() != 2 * axes.size())
    return (void)n.wrong("there are " + Twine(pads.size()) + " amounts of padding for " +
                         Twine(axes.size()) + " dimensions");
  Dims low(rankOf(x), n.constant(0)), high = low;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    unsigned d = n.axis(axis, rankOf(x));
    for (auto [amount, k] : {std::pair(&low[d], i), std::pair(&high[d], i + axes.size())}) {
      *amount = pads[k] ? pads[k] : bindPadding(n, k, typeOf(x).getDim(d), mode == "constant");
      if (!*amount)
        return;
    }
  }
  if (mode == "constant") {
    for (unsigned d = 0; d < rankOf(x); ++d)
      if (!n.requireAtMost(n.constant(0), typeOf(x).getDim(d) + low[d] + high[d],
                           "padded dimension " + Twine(d)))
        return;
    return n.result(n.pad(x, value ? n.reshape(value, {}) : n.numberLike(x, 0), low, high));
  }
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    return (void)n.refuse("mode '" + mode + "' is not supported");
  n.result(padWithOwn(n, x, low, high, mode));
}

void convertPadAttributes(NodeImport &n) {
  auto pads = n.opset == 1 ? n.intsAttribute("paddings") : n.intsAttribute("pads");
  double value = n.floatAttribute("value", 0);
  if (!pads)
    return (void)n.wrong("attribute 'pads' is missing");
  Dims amounts;
  for (int64_t pad : *pads)
    amounts.push_back(n.constant(pad));
  convertPadOf(n, amounts, llvm::to_vector(llvm::seq<int64_t>(0, n.rank(0))),
               n.numberLike(n.input(0), value));
}

void convertPad(NodeImport &n) {
  std::optional<Dims> pads = n.knownOperand(1);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(0)));
  if (n.hasInput(3))
    axes = n.constantOperand(3).value_or(axes);
  if (pads)
    convertPadOf(n, *pads, axes, n.optionalInput(2));
}

/// Cropped or padded with zeros on both sides alike.
void convertCenterCropPad(NodeImport &n) {
  Value x = n.input(0);
  auto wanted = n.sizesOperand(1);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(0)));
  if (auto given = n.intsAttribute("axes"))
    axes = *given;
  if (!x || !wanted)
    return;
  if (wanted->size() != axes.size())
    return (void)n.wrong("there are " + Twine(wanted->size()) + " sizes for " + Twine(axes.size()) +
                         " dimensions");
  (void)n.axes(axes, rankOf(x)); // each once
  Dims low(rankOf(x), n.constant(0)), high = low;
  for (auto [axis, want] : llvm::zip(axes, *wanted)) {
    unsigned d = n.axis(axis, rankOf(x));
    if (n.refused() || !n.requireAtMost(n.constant(0), want, "a size"))
      return;
    SymExpr added = n.simplify(want - typeOf(x).getDim(d)), zero = n.constant(0);
    low[d] = n.simplify(SymExpr::floordiv(n.larger(added, zero), 2) -
                        SymExpr::floordiv(n.larger(-added, zero), 2));
    high[d] = n.simplify(added - low[d]);
  }
  n.result(n.pad(x, n.numberLike(x, 0), low, high));
}

} // namespace

void addSlices(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Slice", 1, 9, convertSliceAttributes});
  table.add({"Slice", 10, newest, convertSlice, 3, 5});
  table.add({"Split", 2, newest, convertSplit, 1, 2, kAnyNumber});
  table.add({"Pad", 1, 10, convertPadAttributes});
  table.add({"Pad", 11, newest, convertPad, 2, 4});
  table.add({"CenterCropPad", 18, newest, convertCenterCropPad, 2, 2});
}

} // namespace weft::onnx
