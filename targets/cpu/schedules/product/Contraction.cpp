//===- Contraction.cpp - Rows times packed weights, tiled in registers ------------------------===//
//
// C[m, n] = epilogue(sum over k of A[m, k] * W[k, n]) with constant k and n.
//
//   for block of panels                                                      [units]
//   for tile of up to MR rows                                                [tiles]
//     the rows as reals into scratch, where they are rounded or narrow       [lay rows]
//     for 1, 2 or 4 panels at once, then for each of those left over         [panels]
//       for chunk of k, the last of which may be shorter                     [chunks]
//         sums = 0, in registers, too: few rows have several chains of them  [sum chunk]
//         for the chunk's k, some in each turn
//           weights = one or some k's of the panels, widened to f32          [load weights]
//             those that are narrow go to scratch, where many tiles follow   [leave weights]
//           for row, vector: sums += A[row, k] in all lanes * weights        [multiply add]
//             or of pairs of bf16, neither widened, where the machine does   [multiply pairs]
//         chains are added up                                                [join chains]
//         totals += sums, times the block's scale where there is one         [add chunk]
//       for vector, row: epilogue and store, masked where n ends             [store]
//
// W is packed while compiling into panels of NR columns, two or three vectors of them, [n / NR][k][NR], padded with zeros; it may
// be stored in 16, 8 or 4 bits (PackedWeight.h) and is widened in registers; of 4 bits, where sums leave no
// registers for that, a chunk at a time in scratch (`widensFirst` in ContractionForm.h). A tile of rows stays
// in registers for the whole sum; A is read where it is, its rows a constant distance apart.
//
// Where W is the rows of a larger weight that a rank has, it lies in the panels of that, which are
// further apart. Where ranks have parts of several sizes, k or n is a symbol: panels have columns or
// rows as before, and how many there are shows when the kernel runs.
//
// Tiles and blocks of panels are those of PanelBlocks.h. Rows are cut into ceil(m / MR) tiles whose
// sizes differ by at most one, and every size 1..MR has its own function: ragged m costs nothing.
// Few rows take several panels at once, which keeps enough sums and loads from memory in flight.
// Where tiles are many, the rows of the next are laid between the products of this one.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/product/ContractionForm.h"
#include "targets/cpu/schedules/tile/PanelBlocks.h"
#include "targets/cpu/schedules/tile/RoundedRows.h"
#include "targets/cpu/schedules/tile/RowTile.h"
#include "targets/cpu/schedules/tile/RowsAhead.h"
#include "targets/cpu/schedules/tile/SpreadRun.h"
#include "targets/cpu/schedules/tile/WidenedElements.h"
#include "targets/cpu/schedules/tile/WidenedPanels.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kUnrollFew = 32;      ///< for tiles of one or two rows of narrow weights
constexpr int64_t kSumsInFlight = 8;    ///< two multiply-adds begin per cycle and take four
constexpr int64_t kLoaded = 6;          ///< vectors of weights, beside those of rows
constexpr int64_t kNearBytes = 1 << 20; ///< of a weight that may stay in L2

