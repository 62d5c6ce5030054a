//===- Loop.cpp - One loop nest over the result, everything else pulled ---------------------------===//
//
//   dimensions in the order in which lines follow each other             [order]
//   for unit: where it begins                                            [units]
//     for line of the unit                                               [lines]
//       for vector of the line: results = pulled                         [line]
//   of one dimension: for vector of the block                            [block]
//
// The general schedule: vectorised along the innermost dimension. Reductions inside are folded per element. It accepts every kernel without
// composites whose results have the same dimensions.
//
// Short lines, such as pixels with few channels, are several to a unit: what depends on the dimensions outside (the row of an image, and
// which rows of a smaller image it is made of) is computed once for them.
//
// Results that lie in another order than what they come from (channels in front of what had them last) are computed line by line for the
// same elements: those of one line lie apart, and those of its neighbours in the same lines of the cache.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/common/match/Points.h"
#include "targets/common/match/TurnShape.h"
#include "targets/cpu/schedules/Schedules.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kBlock = 4096; ///< elements of a unit when there is only one dimension
constexpr int64_t kShort =
    512; ///< elements of a line, at most, of which there are several in a unit
constexpr int64_t kLinesBlock = 4096; ///< elements of such a unit
constexpr int64_t kGrainWork =
    16384; ///< elements below which a piece of work is not worth a thread

/// [order] The dimensions of the results in the order in which lines are computed.
struct Order {
  SmallVector<unsigned> from; ///< which of the results' each is
  SmallVector<SymExpr> dims;

  explicit Order(func::FuncOp spec) {
    SmallVector<SymExpr> own = matchPoints(spec)->getDims();
    for (unsigned d = 0; d < own.size(); ++d)
      from.push_back(d);
    Match<TurnShape> turn = TurnShape::match(spec);
    if (turn && turn->turned + 2 < own.size() && !writesPackedElements(spec)) {
      from.erase(from.begin() + turn->turned);
      from.insert(from.end() - 1, turn->turned);
    }
    for (unsigned d : from)
      dims.push_back(own[d]);
  }

  SmallVector<IndexValue> ofResults(ArrayRef<IndexValue> index) const {
    SmallVector<IndexValue> own(index.size());
    for (auto [d, i] : llvm::zip_equal(from, index))
      own[d] = i;
    return own;
  }
};

/// Lines of a unit: neighbours along the last dimension but one.
int64_t linesOf(func::FuncOp spec, ArrayRef<SymExpr> dims) {
  std::optional<int64_t> length = dims.empty() ? std::nullopt : dims.back().asConstant();
  if (dims.size() < 3 || writesPackedElements(spec) || !length || *length < 1 || *length > kShort)
    return 1;
  int64_t most = kLinesBlock / *length;
  std::optional<int64_t> count = dims[dims.size() - 2].asConstant();
  if (!count || *count < 1)
    return most;
  return llvm::divideCeil(*count, llvm::divideCeil(*count, most));
}

/// What units are counted over: blocks of lines stand for the last dimension but one.
SmallVector<SymExpr> blocksOf(ArrayRef<SymExpr> dims, int64_t lines) {
  SmallVector<SymExpr> blocks(dims);
  if (lines > 1)
    blocks[dims.size() - 2] = SymExpr::ceildiv(dims[dims.size() - 2], lines);
  return blocks;
}

class LoopSchedule : public Schedule {
public:
  StringRef name() const override { return "loop"; }

  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return matchPoints(spec).decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &) const override {
    SmallVector<SymExpr> dims = Order(spec).dims;
    SymExpr one = SymExpr::constant(spec.getContext(), 1),
            zero = SymExpr::constant(spec.getContext(), 0);
    if (dims.empty() || writesPackedElements(spec))
      return {one, one, zero};
    if (dims.size() == 1)
      return {SymExpr::ceildiv(dims[0], kBlock),
              SymExpr::constant(spec.getContext(), kGrainWork / kBlock), zero};
    int64_t lines = linesOf(spec, dims);
    SymExpr units = one, inner = SymExpr::max(dims.back(), one);
    SmallVector<SymExpr> blocks = blocksOf(dims, lines);
    for (SymExpr dim : ArrayRef(blocks).drop_back())
      units = units * dim;
    if (lines > 1)
      inner = SymExpr::min(SymExpr::max(dims[dims.size() - 2], one),
                           SymExpr::constant(spec.getContext(), lines)) *
              inner;
    return {units,
            SymExpr::max(SymExpr::floordiv(SymExpr::constant(spec.getContext(), kGrainWork), inner),
                         one),
            zero};
  }

  void emit(KernelContext &c) const override {
    const Order order(c.spec);
    ArrayRef<SymExpr> dims = order.dims;
    if (dims.empty()) {
      c.e.setLanes(1);
      c.storeResults({});
      return;
    }
    Value end = c.end;
    if (writesPackedElements(c.spec)) {
      c.e.setLanes(1);
      SymExpr units = SymExpr::ceildiv(dims[0], kBlock);
      for (size_t d = 0; d + 1 < dims.size(); ++d)
        units = d == 0 ? dims[0] : units * dims[d];
      end = c.e.uniform(units);
    }
    int64_t lines = linesOf(c.spec, dims);
    // [units]
    c.loop(c.begin, end, 1, [&](Value unit) {
      if (dims.size() == 1)
        emitBlock(c, dims[0], unit);
      else if (lines > 1)
        emitLines(c, order, lines, unit);
      else
        emitLine(c, order, c.lineIndex(dims, unit));
    });
  }

private:
  /// [block] Elements [unit * kBlock, min(size, (unit + 1) * kBlock)) of a vector.
  static void emitBlock(KernelContext &c, SymExpr size, Value unit) {
    StringAttr start = StringAttr::get(c.b.getContext(), ".start");
    Value from = c.mul(unit, constantI64(c.b, kBlock));
    c.e.bindSymbol(start, from);
    SymExpr left =
        SymExpr::min(size - SymExpr::symbol(start), SymExpr::constant(c.b.getContext(), kBlock));
    c.vectors(left, [&](IndexValue i) { c.storeResults({c.e.add(i, {from})}); });
  }

  /// [lines] Of a unit, of which the last one may have fewer.
  static void emitLines(KernelContext &c, const Order &order, int64_t lines, Value unit) {
    ArrayRef<SymExpr> dims = order.dims;
    size_t along = dims.size() - 2;
    SmallVector<IndexValue> index = c.lineIndex(blocksOf(dims, lines), unit);
    Value count = constantI64(c.b, lines), from = c.mul(index[along].base, count);
    Value to = c.b.createOrFold<arith::MinSIOp>(c.add(from, count), c.e.uniform(dims[along]));
    c.loop(from, to, 1, [&](Value line) {
      index[along] = {line};
      emitLine(c, order, index);
    });
  }

  /// [line]
  static void emitLine(KernelContext &c, const Order &order, SmallVector<IndexValue> index) {
    c.vectors(order.dims.back(), [&](IndexValue i) {
      index.back() = i;
      c.storeResults(order.ofResults(index));
    });
  }
};

} // namespace

const Schedule *loopSchedule() {
  static const LoopSchedule schedule;
  return &schedule;
}

} // namespace weft
