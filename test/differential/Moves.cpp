// Elements at other places, and values from nothing.
#include "dialects/weft/ops/Random.h"
#include "test/differential/Makers.h"
#include <numeric>

using namespace mlir;

namespace weft::test {
namespace {

bool any(Value) { return true; }

Value pickLine(Graph &g) {
  return g.pick([&](Value v) { return g.rank(v) > 0; }, true);
}

bool transpose(Graph &g) {
  Value x = pickLine(g);
  if (!x)
    return false;
  SmallVector<int64_t> order(g.rank(x));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), g.dice.engine);
  return g.add(g.b.create<TransposeOp>(x, order), g.know(x));
}

/// Merges neighbours, splits a dimension with a constant divisor, or adds or removes one of size 1.
bool reshape(Graph &g) {
  Value x = g.pick(any, true);
  if (!x)
    return false;
  SmallVector<SymExpr> list = g.type(x).getDims();
  size_t at = list.empty() ? 0 : size_t(g.dice(list.size()));
  switch (g.dice(4)) {
  case 0:
    if (at + 1 >= list.size())
      return false;
    list[at] = list[at] * list[at + 1];
    list.erase(list.begin() + at + 1);
    break;
  case 1: {
    if (list.empty())
      return false;
    SmallVector<int64_t> divisors;
    for (int64_t d : {2, 3, 4, 8})
      if (SymExpr::floordiv(list[at], d) * d == list[at])
        divisors.push_back(d);
    if (divisors.empty())
      return false;
    int64_t divisor = divisors[g.dice(divisors.size())];
    SymExpr rest = SymExpr::floordiv(list[at], divisor);
    bool first = g.dice(2);
    list[at] = first ? g.number(divisor) : rest;
    list.insert(list.begin() + at + 1, first ? rest : g.number(divisor));
    break;
  }
  case 2:
    list.insert(list.begin() + at, g.number(1));
    break;
  default: {
    auto one = llvm::find_if(list, [](SymExpr d) { return d.isConstant(1); });
    if (one == list.end())
      return false;
    list.erase(one);
  }
  }
  return g.add(g.b.create<ReshapeOp>(x, g.dims(list)), g.know(x));
}

bool slice(Graph &g) {
  Value x = pickLine(g);
  if (!x)
    return false;
  SmallVector<SymExpr> sizes = g.type(x).getDims(), starts(sizes.size(), g.number(0));
  SmallVector<int64_t> steps(sizes.size(), 1);
  for (size_t times = 0, count = 1 + g.dice(2); times < count; ++times) {
    size_t at = g.dice(sizes.size());
    SymExpr size = g.type(x).getDim(at), one = g.number(1);
    starts[at] = g.number(0), steps[at] = 1;
    switch (g.dice(5)) {
    case 0: // every second or third
      steps[at] = 2 + g.dice(2);
      sizes[at] = SymExpr::ceildiv(size, steps[at]);
      break;
    case 1: // backwards, maybe every second
      steps[at] = -1 - g.dice(2);
      starts[at] = size - 1;
      sizes[at] = SymExpr::ceildiv(size, -steps[at]);
      break;
    case 2: // without the first, if there is one
      starts[at] = SymExpr::min(size, one);
      sizes[at] = SymExpr::max(size - 1, g.number(0));
      break;
    case 3: // at most the first three
      sizes[at] = SymExpr::min(size, g.number(3));
      break;
    default: // the second half
      starts[at] = SymExpr::floordiv(size, 2);
      sizes[at] = size - SymExpr::floordiv(size, 2);
    }
  }
  return g.add(g.b.create<SliceOp>(x, g.dims(starts), g.dims(sizes), steps), g.know(x));
}

bool concat(Graph &g) {
  Value x = pickLine(g);
  if (!x)
    return false;
  size_t dim = g.dice(g.rank(x));
  SmallVector<Value> parts{x};
  auto fits = [&](Value v) {
    if (g.element(v) != g.element(x) || g.rank(v) != g.rank(x))
      return false;
    for (size_t d = 0; d < g.rank(x); ++d)
      if (d != dim && g.type(v).getDim(d) != g.type(x).getDim(d))
        return false;
    return true;
  };
  for (size_t i = 0, count = g.dice(3); i < count; ++i)
    if (Value y = g.pick(fits, true))
      parts.insert(parts.begin() + g.dice(parts.size() + 1), y);
  return g.add(g.b.create<ConcatOp>(parts, int64_t(dim)), g.either(parts));
}