class ContractionSchedule : public Schedule {
public:
  StringRef name() const override { return "contraction"; }
  LoopKind loops() const override { return LoopKind::Products; }
  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return PackedContraction::matchParts(spec).decline();
  }

  Unit unit(func::FuncOp spec, const VectorMachine &machine) const override {
    return ContractionForm::of(spec, machine).pairs ? Unit::HalfPairs : Unit::Reals;
  }

  /// Rows of a tile. Where they meet in one set of the first-level cache, this has 8 to 12 ways.
  static int64_t estimateRows(const ContractionForm &s, const VectorMachine &machine) {
    bool meet = s.k && s.rowBytes() % kPageBytes == 0;
    int64_t rows = rowsBy(s.vectors, machine);
    return meet ? std::min<int64_t>(7, rows) : rows;
  }
  static PanelBlocks blocksOf(func::FuncOp spec, const VectorMachine &machine) {
    ContractionForm s = ContractionForm::of(spec, machine);
    bool halves = s.weight.form == PackedWeight::Halves && (s.pairs || s.k);
    PanelBlocks blocks(s.m, pick(s.op, "rows", estimateRows(s, machine)),
                       SymExpr::ceildiv(s.width, s.columns), s.mostK * (halves ? 2 : 4) * s.columns,
                       s.steps(), pick(s.op, "block", kBlockKiB));
    if (!s.k)
      return blocks;
    if (s.widens()) {
      blocks.leaveFrom = s.tilesToLeave(machine, blocks.mostRows);
      blocks.storedBytes = s.weight.panelBytes(s.k, s.columns);
    }
    blocks.gap = s.panelDistance(spec) - s.weight.panelBytes(s.k, s.columns);
    return blocks;
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    ContractionForm s = ContractionForm::of(spec, machine);
    std::vector<Choice> list;
    blocksOf(spec, machine).offer(list, estimateRows(s, machine), machine);
    return list;
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    ContractionForm s = ContractionForm::of(spec, machine);
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    PanelBlocks blocks = blocksOf(spec, machine);
    if (!blocks.mayLeave())
      return {blocks.units(), constant(1), constant(widenedFrom(s, machine))};
    int64_t widened = widenedOf(s).bytes(blocks.perBlock);
    return {blocks.units(), constant(1), constant(widenedFrom(s, machine) + widened)};
  }

  std::optional<RowTiles> rowTiles(func::FuncOp spec, const VectorMachine &machine) const override {
    return blocksOf(spec, machine).rowTiles(spec, ContractionForm::of(spec, machine).lhs);
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    return ContractionForm::of(spec, machine).layouts(spec);
  }

  void emit(KernelContext &c) const override {
    ContractionForm s = ContractionForm::of(c.spec, c.machine);
    PanelBlocks blocks = blocksOf(c.spec, c.machine);
    // [units] Here and in the functions:
    // [tiles] those of one size that follow each other share a call.
    blocks.emit(c, [&](KernelContext &inner, int64_t rows, const PanelBlocks::Tile &tile) {
      bool laysAhead = tile.panels == PanelBlocks::Panels::Found && s.mayLayAhead(inner.machine);
      if (laysAhead)
        layRows(inner, s, rowsAt(inner, s, tile.first), tile.scratch, rows);
      inner.loop(constantI64(inner.b, 0), tile.count, 1, [&](Value n) {
        inner.e.forget();
        Laid laid = laysAhead ? laidAhead(inner, s, blocks, rows, tile, n) : Laid();
        emitPanels(inner, blocks, rows, tile.nth(inner, n, rows), laid);
      });
    });
  }

