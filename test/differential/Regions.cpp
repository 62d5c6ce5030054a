// Sizes that data decide, branches and loops.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/differential/Makers.h"
#include <cmath>

using namespace mlir;

namespace weft::test {
namespace {

/// How many elements of some exact value are positive: one i64.
Value countOf(Graph &g) {
  Value x =
      g.pick([&](Value v) { return g.know(v).isExact() && !isBool(v) && g.rank(v) > 0; }, true);
  if (!x)
    return {};
  Type i64 = g.b.getI64Type();
  Value positive =
      g.note(g.b.create<CompareOp>(CompareKind::Greater, x, g.fill(g.element(x), 0)), g.truth());
  Value ones = g.note(g.b.create<ConvertOp>(positive, i64), g.integers(i64, 1));
  SmallVector<int64_t> axes;
  for (unsigned d = 0; d < g.rank(x); ++d)
    axes.push_back(d);
  return g.note(g.b.create<ReduceOp>(CombinerKind::Sum, ones, axes),
                g.integers(i64, double(std::max<int64_t>(1, g.mostElements(g.type(x))))));
}

Value conditionOf(Graph &g) {
  Value there = g.pick([&](Value v) { return isBool(v) && g.rank(v) == 0; });
  if (there && g.dice(2))
    return there;
  Value count = countOf(g);
  if (!count)
    return {};
  Value limit = g.fill(g.b.getI64Type(), double(g.dice(12)));
  return g.note(g.b.create<CompareOp>(CompareKind(g.dice(6)), count, limit), g.truth());
}

//===-- bind ---------------------------------------------------------------------------------------===//

/// As many elements of x along a dimension as data say.
bool bind(Graph &g) {
  Value x = g.pick([&](Value v) { return g.rank(v) > 0; }, true), count = x ? countOf(g) : Value();
  if (!count)
    return false;
  unsigned at = g.dice(g.rank(x));
  SymExpr size = g.type(x).getDim(at);
  Type i64 = g.b.getI64Type();
  Value all = g.note(g.b.create<DimsValueOp>(g.tensor({}, i64), g.dims(size)),
                     g.integers(i64, double(g.most(size))));
  Value bounded = g.note(g.b.create<MinimumOp>(count, all), g.know(count));
  SymExpr u = g.bindSymbol(size);
  g.b.create<BindOp>(u.asSymbol(), bounded);
  SmallVector<SymExpr> sizes = g.type(x).getDims(), starts(sizes.size(), g.number(0));
  sizes[at] = u;
  if (g.dice(2))
    starts[at] = size - u; // the last ones
  SmallVector<int64_t> steps(sizes.size(), 1);
  return g.add(g.b.create<SliceOp>(x, g.dims(starts), g.dims(sizes), steps), g.know(x));
}

//===-- Regions ------------------------------------------------------------------------------------===//

/// A region in the making: what is added meanwhile goes there, and is seen only there.
class Inside {
public:
  explicit Inside(Graph &g)
      : g(g), guard(g.b), outside(g.values), symbolsOutside(g.boundSymbols()) {
    region.push_back(new Block);
    g.b.setInsertionPointToStart(&region.front());
    ++g.depth;
  }
  ~Inside() {
    --g.depth;
    g.values = outside;
  }
  /// Whether a type says nothing of symbols that have values only here.
  bool canLeave(Value v) {
    for (SymExpr dim : g.type(v).getDims())
      for (StringAttr name : dim.symbols())
        if (g.boundAt(name) >= int(symbolsOutside))
          return false;
    return true;
  }
  Value pickResult(bool special = true) {
    return g.pick([&](Value v) { return canLeave(v); }, special);
  }

