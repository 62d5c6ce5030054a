//===- Product.cpp - Products of two values that are not weights ------------------------------===//
//
// out[o.., m, n] = epilogue(sum over k of A[o.., m, k] * B[o.., k, n]) with everything symbolic;
// dimensions may lie in any order, and each outer factor o may be absent from one side. The
// innermost dimension of the result is n.
//
//   for combination of the outer factors, block of rows                    [units]
//     pull the rows of A into scratch as [k][block], unless read in place  [pull rows]
//       or row by row, of 16 bits that could be read in place            [lay rows]
//     for panel of two vectors of n
//       pull B into scratch as [k][2 vectors], zeros beyond n              [pull panel]
//       for register tile of the block's rows                              [tiles]
//         totals = 0, in registers: rows by two vectors
//         for chunk of k: totals += sum of A[row, k] in all lanes * B[k]   [sum]
//         for vector, row: epilogue and store, masked where n ends         [store]
//
// A is read where it is when its rows are a constant distance apart, k is contiguous and elements
// are f32. In scratch, both sides are f32.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/common/match/ProductShape.h"
#include "targets/common/match/RowsAlone.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/tile/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kUnroll = 4;
constexpr int64_t kBlockTiles =
    8; ///< register tiles in a block of rows: B is pulled once per block
constexpr int64_t kTileCandidates[] = {8, 16};

using Shape = ProductShape;
using Factors = ProductShape::Factors;

Match<Shape> match(func::FuncOp spec) { return Shape::match(spec); }

/// The distance of A's rows when they lie one by one, a constant apart: in an argument of f32, or of
/// 16 bits, whose last dimension is k.
std::optional<int64_t> rowDistance(const Shape &s) {
  auto type = cast<SymTensorType>(s.a.getType());
  Type element = type.getElementType();
  if (!isa<BlockArgument>(s.a) || !(element.isF32() || isHalf(element)) || s.inA.back() != s.k)
    return std::nullopt;
  int64_t distance = 1;
  for (size_t d = s.inA.size(); d-- > 0 && s.inA[d] != s.m;) {
    auto size = type.getDim(d).asConstant();
    if (!size)
      return std::nullopt;
    distance *= *size;
  }
  return distance;
}

/// Whether A is multiplied where it is.
bool isInPlace(const Shape &s) {
  return rowDistance(s) && cast<SymTensorType>(s.a.getType()).getElementType().isF32();
}

class ProductSchedule : public Schedule {
public:
  StringRef name() const override { return "product"; }
  LoopKind loops() const override { return LoopKind::Products; }
  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return match(spec).decline();
  }

  /// Whole vectors, for every candidate: that many rows are stored at once.
  static int64_t blockRows(const Shape &s, const VectorMachine &machine) {
    return pick(s.op, "tiles", kBlockTiles) * tileRows(machine);
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    SymExpr m = match(spec)->extent(match(spec)->m);
    std::vector<Choice> list;
    offer(list, "tiles", kTileCandidates, kBlockTiles, [&](int64_t tiles) {
      std::optional<int64_t> blocks = SymExpr::ceildiv(m, tiles * tileRows(machine)).asConstant();
      return blocks ? *blocks : -tiles;
    });
    return list;
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *match(spec);
    SymExpr units = SymExpr::ceildiv(s.extent(s.m), blockRows(s, machine));
    for (unsigned factor : s.outer)
      units = units * s.extent(factor);
    int64_t perDepth = tileColumns(machine) + (isInPlace(s) ? 0 : blockRows(s, machine));
    return {units, SymExpr::constant(spec.getContext(), 1), s.extent(s.k) * (4 * perDepth)};
  }

  /// A row is summed alike in tiles of all sizes.
  std::optional<RowTiles> rowTiles(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *match(spec);
    auto a = dyn_cast<BlockArgument>(s.a);
    if (!a || !s.outer.empty())
      return std::nullopt;
    return rowsAlone(spec, a.getArgNumber(), s.extent(s.m), blockRows(s, machine));
  }

  void emit(KernelContext &c) const override {
    Shape s = *match(c.spec);
    SmallVector<func::FuncOp> tiles;
    for (int64_t r = 1; r <= tileRows(c.machine); ++r)
      tiles.push_back(declareTile(c, r, s.outer.size()));
    int64_t columns = tileColumns(c.machine), rows = blockRows(s, c.machine);
    Value m = c.e.uniform(s.extent(s.m)), n = c.e.uniform(s.extent(s.n)),
          k = c.e.uniform(s.extent(s.k));
    Value aBlock =
        elementPointer(c.b, c.scratch, c.b.getF32Type(), c.mul(k, constantI64(c.b, columns)));
    // [units] Blocks of rows are innermost: neighbours in a worker read the same B.
    c.loop(c.begin, c.end, 1, [&](Value unit) {
      auto [rest, block] = c.e.divmod({unit}, c.e.symbolic(SymExpr::ceildiv(s.extent(s.m), rows)));
      SmallVector<Value> outer(s.outer.size());
      for (size_t i = s.outer.size(); i-- > 0;) {
        auto [quotient, remainder] = c.e.divmod(rest, c.e.symbolic(s.extent(s.outer[i])));
        outer[i] = remainder.base;
        rest = quotient;
      }
      Value first = c.mul(block.base, constantI64(c.b, rows));
      Value count = c.b.create<arith::MinSIOp>(c.sub(m, first), constantI64(c.b, rows));
      if (!rowDistance(s))
        pullRows(c, s, outer, first, count, k, aBlock);
      else if (!isInPlace(s))
        layRows(c, s, outer, first, count, aBlock);
      Value tileCount =
          c.b.create<arith::CeilDivUIOp>(count, constantI64(c.b, tileRows(c.machine)));
      c.loop(constantI64(c.b, 0), n, columns, [&](Value column) {
        pullPanel(c, s, outer, column, n, k);
        c.loop(constantI64(c.b, 0), tileCount, 1, [&](Value tile) {
          // [tiles] A function for every number of rows, as in the contraction.
          callRowTile(c, tiles, count, tileCount, tile, [&](Value row) {
            SmallVector<Value> arguments{c.kernel.getArgument(0), c.scratch, first, row, column};
            arguments.append(outer);
            return arguments;
          });
        });
      });
    });
    for (auto [i, tile] : llvm::enumerate(tiles))
      emitTile(c, tile, i + 1);
  }

