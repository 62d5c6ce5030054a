//===- WindowConvolution.cpp - Windows of pixels times packed filters, tiled in registers -----===//
//
// y[n, p, q, o] = epilogue(sum over i, j, c of x[n, p * s + i * d - top, q * t + j * e - left, c] *
// w[o, c, i, j]) in f32, or in i32 of bytes, with constant filters; channels are last, so that
// columns of a window lie side by side: kernel * channels elements are one run of products. With
// dilated columns, each has its own; short ones of bytes are put side by side (GatheredRuns.h).
// Neighbours in a row of the result are the rows of a tile, filters are its columns: the rest is a
// contraction (RunTile.h).
//
//   for block of rows of an image, block of filters                    [units]
//     copy what the rows read, with its border, or x is read in place  [copy rows]
//     filters of 16 bits: as f32 into scratch                          [widen]
//     for row of the block, or two of them                             [rows]
//       for tile of neighbours in it                                   [tiles]
//         put the runs of the next tile side by side, where that pays  [gather]
//         for panel of the block: one or two vectors of filters        [panels]
//           sums = 0, in registers: neighbours by vectors of filters
//           for run of the window, product: sums += x * w              [sum]
//             beside it: fetch a part of the next block of filters     [fetch]
//           epilogue and store, of bytes beside the next panel's sums  [store]
//
// A unit is a block of rows of one image by a block of filters. What the rows read is copied into
// scratch, with the border around it (and bytes as 16-bit numbers where they are multiplied as
// such), once for all filters of these rows. Without a border, and with whole groups, x is read in
// place; then all rows follow each other with the same filters.
//
// Floats of 16 bits are multiplied as f32: x is widened as it is copied, and filters are widened
// once for all tiles of a unit; where they are one block, for all units of a call. Where the machine
// adds products of pairs of bf16 and channels are even, neither is widened: a pair takes the place
// of an f32. Where it has a unit for tiles, that multiplies such pairs, and bytes where it can
// (UnitTile.h): tiles of neighbours get their size in each function.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/tile/FloatTile.h"
#include "targets/cpu/schedules/tile/GatheredRuns.h"
#include "targets/cpu/schedules/tile/PanelBlocks.h"
#include "targets/cpu/schedules/tile/RowTile.h"
#include "targets/cpu/schedules/tile/TrailingRows.h"
#include "targets/cpu/schedules/window/WindowTiling.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kLineCandidates[] = {2, 4, 8, 16};
constexpr int64_t kGrainWork = 1 << 20;

/// What a unit for tiles does with words of rows and filters.
UnitTile::Products productsOf(KernelContext &c, const WindowTiling &t) {
  const TileUnit &unit = *c.machine.tiles();
  if (t.pairs)
    return {1, [&c, &unit](Value state, TileUnit::Tiles tiles) {
              unit.multiplyHalves(c.b, state, tiles);
            }};
  return {t.dot->group(), [&c, &unit](Value state, TileUnit::Tiles tiles) {
            unit.multiplyBytes(c.b, state, tiles, {/*rows=*/false, /*columns=*/true});
          }};
}

std::unique_ptr<RunTile> tileOf(KernelContext &c, const WindowTiling &t, int64_t pixels) {
  if (t.tiles)
    return std::make_unique<UnitTile>(c, UnitTile::Lines{t.lines, pixels, t.folds, t.foldRows},
                                      t.vectors, t.run, productsOf(c, t), t.reuse());
  if (t.dot)
    return std::make_unique<IntegerTile>(c, *t.dot, pixels, t.vectors);
  return std::make_unique<FloatTile>(c, pixels, t.vectors, t.pairs);
}

class Emitter {
public:
  Emitter(KernelContext &c, const ConvolutionShape &s)
      : c(c), s(s), t(s, c.machine), padded(s, t.block(s)) {}

