//===- Normalizations.cpp - Softmax, layer, instance, group and batch normalisation -----------===//

#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

//===-- Softmax -------------------------------------------------------------------------------===//

/// From opset 13: along one dimension.
template <bool logarithm> void convertSoftmax(NodeImport &n) {
  unsigned rank = n.rank(0), axis = n.axis(n.intAttribute("axis", -1), rank);
  if (n.refused())
    return;
  Value lines = n.moveDim(n.input(0), axis, rank - 1);
  n.result(n.moveDim(n.softmax(lines, logarithm), rank - 1, axis));
}

/// Below opset 13: all dimensions from `axis` on are one line.
template <bool logarithm> void convertFlatSoftmax(NodeImport &n) {
  unsigned rank = n.rank(0), axis = n.axis(n.intAttribute("axis", 1), rank);
  if (n.refused())
    return;
  Dims dims = n.dims(0);
  if (axis == rank - 1)
    return n.result(n.softmax(n.input(0), logarithm));
  Dims flat(ArrayRef<SymExpr>(dims).take_front(axis));
  flat.push_back(n.product(ArrayRef<SymExpr>(dims).drop_front(axis)));
  n.result(n.reshape(n.softmax(n.reshape(n.input(0), flat), logarithm), dims));
}

//===-- Lines scaled to unit variance ---------------------------------------------------------===//

/// The dimensions from `axis` on as one.
Dims flattened(NodeImport &n, Value x, unsigned axis) {
  Dims dims(typeOf(x).getDims()), flat(ArrayRef<SymExpr>(dims).take_front(axis));
  flat.push_back(n.product(ArrayRef<SymExpr>(dims).drop_front(axis)));
  return flat;
}

/// A scale or shift for the lines of `x` from `axis` on: its own dimensions, or fewer that broadcast.
Value lineParameter(NodeImport &n, Value parameter, Value x, unsigned axis) {
  if (!parameter || !x)
    return {};
  Dims line(ArrayRef<SymExpr>(typeOf(x).getDims()).drop_front(axis));
  if (rankOf(parameter) > line.size())
    return n.refuse("a scale or bias that differs between lines is not supported");
  Value expanded = n.expandTo(n.convert(parameter, elementOf(x)), line);
  if (!expanded)
    return {};
  for (unsigned d = 0; d < line.size(); ++d)
    if (n.requireEqual(typeOf(expanded).getDim(d), line[d],
                       "dimension " + Twine(d) + " of the scale or bias"))
      expanded = n.refine(expanded, d, line[d]);
  return n.reshape(expanded, n.product(line));
}

Value normalizeLines(NodeImport &n, Value x, unsigned axis, Value scale, Value shift,
                     double epsilon, bool center) {
  if (!x || n.refused())
    return {};
  Dims dims(typeOf(x).getDims()), flat = flattened(n, x, axis);
  Value lines = axis + 1 == rankOf(x) ? x : n.reshape(x, flat);
  scale = scale ? lineParameter(n, scale, x, axis) : n.fill(flat.back(), elementOf(x), 1);
  shift = shift ? lineParameter(n, shift, x, axis) : n.fill(flat.back(), elementOf(x), 0);
  return n.reshape(n.normalize(lines, scale, shift, epsilon, center), dims);
}

/// Mean and 1/sqrt(variance + epsilon) of the lines, with 1s in place of their dimensions, in f32.
SmallVector<Value, 2> lineStatistics(NodeImport &n, Value x, unsigned axis, double epsilon) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axis, rankOf(x)));
  Value wide = n.convert(x, n.f32());
  Value count =
      n.number(n.f32(), n.product(ArrayRef<SymExpr>(typeOf(x).getDims()).drop_front(axis)));
  Value mean = n.div(n.reduce(CombinerKind::Sum, wide, axes, true), count),
        centered = n.sub(wide, mean);
  Value variance = n.div(n.reduce(CombinerKind::Sum, n.mul(centered, centered), axes, true), count);
  return {mean, n.rsqrt(n.add(variance, n.number(n.f32(), epsilon)))};
}

void convertLayerNormalization(NodeImport &n) {
  unsigned axis = n.axis(n.intAttribute("axis", -1), n.rank(0));
  double epsilon = n.floatAttribute("epsilon", 1e-5f);
  if (n.intAttribute("stash_type", 1) != 1)
    return (void)n.refuse("attribute 'stash_type' other than float is not supported");
  if (n.refused())
    return;
  Value x = n.input(0);
  n.result(normalizeLines(n, x, axis, n.input(1), n.optionalInput(2), epsilon, /*center=*/true));
  if (n.wantsOutput(1) || n.wantsOutput(2))
    n.results.append(lineStatistics(n, x, axis, epsilon));
}

