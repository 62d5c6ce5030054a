//===- Scatters.cpp - Elements written at positions that come from data -----------------------------------===//
//
//   result: rows, of which positions name one, by lines, which are the elements of a row    [shape]
//   thread of the grid: some neighbouring rows of a line                                    [parts]
//     copies them
//     goes through all positions in their order, and updates those that are its own       [walk]
//
// Each element has one thread, so updates of it are in the order of their positions, and nothing is atomic. Threads that share a line read
// the same positions: there are so many of them that this costs no more than the copy, or as many as keep a GPU busy.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Scatter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/common/SerialLoops.h"
#include "targets/common/match/SerialShape.h"
#include "targets/cuda/SimtKernel.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kThreads = 32, kLeastThreads = 1024;

/// [shape]
struct Scatter {
  Operation *op;
  SymTensorType result, indices;
  std::optional<int64_t> axis; ///< of single elements; else tuples index the first dimensions
  SmallVector<unsigned> named; ///< dimensions of the result whose index is a position
  ScatterKind kind;
  Outside outside;

  template <typename Op> static Scatter of(Op op) {
    auto type = [](Value value) { return cast<SymTensorType>(value.getType()); };
    return {
        op,           type(op.getResult()), type(op.getIndices()), std::nullopt, op.positionDims(),
        op.getKind(), op.getOutside()};
  }
  static Match<Scatter> match(func::FuncOp spec) {
    Match<ElementOpInterface> root = matchSerial(spec);
    if (!root)
      return root.decline();
    Operation *op = *root;
    if (auto tuples = dyn_cast<ScatterNdOp>(op))
      return of(tuples);
    auto single = dyn_cast<ScatterElementsOp>(op);
    if (!single)
      return Decline::otherKind("nothing is scattered");
    Scatter scatter = of(single);
    scatter.axis = single.getAxis();
    return scatter;
  }

  bool isNamed(unsigned dim) const { return llvm::is_contained(named, dim); }
  SmallVector<SymExpr> dims(bool areNamed) const {
    SmallVector<SymExpr> own;
    for (auto [i, dim] : llvm::enumerate(result.getDims()))
      if (isNamed(unsigned(i)) == areNamed)
        own.push_back(dim);
    return own;
  }
  /// Positions that each line has.
  SmallVector<SymExpr> walked() const {
    return axis ? SmallVector<SymExpr>{indices.getDim(*axis)}
                : SmallVector<SymExpr>(ArrayRef(indices.getDims()).drop_back());
  }
  SymExpr product(ArrayRef<SymExpr> dims) const {
    SymExpr all = SymExpr::constant(op->getContext(), 1);
    for (SymExpr dim : dims)
      all = all * dim;
    return all;
  }
  SymExpr rows() const { return product(dims(true)); }
  SymExpr lines() const { return product(dims(false)); }

  /// [parts] Of each line: none has less than a row.
  SymExpr parts() const {
    MLIRContext *context = op->getContext();
    SymExpr one = SymExpr::constant(context, 1);
    SymExpr busy = SymExpr::ceildiv(SymExpr::constant(context, kLeastThreads),
                                    SymExpr::max(lines(), one)),
            cheap = SymExpr::floordiv(rows(), SymExpr::max(product(walked()), one));
    return SymExpr::min(SymExpr::max(rows(), one), SymExpr::max(busy, cheap));
  }
};

/// Emits the code of one thread.
class ScatterEmitter {
public:
  ScatterEmitter(SimtKernel &k, const Scatter &scatter)
      : k(k), b(k.b), s(scatter), loops(k, s.op, k.scratch) {}