  void emitUnits() {
    Type i64 = c.b.getI64Type();
    SmallVector<func::FuncOp> tiles;
    Type pointer = c.scratch.getType();
    SmallVector<Type> arguments{pointer, i64, i64, i64, i64, i64, i64, i64, i64, i64, pointer, i64};
    for (int64_t r = 1; r <= t.mostPixels; ++r)
      tiles.push_back(t.isPossible(s, r) ? declareRowTile(c, r, arguments) : func::FuncOp());
    Value blocks = c.e.uniform(SymExpr::ceildiv(s.window[0].out, t.rows)),
          columns = c.e.uniform(s.window[1].out),
          tilesOfRow = c.e.uniform(SymExpr::ceildiv(s.window[1].out, t.mostPixels)),
          blocksOfFilters = number(t.blocksOfFilters()),
          blocksOfRows = c.mul(blocks, c.e.uniform(s.batch));
    // Every tile fetches its part of the next block of filters. There may be none, in rows without
    // pixels.
    Value tilesOfUnit = c.mul(tilesOfRow, number(t.rows)),
          tilesOfFilters = t.rowsPass ? c.mul(blocksOfRows, tilesOfUnit) : tilesOfUnit,
          part = div(number(t.panelsOfBlock * t.storedBytes()),
                     c.b.create<arith::MaxUIOp>(tilesOfFilters, number(1))),
          stride = div(part, number(t.panelsOfBlock * t.steps));
    Value rooms = c.scratch; // behind the rows
    if (t.gathers || t.widens())
      rooms = elementPointer(c.b, c.scratch, c.b.getI8Type(),
                             c.e.uniform(t.roomsAt(padded, c.machine)));
    // [units] Blocks of filters are innermost; of rows, when x is read in place or filters are many.
    c.loop(c.begin, c.end, 1, [&](Value unit) {
      Value ofRows = t.rowsPass ? rem(unit, blocksOfRows) : div(unit, blocksOfFilters);
      Value ofFilters = t.rowsPass ? div(unit, blocksOfRows) : rem(unit, blocksOfFilters);
      Value image = div(ofRows, blocks), from = c.mul(ofFilters, number(t.panelsOfBlock));
      Value to = least(c.add(from, number(t.panelsOfBlock)), number(t.panels));
      Value first = c.mul(rem(ofRows, blocks), number(t.rows));
      Value end = least(c.add(first, number(t.rows)), c.e.uniform(s.window[0].out));
      // [copy rows] They stay for the blocks of filters that follow.
      if (!t.inPlace)
        onceForRows(unit, ofFilters, [&] { padded.emitCopy(c, image, first, c.sub(end, first)); });
      if (t.widens())
        widenFilters(unit, from, to, rooms);
      // [rows] A tile lies in one row of the result, or in two.
      c.loop(first, end, t.lines * t.folds, [&](Value row) {
        Value before = c.mul(c.sub(row, first), tilesOfRow);
        if (t.rowsPass)
          before = c.add(before, c.mul(ofRows, tilesOfUnit));
        // [tiles] Those of one size that follow each other share a call.
        callRowTiles(c, tiles, columns, tilesOfRow, number(0), tilesOfRow, [&](const TileRange &r) {
          SmallVector<Value> list(13);
          list[Words] = c.kernel.getArgument(0);
          list[Window] = source(image, first, row, r.first);
          list[Image] = image, list[Row] = row, list[Column] = r.first;
          list[From] = from, list[To] = to;
          list[Fetched] =
              c.add(number(t.panelsOfBlock * t.storedBytes()), c.mul(c.add(before, r.tile), part));
          list[Stride] = stride, list[OfTile] = part;
          list[Count] = r.count, list[Rooms] = rooms;
          list[Lines] = least(c.sub(end, row), number(t.lines * t.folds));
          return list;
        });
      });
    });
    for (auto [i, tile] : llvm::enumerate(tiles))
      if (tile)
        emitTile(tile, i + 1);
  }

private:
  /// Of the functions for tiles of a size.
  enum Argument {
    Words,
    Window, ///< first byte of the first one
    Image,
    Row,
    Column, ///< of the first tile
    From,   ///< panels
    To,
    Fetched, ///< offset of what the first tile fetches of the next block
    Stride,  ///< between two of its lines
    OfTile,  ///< offset between tiles
    Count,   ///< tiles
    Rooms,   ///< for gathered runs, or with the widened filters
    Lines,   ///< of the result that are left for the tile
  };

