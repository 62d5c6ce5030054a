//===- Depthwise.cpp - Convolutions with one channel per filter, row by row --------------------------===//
//
// y[n, g, p, q] = epilogue(sum over i, j of w[g, i, j] * x[n, g, p * s + i * d - top, q * t + j * e - left]). A unit is one plane (n, g).
// Vectors run along columns; rows of the result whose windows lie inside are computed four at a time, so that a row of x is loaded once
// for all of them. Columns outside are switched off in the loads, rows outside only at the top and the bottom:
//
//   for vector of columns { rows at the top, one by one; rows by four; the rest, one by one }
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/ConvolutionShape.h"
#include <map>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kRows = 4;           ///< of the result at once
constexpr int64_t kMostTaps = 64;      ///< they are written out
constexpr int64_t kGrainWork = 16384;  ///< elements below which a piece of work is not worth a thread

class DepthwiseEmitter {
public:
  explicit DepthwiseEmitter(KernelContext &c) : c(c), s(*ConvolutionShape::match(c.spec)), rows(s.window[0]), columns(s.window[1]) {}

  void emit() {
    auto constant = [&](int64_t value) { return SymExpr::constant(s.op.getContext(), value); };
    SymExpr top = SymExpr::ceildiv(rows.low, rows.stride), span = rows.in + rows.low - ((rows.kernel - 1) * rows.dilation + 1);
    SymExpr first = SymExpr::min(SymExpr::max(top, constant(0)), rows.out);
    SymExpr behind = SymExpr::min(SymExpr::max(SymExpr::floordiv(span, rows.stride) + 1, first), rows.out);
    Value inner = c.e.uniform(first), rest = c.e.uniform(first + SymExpr::floordiv(behind - first, kRows) * kRows);
    Value height = c.e.uniform(rows.out), outWidth = c.e.uniform(columns.out), reach = number((columns.kernel - 1) * columns.dilation);
    width = c.e.uniform(columns.in), inHeight = c.e.uniform(rows.in);
    int64_t lanes = c.isa.lanes;
    c.loop(c.begin, c.end, 1, [&](Value plane) {
      image = c.b.create<arith::DivUIOp>(plane, number(s.groups)), channel = c.b.create<arith::RemUIOp>(plane, number(s.groups));
      auto input = cast<BlockArgument>(s.op.getInput()).getArgNumber();
      source = elementPointer(c.b, c.inputs[input], c.b.getF32Type(), c.mul(plane, c.mul(inHeight, width)));
      filter = elementPointer(c.b, c.inputs[s.filter], c.b.getF32Type(), c.mul(channel, number(rows.kernel * columns.kernel)));
      c.loop(number(0), outWidth, lanes, [&](Value column) {
        x = c.sub(c.mul(column, number(columns.stride)), c.e.uniform(columns.low));
        Value end = c.add(c.add(x, reach), number(lanes * columns.stride + 1)); // odd lanes are read one further
        Value inside = both(atLeast(x, number(0)), both(atLeast(width, end), atLeast(outWidth, c.add(column, number(lanes)))));
        auto choose = c.b.create<scf::IfOp>(inside, true);
        for (bool masked : {false, true}) {
          OpBuilder::InsertionGuard insertion(c.b);
          c.b.setInsertionPointToStart(masked ? choose.elseBlock() : choose.thenBlock());
          c.e.forget();
          useMasks = masked;
          tail = masked ? lanesBelow(c.sub(outWidth, column)) : Value();
          makeMasks();
          c.loop(number(0), inner, 1, [&](Value row) { emitRows(row, column, 1); });
          c.loop(inner, rest, kRows, [&](Value row) { emitRows(row, column, kRows); });
          c.loop(rest, height, 1, [&](Value row) { emitRows(row, column, 1); });
        }
      });
    });
  }

private:
  Value number(int64_t value) { return constantI64(c.b, value); }
  Value atLeast(Value a, Value d) { return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, a, d); }
  Value both(Value a, Value d) { return c.b.create<arith::AndIOp>(a, d); }
  VectorType vectorType() { return VectorType::get({c.isa.lanes}, c.b.getF32Type()); }

  /// Lanes 0 .. count - 1.
  Value lanesBelow(Value count) {
    auto type = VectorType::get({c.isa.lanes}, c.b.getI32Type());
    SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, c.isa.lanes));
    Value lane = c.b.create<arith::ConstantOp>(DenseIntElementsAttr::get(type, numbers));
    Value some = c.b.create<arith::MinSIOp>(c.b.create<arith::MaxSIOp>(count, number(0)), number(c.isa.lanes));
    Value all = c.b.create<vector::SplatOp>(c.b.create<arith::TruncIOp>(c.b.getI32Type(), some), type);
    return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, lane, all);
  }

  /// Where the vectors of a row begin, counted from x: for stride 2, even and odd elements come from the same two.
  SmallVector<int64_t> loadsOf(int64_t offset) {
    if (columns.stride == 1)
      return {offset};
    return {offset & ~int64_t(1), (offset & ~int64_t(1)) + c.isa.lanes};
  }

  void makeMasks() {
    masks.clear();
    if (!useMasks)
      return;
    for (int64_t j = 0; j < columns.kernel; ++j)
      for (int64_t offset : loadsOf(j * columns.dilation)) {
        Value at = c.add(x, number(offset)), below = lanesBelow(c.sub(width, at)), before = lanesBelow(c.sub(number(0), at));
        Value none = c.b.create<arith::ConstantOp>(DenseElementsAttr::get(cast<ShapedType>(below.getType()), true));
        masks[offset] = both(below, c.b.create<arith::XOrIOp>(before, none));
      }
  }

  /// The elements that the taps of one row of x read, by tap; zeros outside. `inside`: whether the row is, null when it is known to be.
  SmallVector<Value> readRow(Value row, Value inside) {
    Type f32 = c.b.getF32Type();
    Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vectorType()));
    Value line = c.mul(inside ? c.b.create<arith::SelectOp>(inside, row, number(0)) : row, width);
    std::map<int64_t, Value> loaded;
    auto load = [&](int64_t offset) {
      Value &value = loaded[offset];
      if (value)
        return value;
      Value at = elementPointer(c.b, source, f32, c.add(c.add(line, x), number(offset))), mask = masks[offset];
      if (inside) {
        auto type = VectorType::get({c.isa.lanes}, c.b.getI1Type());
        Value some = c.b.create<vector::SplatOp>(inside, type);
        mask = mask ? both(mask, some) : some;
      }
      return value = mask ? Value(c.b.create<LLVM::MaskedLoadOp>(vectorType(), at, mask, zero, 4))
                          : Value(c.b.create<LLVM::LoadOp>(vectorType(), at, 4));
    };
    SmallVector<Value> result;
    for (int64_t j = 0; j < columns.kernel; ++j) {
      int64_t offset = j * columns.dilation;
      SmallVector<int64_t> from = loadsOf(offset), lanes;
      for (unsigned i = 0; i < c.isa.lanes; ++i)
        lanes.push_back(2 * i + (offset & 1));
      Value low = load(from[0]);
      result.push_back(from.size() == 1 ? low : Value(c.b.create<vector::ShuffleOp>(low, load(from[1]), lanes)));
    }
    return result;
  }

  /// Rows [first, first + count) of the result; their windows lie inside when there are several.
  void emitRows(Value first, Value column, int64_t count) {
    c.e.forget();
    SmallVector<Value> sums(count, c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vectorType())));
    Value start = c.sub(c.mul(first, number(rows.stride)), c.e.uniform(rows.low));
    for (int64_t r = 0; r <= (count - 1) * rows.stride + (rows.kernel - 1) * rows.dilation; ++r) {
      SmallVector<Value> taps;
      for (int64_t t = 0; t < count; ++t) {
        int64_t down = r - t * rows.stride, i = down / rows.dilation;
        if (down < 0 || down % rows.dilation || i >= rows.kernel)
          continue;
        if (taps.empty()) {
          Value row = c.add(start, number(r)), inside;
          if (count == 1)
            inside = both(atLeast(row, number(0)), c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, row, inHeight));
          taps = readRow(row, inside);
        }
        for (int64_t j = 0; j < columns.kernel; ++j) {
          Value w = elementPointer(c.b, filter, c.b.getF32Type(), number(i * columns.kernel + j));
          Value all = c.b.create<vector::SplatOp>(c.b.create<LLVM::LoadOp>(c.b.getF32Type(), w, 4), vectorType());
          sums[t] = c.b.create<vector::FMAOp>(taps[j], all, sums[t]);
        }
      }
    }
    for (int64_t t = 0; t < count; ++t)
      storeRow(c.add(first, number(t)), column, sums[t]);
    c.e.forget();
  }

  void storeRow(Value row, Value column, Value sum) {
    SmallVector<IndexValue> index{{image}, {channel}};
    if (!s.isLine)
      index.push_back({row});
    index.push_back({column, 1});
    c.e.forget();
    c.e.setTailMask(tail);
    c.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
    c.storeResults(index);
    c.e.setTailMask({});
  }

  KernelContext &c;
  ConvolutionShape s;
  const ConvolutionWindow &rows, &columns;
  Value width, inHeight, image, channel, source, filter;
  Value x;    ///< column of the operand that the first tap of lane 0 reads
  Value tail; ///< lanes inside the result; null for all
  bool useMasks = false;
  std::map<int64_t, Value> masks; ///< lanes inside the operand, by where a vector begins
};

class DepthwiseSchedule : public Schedule {
public:
  StringRef name() const override { return "depthwise"; }

  bool accepts(func::FuncOp spec, const VectorIsa &) const override {
    auto s = ConvolutionShape::match(spec);
    return s && s->channels == 1 && s->filters == s->groups && s->groups > 1 && isa<BlockArgument>(s->op.getInput()) &&
           s->window[1].stride <= 2 && s->window[0].kernel * s->window[1].kernel <= kMostTaps;
  }

  Launch launch(func::FuncOp spec, const VectorIsa &) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec);
    SymExpr one = SymExpr::constant(spec.getContext(), 1), work = SymExpr::constant(spec.getContext(), kGrainWork);
    SymExpr grain = SymExpr::max(SymExpr::floordiv(work, SymExpr::max(s.pixels(), one)), one);
    return {s.batch * s.groups, grain, SymExpr::constant(spec.getContext(), 0)};
  }

  void emit(KernelContext &c) const override { DepthwiseEmitter(c).emit(); }
};

} // namespace

const Schedule *depthwiseSchedule() {
  static const DepthwiseSchedule schedule;
  return &schedule;
}

} // namespace weft