void convertRMSNormalization(NodeImport &n) {
  unsigned axis = n.axis(n.intAttribute("axis", -1), n.rank(0));
  double epsilon = n.floatAttribute("epsilon", 1e-5f);
  if (n.intAttribute("stash_type", 1) != 1)
    return (void)n.refuse("attribute 'stash_type' other than float is not supported");
  if (!n.refused())
    n.result(normalizeLines(n, n.input(0), axis, n.input(1), {}, epsilon, /*center=*/false));
}

//===-- Channels ------------------------------------------------------------------------------===//

/// [C] as [C, 1, ..] beside `rank` dimensions whose second is C.
Value perChannel(NodeImport &n, Value parameter, Value x) {
  if (!parameter || !x)
    return {};
  if (rankOf(parameter) != 1)
    return n.wrong("a parameter of the channels must have rank 1");
  if (rankOf(x) < 2)
    return parameter;
  SymExpr channels = typeOf(x).getDim(1);
  if (!n.requireEqual(typeOf(parameter).getDim(0), channels, "the length of a parameter"))
    return {};
  Dims dims(rankOf(x) - 1, n.constant(1));
  dims[0] = channels;
  return n.reshape(n.refine(n.convert(parameter, elementOf(x)), 0, channels), dims);
}

void convertInstanceNormalization(NodeImport &n) {
  Value x = n.input(0);
  double epsilon = n.floatAttribute("epsilon", 1e-5f);
  n.ignoreAttributes({"consumed_inputs"});
  if (!x)
    return;
  if (rankOf(x) < 3)
    return (void)n.wrong("the input must have rank 3 or more");
  Value y = normalizeLines(n, x, 2, {}, {}, epsilon, /*center=*/true);
  n.result(n.add(n.mul(y, perChannel(n, n.input(1), x)), perChannel(n, n.input(2), x)));
}

/// Scale and bias: one per group until opset 20, then one per channel.
void convertGroupNormalization(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1), shift = n.input(2);
  double epsilon = n.floatAttribute("epsilon", 1e-5f);
  int64_t groups = n.intAttribute("num_groups", 0);
  n.ignoreAttributes({"stash_type"});
  if (!x || !scale || !shift)
    return;
  if (rankOf(x) < 3 || groups < 1)
    return (void)n.wrong("the input must have rank 3 or more, and 'num_groups' be 1 or more");
  Dims dims(typeOf(x).getDims()), grouped = dims;
  SymExpr each = n.simplify(SymExpr::floordiv(dims[1], groups));
  if (!n.requireEqual(dims[1], each * groups, "the number of channels"))
    return;
  grouped[1] = n.constant(groups);
  grouped.insert(grouped.begin() + 2, each);
  Value y = normalizeLines(n, n.reshape(x, grouped), 2, {}, {}, epsilon, /*center=*/true);
  if (n.opset < 21)
    return n.result(
        n.reshape(n.add(n.mul(y, perChannel(n, scale, y)), perChannel(n, shift, y)), dims));
  y = n.reshape(y, dims);
  n.result(n.add(n.mul(y, perChannel(n, scale, x)), perChannel(n, shift, x)));
}

/// x * factor + shift per channel, with unit variance before the scale.
Value scaleChannels(NodeImport &n, Value x, Value mean, Value variance, double epsilon) {
  Type element = mean && variance ? elementOf(variance) : Type();
  Value factor = n.mul(n.convert(n.input(1), element),
                       n.rsqrt(n.add(variance, n.numberLike(variance, epsilon))));
  Value shift = n.sub(n.convert(n.input(2), element), n.mul(n.convert(mean, element), factor));
  return n.add(n.mul(x, perChannel(n, factor, x)), perChannel(n, shift, x));
}

