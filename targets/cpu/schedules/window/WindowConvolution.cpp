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
#include "targets/common/match/ConvolutionShape.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/tile/FloatTile.h"
#include "targets/cpu/schedules/tile/GatheredRuns.h"
#include "targets/cpu/schedules/tile/IntegerTile.h"
#include "targets/cpu/schedules/tile/PanelBlocks.h"
#include "targets/cpu/schedules/tile/RowTile.h"
#include "targets/cpu/schedules/tile/TrailingRows.h"
#include "targets/cpu/schedules/tile/UnitTile.h"
#include "targets/cpu/schedules/tile/WidenedPanels.h"
#include "targets/cpu/schedules/window/PaddedRows.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kInputElements = 40 << 10; ///< of what a block of rows reads, to stay near
constexpr int64_t kManyElements = 128
                                  << 10; ///< the same beside filters that are more than stays near
constexpr int64_t kLines = 4;            ///< of a block, when sizes are not known
constexpr int64_t kLineCandidates[] = {2, 4, 8, 16};
constexpr int64_t kMeetingBytes =
    2048; ///< apart, few sets of the first-level cache have room for 16 lines
constexpr int64_t kFarBytes =
    1 << 20; ///< of filters, which other data drives from the second-level cache
constexpr int64_t kGrainWork = 1 << 20;

/// How a shape is cut for a processor.
struct Tiling {
  std::optional<IntegerDot> dot;      ///< of bytes
  std::optional<PackedWeight> narrow; ///< filters of 16 bits
  bool pairs;                         ///< of bf16 are multiplied, and counted as one product
  bool tiles;                         ///< are multiplied by a unit for them
  bool oddPairs;                      ///< of odd channels: `apart` are bytes
  int64_t
      gap; ///< elements between columns in scratch, that rows of a tile are in different sets of the cache
  bool picks; ///< pixels that windows of one pixel read, which would meet there where they lie
  bool inPlace;
  bool rowsPass; ///< all blocks of rows meet a block of filters before the next one does
  int64_t apart, runsApart[2]; ///< products of a run as it lies in memory; rows and columns of runs
  bool gathers;                ///< puts them side by side
  int64_t tapsOfRun, run, runs[2]; ///< the same as they are summed; taps of a run
  int64_t rows;                    ///< of the result in a block
  int64_t lines;                   ///< of the result in a tile, each of
  int64_t folds = 1, foldRows = 0; ///< so many of its rows, so many neighbours apart in scratch
  int64_t mostPixels;              ///< of a line of a tile
  int64_t vectors, columns;        ///< of a panel: one where filters are few
  int64_t panels, panelsOfBlock;
  int64_t panelBytes, steps; ///< of a panel, and of its sum