  Value number(int64_t value) { return constantI64(c.b, value); }
  Value div(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value rem(Value a, Value d) { return c.b.createOrFold<arith::RemUIOp>(a, d); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }

  /// The first unit of a worker and those with the first filters: the following ones read the same
  /// rows, unless these pass.
  void onceForRows(Value unit, Value ofFilters, function_ref<void()> body) {
    if (t.rowsPass)
      return body();
    Value isDue = c.b.create<arith::OrIOp>(equal(unit, c.begin), equal(ofFilters, number(0)));
    when(isDue, body);
  }

  /// [widen] Where filters are one block, it stays for the units that follow.
  void widenFilters(Value unit, Value from, Value to, Value rooms) {
    auto widen = [&] {
      t.widened().emit(c, storedPanel(c, from), t.storedBytes(), rooms, c.sub(to, from));
    };
    if (t.blocksOfFilters() > 1)
      return widen();
    when(equal(unit, c.begin), widen);
  }

  void when(Value isDue, function_ref<void()> body) {
    auto due = c.b.create<scf::IfOp>(isDue, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(due.thenBlock());
    c.e.forget();
    body();
    c.e.forget();
  }

  Value equal(Value a, Value d) {
    return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, a, d);
  }

  /// Bytes between two rows of what is read.
  Value pitch(KernelContext &c) {
    return c.e.uniform(t.inPlace ? s.window[1].in * padded.columnBytes() : padded.pitch());
  }

  /// The first byte that the window at (row, column) reads.
  Value source(Value image, Value firstRow, Value row, Value column) {
    Value start = c.scratch, line = c.mul(c.sub(row, firstRow), number(padded.stepDown()));
    if (t.inPlace) {
      start = c.inputs[cast<BlockArgument>(s.op.getInput()).getArgNumber()];
      line =
          c.add(c.mul(image, c.e.uniform(s.window[0].in)), c.mul(row, number(padded.stepDown())));
    }
    Value at = c.add(c.mul(line, pitch(c)),
                     c.mul(column, number(padded.stepAcross() * padded.columnBytes())));
    return elementPointer(c.b, start, c.b.getI8Type(), at);
  }

  void emitTile(func::FuncOp function, int64_t rows) {
    emitRowTile(c, function, [&](KernelContext &inner) { emitPanels(inner, function, rows); });
  }

  void emitPanels(KernelContext &inner, func::FuncOp function, int64_t rows) {
    const ConvolutionWindow &down = s.window[0], &across = s.window[1];
    // [sum] The tile has the loops over runs and their products.
    std::unique_ptr<RunTile> tile = tileOf(inner, t, rows);
    int64_t rowBytes = padded.stepAcross() * padded.columnBytes();
    IndexValue image{function.getArgument(Image)}, row{function.getArgument(Row)};
    Value from = function.getArgument(From), stride = function.getArgument(Stride);
    Value block = storedPanel(inner, from);
    block = elementPointer(c.b, block, c.b.getI8Type(), function.getArgument(Fetched));
    auto extent = [&](unsigned i) { return inner.e.uniform(s.window[i].out); };
    Value pixel = inner.add(inner.mul(image.base, extent(0)), row.base);
    pixel = inner.add(inner.mul(pixel, extent(1)), function.getArgument(Column));
    // [store] Of floats, behind the sums of each panel: no register is left for it.
    Value lines = function.getArgument(Lines);
    auto place = [&](Value nth, Value r, IndexValue n) -> SmallVector<IndexValue> {
      Value line = t.lines > 1 ? div(r, number(rows)) : number(0),
            tilesBefore = inner.mul(inner.sub(nth, line), number(rows));
      IndexValue column{inner.add(inner.add(function.getArgument(Column), tilesBefore), r)};
      if (s.isLine)
        return {image, column, n};
      return {image, {inner.add(row.base, line)}, column, n};
    };
    TrailingRows trailing(*tile, s.op.getResult(), s.filters, place,
                          inner.mul(lines, number(rows)));
    RowRuns apart{function.getArgument(Window), rowBytes, t.apart};
    // A line that is none stands for the one before.
    Value hasSecond =
        inner.b.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, lines, number(t.folds));
    apart.lineBytes = inner.b.create<arith::SelectOp>(
        hasSecond, inner.mul(number(t.folds * padded.stepDown()), pitch(inner)), number(0));
    Value plane = inner.e.uniform(padded.planeBytes()),
          planes = inner.mul(number(padded.planesAcross()), plane);
    apart.outer = {t.runsApart[0], inner.mul(number(down.dilation), pitch(inner)),
                   padded.planesDown(), planes};
    apart.inner = {t.runsApart[1], number(across.dilation * padded.columnBytes()),
                   padded.planesAcross(), plane};
    std::optional<GatheredRuns> gathered;
    // [gather] Two rooms take turns: products read bytes that have reached the cache.
    if (t.gathers)
      gathered.emplace(inner, rows, apart, function.getArgument(Rooms));
    auto sourceOf = [&](Value nth) {
      if (gathered) {
        RowRuns together = gathered->ofTile(nth, function.getArgument(Count));
        together.run = t.run;
        return together;
      }
      RowRuns source = apart;
      source.first = elementPointer(c.b, apart.first, c.b.getI8Type(),
                                    inner.mul(nth, number(rows * rowBytes)));
      return source;
    };
    auto prepare = [&](Value nth, Value panel, RowRuns &source) {
      Value fetched =
          elementPointer(c.b, block, c.b.getI8Type(), inner.mul(nth, function.getArgument(OfTile)));
      // [fetch] Every panel its share of the tile's part, and lines of the next tile's results.
      source.ahead =
          Ahead{fetched, stride}.behind(inner, inner.mul(inner.sub(panel, from), number(t.steps)));
      if (int64_t turns = tile->turns(source) * t.runs[0] * t.runs[1])
        source.nextRows =
            NextRows(inner, s.op.getResult(), rows, inner.add(pixel, inner.mul(nth, number(rows))),
                     {panel, t.vectors, t.columns}, turns);
      if (!t.widens())
        return storedPanel(inner, panel);
      return elementPointer(c.b, function.getArgument(Rooms), c.b.getI8Type(),
                            inner.mul(inner.sub(panel, from), number(t.panelBytes)));
    };
    // [panels] Of all tiles of the call.
    trailing.loop(function.getArgument(Count), from, function.getArgument(To), sourceOf, prepare);
    tile->finish();
  }