private:
  static void store(KernelContext &c, Value data, Value base, Value at) {
    c.b.create<LLVM::StoreOp>(data, elementPointer(c.b, base, c.b.getF32Type(), at), 4);
  }

  /// [pull panel] B of one panel: scratch[k][columns], zeros beyond n.
  static void pullPanel(KernelContext &c, const Shape &s, ArrayRef<Value> outer, Value column,
                        Value n, Value k) {
    int64_t columns = tileColumns(c.machine);
    Value zero = c.e.constantData(c.b.getF32Type(), c.b.getF32FloatAttr(0));
    c.loop(constantI64(c.b, 0), k, 1, [&](Value depth) {
      for (int64_t v = 0; v < 2; ++v) {
        c.e.forget();
        IndexValue here{c.add(column, constantI64(c.b, v * c.machine.lanes())), 1};
        Value inside = c.e.less(here, {n});
        c.e.setTailMask(inside);
        Value data = c.e.pull(s.b, s.indexOf(s.inB, outer, {}, here, {depth}));
        c.e.setTailMask({});
        c.e.forget();
        data = c.b.create<arith::SelectOp>(inside, data, zero);
        store(c, data, c.scratch,
              c.add(c.mul(depth, constantI64(c.b, columns)),
                    constantI64(c.b, v * c.machine.lanes())));
      }
    });
  }

  /// [pull rows] Rows [first, first + count) of A as [k][block]; behind them lies what nobody
  /// reads.
  static void pullRows(KernelContext &c, const Shape &s, ArrayRef<Value> outer, Value first,
                       Value count, Value k, Value to) {
    int64_t rows = blockRows(s, c.machine);
    c.loop(constantI64(c.b, 0), k, 1, [&](Value depth) {
      c.loop(constantI64(c.b, 0), count, c.machine.lanes(), [&](Value row) {
        c.e.forget();
        IndexValue here{row, 1};
        c.e.setTailMask(c.e.less(here, {count}));
        Value data = c.e.pull(s.a, s.indexOf(s.inA, outer, {c.add(first, row), 1}, {}, {depth}));
        c.e.setTailMask({});
        c.e.forget();
        store(c, data, to, c.add(c.mul(depth, constantI64(c.b, rows)), row));
      });
    });
  }

  /// [lay rows] The same rows one behind the other, widened along k.
  static void layRows(KernelContext &c, const Shape &s, ArrayRef<Value> outer, Value first,
                      Value count, Value to) {
    SymExpr k = s.extent(s.k);
    Type f32 = c.b.getF32Type();
    auto line = SymTensorType::get({k}, f32);
    c.loop(constantI64(c.b, 0), count, 1, [&](Value row) {
      Value place = elementPointer(c.b, to, f32, c.mul(row, c.e.uniform(k)));
      c.vectors(k, [&](IndexValue depth) {
        Value data = c.e.pull(s.a, s.indexOf(s.inA, outer, {c.add(first, row)}, {}, depth));
        c.e.store(place, line, {depth}, data);
      });
    });
  }

  static func::FuncOp declareTile(KernelContext &c, int64_t rows, size_t outer) {
    Type i64 = c.b.getI64Type();
    SmallVector<Type> types{c.scratch.getType(), i64, i64, i64};
    types.append(outer, i64);
    return declareRowTile(c, rows, types);
  }

  /// (words, scratch, first row of the block, row in the block, column, outer…)
  static void emitTile(KernelContext &from, func::FuncOp tile, int64_t rows) {
    emitRowTile(from, tile, [&](KernelContext &c) {
      c.scratch = tile.getArgument(1);
      Shape s = *match(c.spec);
      SmallVector<Value> outer(tile.getArguments().drop_front(5));
      Value k = c.e.uniform(s.extent(s.k)), row = c.add(tile.getArgument(2), tile.getArgument(3)),
            column = tile.getArgument(4);
      SmallVector<Value> sums = accumulate(c, s, outer, row, tile.getArgument(3), k, rows);
      epilogue(c, s, outer, row, column, rows, sums);
    });
  }

  /// Where a tile's row of A and the panel of B begin.
  static TileSource sourceOf(KernelContext &c, const Shape &s, ArrayRef<Value> outer, Value row,
                             Value rowOfBlock, Value k) {
    Type f32 = c.b.getF32Type();
    Value columns = constantI64(c.b, tileColumns(c.machine));
    TileSource source{{}, 1, c.scratch, columns, blockRows(s, c.machine)};
    std::optional<int64_t> distance = rowDistance(s);
    if (isInPlace(s)) {
      IndexValue at = c.e.linear(cast<SymTensorType>(s.a.getType()),
                                 s.indexOf(s.inA, outer, {row}, {}, c.e.constant(0)));
      source.a =
          elementPointer(c.b, c.inputs[cast<BlockArgument>(s.a).getArgNumber()], f32, at.base);
    } else {
      Value first = distance ? c.mul(rowOfBlock, k) : rowOfBlock;
      source.a = elementPointer(c.b, c.scratch, f32, c.add(c.mul(k, columns), first));
    }
    if (distance) {
      source.rowStride = isInPlace(s) ? *distance : *s.extent(s.k).asConstant();
      source.depthStride = 1;
    }
    return source;
  }

  /// [sum] In chunks: the error of a long sum stays that of a short one.
  static SmallVector<Value> accumulate(KernelContext &c, const Shape &s, ArrayRef<Value> outer,
                                       Value row, Value rowOfBlock, Value k, int64_t rows) {
    Type f32 = c.b.getF32Type();
    TileSource source = sourceOf(c, s, outer, row, rowOfBlock, k);
    auto vector = VectorType::get({c.machine.lanes()}, f32);
    const SmallVector<Value> zeros(rows * 2,
                                   c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector)));
    return c.loop(
        constantI64(c.b, 0), k, kSumChunk, ValueRange(zeros), [&](Value from, ValueRange totals) {
          TileSource part = source;
          part.a =
              elementPointer(c.b, source.a, f32, c.mul(from, constantI64(c.b, source.depthStride)));
          part.b = elementPointer(c.b, source.b, f32, c.mul(from, source.columnStride));
          Value depth = c.b.create<arith::MinSIOp>(c.sub(k, from), constantI64(c.b, kSumChunk));
          SmallVector<Value> sums(zeros);
          multiplyAdd(c, part, depth, kUnroll, sums, rows, 2);
          for (auto [total, value] : llvm::zip(totals, sums))
            value = c.b.create<arith::AddFOp>(total, value);
          return sums;
        });
  }

  /// [store] All of a vector of columns with one mask.
  static void epilogue(KernelContext &c, const Shape &s, ArrayRef<Value> outer, Value row,
                       Value column, int64_t rows, ArrayRef<Value> sums) {
    for (int64_t v = 0; v < 2; ++v) {
      IndexValue n{c.add(column, constantI64(c.b, v * c.machine.lanes())), 1};
      c.e.setTailMask(c.e.less(n, c.e.symbolic(s.extent(s.n))));
      for (int64_t r = 0; r < rows; ++r) {
        SmallVector<IndexValue> index =
            s.indexOf(s.inResult, outer, {c.add(row, constantI64(c.b, r))}, n, {});
        Value sum = sums[2 * r + v];
        c.e.provide(Shape(s).op.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
        c.storeResults(index);
      }
      c.e.setTailMask({});
      c.e.forget();
    }
  }
};

} // namespace

const Schedule *productSchedule() {
  static const ProductSchedule schedule;
  return &schedule;
}

} // namespace weft
