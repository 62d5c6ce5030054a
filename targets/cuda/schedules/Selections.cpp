//===- Selections.cpp - The few largest or smallest elements of lines -------------------------------------===//
//
//   a line for a block, or where lines are short, or many, for a warp                        [ways]
//     each thread finds the best of its elements                                              [own]
//     for each result: the best of all threads is stored                                      [store]
//       the thread that had it finds its next one: the best that is worse                     [next]
//
// Element and position are one number: of elements of up to 32 bits, as an integer that is the larger the earlier it comes in the order, above
// the position's complement. So no two are equal, and one maximum finds the first of equal elements.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Order.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/common/match/SerialShape.h"
#include "targets/cuda/LineThreads.h"
#include "targets/cuda/Walk.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kThreads = 256, kWarp = SimtMachine::kWarp, kWarps = kThreads / kWarp;
/// Beyond that a heap has less to do.
constexpr int64_t kMostResults = 64;
/// Lines of so many elements are a warp's, and of more where there are so many lines.
constexpr int64_t kWarpsElements = 256, kManyLines = 8192, kManyElements = 4096;

SymTensorType typeOf(TopKOp op) { return cast<SymTensorType>(op.getInput().getType()); }

Match<TopKOp> matchSelection(func::FuncOp spec) {
  Match<ElementOpInterface> root = matchSerial(spec);
  if (!root)
    return root.decline();
  auto op = dyn_cast<TopKOp>(root->getOperation());
  if (!op)
    return Decline::otherKind("nothing is selected");
  SymTensorType type = typeOf(op);
  if (int64_t(op.getAxis()) != int64_t(type.getRank()) - 1)
    return Decline{"it is not along the last dimension"};
  std::optional<int64_t> count = SymExpr(op.getK()[0]).asConstant();
  if (!count || *count > kMostResults)
    return Decline{"more than 64 elements may be selected"};
  if (elementBits(type.getElementType()) > 32)
    return Decline{"elements have more than 32 bits"};
  SymExpr length =
      type.getDims().back(); // symbols have less than 2^31, products of them may have more
  if (!length.asSymbol() &&
      length.asConstant().value_or(std::numeric_limits<int64_t>::max()) > kMaxSymbolValue)
    return Decline{"positions may take more than 31 bits"};
  return op;
}

SymExpr linesOf(TopKOp op) {
  SymExpr lines = SymExpr::constant(op.getContext(), 1);
  for (SymExpr dim : outerDims(typeOf(op), op.getAxis()))
    lines = lines * dim;
  return lines;
}

class SelectionEmitter {
public:
  SelectionEmitter(SimtKernel &k, TopKOp op, Value shared)
      : k(k), b(k.b), op(op), dims(typeOf(op).getDims()), element(typeOf(op).getElementType()),
        shared(shared), lines(k.e.uniform(linesOf(op))), length(k.e.uniform(dims.back())),
        nothing(number(std::numeric_limits<int64_t>::min())) {
    outputs.resize(op->getNumResults());
    for (auto [i, value] : llvm::enumerate(k.returnOp()->getOperands()))
      outputs[cast<OpResult>(value).getResultNumber()] = k.outputs[i];
  }

  /// [ways]
  void emit() {
    Value isLong = both(k.less(number(kWarpsElements), length),
                        b.create<arith::OrIOp>(k.less(lines, number(kManyLines)),
                                               k.less(number(kManyElements), length)));
    k.choose(
        isLong,
        [&] {
          k.inTurns(lines, [&](Value line) {
            emitLine(LineThreads::block(k, line, shared, kThreads));
            k.gatherBlock();
          });
          k.e.forget();
        },
        [&] {
          k.inTurns(b.create<arith::CeilDivUIOp>(lines, number(kWarps)), [&](Value tile) {
            LineThreads threads = LineThreads::warp(k, k.mul(tile, number(kWarps)));
            k.when(k.less(threads.line, lines), [&] { emitLine(threads); });
          });
          k.e.forget();
        });
  }

private:
  Value number(int64_t value) { return constantI64(b, value); }
  Value both(Value a, Value c) { return b.create<arith::AndIOp>(a, c); }
  Value choice(Value condition, Value yes, Value no) {
    return b.create<arith::SelectOp>(condition, yes, no);
  }