  /// The first byte of a panel in memory.
  Value storedPanel(KernelContext &inner, Value panel) {
    return elementPointer(c.b, inner.inputs[s.filter], c.b.getI8Type(),
                          inner.mul(panel, number(t.storedBytes())));
  }

  KernelContext &c;
  const ConvolutionShape &s;
  WindowTiling t;
  PaddedRows padded;
};

class WindowConvolutionSchedule : public Schedule {
public:
  StringRef name() const override { return "window_convolution"; }
  LoopKind loops() const override { return LoopKind::Windows; }
  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    Match<ConvolutionShape> s = ConvolutionShape::match(spec, true);
    if (!s)
      return s.decline();
    return s->groups != 1 ? Decline{kHasGroups} : Decline{};
  }
  Unit unit(func::FuncOp spec, const VectorMachine &machine) const override {
    WindowTiling t(*ConvolutionShape::match(spec, true), machine);
    if (t.tiles)
      return t.dot ? Unit::ByteTiles : Unit::HalfTiles;
    return t.dot ? t.dot->unit() : t.pairs ? Unit::HalfPairs : Unit::Reals;
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec, true);
    WindowTiling t(s, machine);
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    PaddedRows padded(s, t.block(s));
    SymExpr units = s.batch * SymExpr::ceildiv(s.window[0].out, t.rows) * t.blocksOfFilters();
    int64_t rowWork = t.runs[0] * t.runs[1] * t.run * t.panelsOfBlock * t.columns * t.rows;
    SymExpr work = SymExpr::max(s.window[1].out, constant(1)) * rowWork;
    std::optional<int64_t> known = work.asConstant();
    return {units, constant(known ? std::max<int64_t>(1, kGrainWork / *known) : 1),
            t.inPlace ? constant(0) : t.roomsAt(padded, machine) + t.roomsBytes()};
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec, true);
    WindowTiling t(s, machine);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    if (t.dot)
      result[s.filter] = t.dot->layout(WeightLayout::WidthByDepth, t.columns, t.tapsOfRun);
    else
      result[s.filter] = t.narrow ? t.narrow->layout(WeightLayout::TapByTap, t.columns)
                                  : WeightLayout::panels(t.columns, WeightLayout::TapByTap);
    return result;
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec, true);
    WindowTiling t(s, machine);
    SymExpr height = s.window[0].out;
    std::vector<Choice> list;
    offerRows(list, s.window[1].out, t.estimatePixels(machine), machine);
    PanelBlocks::offerBlocks(list, t.panels, t.panelBytes, /*least=*/1, t.estimateBlock());
    offer(list, "lines", kLineCandidates, t.estimateLines(s), [&](int64_t lines) {
      std::optional<int64_t> all = height.asConstant();
      return all ? std::min(lines, *all) : lines;
    });
    return list;
  }

  void emit(KernelContext &c) const override {
    ConvolutionShape s = *ConvolutionShape::match(c.spec, true);
    Emitter(c, s).emitUnits();
  }
};

} // namespace

const Schedule *windowConvolutionSchedule() {
  static const WindowConvolutionSchedule schedule;
  return &schedule;
}

} // namespace weft