  Tiling(const ConvolutionShape &s, const VectorMachine &machine)
      : dot(dotOf(s, machine)), narrow(narrowOf(s)), pairs(hasPairs(s, machine)),
        tiles(hasTiledWindows(s, machine)), oddPairs(gathersPairs(s, machine)) {
    const ConvolutionWindow &down = s.window[0], &across = s.window[1];
    int64_t ofPixel = oddPairs ? s.channels * 2 : s.channels / (pairs ? 2 : 1),
            bytesOfPixel = s.channels * (pairs ? 2 : 1);
    auto meet = [&](int64_t bytes) { return tiles && across.stride * bytesOfPixel % bytes == 0; };
    bool isPixel = down.kernel * across.kernel == 1;
    picks = isPixel && across.stride > 1 && meet(kMeetingBytes) &&
            isa_and_nonnull<BlockArgument>(s.op.getInput()) && isInside(down) && isInside(across);
    gap = picks || (meet(kMeetingBytes / 2) && !isPixel) ? kLineBytes / (pairs ? 2 : 1) : 0;
    tapsOfRun = across.dilation == 1 && !gap ? across.kernel : 1;
    apart = tapsOfRun * ofPixel;
    runsApart[0] = down.kernel, runsApart[1] = across.kernel / tapsOfRun;
    inPlace = isa_and_nonnull<BlockArgument>(s.op.getInput()) && isInside(down) &&
              isInside(across) && !widens() && !gap && !oddPairs &&
              !(dot && (dot->widens() || apart % dot->group()));
    gathers =
        oddPairs || (dot && !inPlace && !dot->widens() &&
                     GatheredRuns::pays(runsApart[0] * runsApart[1], apart, dot->group(), machine));
    runs[0] = gathers ? 1 : runsApart[0], runs[1] = gathers ? 1 : runsApart[1];
    tapsOfRun = down.kernel * across.kernel / (runs[0] * runs[1]);
    run = oddPairs ? llvm::divideCeil(tapsOfRun * ofPixel, 4) : tapsOfRun * ofPixel;
    mostPixels = pick(s.op, "rows", estimatePixels(machine));
    lines = tiles && !gathers && !s.isLine && (gap || !meet(kMeetingBytes)) ? 2 : 1;
    vectors = !dot && s.filters <= int64_t(machine.lanes()) ? 1 : 2;
    columns = vectors * machine.lanes();
    panels = llvm::divideCeil(s.filters, columns);
    steps = runs[0] * runs[1] * (dot ? llvm::divideCeil(run, dot->group()) : run);
    panelBytes = steps * (dot ? dot->group() : 4) * columns;
    panelsOfBlock = PanelBlocks::panelsOfBlock(panels, panelBytes, pick(s.op, "block", kBlockKiB));
    rows = pick(s.op, "lines", estimateLines(s));
    rowsPass = inPlace || (tiles && copiesAreCheaper(s));
    fold(s);
  }
  /// Whether floats of 16 bits become f32 in scratch.
  bool widens() const { return narrow && !pairs; }
  /// Of a panel in memory.
  int64_t storedBytes() const { return widens() ? narrow->panelBytes(steps, columns) : panelBytes; }
  WidenedPanels widened() const { return {*narrow, steps, columns}; }
  int64_t blocksOfFilters() const { return llvm::divideCeil(panels, panelsOfBlock); }
  PaddedRows::Block block(const ConvolutionShape &s) const {
    return {rows,  s.channels, dot && dot->widens() ? &*dot : nullptr, widens(), gap,
            picks, folds - 1};
  }
  /// Of scratch: rows, then gathered runs or filters.
  SymExpr roomsAt(const PaddedRows &padded, const VectorMachine &machine) const {
    SymExpr rows = padded.bytes(machine);
    return widens() ? SymExpr::ceildiv(rows, kLineBytes) * kLineBytes : rows;
  }
  int64_t roomsBytes() const {
    if (widens())
      return widened().bytes(panelsOfBlock);
    return gathers ? GatheredRuns::bytes(mostPixels, runsApart[0] * runsApart[1], apart) : 0;
  }
  std::unique_ptr<RunTile> tile(KernelContext &c, int64_t pixels) const {
    if (tiles)
      return std::make_unique<UnitTile>(c, UnitTile::Lines{lines, pixels, folds, foldRows}, vectors,
                                        run, productsOf(c));
    if (dot)
      return std::make_unique<IntegerTile>(c, *dot, pixels);
    return std::make_unique<FloatTile>(c, pixels, vectors, pairs);
  }
  /// Whether a tile's line may have so many pixels: lines are cut into parts that differ by one at most.
  bool isPossible(const ConvolutionShape &s, int64_t pixels) const {
    std::optional<int64_t> width = s.window[1].out.asConstant();
    if (!width || *width < 1)
      return true;
    int64_t parts = llvm::divideCeil(*width, mostPixels), least = *width / parts;
    return pixels == least || (pixels == least + 1 && *width % parts != 0);
  }