  /// A float as an integer of the same order: zeros are equal, and a nan is the largest.
  Value orderOf(Value x) {
    Type i32 = b.getI32Type();
    auto word = [&](int32_t value) -> Value {
      return b.create<arith::ConstantOp>(b.getI32IntegerAttr(value));
    };
    if (!isFloat(element)) {
      if (x.getType() == i32)
        return isUnsigned(element) ? b.create<arith::XOrIOp>(x, word(INT32_MIN)) : x;
      return isUnsigned(element) || element.isInteger(1) ? Value(b.create<arith::ExtUIOp>(i32, x))
                                                         : b.create<arith::ExtSIOp>(i32, x);
    }
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0));
    Value isZero = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, zero),
          isNan = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
    Value bits = b.create<arith::BitcastOp>(i32, choice(isZero, zero, x));
    Value sign = b.create<arith::ShRSIOp>(bits, word(31));
    Value order = b.create<arith::XOrIOp>(bits, both(sign, word(INT32_MAX)));
    return choice(isNan, word(INT32_MAX), order);
  }

  /// Larger where it comes earlier. Positions are below 2^31 - 1: no rank is the largest number or the smallest.
  Value rankOf(Value x, Value position) {
    Value order = orderOf(x);
    if (op.getSmallest())
      order = b.create<arith::XOrIOp>(order, b.create<arith::ConstantOp>(b.getI32IntegerAttr(-1)));
    Value high =
        b.create<arith::ShLIOp>(b.create<arith::ExtSIOp>(b.getI64Type(), order), number(32));
    return b.create<arith::OrIOp>(high, k.sub(number(INT32_MAX), position));
  }

  Value positionOf(Value rank) { return k.sub(number(INT32_MAX), both(rank, number(UINT32_MAX))); }

  /// The best of the thread's elements that is worse than `limit`.
  Value ownBest(ArrayRef<IndexValue> line, const LineThreads &threads, Value limit) {
    auto load = [&](Value position) -> Values {
      SmallVector<IndexValue> at(line);
      at.back() = {position};
      return {k.e.pull(op.getInput(), at)};
    };
    auto add = [&](ValueRange best, ValueRange loaded, Value position) -> Values {
      Value rank = rankOf(loaded[0], position);
      rank = choice(k.less(rank, limit), rank, nothing);
      return {b.create<arith::MaxSIOp>(best[0], rank)};
    };
    int64_t bytes = std::max(1u, elementBits(element) / 8);
    return walk(k, {nothing}, {threads.member, length, threads.count, loadsOnTheWay(bytes)},
                {load, add})[0];
  }

  /// [own]
  void emitLine(LineThreads threads) {
    SmallVector<IndexValue> line = k.lineIndex(dims, threads.line);
    Value own = ownBest(line, threads, number(std::numeric_limits<int64_t>::max()));
    Value count = number(*SymExpr(op.getK()[0]).asConstant());
    k.loop(number(0), count, 1, ValueRange{own}, [&](Value i, ValueRange carried) {
      Value best = threads.combine(Combiner::Max, b.getI64Type(), carried[0]);
      if (threads.hasBarriers()) // places of two neighbouring combinations are one here
        k.gatherBlock();
      k.when(b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, threads.member, number(0)),
             [&] { store(line, i, best); });
      return SmallVector<Value>{next(line, threads, carried[0], best)};
    });
  }

  /// [next]
  Value next(ArrayRef<IndexValue> line, const LineThreads &threads, Value own, Value best) {
    Value isOwn = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, own, best);
    Value isThere = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, best, nothing);
    auto branch = b.create<scf::IfOp>(TypeRange(own.getType()), both(isOwn, isThere), true);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(own);
    b.setInsertionPointToStart(branch.thenBlock());
    k.e.forget();
    Value found = ownBest(line, threads, best);
    k.e.forget();
    b.create<scf::YieldOp>(found);
    return branch.getResult(0);
  }

  /// [store] Where there are no more, zeros at position -1.
  void store(ArrayRef<IndexValue> line, Value number, Value best) {
    SmallVector<IndexValue> to(line), from(line);
    to.back() = {number};
    Value isThere = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, best, nothing);
    Value position = positionOf(best);
    from.back() = {position};
    Value none = b.create<arith::ConstantOp>(combinerIdentity(Combiner::Sum, element));
    Value value = k.e.guarded(
        isThere, [&] { return k.e.pull(op.getInput(), from); }, none);
    position = choice(isThere, position, constantI64(b, -1));
    for (auto [result, data] : llvm::enumerate(SmallVector<Value>{value, position}))
      if (outputs[result])
        k.e.store(outputs[result], cast<SymTensorType>(op->getResult(result).getType()), to, data);
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  TopKOp op;
  SmallVector<SymExpr> dims;
  Type element;
  Value shared, lines, length, nothing;
  SmallVector<Value> outputs; ///< pointers by result; null where nobody reads it
};

class SelectionsSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "select"; }
  int64_t threads() const override { return kThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return matchSelection(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    TopKOp op = *matchSelection(spec);
    Launch launch = blocks(linesOf(op), kWarps);
    SymExpr few = SymExpr::min(linesOf(op), SymExpr::constant(spec.getContext(), kManyLines));
    launch.units = SymExpr::max(launch.units, few);
    return launch;
  }

  void emit(SimtKernel &k) const override {
    TopKOp op = *matchSelection(k.spec);
    Value shared = k.sharedBytes(kWarps * LineThreads::kBytes);
    SelectionEmitter(k, op, shared).emit();
  }
};

} // namespace

const SimtSchedule *simtSelections() {
  static const SelectionsSchedule schedule;
  return &schedule;
}

} // namespace weft
