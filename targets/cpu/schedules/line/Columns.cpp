//===- Columns.cpp - Reductions that keep the last dimension ----------------------------------===//
//
// y[.., c] = epilogue(combined over k of x[.., k.., c]): the mean over an image with channels last
// is one.
//
//   for line of the result, block of columns                           [units]
//     the whole block at once; a shorter one vector by vector          [blocks]
//       sums = identity, in registers: one per vector
//       for k along all axes but the last of them                      [axes]
//         for chunk of the last axis: parts = identity, in registers   [chunks]
//           for k of the chunk, vector: parts = combine(parts, x)      [combine]
//           sums = combine(sums, parts)                                [join]
//       for vector: epilogue and store, masked at the end of the line  [store]
//
// Vectors run along c, and some of them are summed side by side, so that a row of the operand is
// read in long runs and no sum waits for itself. A unit is one such block of columns of one result
// line. Long sums are made of short ones, see kSumChunk.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/common/match/Match.h"
#include "targets/cpu/schedules/Schedules.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kGrainWork =
    16384; ///< elements below which a piece of work is not worth a thread

SymTensorType inputType(ReduceOp op) { return cast<SymTensorType>(op.getInput().getType()); }

/// The reduction, when it is the kernel's only root, keeps the last dimension and all results have
/// its dimensions.
Match<ReduceOp> match(func::FuncOp spec) {
  Match<ReduceOp> op = onlyRoot<ReduceOp>(spec, "there is no reduction");
  if (!op)
    return op;
  if (op->getAxes().empty() || op->getAxes().back() == int64_t(inputType(*op).getRank()) - 1)
    return Decline{"the reduction is not over dimensions in front of the last"};
  if (isPacked(inputType(*op).getElementType()))
    return Decline{"elements are less than a byte"};
  if (Decline why = unlessResultsHave(cast<SymTensorType>(op->getResult().getType()), spec))
    return why;
  return op;
}

/// Vectors that are summed side by side.
int64_t vectorsOf(ReduceOp op, const VectorMachine &machine) {
  int64_t most = std::max<int64_t>(1, machine.registers() / 4);
  std::optional<int64_t> width = inputType(op).getDims().back().asConstant();
  return width ? std::clamp<int64_t>(*width / machine.lanes(), 1, most) : most;
}

class Emitter {
public:
  Emitter(KernelContext &c, ReduceOp op)
      : c(c), op(op), combiner(Combiner(op.getKind())), element(inputType(op).getElementType()),
        kept(cast<SymTensorType>(op.getResult().getType()).getDims()),
        together(vectorsOf(op, c.machine)) {}

  void emit() {
    int64_t block = together * c.machine.lanes();
    SymExpr width = kept.back();
    // [units] Blocks of columns are innermost.
    c.loop(c.begin, c.end, 1, [&](Value unit) {
      auto [rest, number] = c.e.divmod({unit}, c.e.symbolic(SymExpr::ceildiv(width, block)));
      index.assign(kept.size(), {});
      for (size_t d = kept.size() - 1; d-- > 1;)
        std::tie(rest, index[d]) = c.e.divmod(rest, c.e.symbolic(kept[d]));
      if (kept.size() > 1)
        index[0] = rest;
      Value first = c.mul(number.base, constantI64(c.b, block));
      // [blocks] Vectors of the shorter one need not be whole.
      if (SymExpr::mod(width, block).isConstant(0))
        return emitColumns({first, 1}, together);
      Value left = c.sub(c.e.uniform(width), first);
      auto isWhole =
          c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, left, constantI64(c.b, block));
      auto choose = c.b.create<scf::IfOp>(isWhole, true);
      OpBuilder::InsertionGuard insertion(c.b);
      c.b.setInsertionPointToStart(choose.thenBlock());
      emitColumns({first, 1}, together);
      c.b.setInsertionPointToStart(choose.elseBlock());
      StringAttr rests = StringAttr::get(c.b.getContext(), ".left");
      c.e.bindSymbol(rests, left);
      c.vectors(SymExpr::symbol(rests), [&](IndexValue i) { emitColumns(c.e.add(i, {first}), 1); });
    });
  }

