//===- Contraction.cpp - Rows times packed weights, tiled in registers -----------------------------===//
//
// C[m, n] = epilogue(sum over k of A[m, k] * W[k, n]) with constant k and n. W is packed while compiling into panels of NR columns,
// [n / NR][k][NR], padded with zeros; it may be stored in 16, 8 or 4 bits (PackedWeight.h) and is widened in registers. A tile of up to MR
// rows by one panel stays in registers for the whole sum; A is read where it is, its rows a constant distance apart.
//
//   for block of panels (so many that they stay in L2) { for tile of rows { for panel in block { k loop; epilogue } } }
//
// Rows are cut into ceil(m / MR) tiles whose sizes differ by at most one, and every size 1..MR has its own function: ragged m costs nothing.
// Few rows take several panels at once, which keeps enough sums and loads from memory in flight. A unit is one (block, tile).
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/ContractionShape.h"
#include "targets/cpu/schedules/RoundedRows.h"
#include "targets/cpu/schedules/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kBlockBytes = 400 << 10; ///< of weights in f32, to stay in L2
constexpr int64_t kUnroll = 4;
constexpr int64_t kUnrollFew = 32; ///< for tiles of one or two rows of narrow weights
constexpr int64_t kAheadBytes =
    8192; ///< of narrow weights: what the processor fetches by itself comes too late
constexpr int64_t kSumsInFlight = 8; ///< two multiply-adds begin per cycle and take four
constexpr int64_t kLineBytes = 64;   ///< of the caches
constexpr int64_t kManyTiles = 4; ///< that then fetch a block's weights with most of their panels

using Shape = ContractionShape;

class ContractionSchedule : public Schedule {
public:
  StringRef name() const override { return "contraction"; }
  bool accepts(func::FuncOp spec, const VectorIsa &) const override {
    return Shape::match(spec).has_value();
  }

  static int64_t panelsOf(const Shape &s, const VectorIsa &isa) {
    return llvm::divideCeil(s.n, tileColumns(isa));
  }
  /// Rows of a tile. Where they lie a multiple of 4 KiB apart, they meet in one set of the first-level cache, which has 8 to 12 ways.
  static int64_t mostRows(const Shape &s, const VectorIsa &isa) {
    bool meet = s.k * 4 % 4096 == 0;
    return meet ? std::min<int64_t>(7, tileRows(isa)) : tileRows(isa);
  }
  static int64_t panelsPerBlock(const Shape &s, const VectorIsa &isa) {
    int64_t most = std::max<int64_t>(1, kBlockBytes / (s.k * tileColumns(isa) * 4));
    int64_t blocks = llvm::divideCeil(panelsOf(s, isa), most);
    return llvm::divideCeil(panelsOf(s, isa), blocks);
  }

  Launch launch(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *Shape::match(spec);
    int64_t blocks = llvm::divideCeil(panelsOf(s, isa), panelsPerBlock(s, isa));
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    return {SymExpr::ceildiv(s.m, mostRows(s, isa)) * blocks, constant(1),
            constant(s.roundedBlock ? tileRows(isa) * s.k * 4 : 0)};
  }

  SmallVector<std::string> layouts(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *Shape::match(spec);
    SmallVector<std::string> result(spec.getNumArguments());
    result[s.weight.data] = s.weight.layout(s.transposed, tileColumns(isa));
    s.weight.placeScales(s.transposed, tileColumns(isa), result);
    return result;
  }