  void emit() {
    auto [part, own] = loops.divmod(k.thread, k.e.uniform(s.lines()));
    line = loops.unflatten(own, s.dims(false));
    SymExpr count = SymExpr::ceildiv(s.rows(), s.parts());
    Value each = k.e.uniform(count), rows = k.e.uniform(s.rows());
    first = b.create<arith::MinSIOp>(k.mul(part, each), rows); // the last parts may have none
    end = b.create<arith::MinSIOp>(k.add(first, each), rows);
    loops.loop(first, end, [&](Value row) {
      SmallVector<Value> place = elementOf(loops.unflatten(row, s.dims(true)));
      loops.store(0, place, loops.load(0, place));
    });
    loops.when(hasPositions(),
               [&] { loops.box(s.walked(), [&](ArrayRef<Value> at) { update(at); }); });
  }

private:
  /// An element of the line.
  SmallVector<Value> elementOf(ArrayRef<Value> row) const {
    SmallVector<Value> place;
    size_t named = 0, other = 0;
    for (unsigned i = 0; i < s.result.getRank(); ++i)
      place.push_back(s.isNamed(i) ? row[named++] : line[other++]);
    return place;
  }

  /// Where the position lies, or the tuple's number `which`; and where its update does.
  SmallVector<Value> placeOf(ArrayRef<Value> at, std::optional<int64_t> which) const {
    if (s.axis)
      return elementOf(at); // the position's number is its index along the axis
    SmallVector<Value> place(at);
    if (which)
      place.push_back(constantI64(b, *which));
    else
      llvm::append_range(place, line);
    return place;
  }

  /// A line of single elements may be beside all that have some.
  Value hasPositions() {
    Value all = b.create<arith::ConstantOp>(b.getBoolAttr(true));
    for (unsigned i = 0, other = 0; s.axis && i < s.result.getRank(); ++i) {
      if (s.isNamed(i))
        continue;
      Value at = line[other++];
      if (s.result.getDim(i) != s.indices.getDim(i))
        all = b.create<arith::AndIOp>(all, isBelow(at, k.e.uniform(s.indices.getDim(i))));
    }
    return all;
  }

  Value isBelow(Value number, Value limit) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, number, limit);
  }
  void require(Value condition) {
    isOwn = isOwn ? Value(b.create<arith::AndIOp>(isOwn, condition)) : condition;
  }

  /// Counted from the end when negative.
  Value positionOf(ArrayRef<Value> at, int64_t which, Value size) {
    Value data = loops.load(1, placeOf(at, which));
    if (!data.getType().isInteger(64))
      data = b.create<arith::ExtSIOp>(b.getI64Type(), data);
    return loops.select(loops.less(data, constantI64(b, 0)), k.add(data, size), data);
  }

  /// [walk]
  void update(ArrayRef<Value> at) {
    isOwn = Value();
    SmallVector<Value> to;
    Value row = constantI64(b, 0);
    for (auto [i, dim] : llvm::enumerate(s.named)) {
      Value size = k.e.uniform(s.result.getDim(dim));
      to.push_back(positionOf(at, int64_t(i), size));
      row = k.add(k.mul(row, size), to.back());
      if (s.outside != Outside::Unchecked && s.named.size() > 1)
        require(isBelow(to.back(), size));
    }
    require(isBelow(k.sub(row, first), k.sub(end, first)));
    loops.when(isOwn, [&] {
      loops.update(2, placeOf(at, std::nullopt), 0, elementOf(to), {}, combinerOf(s.kind));
    });
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  const Scatter &s;
  SerialLoops loops;
  SmallVector<Value> line; ///< the thread's: its index in dimensions that positions do not name
  Value first, end;        ///< rows of the thread
  Value isOwn;             ///< whether a position names one of them
};

class ScattersSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "scatter"; }
  int64_t threads() const override { return kThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return Scatter::match(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    return blocks(threadsOf(*Scatter::match(spec)), kThreads);
  }

  void emit(SimtKernel &k) const override {
    Scatter scatter = *Scatter::match(k.spec);
    k.when(k.less(k.thread, k.e.uniform(threadsOf(scatter))),
           [&] { ScatterEmitter(k, scatter).emit(); });
  }

private:
  static SymExpr threadsOf(const Scatter &scatter) { return scatter.lines() * scatter.parts(); }
};

} // namespace

const SimtSchedule *simtScatters() {
  static const ScattersSchedule schedule;
  return &schedule;
}

} // namespace weft