  Region region;

private:
  Graph &g;
  OpBuilder::InsertionGuard guard;
  SmallVector<Value> outside;
  size_t symbolsOutside;
};

/// Half of it, or twice: a dimension that the branches have in different sizes.
Value otherSize(Graph &g, Value x, unsigned at, SymExpr &limit) {
  SmallVector<SymExpr> sizes = g.type(x).getDims(), starts(sizes.size(), g.number(0));
  if (g.dice(2)) {
    limit = sizes[at] * 2;
    return g.note(g.b.create<ConcatOp>(ValueRange{x, x}, int64_t(at)), g.know(x));
  }
  limit = sizes[at];
  sizes[at] = SymExpr::floordiv(sizes[at], 2);
  SmallVector<int64_t> steps(sizes.size(), 1);
  return g.note(g.b.create<SliceOp>(x, g.dims(starts), g.dims(sizes), steps), g.know(x));
}

bool branch(Graph &g) {
  Value condition = g.depth < 2 ? conditionOf(g) : Value();
  if (!condition)
    return false;
  Value yes, no;
  OperationState state(g.b.getLoc(), IfOp::getOperationName());
  auto *first = state.addRegion(), *second = state.addRegion();
  {
    Inside inside(g);
    g.grow(1 + g.dice(4));
    yes = inside.pickResult();
    if (!yes)
      return false;
    g.b.create<YieldOp>(yes);
    first->takeBody(inside.region);
  }
  SymTensorType type = g.type(yes);
  SmallVector<Attribute> binds;
  bool resizes = type.getRank() > 0 && g.dice.chance(1, 3);
  unsigned at = resizes ? unsigned(g.dice(type.getRank())) : 0;
  SymExpr limit;
  {
    Inside inside(g);
    g.grow(1 + g.dice(3));
    no = g.pick([&](Value v) { return v.getType() == type; }, true);
    if (!no)
      no = g.pickOr(type.getElementType(), type.getDims(), 2);
    if (resizes)
      no = otherSize(g, no, at, limit);
    g.b.create<YieldOp>(no);
    second->takeBody(inside.region);
  }
  if (resizes) {
    SmallVector<SymExpr> dims = type.getDims();
    SymExpr u = g.bindSymbol(limit);
    dims[at] = u;
    type = g.tensor(dims, type.getElementType());
    binds.push_back(u.asSymbol());
  }
  state.addOperands(condition);
  state.addTypes(type);
  state.addAttribute("binds", g.b.getArrayAttr(binds));
  return g.add(g.b.create(state)->getResults(), g.either({yes, no}));
}

//===-- loop ---------------------------------------------------------------------------------------===//

/// The next of a carried value, from it and a value of the turn; `k` is what holds of all of them.
Value nextOf(Graph &g, Value carried, Value v, Knowledge init, Knowledge &k) {
  Type e = g.element(carried);
  if (isFloat(e) && !init.special && g.dice(2)) {
    v = g.tame(v, 2);
    const Knowledge &turn = g.know(v);
    double most = std::max(init.most, 2 * turn.most);
    k = {most, 0, std::max(init.error, 2 * (turn.error + 4 * precisionOf(e) * most)), false};
    Value half = g.note(g.b.create<MulOp>(carried, g.fill(e, 0.5)), k);
    return g.note(g.b.create<AddOp>(half, v), k);
  }
  if (!isFloat(e) && !e.isInteger(1) && g.dice(2)) {
    k = g.integers(e, 1e30);
    return g.note(g.b.create<AddOp>(carried, v), k);
  }
  const Knowledge &turn = g.know(v);
  k = {std::max(init.most, turn.most), std::max(init.quantum, turn.quantum),
       std::max(init.error, turn.error), init.special || turn.special};
  if (e.isInteger(1))
    return g.note(g.b.create<OrOp>(carried, v), k);
  return g.note(g.b.create<MaximumOp>(carried, v), k);
}

/// Over the elements of x along a dimension: carries a value, stacks others; perhaps ends early.
bool loop(Graph &g) {
  Value x = g.depth < 2 ? g.pick([&](Value v) { return g.rank(v) > 0 && g.know(v).most < 1e6; })
                        : Value();
  if (!x)
    return false;
  unsigned at = g.dice(g.rank(x));
  SymExpr trips = g.type(x).getDim(at);
  bool conditional = g.dice.chance(1, 3);
  Value init = g.pick([&](Value) { return true; }), limit = conditional ? countOf(g) : Value();
  if (g.most(trips) > 17 || !init || (conditional && !limit))
    return false;
  Type i64 = g.b.getI64Type();
  SmallVector<Value> inits{init};
  SymExpr i = g.bindSymbol(trips), times = trips;
  OperationState state(g.b.getLoc(), LoopOp::getOperationName());
  auto *body = state.addRegion();
  if (conditional) {
    Value zero = g.fill(i64, 0);
    Value begin = g.note(g.b.create<CompareOp>(CompareKind::Less, zero, limit), g.truth());
    inits = {begin, zero, init};
  }
  SmallVector<Knowledge> results;
  SmallVector<Type> types;
  SymTensorType stacked;
  {
    Inside inside(g);
    Block &block = inside.region.front();
    for (Value v : ArrayRef(inits).drop_front(conditional))
      block.addArgument(v.getType(), g.b.getLoc());
    SmallVector<SymExpr> starts(g.rank(x), g.number(0)), sizes = g.type(x).getDims();
    starts[at] = i, sizes[at] = g.number(1);
    SmallVector<int64_t> steps(sizes.size(), 1);
    Value row = g.note(g.b.create<SliceOp>(x, g.dims(starts), g.dims(sizes), steps), g.know(x));
    sizes.erase(sizes.begin() + at);
    g.add(g.b.create<ReshapeOp>(row, g.dims(sizes)), g.know(row));
    g.grow(1 + g.dice(4));
    Value v = g.pick([&](Value v) { return v.getType() == init.getType(); });
    if (!v)
      v = g.pickOr(g.element(init), g.type(init).getDims(), 2);
    Value each = inside.pickResult();
    Knowledge k;
    Value next = nextOf(g, block.getArguments().back(), v, g.know(init), k);
    SmallVector<Value> yields{next};
    if (conditional) {
      Value counted =
          g.note(g.b.create<AddOp>(block.getArgument(0), g.fill(i64, 1)), g.integers(i64, 1 << 20));
      Value more = g.note(g.b.create<CompareOp>(CompareKind::Less, counted, limit), g.truth());
      yields = {more, counted, next};
      results.push_back(g.integers(i64, 1 << 20));
      types.push_back(inits[1].getType());
    }
    results.push_back(k);
    types.push_back(init.getType());
    if (each && !isPacked(g.element(each))) { // those that share bytes are refused
      yields.push_back(each);
      results.push_back(g.know(each));
      stacked = g.type(each);
    }
    g.b.create<YieldOp>(yields);
    body->takeBody(inside.region);
  }
  if (conditional) {
    times = g.bindSymbol(trips);
    state.addAttribute("count", times.asSymbol());
  }
  if (stacked) {
    SmallVector<SymExpr> dims = stacked.getDims();
    dims.insert(dims.begin(), times);
    types.push_back(g.tensor(dims, stacked.getElementType()));
  }
  state.addOperands(inits);
  state.addTypes(types);
  state.addAttribute("index", i.asSymbol());
  state.addAttribute("trips", g.dims(trips));
  return g.add(g.b.create(state)->getResults(), results);
}

constexpr Maker kMakers[] = {{"bind", bind, 2}, {"if", branch, 2}, {"loop", loop, 2}};

} // namespace

ArrayRef<Maker> controlMakers() { return kMakers; }

} // namespace weft::test