/// In training the statistics are those of this batch, and the given ones move towards them.
void trainBatchNormalization(NodeImport &n, Value x, double epsilon, double momentum) {
  if (rankOf(x) < 2)
    return (void)n.wrong("the input must have rank 2 or more");
  SmallVector<int64_t> axes = {0};
  for (int64_t d = 2; d < int64_t(rankOf(x)); ++d)
    axes.push_back(d);
  SymExpr points = n.constant(1);
  for (int64_t axis : axes)
    points = points * typeOf(x).getDim(axis);
  Type element = isFloat(elementOf(x)) && elementBits(elementOf(x)) < 32 ? n.f32() : elementOf(x);
  Value wide = n.convert(x, element), count = n.number(element, points);
  Value mean = n.div(n.reduce(CombinerKind::Sum, wide, axes, false), count);
  Value centered = n.sub(wide, perChannel(n, mean, wide));
  Value variance =
      n.div(n.reduce(CombinerKind::Sum, n.mul(centered, centered), axes, false), count);
  auto moved = [&](Value before, Value now) {
    Value kept = n.mul(n.convert(before, element), n.number(element, momentum));
    return n.convert(n.add(kept, n.mul(now, n.number(element, 1 - momentum))),
                     before ? elementOf(before) : Type());
  };
  n.results = {n.convert(scaleChannels(n, wide, mean, variance, epsilon), elementOf(x)),
               moved(n.input(3), mean), moved(n.input(4), variance)};
}

void convertBatchNormalization(NodeImport &n) {
  Value x = n.input(0);
  double epsilon = n.floatAttribute("epsilon", 1e-5f),
         momentum = n.floatAttribute("momentum", 0.9f);
  bool training =
      n.opset < 7 ? n.intAttribute("is_test", 0) == 0 : n.intAttribute("training_mode", 0) != 0;
  n.ignoreAttributes({"consumed_inputs", "is_test"});
  if (n.intAttribute("spatial", 1) != 1)
    return (void)n.refuse("statistics per element ('spatial' 0) are not supported");
  if (training && n.opset < 14)
    return (void)n.refuse("batch normalisation in training is not supported below opset 14");
  if (!x || n.refused())
    return;
  if (training)
    return trainBatchNormalization(n, x, epsilon, momentum);
  n.result(scaleChannels(n, x, n.input(3), n.input(4), epsilon));
}

void convertMeanVarianceNormalization(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<int64_t> axes =
      n.axes(n.intsAttribute("axes").value_or(SmallVector<int64_t>{0, 2, 3}), n.rank(0));
  if (n.refused())
    return;
  SymExpr points = n.constant(1);
  for (int64_t axis : axes)
    points = points * n.dim(0, axis);
  Value count = n.number(elementOf(x), points);
  Value centered = n.sub(x, n.div(n.reduce(CombinerKind::Sum, x, axes, true), count));
  Value variance = n.div(n.reduce(CombinerKind::Sum, n.mul(centered, centered), axes, true), count);
  n.result(n.div(centered, n.add(n.sqrt(variance), n.numberLike(x, 1e-9))));
}

void convertLpNormalization(NodeImport &n) {
  Value x = n.input(0);
  int64_t axis = n.axis(n.intAttribute("axis", -1), n.rank(0)), p = n.intAttribute("p", 2);
  if (n.refused())
    return;
  if (p != 1 && p != 2)
    return (void)n.wrong("attribute 'p' must be 1 or 2");
  Value total = n.reduce(CombinerKind::Sum, p == 1 ? n.abs(x) : n.mul(x, x), axis, true);
  Value norm = p == 1 ? total : n.sqrt(total), zero = n.numberLike(x, 0);
  n.result(n.select(n.compare(CompareKind::Equal, norm, zero), zero, n.div(x, norm)));
}

} // namespace

void addNormalizations(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Softmax", 1, 12, convertFlatSoftmax<false>});
  table.add({"Softmax", 13, newest, convertSoftmax<false>});
  table.add({"LogSoftmax", 1, 12, convertFlatSoftmax<true>});
  table.add({"LogSoftmax", 13, newest, convertSoftmax<true>});
  table.add({"LayerNormalization", 17, newest, convertLayerNormalization, 2, 3, 3});
  table.add({"SimplifiedLayerNormalization", 1, newest, convertRMSNormalization, 2, 2, 2});
  table.add({"RMSNormalization", 23, newest, convertRMSNormalization, 2, 2});
  table.add({"InstanceNormalization", 1, newest, convertInstanceNormalization, 3, 3});
  table.add({"GroupNormalization", 18, newest, convertGroupNormalization, 3, 3});
  table.add({"BatchNormalization", 1, newest, convertBatchNormalization, 5, 5, 5});
  table.add({"MeanVarianceNormalization", 9, newest, convertMeanVarianceNormalization});
  table.add({"LpNormalization", 1, newest, convertLpNormalization});
}

} // namespace weft::onnx
