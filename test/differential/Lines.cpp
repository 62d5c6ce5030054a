// Reductions, whole lines, orders and prefixes.
#include "dialects/weft/types/FloatFormat.h"
#include "test/differential/Makers.h"
#include <cmath>

using namespace mlir;

namespace weft::test {
namespace {

/// A combiner that the elements have.
CombinerKind anyCombiner(Graph &g, Value x) {
  if (isBool(x))
    return g.dice.oneOf({CombinerKind::And, CombinerKind::Or});
  if (isReal(x))
    return g.dice.oneOf({CombinerKind::Sum, CombinerKind::Sum, CombinerKind::Prod,
                         CombinerKind::Max, CombinerKind::Min});
  return CombinerKind(g.dice(getMaxEnumValForCombinerKind() + 1));
}

/// What the extremum of no elements is where a type has no infinity; 0 where it has one.
double largestWithoutInfinity(Type element) {
  const FloatFormat *format = floatFormatOf(element);
  return format && format->specials != FloatFormat::InfinityAndNan
             ? format->decode(format->largest())
             : 0;
}

/// Up to `count` elements like those of x combined; `mayBeEmpty`: the identity can be among the results.
Knowledge combined(Graph &g, CombinerKind kind, Value x, double count, bool mayBeEmpty) {
  Knowledge k = g.know(x);
  Type e = g.element(x);
  bool selects = kind == CombinerKind::Max || kind == CombinerKind::Min;
  if (!isFloat(e))
    return selects && !mayBeEmpty ? k : g.integers(e, 1e30);
  count = std::max(count, 1.0);
  double epsilon = precisionOf(e);
  if (selects)
    return {std::max(k.most, mayBeEmpty ? largestWithoutInfinity(e) : 0), k.quantum, k.error,
            k.special || mayBeEmpty};
  if (kind == CombinerKind::Sum) {
    Knowledge sum = g.rounded(e, {count * k.most, k.quantum, count * k.error, false});
    if (!sum.isExact())
      sum.error += 2 * std::sqrt(count) * epsilon * sum.most;
    return sum;
  }
  double most = std::pow(std::max(k.most, 1.0), count);
  return {most, 0, count * most * (k.error + 2 * epsilon), false};
}

Value operandFor(Graph &g, CombinerKind kind, Value x) {
  if (kind == CombinerKind::Prod && isReal(x))
    return g.tame(x, 1);
  return kind == CombinerKind::Sum && isReal(x) ? g.tame(x, 64) : x;
}

bool hasLines(Graph &g, Value v) { return g.rank(v) > 0; }

bool reduce(Graph &g) {
  Value x = g.pick([&](Value v) { return hasLines(g, v); });
  if (!x)
    return false;
  SmallVector<int64_t> axes;
  SymExpr count = g.number(1);
  for (unsigned d = 0; d < g.rank(x); ++d)
    if (g.dice(2) || (axes.empty() && d + 1 == g.rank(x))) {
      axes.push_back(d);
      count = count * g.type(x).getDim(d);
    }
  CombinerKind kind = anyCombiner(g, x);
  x = operandFor(g, kind, x);
  return g.add(g.b.create<ReduceOp>(kind, x, axes),
               combined(g, kind, x, double(g.most(count)), g.least(count) <= 0));
}

bool cumulate(Graph &g) {
  Value x = g.pick([&](Value v) { return hasLines(g, v) && !isHalfByte(v); });
  if (!x)
    return false;
  int64_t axis = g.dice(g.rank(x));
  CombinerKind kind = anyCombiner(g, x);
  x = operandFor(g, kind, x);
  bool exclusive = g.dice(2), reverse = g.dice(2);
  return g.add(g.b.create<CumulateOp>(x.getType(), kind, x, axis, exclusive, reverse),
               combined(g, kind, x, double(g.most(g.type(x).getDim(axis))), exclusive));
}

bool softmax(Graph &g) {
  Value x = g.pick([&](Value v) { return isReal(v) && hasLines(g, v); });
  if (!x)
    return false;
  x = g.tame(x, 16);
  Knowledge k = g.know(x);
  double count = double(g.most(g.type(x).getDims().back())), epsilon = precisionOf(g.element(x));
  bool logarithm = g.dice(2);
  double most = logarithm ? 2 * k.most + std::log(count + 2) : 1;
  return g.add(g.b.create<SoftmaxOp>(x.getType(), x, logarithm ? g.b.getUnitAttr() : UnitAttr()),
               {most, 0, 2 * k.error + epsilon * (4 * most + 4 * k.most), false});
}

bool normalize(Graph &g) {
  Value x = g.pick([&](Value v) { return isReal(v) && hasLines(g, v); });
  if (!x)
    return false;
  x = g.tame(x, 4);
  Knowledge k = g.know(x);
  Type e = g.element(x);
  constexpr double kEpsilon = 0.05;
  double steepest = 1 / std::sqrt(kEpsilon);
  SymExpr line = g.type(x).getDims().back();
  Value scale = g.pickOr(e, line, 2), shift = g.pickOr(e, line, 2);
  Knowledge s = g.know(scale), t = g.know(shift);
  double unit = std::min(std::sqrt(double(std::max<int64_t>(g.most(line), 1))), steepest * k.most);
  Knowledge result{unit * s.most + t.most, 0,
                   2 * steepest * s.most * (k.error + 2 * precisionOf(e) * k.most) +
                       unit * s.error + t.error + 4 * precisionOf(e) * (unit * s.most + t.most),
                   false};
  return g.add(g.b.create<NormalizeOp>(x.getType(), x, scale, shift, g.b.getF64FloatAttr(kEpsilon),
                                       g.b.getBoolAttr(g.dice(2))),
               result);
}

bool isExactLines(Graph &g, Value v) { return g.know(v).isExact() && hasLines(g, v); }

bool argReduce(Graph &g) {
  Value x = g.pick([&](Value v) { return isExactLines(g, v) && !isBool(v); }, true);
  if (!x)
    return false;
  int64_t axis = g.dice(g.rank(x));
  SymExpr count = g.type(x).getDim(axis);
  double most = g.least(count) > 0 ? double(g.most(count)) : 1e30;
  return g.add(g.b.create<ArgReduceOp>(ExtremumKind(g.dice(2)), x, axis, g.dice(2)),
               g.integers(g.b.getI64Type(), most));
}

bool topK(Graph &g) {
  Value x =
      g.pick([&](Value v) { return isExactLines(g, v) && !isBool(v) && !isHalfByte(v); }, true);
  if (!x)
    return false;
  int64_t axis = g.dice(g.rank(x));
  SymExpr length = g.type(x).getDim(axis), k = length;
  if (g.dice(2))
    k = SymExpr::min(length, g.number(1 + g.dice(5)));
  else if (!length.asConstant() && g.dice(2))
    k = g.number(1 + g.dice(4)); // maybe more than there are
  auto top = g.b.create<TopKOp>(x, g.dims(k), axis, g.dice(2));
  Knowledge positions = g.integers(g.b.getI64Type(), double(std::max<int64_t>(g.most(length), 1)));
  return g.add(top.getResults(), {g.know(x), positions});
}

constexpr Maker kMakers[] = {
    {"reduce", reduce, 4},       {"cumulate", cumulate, 2},    {"softmax", softmax, 2},
    {"normalize", normalize, 2}, {"arg_reduce", argReduce, 2}, {"top_k", topK, 2},
};

} // namespace

ArrayRef<Maker> lineMakers() { return kMakers; }

} // namespace weft::test