bool pad(Graph &g) {
  Value x = pickLine(g);
  if (!x)
    return false;
  SmallVector<SymExpr> low, high;
  for (SymExpr dim : g.type(x).getDims()) {
    bool crops = g.least(dim) >= 2 && g.dice.chance(1, 4);
    low.push_back(g.number(crops ? -1 : g.dice(3)));
    high.push_back(g.dice.chance(1, 5) ? g.symbol("n") : g.number(crops ? -1 : g.dice(2)));
  }
  Value border = g.fill(g.element(x), 1);
  return g.add(g.b.create<PadOp>(x, border, g.dims(low), g.dims(high)), g.either({x, border}));
}

bool expand(Graph &g) {
  Value x = g.pick(any, true);
  if (!x)
    return false;
  SmallVector<SymExpr> list = g.type(x).getDims();
  size_t at = g.dice(list.size() + 1);
  bool has = at < list.size() && list[at].isConstant(1);
  if (!has) {
    list.insert(list.begin() + at, g.number(1));
    x = g.note(g.b.create<ReshapeOp>(x, g.dims(list)), g.know(x));
  }
  list[at] = g.anyDim();
  if (g.dice.chance(1, 4))
    list.insert(list.begin(), g.number(2));
  return g.add(g.b.create<ExpandOp>(x, g.dims(list)), g.know(x));
}

//===-- Values from nothing ------------------------------------------------------------------------===//

SmallVector<SymExpr> anyDims(Graph &g, unsigned most) {
  SmallVector<SymExpr> list;
  for (size_t i = 0, rank = g.dice(most + 1); i < rank; ++i)
    list.push_back(g.anyDim());
  return list;
}

bool fill(Graph &g) {
  Value v = g.fill(g.randomElement(), g.dice.oneOf({0.0, 1.0, 0.5, -1.25, 3.0}), anyDims(g, 3));
  return g.add(v, g.know(v));
}

bool constant(Graph &g) {
  SmallVector<int64_t> list;
  for (size_t i = 0, rank = g.dice(4); i < rank; ++i)
    list.push_back(g.dice.oneOf({1, 2, 3, 8}));
  Value v = g.constant(list, g.randomElement());
  return g.add(v, g.know(v));
}

bool iota(Graph &g) {
  SmallVector<SymExpr> list = anyDims(g, 2);
  list.push_back(g.anyDim());
  int64_t dim = g.dice(list.size());
  Type element = g.randomElement();
  if (element.isInteger(1))
    return false;
  double most = double(std::max<int64_t>(g.most(list[dim]), 1));
  if (most > largestOf(element) / 4)
    return false;
  return g.add(g.b.create<IotaOp>(g.tensor(list, element), dim),
               g.rounded(element, {most, 0, 0, false}));
}

bool sizesAsData(Graph &g) {
  SmallVector<SymExpr> list;
  for (size_t i = 0, count = 1 + g.dice(3); i < count; ++i)
    list.push_back(g.dice(2) ? g.anyDim() : g.anyDim() * 2 + g.symbol("m"));
  bool scalar = list.size() == 1 && g.dice(2);
  SmallVector<SymExpr> shape;
  if (!scalar)
    shape.push_back(g.number(int64_t(list.size())));
  double most = 0;
  for (SymExpr e : list)
    most = std::max(most, double(g.most(e)));
  Type i64 = g.b.getI64Type();
  return g.add(g.b.create<DimsValueOp>(g.tensor(shape, i64), g.dims(list)), g.integers(i64, most));
}

/// The seed decides; equal everywhere.
bool uniform(Graph &g) {
  Value seed = g.pick([&](Value v) { return g.rank(v) == 0 && g.element(v) == g.b.getI64Type(); });
  if (!seed)
    seed = g.fill(g.b.getI64Type(), double(g.dice(1000)));
  SymTensorType type = g.tensor(anyDims(g, 2), g.b.getF64Type());
  return g.add(g.b.create<RandomUniformOp>(type, seed), {1, 53, 0, false});
}

constexpr Maker kMakers[] = {
    {"transpose", transpose, 4},
    {"reshape", reshape, 6},
    {"slice", slice, 4},
    {"concat", concat, 3},
    {"pad", pad, 3},
    {"expand", expand, 3},
    {"fill", fill},
    {"constant", constant, 2},
    {"iota", iota},
    {"dims_value", sizesAsData},
    {"random_uniform", uniform},
};

} // namespace

ArrayRef<Maker> moveMakers() { return kMakers; }

} // namespace weft::test