  void emit(KernelContext &c) const override {
    Shape s = *Shape::match(c.spec);
    int64_t rows = mostRows(s, c.isa), perBlock = panelsPerBlock(s, c.isa);
    Type i64 = c.b.getI64Type();
    SmallVector<func::FuncOp> tiles;
    for (int64_t r = 1; r <= rows; ++r)
      tiles.push_back(declareRowTile(c, r, {i64, i64, i64, i64, i64, i64, c.scratch.getType()}));
    Value m = c.e.uniform(s.m), count = c.e.uniform(SymExpr::ceildiv(s.m, rows));
    auto div = [&](Value a, Value d) -> Value { return c.b.create<arith::DivUIOp>(a, d); };
    auto rem = [&](Value a, Value d) -> Value { return c.b.create<arith::RemUIOp>(a, d); };
    int64_t panelBytes = s.k * tileColumns(c.isa) * 4;
    auto run = [&](Value tile, Value fromBlock, Value toBlock, Value ahead, Value stride,
                   Value skipped) {
      Value from = c.mul(fromBlock, constantI64(c.b, perBlock)),
            to = c.mul(toBlock, constantI64(c.b, perBlock));
      to = c.b.create<arith::MinSIOp>(to, constantI64(c.b, panelsOf(s, c.isa)));
      callRowTile(c, tiles, m, count, tile, [&](Value first) -> SmallVector<Value> {
        return {c.kernel.getArgument(0), first, from, to, ahead, stride, skipped, c.scratch};
      });
    };
    // One tile reads every panel once: blocks are units of work then, and a distance to fetch ahead.
    Value one = constantI64(c.b, 1), zero = constantI64(c.b, 0),
          size = constantI64(c.b, perBlock * panelBytes),
          single = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, one);
    auto branch = c.b.create<scf::IfOp>(single, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(branch.thenBlock());
    run(zero, c.begin, c.end, size, constantI64(c.b, panelBytes / s.k), zero);
    c.b.setInsertionPointToStart(branch.elseBlock());
    // Every tile of a block fetches its part of the next one: what follows in memory, here or in the next kernel's weight. Where there are
    // many tiles, their first panel fetches the rows of the next tile instead.
    Value many =
        c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, count, constantI64(c.b, kManyTiles));
    Value skipped =
        perBlock > 1 ? c.b.create<arith::ExtUIOp>(c.b.getI64Type(), many).getResult() : zero;
    Value fetching = c.mul(c.sub(constantI64(c.b, perBlock), skipped), constantI64(c.b, s.k)),
          stride = div(size, c.mul(fetching, count));
    c.loop(c.begin, c.end, 1, [&](Value unit) {
      Value block = div(unit, count), tile = rem(unit, count);
      run(tile, block, c.add(block, one), c.add(size, c.mul(c.mul(tile, stride), fetching)), stride,
          skipped);
    });
    for (auto [i, tile] : llvm::enumerate(tiles))
      emitTile(c, tile, i + 1);
  }