private:
  static WidenedPanels widenedOf(const ContractionForm &s) { return {s.weight, s.k, s.columns}; }
  /// Of scratch, for the rows of a tile.
  static int64_t rowsBytes(const ContractionForm &s, const VectorMachine &machine) {
    return s.laysRows() ? tileRows(machine) * s.rowStride() * 4 : 0;
  }
  /// Where a widened chunk lies in scratch: behind the rows, of two tiles where those of the next are laid ahead.
  static int64_t chunkFrom(const ContractionForm &s, const VectorMachine &machine) {
    return rowsBytes(s, machine) * (s.mayLayAhead(machine) ? 2 : 1);
  }
  /// Where widened panels lie: behind that.
  static int64_t widenedFrom(const ContractionForm &s, const VectorMachine &machine) {
    bool hasChunk = s.widensFirst(machine, tileRows(machine));
    int64_t chunk = hasChunk ? s.asWidened(machine).chunk() : 0;
    return chunkFrom(s, machine) + chunk * s.columns * 4;
  }
  static Value widenedAt(KernelContext &c, const ContractionForm &s, Value scratch) {
    return bytes(c, scratch, constantI64(c.b, widenedFrom(s, c.machine)));
  }
  /// Where row `first` lies.
  static Value rowsAt(KernelContext &c, const ContractionForm &s, Value first) {
    return elementPointer(c.b, c.inputs[s.lhs], memoryType(s.element),
                          c.mul(first, c.e.uniform(s.depth)));
  }

  /// Rows that were laid ahead, if they were, and those to lay meanwhile.
  struct Laid {
    Value rows = {};
    RowsAhead next = {};
  };
  /// Tiles of a call take turns with two places in scratch; the last one lays its own
  /// rows once more, for nobody.
  static Laid laidAhead(KernelContext &c, const ContractionForm &s, const PanelBlocks &blocks,
                        int64_t rows, const PanelBlocks::Tile &tile, Value n) {
    Value one = constantI64(c.b, 1), last = c.sub(tile.count, one),
          later = c.b.create<arith::MinSIOp>(c.add(n, one), last);
    auto place = [&](Value nth) {
      Value odd = c.b.create<arith::AndIOp>(nth, one);
      return bytes(c, tile.scratch, c.mul(odd, constantI64(c.b, rowsBytes(s, c.machine))));
    };
    Value from = rowsAt(c, s, c.add(tile.first, c.mul(later, constantI64(c.b, rows))));
    int64_t turns = s.k / turnDepth(s, c.machine, rows) * blocks.fewestPanels();
    return {place(n),
            RowsAhead({s.element, rows, s.k, s.rowStride()}, from, place(c.add(n, one)), turns)};
  }

  /// What a tile's function knows: how many rows and panels at a time, and where they begin.
  struct Tile {
    int64_t rows, panels, ofPanel; ///< vectors
    Value first, a;
    Value weights;                            ///< where panel 0 begins, or would
    Value left = {};                          ///< where it is left as f32, or would be
    Value chunk;                              ///< room for one that is widened
    const ContractionForm *decoded = nullptr; ///< from what, before it is multiplied
    int64_t distance;                         ///< bytes to the next panel
    Value panel;                              ///< the first of them
    Value stride;                             ///< elements to the next row, where k is a symbol
    Ahead ahead = {};                         ///< a step for every k
    NextRows nextRows = {};
    RowsAhead rowsAhead = {};
    int64_t vectors() const { return ofPanel * panels; }
  };

  /// Several streams bring more from memory; from L2 one brings a quarter more than four.
  static int64_t panelsAtOnce(const ContractionForm &s, const VectorMachine &machine,
                              int64_t rows) {
    if (s.weight.form != PackedWeight::Words)
      return 1;
    if (rows == 1)
      return s.mostK * s.mostN * 4 <= kNearBytes ? 1 : 4;
    int64_t sums = rows * s.vectors * 2, factors = machine.laneRun() ? rows + kLoaded : sums;
    return machine.holds(sums + factors) ? 2 : 1;
  }

  static void emitPanels(KernelContext &c, const PanelBlocks &blocks, int64_t rows,
                         const PanelBlocks::Tile &tile, const Laid &laid) {
    ContractionForm s = ContractionForm::of(c.spec, c.machine);
    Value first = tile.first, from = tile.from, to = tile.to, weights = c.inputs[s.weight.data];
    int64_t distance = s.panelDistance(c.spec);
    Value left;
    if (tile.panels != PanelBlocks::Panels::Stored) {
      Value skipped = c.mul(from, constantI64(c.b, widenedOf(s).panelBytes()));
      left = bytes(c, widenedAt(c, s, tile.scratch), c.sub(constantI64(c.b, 0), skipped));
    }
    if (tile.panels == PanelBlocks::Panels::Found) {
      weights = std::exchange(left, Value());
      s = s.asWidened(c.machine);
      distance = widenedOf(s).panelBytes();
    }
    Type stored = memoryType(s.element);
    Value depth = c.e.uniform(s.depth);
    Value chunk = bytes(c, tile.scratch, constantI64(c.b, chunkFrom(s, c.machine)));
    bool widensFirst = s.widensFirst(c.machine, rows);
    ContractionForm sums = widensFirst ? s.asWidened(c.machine) : s;
    int64_t turn = turnDepth(sums, c.machine, rows);
    Value a = rowsAt(c, s, first);
    Value next = elementPointer(c.b, a, stored, c.mul(depth, constantI64(c.b, rows)));
    // [lay rows] Once for all panels of the block.
    if (laid.rows) {
      a = laid.rows;
    } else if (s.laysRows()) {
      layRows(c, s, a, tile.scratch, rows);
      a = tile.scratch;
    }
    // [panels] Beside the sums of many rows, what comes next is fetched: weights or rows.
    auto walk = [&](Value from, Value to, int64_t panels) {
      c.loop(from, to, panels, [&](Value panel) {
        c.e.forget();
        Tile t{rows,     panels, s.vectors,
               first,    a,      weights,
               left,     chunk,  widensFirst ? &s : nullptr,
               distance, panel,  s.k ? Value() : depth};
        if (rows > kFewRows && fetchesAhead(s))
          t.ahead = blocks.ahead(c, tile, panel, c.inputs[s.weight.data], next);
        if (int64_t turns = s.k / turn; rows > kFewRows && turns && s.n)
          t.nextRows =
              NextRows(c, s.op.getResult(), rows, first, {panel, s.vectors, s.columns}, turns);
        if (laid.rows)
          t.rowsAhead =
              laid.next.behind(c, c.mul(c.sub(panel, tile.from), constantI64(c.b, s.k / turn)));
        SmallVector<Value> values = s.k ? accumulate(c, sums, t) : accumulateParts(c, s, t);
        // [store] The tail mask is there for all panels when n ends inside one.
        storeRowTile(c, s.op.getResult(), t.first, {t.panel, t.vectors(), s.columns}, s.width,
                     values);
        c.e.forget();
      });
    };
    if (int64_t panels = panelsAtOnce(s, c.machine, rows); panels > 1) {
      Value left = c.b.create<arith::RemUIOp>(c.sub(to, from), constantI64(c.b, panels)),
            whole = c.sub(to, left);
      walk(from, whole, panels);
      from = whole;
    }
    walk(from, to, 1);
  }

  /// Whether units are so large that what comes next is fetched in time beside them.
  static bool fetchesAhead(const ContractionForm &s) {
    bool isWide = s.weight.form == PackedWeight::Words || s.weight.form == PackedWeight::Halves;
    return isWide && s.k;
  }

  /// A chunk of the sum: `depth` k's beginning at `from`.
  struct Chunk {
    Value from;
    int64_t depth;
  };

  /// [chunks] The sums of all rows and vectors, row by row. One chunk without a scale needs no
  /// totals.
  static SmallVector<Value> accumulate(KernelContext &c, const ContractionForm &s, const Tile &t) {
    int64_t chunk = s.chunk() * (s.weight.block ? 1 : chains(c, s, t)), whole = s.k / chunk * chunk;
    SmallVector<Value> sums(t.rows * t.vectors(), zeros(c));
    if (s.k == chunk && !s.weight.block)
      return sumPart(c, s, t, {constantI64(c.b, 0), chunk});
    // [add chunk] The error of a long sum stays that of a short one.
    auto add = [&](Chunk part, ValueRange totals) {
      SmallVector<Value> next = sumPart(c, s, t, part);
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
                 ? sumPart(c, s, t, {constantI64(c.b, 0), s.k})
                 : add({constantI64(c.b, whole), s.k - whole}, ValueRange(sums));
    return sums;
  }

  /// The same where ranks have several sizes of the sum.
  static SmallVector<Value> accumulateParts(KernelContext &c, const ContractionForm &s,
                                            const Tile &t) {
    int64_t chunk = s.chunk() * chains(c, s, t);
    Value rest = c.b.create<arith::RemUIOp>(t.stride, constantI64(c.b, chunk)),
          whole = c.sub(t.stride, rest);
    auto add = [&](ValueRange totals, SmallVector<Value> next) {
      for (auto [total, value] : llvm::zip(totals, next))
        value = c.b.create<arith::AddFOp>(total, value);
      return next;
    };
    SmallVector<Value> sums(t.rows * t.vectors(), zeros(c));
    sums = c.loop(constantI64(c.b, 0), whole, chunk, ValueRange(sums),
                  [&](Value from, ValueRange totals) {
                    return add(totals, sumChunk(c, s, t, {from, chunk}));
                  });
    return add(ValueRange(sums), sumRest(c, s, t, whole, rest));
  }

  /// Few rows have several sums per element, of every so many-th k, so that none waits for another.
  /// As many in panels that are left over when several go together: where that is depends on how
  /// units are split, and results must not.
  static int64_t chains(KernelContext &c, const ContractionForm &s, const Tile &t) {
    return std::max<int64_t>(1, kSumsInFlight /
                                    (t.rows * s.vectors * panelsAtOnce(s, c.machine, t.rows)));
  }

  /// The k's that a turn of the inner loop sums.
  static int64_t turnDepth(const ContractionForm &s, const VectorMachine &machine, int64_t rows) {
    if (s.weight.form != PackedWeight::Words && rows <= 2)
      return kUnrollFew;
    int64_t few = s.weight.form == PackedWeight::Words || s.pairs ? machine.turnDepth() : 4;
    return s.pairs ? 2 * few : std::max(s.weight.unit(), few);
  }

  static Value zeros(KernelContext &c) {
    return c.b.create<arith::ConstantOp>(
        c.b.getZeroAttr(VectorType::get({c.machine.lanes()}, c.b.getF32Type())));
  }

  static Value bytes(KernelContext &c, Value base, Value offset) {
    return elementPointer(c.b, base, c.b.getI8Type(), offset);
  }

  static Value blockOf(KernelContext &c, const ContractionForm &s, Value k) {
    return c.b.create<arith::DivUIOp>(k, constantI64(c.b, s.weight.block));
  }

  /// Where panel `panel + p` of scales or zero points begins.
  static Value panelOf(KernelContext &c, const ContractionForm &s, const Tile &t,
                       const BlockNumbers &numbers, int64_t p) {
    int64_t blocks = s.storedDepth(c.spec, numbers.argument),
            distance = numbers.columnBytes(blocks) * s.columns;
    return bytes(c, c.inputs[numbers.argument],
                 c.mul(c.add(t.panel, constantI64(c.b, p)), constantI64(c.b, distance)));
  }

  /// Of the block that a chunk lies in, one for each vector of a panel.
  static SmallVector<Value> scalesOf(KernelContext &c, const ContractionForm &s, const Tile &t,
                                     Chunk part, int64_t p) {
    const BlockNumbers &scales = s.weight.scale;
    Value panel = panelOf(c, s, t, scales, p), block = blockOf(c, s, part.from);
    int64_t lanes = c.machine.lanes();
    if (t.rows <= kFewRows)
      s.weight.fetchScalesAhead(c, panel, block, s.columns);
    SmallVector<Value> factors;
    for (int64_t v = 0; v < s.vectors; ++v)
      factors.push_back(scales.load(c, panel, block, s.columns, v * lanes, lanes));
    return factors;
  }

  /// values = totals + scale * values
  static void scale(KernelContext &c, const ContractionForm &s, const Tile &t, Chunk part,
                    ValueRange totals, SmallVectorImpl<Value> &values) {
    for (int64_t p = 0; p < t.panels; ++p)
      for (auto [v, factor] : llvm::enumerate(scalesOf(c, s, t, part, p)))
        for (int64_t r = 0; r < t.rows; ++r) {
          int64_t at = r * t.vectors() + s.vectors * p + v;
          values[at] = c.b.create<vector::FMAOp>(values[at], factor, totals[at]);
        }
  }

  static constexpr int64_t kFewRows = 6; ///< that leave time to wait for memory

  /// The zero points of a chunk's block, where columns have their own.
  static SmallVector<Value> zerosOf(KernelContext &c, const ContractionForm &s, const Tile &t,
                                    Chunk part) {
    SmallVector<Value> zero;
    for (int64_t p = 0; s.weight.zero && p < t.panels; ++p)
      for (int64_t v = 0, lanes = c.machine.lanes(); v < s.vectors; ++v)
        zero.push_back(s.weight.zero->load(c, panelOf(c, s, t, *s.weight.zero, p),
                                           blockOf(c, s, part.from), s.columns, v * lanes, lanes));
    return zero;
  }

  static SmallVector<Value> sumPart(KernelContext &c, const ContractionForm &s, const Tile &t,
                                    Chunk part) {
    return t.decoded ? sumWidened(c, s, t, part) : sumChunk(c, s, t, part);
  }

  /// Its weights become f32 where its panel is left, or into room for one chunk; it is summed from there.
  static SmallVector<Value> sumWidened(KernelContext &c, const ContractionForm &s, const Tile &t,
                                       Chunk part) {
    const ContractionForm &stored = *t.decoded;
    Value before = c.mul(part.from, constantI64(c.b, s.columns * 4));
    Tile widened = t;
    widened.left = {};
    widened.distance = t.left ? widenedOf(stored).panelBytes() : 0;
    widened.weights = t.left ? t.left : bytes(c, t.chunk, c.sub(constantI64(c.b, 0), before));
    Value to = panelsOf(c, widened)[0];
    int64_t block = std::min(stored.weight.block, part.depth), whole = part.depth / block * block;
    c.loop(constantI64(c.b, 0), constantI64(c.b, whole), block, [&](Value k) {
      widenBlock(c, stored, t, {c.add(part.from, k), block}, to);
    });
    if (whole < part.depth)
      widenBlock(c, stored, t, {c.add(part.from, constantI64(c.b, whole)), part.depth - whole}, to);
    return sumChunk(c, s, widened, part);
  }

  /// What lies in one block; `to`: where the panel's first k is, or would be.
  static void widenBlock(KernelContext &c, const ContractionForm &s, const Tile &t, Chunk part,
                         Value to) {
    int64_t unit = s.weight.unit(), unitBytes = s.weight.unitBytes(s.columns),
            units = llvm::divideCeil(part.depth, unit);
    Value nth = c.b.createOrFold<arith::DivUIOp>(part.from, constantI64(c.b, unit)),
          from = bytes(c, panelsOf(c, t)[0], c.mul(nth, constantI64(c.b, unitBytes)));
    if (t.rows <= kFewRows)
      PackedWeight::fetchAhead(c, from, units * unitBytes);
    Value here = bytes(c, to, c.mul(part.from, constantI64(c.b, s.columns * 4)));
    widenedOf(s).emitUnits(c, from, here, units, zerosOf(c, s, t, part),
                           scalesOf(c, s, t, part, 0));
  }

  /// [sum chunk] The sums of one chunk: whole turns of the loop first, then the k's left over.
  static SmallVector<Value> sumChunk(KernelContext &c, const ContractionForm &s, const Tile &t,
                                     Chunk part) {
    int64_t count = t.rows * t.vectors();
    int64_t chains = ContractionSchedule::chains(c, s, t);
    int64_t step = turnDepth(s, c.machine, t.rows), whole = part.depth / step * step;
    SmallVector<Value> data = panelsOf(c, t), zero = zerosOf(c, s, t, part);
    Value row = elementPointer(c.b, t.a, rowType(c, s), part.from);
    SmallVector<Value> sums(count * chains, zeros(c));
    auto run = [&](Value k, int64_t depth, MutableArrayRef<Value> sums) {
      Value turn = c.b.createOrFold<arith::DivUIOp>(c.add(part.from, k), constantI64(c.b, step));
      t.nextRows.fetch(c, turn);
      t.rowsAhead.widen(c, turn);
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
    return joined(c, std::move(sums), count);
  }

  /// Where the panels of a tile begin.
  static SmallVector<Value> panelsOf(KernelContext &c, const Tile &t) {
    SmallVector<Value> data;
    for (int64_t p = 0; p < t.panels; ++p) {
      Value panel = c.add(t.panel, constantI64(c.b, p));
      data.push_back(bytes(c, t.weights, c.mul(panel, constantI64(c.b, t.distance))));
    }
    return data;
  }

  /// [join chains] Those of the first chain take the others.
  static SmallVector<Value> joined(KernelContext &c, SmallVector<Value> sums, int64_t count) {
    for (int64_t at = count; at < int64_t(sums.size()); ++at)
      sums[at % count] = c.b.create<arith::AddFOp>(sums[at % count], sums[at]);
    sums.truncate(count);
    return sums;
  }

  /// [chunks] The last one: `rest` k's beginning at `from`, a multiple of the unit.
  static SmallVector<Value> sumRest(KernelContext &c, const ContractionForm &s, const Tile &t,
                                    Value from, Value rest) {
    int64_t count = t.rows * t.vectors(), step = turnDepth(s, c.machine, t.rows);
    SmallVector<Value> data = panelsOf(c, t), sums(count * chains(c, s, t), zeros(c));
    Value row = elementPointer(c.b, t.a, rowType(c, s), from),
          turns = c.sub(rest, c.b.create<arith::RemUIOp>(rest, constantI64(c.b, step)));
    auto run = [&](Value begin, Value end, int64_t depth) {
      sums = c.loop(begin, end, depth, ValueRange(sums), [&](Value k, ValueRange carried) {
        SmallVector<Value> next(carried);
        multiplyAdd(c, s, t, data, {}, row, c.add(from, k), k, depth, next);
        return next;
      });
    };
    run(constantI64(c.b, 0), turns, step);
    if (step > s.weight.unit())
      run(turns, rest, s.weight.unit());
    return joined(c, std::move(sums), count);
  }

  /// Adds products of `depth` k's that begin at `k`, which is `inRow` elements behind `row`.
  static void multiplyAdd(KernelContext &c, const ContractionForm &s, const Tile &t,
                          ArrayRef<Value> data, ArrayRef<Value> zero, Value row, Value k,
                          Value inRow, int64_t depth, MutableArrayRef<Value> sums) {
    const PackedWeight &w = s.weight;
    int64_t unit = w.unit(), bytesPerUnit = w.unitBytes(s.columns), count = t.rows * t.vectors(),
            chains = sums.size() / count;
    Value units =
        unit == 1 ? k : Value(c.b.createOrFold<arith::DivUIOp>(k, constantI64(c.b, unit)));
    Value offset = c.mul(units, constantI64(c.b, bytesPerUnit)),
          x = elementPointer(c.b, row, rowType(c, s), inRow);
    SmallVector<Value> here;
    for (Value panel : data) {
      here.push_back(bytes(c, panel, offset));
      if (w.form != PackedWeight::Words && t.rows <= kFewRows)
        PackedWeight::fetchAhead(c, here.back(), (depth + unit - 1) / unit * bytesPerUnit);
    }
    int64_t together = s.pairs ? 2 : 1; // k's that one instruction multiplies
    SmallVector<SpreadRun> factors(
        t.rows,
        SpreadRun(c, s.pairs ? Type(c.b.getI32Type()) : Type(c.b.getF32Type()), depth / together));
    for (int64_t u = 0; u * unit < depth; ++u) {
      t.ahead.fetch(c, c.add(units, constantI64(c.b, u)));
      int64_t beside = loadedTogether(t.vectors(), c.machine);
      for (int64_t first = 0; first < t.vectors(); first += beside) {
        // [load weights] A unit of them: one k, or several that share a word. Once for all rows.
        SmallVector<SmallVector<Value, 8>> weights;
        for (int64_t v = first; v < first + beside; ++v) {
          weights.push_back(
              loadUnit(c, s,
                       at(c, here[v / s.vectors], c.b.getI8Type(),
                          u * bytesPerUnit + v % s.vectors * bytesPerUnit / s.vectors),
                       zero.empty() ? Value() : zero[v]));
          if (t.left)
            leave(c, s, t, weights.back(), c.add(k, constantI64(c.b, u * unit)), v);
        }
        // [multiply add] Chains take turns from one step to the next.
        for (int64_t i = 0; i * together < unit && u * unit + i * together < depth; ++i)
          for (int64_t r = 0; r < t.rows; ++r) {
            int64_t depthHere = u * unit + i * together;
            Value all = factors[r].element(depthHere / together, [&](int64_t nth) {
              return at(c, rowOf(c, s, t, x, r), rowType(c, s), nth * together);
            });
            for (int64_t v = 0; v < beside; ++v) {
              Value &sum =
                  sums[(depthHere / together % chains) * count + r * t.vectors() + first + v];
              sum = multiplyAdd(c, s, all, weights[v][i], sum);
            }
          }
      }
    }
  }

  /// [leave weights] Vector `v` of the k's beginning at `k`, beside products: storing and widening
  /// take other parts of a processor. What the last unit of a panel has too much, the next panel
  /// overwrites.
  static void leave(KernelContext &c, const ContractionForm &s, const Tile &t,
                    ArrayRef<Value> weights, Value k, int64_t v) {
    Type f32 = c.b.getF32Type();
    Value panel = bytes(c, t.left, c.mul(t.panel, constantI64(c.b, widenedOf(s).panelBytes()))),
          here = elementPointer(c.b, panel, f32, c.mul(k, constantI64(c.b, s.columns)));
    for (auto [i, reals] : llvm::enumerate(weights))
      c.b.create<LLVM::StoreOp>(reals, at(c, here, f32, i * s.columns + v * c.machine.lanes()), 4);
  }

  /// Row r of a tile, of which the first is at `first`.
  static Value rowOf(KernelContext &c, const ContractionForm &s, const Tile &t, Value first,
                     int64_t r) {
    if (!t.stride)
      return at(c, first, rowType(c, s), r * s.rowStride());
    return elementPointer(c.b, first, rowType(c, s), c.mul(t.stride, constantI64(c.b, r)));
  }

  static Value at(KernelContext &c, Value base, Type type, int64_t offset) {
    return c.b.create<LLVM::GEPOp>(base.getType(), type, base,
                                   ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  }

  /// Of a row's elements as they are multiplied.
  static Type rowType(KernelContext &c, const ContractionForm &s) {
    return s.pairs ? memoryType(s.element) : Type(c.b.getF32Type());
  }

  static SmallVector<Value, 8> loadUnit(KernelContext &c, const ContractionForm &s, Value pointer,
                                        Value zero) {
    if (!s.pairs)
      return s.weight.decode(c, pointer, zero);
    auto words = VectorType::get({c.machine.lanes()}, c.b.getI32Type());
    return {c.b.create<LLVM::LoadOp>(words, pointer, 4)};
  }

  /// [multiply pairs] What the machine does at once.
  static Value multiplyAdd(KernelContext &c, const ContractionForm &s, Value all, Value weights,
                           Value sum) {
    if (s.pairs)
      return c.machine.addHalfProducts(c.b, sum, all, weights);
    return c.machine.multiplyAdd(c.b, all, weights, sum);
  }

  /// [lay rows] They lie one behind the other; in scratch, they may be further apart.
  static void layRows(KernelContext &c, const ContractionForm &s, Value from, Value to,
                      int64_t rows) {
    if (s.roundedBlock)
      return RoundedRows(c, s.k, s.roundedBlock).toReals(from, to, constantI64(c.b, rows));
    if (s.rowStride() == s.k)
      return widen(c, s.element, from, to, constantI64(c.b, rows * s.k));
    c.loop(constantI64(c.b, 0), constantI64(c.b, rows), 1, [&](Value row) {
      auto at = [&](Value base, Type type, int64_t stride) {
        return elementPointer(c.b, base, type, c.mul(row, constantI64(c.b, stride)));
      };
      widen(c, s.element, at(from, memoryType(s.element), s.k),
            at(to, c.b.getF32Type(), s.rowStride()), constantI64(c.b, s.k));
    });
  }
};

} // namespace

const Schedule *contractionSchedule() {
  static const ContractionSchedule schedule;
  return &schedule;
}

} // namespace weft