  /// Neighbours in a row of the result that are the rows of a tile.
  int64_t estimatePixels(const VectorMachine &machine) const {
    return tiles ? UnitTile::mostRows() : dot ? IntegerTile::mostRows(machine) : tileRows(machine);
  }
  /// Rows of the result in a block: more where filters, which each block reads anew, are many.
  int64_t estimateLines(const ConvolutionShape &s) const {
    const ConvolutionWindow &down = s.window[0], &across = s.window[1];
    auto height = down.out.asConstant(), width = across.out.asConstant();
    if (!height || !width)
      return kLines;
    int64_t apart = picks ? 1 : across.stride * down.stride,
            line = std::max<int64_t>(1, *width * s.channels * apart);
    int64_t room = tiles && panels * panelBytes >= kFarBytes ? kManyElements : kInputElements,
            most = std::max<int64_t>(1, room / line), all = std::max<int64_t>(1, *height);
    return llvm::divideCeil(all, llvm::divideCeil(all, most));
  }

private:
  static bool isInside(const ConvolutionWindow &window) {
    return window.low.isConstant(0) && window.high.isConstant(0);
  }
  /// Rows of narrow images follow each other in scratch, with columns between them that are no
  /// results: a tile's line has several, if it has room.
  void fold(const ConvolutionShape &s) {
    const ConvolutionWindow &across = s.window[1];
    std::optional<int64_t> width = across.out.asConstant();
    if (lines == 1 || inPlace || !width || *width < 1 || *width > mostPixels)
      return;
    PaddedRows padded(s, block(s));
    int64_t step = padded.stepAcross(),
            span = (*width - 1) * step + (across.kernel - 1) * across.dilation + 1;
    if (padded.stepDown() * span % step != 0)
      return;
    foldRows = padded.stepDown() * span / step;
    folds = 1 + (mostPixels - *width) / foldRows;
  }
  /// Whether filters that leave the second-level cache are more bytes to fetch for every block of rows than
  /// rows are to copy, and read, for every block of filters.
  bool copiesAreCheaper(const ConvolutionShape &s) const {
    const ConvolutionWindow &down = s.window[0], &across = s.window[1];
    auto height = down.out.asConstant(), width = across.out.asConstant();
    int64_t filters = panels * storedBytes();
    if (!height || !width || filters < kFarBytes)
      return false;
    int64_t blocks = llvm::divideCeil(*height, rows),
            copied = (*height * (picks ? 1 : down.stride) + blocks * down.kernel) *
                     (*width * (picks ? 1 : across.stride) + across.kernel) * s.channels *
                     (dot ? 1 : 2);
    return copied * blocksOfFilters() < filters * blocks;
  }
  static std::optional<IntegerDot> dotOf(const ConvolutionShape &s, const VectorMachine &machine) {
    if (!s.hasBytes())
      return std::nullopt;
    return IntegerDot(machine, s.op.getInput(), s.op.getFilter());
  }
  static bool hasPairs(const ConvolutionShape &s, const VectorMachine &machine) {
    bool even = s.channels % 2 == 0 && machine.addsHalfProducts();
    return s.element().isBF16() &&
           (even || gathersPairs(s, machine) || hasTiledWindows(s, machine));
  }
  /// What a unit for tiles does with words of rows and filters.
  UnitTile::Products productsOf(KernelContext &c) const {
    const TileUnit &unit = *c.machine.tiles();
    if (pairs)
      return {c.b.getF32Type(), 1, [&c, &unit](Value state, TileUnit::Tiles tiles) {
                unit.multiplyHalves(c.b, state, tiles);
              }};
    return {c.b.getI32Type(), dot->group(), [&c, &unit](Value state, TileUnit::Tiles tiles) {
              unit.multiplyBytes(c.b, state, tiles, {/*rows=*/false, /*columns=*/true});
            }};
  }
  static std::optional<PackedWeight> narrowOf(const ConvolutionShape &s) {
    if (!isHalf(s.element()))
      return std::nullopt;
    return PackedWeight{PackedWeight::Halves, s.filter, s.element()};
  }
};

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
    std::unique_ptr<RunTile> tile = t.tile(inner, rows);
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
    apart.outer = {t.runsApart[0], inner.mul(number(down.dilation), pitch(inner))};
    apart.inner = {t.runsApart[1], number(across.dilation * padded.columnBytes())};
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
        source.nextRows = NextRows(inner, s.op.getResult(), rows,
                                   inner.add(pixel, inner.mul(nth, number(rows))), panel, turns);
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
  Tiling t;
  PaddedRows padded;
};

class WindowConvolutionSchedule : public Schedule {
public:
  StringRef name() const override { return "window_convolution"; }
  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    Match<ConvolutionShape> s = ConvolutionShape::match(spec, true);
    if (!s)
      return s.decline();
    return s->groups != 1 ? Decline{kHasGroups} : Decline{};
  }
  Unit unit(func::FuncOp spec, const VectorMachine &machine) const override {
    Tiling t(*ConvolutionShape::match(spec, true), machine);
    if (t.tiles)
      return t.dot ? Unit::ByteTiles : Unit::HalfTiles;
    return t.dot ? t.dot->unit() : t.pairs ? Unit::HalfPairs : Unit::Reals;
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec, true);
    Tiling t(s, machine);
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
    Tiling t(s, machine);
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
    Tiling t(s, machine);
    SymExpr height = s.window[0].out;
    std::vector<Choice> list;
    offerRows(list, s.window[1].out, t.estimatePixels(machine), machine);
    PanelBlocks::offerBlocks(list, t.panels, t.panelBytes);
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