private:
  /// What a tile's function knows: how many rows and panels at a time, and where they begin.
  struct Tile {
    int64_t rows, panels;
    Value first, a;
    Value panel; ///< the first of them
    Value ahead = {},
          aheadStride =
              {}; ///< what to fetch into the second-level cache for every k; null for nothing
    int64_t vectors() const { return 2 * panels; }
  };

  static int64_t panelsAtOnce(const Shape &s, const VectorIsa &isa, int64_t rows) {
    if (s.weight.form != PackedWeight::Words)
      return 1;
    return rows == 1 ? 4 : rows * 8 <= int64_t(isa.registers) ? 2 : 1;
  }

  /// Panels [from, to) for `rows` rows starting at `first`.
  static void emitTile(KernelContext &outer, func::FuncOp tile, int64_t rows) {
    emitRowTile(outer, tile, [&](KernelContext &c) { emitPanels(c, tile, rows); });
  }

  static void emitPanels(KernelContext &c, func::FuncOp tile, int64_t rows) {
    Value first = tile.getArgument(1), from = tile.getArgument(2), to = tile.getArgument(3);
    Shape s = *Shape::match(c.spec);
    Value a =
        elementPointer(c.b, c.inputs[s.lhs], c.b.getF32Type(), c.mul(first, constantI64(c.b, s.k)));
    if (s.roundedBlock) {
      Value scratch = tile.getArgument(7);
      RoundedRows(c, s.k, s.roundedBlock).toReals(a, scratch, constantI64(c.b, rows));
      a = scratch;
    }
    auto walk = [&](Value from, Value to, int64_t panels) {
      c.loop(from, to, panels, [&](Value panel) {
        c.e.forget();
        Tile t{rows, panels, first, a, panel};
        if (s.weight.form == PackedWeight::Words && panelsAtOnce(s, c.isa, rows) == 1)
          fetchAhead(c, s, tile, t);
        if (rows > kFewRows)
          fetchNextRows(c, s.op.getResult(), rows, first, panel);
        SmallVector<Value> sums = accumulate(c, s, t);
        storeRowTile(c, s.op.getResult(), t.first, t.panel, t.vectors(), s.n, sums);
        c.e.forget();
      });
    };
    if (int64_t panels = panelsAtOnce(s, c.isa, rows); panels > 1) {
      Value left = c.b.create<arith::RemUIOp>(c.sub(to, from), constantI64(c.b, panels)),
            whole = c.sub(to, left);
      walk(from, whole, panels);
      from = whole;
    }
    walk(from, to, 1);
  }

  /// Where a panel fetches from, and how many bytes further for every k.
  static void fetchAhead(KernelContext &c, const Shape &s, func::FuncOp tile, Tile &t) {
    Type f32 = c.b.getF32Type();
    Value from = tile.getArgument(2), stride = tile.getArgument(5), skipped = tile.getArgument(6),
          nth = c.sub(t.panel, from);
    Value block = elementPointer(c.b, c.inputs[s.weight.data], f32,
                                 c.mul(from, constantI64(c.b, s.k * tileColumns(c.isa))));
    Value steps = c.mul(c.sub(nth, skipped), constantI64(c.b, s.k));
    Value weights = bytes(c, block, c.add(tile.getArgument(4), c.mul(steps, stride)));
    Value first = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, nth, skipped);
    Value next = elementPointer(c.b, t.a, f32, constantI64(c.b, t.rows * s.k));
    t.ahead = c.b.create<LLVM::SelectOp>(first, next, weights);
    t.aheadStride = c.b.create<arith::SelectOp>(first, constantI64(c.b, kLineBytes), stride);
  }

  /// A chunk of the sum: `depth` k's beginning at `from`.
  struct Chunk {
    Value from;
    int64_t depth;
  };

  /// The sums of all rows and vectors, row by row.
  static SmallVector<Value> accumulate(KernelContext &c, const Shape &s, const Tile &t) {
    int64_t chunk = s.weight.chunk(), whole = s.k / chunk * chunk;
    SmallVector<Value> sums(t.rows * t.vectors(), zeros(c));
    if (s.k == chunk && !s.weight.block)
      return sumChunk(c, s, t, {constantI64(c.b, 0), chunk});
    auto add = [&](Chunk part, ValueRange totals) {
      SmallVector<Value> next = sumChunk(c, s, t, part);
      if (s.weight.block)
        scale(c, s, t, part, totals, next);
      else
        for (auto [total, value] : llvm::zip(totals, next))
          value = c.b.create<arith::AddFOp>(total, value);
      return next;
    };
    if (whole > 0)
      sums = c.loop(constantI64(c.b, 0), constantI64(c.b, whole), chunk, ValueRange(sums),
                    [&](Value from, ValueRange totals) {
                      return add({from, chunk}, totals);
                    });
    if (whole < s.k)
      sums = whole == 0 && !s.weight.block
                 ? sumChunk(c, s, t, {constantI64(c.b, 0), s.k})
                 : add({constantI64(c.b, whole), s.k - whole}, ValueRange(sums));
    return sums;
  }

  static Value zeros(KernelContext &c) {
    return c.b.create<arith::ConstantOp>(
        c.b.getZeroAttr(VectorType::get({c.isa.lanes}, c.b.getF32Type())));
  }

  static Value bytes(KernelContext &c, Value base, Value offset) {
    return elementPointer(c.b, base, c.b.getI8Type(), offset);
  }

  /// The row of panel `panel + p` for the block that holds `k`, in a matrix of one number per block.
  static Value blockRow(KernelContext &c, const Shape &s, const Tile &t, unsigned argument, Value k,
                        int64_t p) {
    auto type = cast<SymTensorType>(c.spec.getArgument(argument).getType());
    int64_t blocks = *type.getDim(s.transposed ? 1 : 0).asConstant();
    Value panel = c.add(t.panel, constantI64(c.b, p)),
          block = c.b.create<arith::DivUIOp>(k, constantI64(c.b, s.weight.block));
    Value row = c.add(c.mul(panel, constantI64(c.b, blocks)), block);
    return elementPointer(c.b, c.inputs[argument], c.b.getF32Type(),
                          c.mul(row, constantI64(c.b, tileColumns(c.isa))));
  }

  static Value loadVector(KernelContext &c, Value row, int64_t v) {
    Type f32 = c.b.getF32Type();
    return c.b.create<LLVM::LoadOp>(
        VectorType::get({c.isa.lanes}, f32),
        elementPointer(c.b, row, f32, constantI64(c.b, v * c.isa.lanes)), 4);
  }

  /// values = totals + scale * values
  static void scale(KernelContext &c, const Shape &s, const Tile &t, Chunk part, ValueRange totals,
                    SmallVectorImpl<Value> &values) {
    for (int64_t p = 0; p < t.panels; ++p) {
      Value row = blockRow(c, s, t, s.weight.scale, part.from, p);
      if (t.rows <= kFewRows)
        prefetch(c, row, kAheadBytes * 4 / (s.weight.block * elementBits(s.weight.element) / 8),
                 tileColumns(c.isa) * 4);
      for (int64_t v = 0; v < 2; ++v) {
        Value factor = loadVector(c, row, v);
        for (int64_t r = 0; r < t.rows; ++r) {
          int64_t at = r * t.vectors() + 2 * p + v;
          values[at] = c.b.create<vector::FMAOp>(values[at], factor, totals[at]);
        }
      }
    }
  }

  static constexpr int64_t kFewRows = 6; ///< that leave time to wait for memory

  /// Fetches the lines of `size` bytes at `ahead` bytes behind the pointer.
  static void prefetch(KernelContext &c, Value pointer, int64_t ahead, int64_t size) {
    for (int64_t at = 0; at < size; at += kLineBytes)
      c.b.create<LLVM::Prefetch>(bytes(c, pointer, constantI64(c.b, ahead + at)), /*rw=*/0,
                                 /*hint=*/3, /*cache=*/1);
  }

  /// The sums of one chunk. Few rows have several sums per element, of every so many-th k, so that none waits for another.
  static SmallVector<Value> sumChunk(KernelContext &c, const Shape &s, const Tile &t, Chunk part) {
    const PackedWeight &w = s.weight;
    int64_t count = t.rows * t.vectors(), unit = w.unit();
    int64_t chains =
        w.form == PackedWeight::Words ? 1 : std::max<int64_t>(1, kSumsInFlight / count);
    int64_t step =
                std::max(unit, w.form != PackedWeight::Words && t.rows <= 2 ? kUnrollFew : kUnroll),
            whole = part.depth / step * step;
    SmallVector<Value> data, zero;
    for (int64_t p = 0; p < t.panels; ++p) {
      Value panel = c.add(t.panel, constantI64(c.b, p));
      data.push_back(bytes(c, c.inputs[w.data],
                           c.mul(panel, constantI64(c.b, w.panelBytes(s.k, tileColumns(c.isa))))));
      for (int64_t v = 0; w.zero && v < 2; ++v)
        zero.push_back(loadVector(c, blockRow(c, s, t, *w.zero, part.from, p), v));
    }
    Value row = elementPointer(c.b, t.a, c.b.getF32Type(), part.from);
    SmallVector<Value> sums(count * chains, zeros(c));
    auto run = [&](Value k, int64_t depth, MutableArrayRef<Value> sums) {
      multiplyAdd(c, s, t, data, zero, row, c.add(part.from, k), k, depth, sums);
    };
    if (whole == step)
      run(constantI64(c.b, 0), step, sums);
    else if (whole > 0)
      sums = c.loop(constantI64(c.b, 0), constantI64(c.b, whole), step, ValueRange(sums),
                    [&](Value k, ValueRange carried) {
                      SmallVector<Value> next(carried);
                      run(k, step, next);
                      return next;
                    });
    if (whole < part.depth)
      run(constantI64(c.b, whole), part.depth - whole, sums);
    for (int64_t chain = 1; chain < chains; ++chain)
      for (int64_t i = 0; i < count; ++i)
        sums[i] = c.b.create<arith::AddFOp>(sums[i], sums[chain * count + i]);
    sums.truncate(count);
    return sums;
  }

  /// Adds products of `depth` k's that begin at `k`, which is `inRow` elements behind `row`.
  static void multiplyAdd(KernelContext &c, const Shape &s, const Tile &t, ArrayRef<Value> data,
                          ArrayRef<Value> zero, Value row, Value k, Value inRow, int64_t depth,
                          MutableArrayRef<Value> sums) {
    const PackedWeight &w = s.weight;
    int64_t columns = tileColumns(c.isa), unit = w.unit(), bytesPerUnit = w.unitBytes(columns),
            count = t.rows * t.vectors();
    int64_t chains = sums.size() / count;
    Type f32 = c.b.getF32Type(), pointer = LLVM::LLVMPointerType::get(c.b.getContext());
    auto vector = VectorType::get({c.isa.lanes}, f32);
    auto at = [&](Value base, Type type, int64_t offset) -> Value {
      return c.b.create<LLVM::GEPOp>(pointer, type, base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    };
    Value units =
        unit == 1 ? k : Value(c.b.createOrFold<arith::DivUIOp>(k, constantI64(c.b, unit)));
    Value offset = c.mul(units, constantI64(c.b, bytesPerUnit)),
          x = elementPointer(c.b, row, f32, inRow);
    SmallVector<Value> here;
    for (Value panel : data) {
      here.push_back(bytes(c, panel, offset));
      if (w.form != PackedWeight::Words && t.rows <= kFewRows)
        prefetch(c, here.back(), kAheadBytes, (depth + unit - 1) / unit * bytesPerUnit);
    }
    for (int64_t u = 0; u * unit < depth; ++u) {
      if (t.ahead)
        c.b.create<LLVM::Prefetch>(
            bytes(c, t.ahead, c.mul(c.add(k, constantI64(c.b, u)), t.aheadStride)), /*rw=*/0,
            /*hint=*/2, /*cache=*/1);
      SmallVector<SmallVector<Value, 8>> weights;
      for (int64_t v = 0; v < t.vectors(); ++v)
        weights.push_back(w.decode(
            c, at(here[v / 2], c.b.getI8Type(), u * bytesPerUnit + (v % 2) * bytesPerUnit / 2),
            zero.empty() ? Value() : zero[v]));
      for (int64_t i = 0; i < unit && u * unit + i < depth; ++i)
        for (int64_t r = 0; r < t.rows; ++r) {
          Value scalar = c.b.create<LLVM::LoadOp>(f32, at(x, f32, r * s.k + u * unit + i), 4);
          Value all = c.b.create<vector::SplatOp>(scalar, vector);
          for (int64_t v = 0; v < t.vectors(); ++v) {
            Value &sum = sums[((u * unit + i) % chains) * count + r * t.vectors() + v];
            sum = c.b.create<vector::FMAOp>(all, weights[v][i], sum);
          }
        }
    }
  }
};

} // namespace

const Schedule *contractionSchedule() {
  static const ContractionSchedule schedule;
  return &schedule;
}

} // namespace weft