private:
  void emitColumns(IndexValue column, int64_t vectors) {
    Value none = c.e.constantData(computeType(element), combinerIdentity(combiner, element));
    SmallVector<IndexValue> at(inputType(op).getRank());
    SmallVector<Value> sums = walk(at, 0, column, SmallVector<Value>(vectors, none));
    // [store] Only vector by vector, there may be a mask.
    for (int64_t v = 0; v < vectors; ++v) {
      c.e.forget();
      c.e.provide(op.getResult(), [&](ArrayRef<IndexValue>) { return sums[v]; });
      index.back() = vector(column, v);
      c.storeResults(index);
    }
    c.e.forget();
  }

  IndexValue vector(IndexValue column, int64_t v) {
    return c.e.add(column, c.e.constant(v * c.machine.lanes()));
  }

  /// [axes] Loops over axes from number `axis` on; `at` has the position along those before.
  SmallVector<Value> walk(SmallVector<IndexValue> &at, size_t axis, IndexValue column,
                          SmallVector<Value> sums) {
    if (axis == op.getAxes().size())
      return add(at, column, sums);
    int64_t dim = op.getAxes()[axis];
    Value end = c.e.uniform(inputType(op).getDim(dim)), zero = constantI64(c.b, 0);
    auto run = [&](Value from, Value to, ValueRange init) {
      return c.loop(from, to, 1, init, [&](Value k, ValueRange carried) {
        at[dim] = {k};
        return walk(at, axis + 1, column, SmallVector<Value>(carried));
      });
    };
    if (axis + 1 < op.getAxes().size())
      return run(zero, end, sums);
    Value none = c.e.constantData(computeType(element), combinerIdentity(combiner, element));
    // [chunks] Where the last axis is short, there is one.
    return c.loop(zero, end, kSumChunk, sums, [&](Value from, ValueRange carried) {
      Value to = c.b.createOrFold<arith::MinSIOp>(c.add(from, constantI64(c.b, kSumChunk)), end);
      SmallVector<Value> parts = run(from, to, SmallVector<Value>(sums.size(), none));
      // [join] The error of a long sum stays that of a short one.
      for (auto [part, before] : llvm::zip(parts, carried))
        part = emitCombine(c.b, combiner, element, before, part);
      return parts;
    });
  }

  /// [combine] The vectors lie side by side in a row of the operand.
  SmallVector<Value> add(SmallVector<IndexValue> &at, IndexValue column, SmallVector<Value> sums) {
    size_t result = 0;
    for (size_t d = 0; d + 1 < at.size(); ++d)
      if (!llvm::is_contained(op.getAxes(), int64_t(d)))
        at[d] = index[result++];
    c.e.forget();
    for (auto [v, sum] : llvm::enumerate(sums)) {
      at.back() = vector(column, v);
      sum = emitCombine(c.b, combiner, element, sum, c.e.pull(op.getInput(), at));
    }
    c.e.forget();
    return sums;
  }

  KernelContext &c;
  ReduceOp op;
  Combiner combiner;
  Type element;
  SmallVector<SymExpr> kept;
  int64_t together;
  SmallVector<IndexValue> index; ///< of the result
};

class ColumnsSchedule : public Schedule {
public:
  StringRef name() const override { return "columns"; }
  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return match(spec).decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    ReduceOp op = *match(spec);
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    SmallVector<SymExpr> dims = inputType(op).getDims();
    int64_t block = vectorsOf(op, machine) * machine.lanes();
    SymExpr units = SymExpr::ceildiv(dims.back(), block), work = constant(block);
    for (size_t d = 0; d + 1 < dims.size(); ++d) {
      SymExpr &count = llvm::is_contained(op.getAxes(), int64_t(d)) ? work : units;
      count = count * dims[d];
    }
    SymExpr grain = SymExpr::floordiv(constant(kGrainWork), SymExpr::max(work, constant(1)));
    return {units, SymExpr::max(grain, constant(1)), constant(0)};
  }

  void emit(KernelContext &c) const override { Emitter(c, *match(c.spec)).emit(); }
};

} // namespace

const Schedule *columnsSchedule() {
  static const ColumnsSchedule schedule;
  return &schedule;
}

} // namespace weft
