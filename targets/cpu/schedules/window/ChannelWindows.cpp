//===- ChannelWindows.cpp - Tiles of pixels by vectors of channels ----------------------------===//
//
//   a line or row of neutral elements into scratch, for those outside  [neutral line]
//   for image, block of one or two rows, eight tiles of columns        [units]
//     tiles at the border, tiles inside, tiles at the border           [parts]
//       for tile of columns: where its elements lie                    [pixels]
//         for vector of channels, the last one masked                  [vectors]
//         or two side by side, where one instruction stores them
//           sums = identity, in registers: rows by columns of the tile
//           for row of the operand under the tile                      [rows]
//             for element of it: load it once                          [load]
//               for window that it lies in: sums = add(sums, element)  [add]
//             large images: fetch what the tile below reads of it      [fetch]
//           for pixel of the tile: finish, epilogue and store          [store]
//
// Windows with too many taps to write out have loops over their rows and over some of their
// columns.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/window/ChannelWindows.h"
#include "dialects/weft/Aliases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "targets/cpu/schedules/tile/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kMostColumns = 7; ///< of a tile: sizes of images are often multiples of it
constexpr int64_t kMostTaps = 64;   ///< that are written out
constexpr int64_t kTogether = 8;    ///< taps of a row that are written out when there are more
constexpr int64_t kFewestSums = 8;  ///< of a tile of two rows: fewer would wait for each other
constexpr int64_t kTilesOfUnit = 8;
constexpr int64_t kNearBytes = 512 << 10; ///< of an image
constexpr int64_t kGrainWork =
    16384; ///< elements below which a piece of work is not worth a thread

bool isWrittenOut(const ChannelWindows &s) {
  return s.window[0].kernel * s.window[1].kernel <= kMostTaps;
}

/// Weights of a row of the window that are in use at a time.
int64_t weightsOf(const ChannelWindows &s) {
  return s.hasWeights ? std::min(s.window[1].kernel, kTogether) : 0;
}

/// Vectors of channels side by side.
int64_t vectorsOf(const ChannelWindows &s, const VectorMachine &machine) {
  int64_t both = 2 * int64_t(machine.lanes());
  std::optional<int64_t> channels = s.channels().asConstant();
  bool areLoadedOnly = s.element().isF32() && !s.restored;
  return machine.storesPairs() && s.hasWeights && areLoadedOnly && !(channels && *channels < both)
             ? 2
             : 1;
}

/// Two rows, when their windows share rows of the operand and sums and weights stay in registers. Of two vectors, sums of one row are enough.
int64_t rowsOf(const ChannelWindows &s, const VectorMachine &machine) {
  if (vectorsOf(s, machine) > 1)
    return 1;
  const ConvolutionWindow &down = s.window[0];
  bool share = down.stride % down.dilation == 0 && down.stride / down.dilation < down.kernel;
  int64_t sums = int64_t(machine.registers()) - 1 - 2 * weightsOf(s);
  return share && isWrittenOut(s) && !down.out.isConstant(1) && sums >= kFewestSums ? 2 : 1;
}

int64_t columnsOf(const ChannelWindows &s, const VectorMachine &machine) {
  int64_t registers = int64_t(machine.registers()) / vectorsOf(s, machine);
  int64_t fit = (registers - 1) / rowsOf(s, machine) - weightsOf(s);
  int64_t most = std::clamp<int64_t>(fit, 1, kMostColumns);
  std::optional<int64_t> width = s.window[1].out.asConstant();
  if (!width || *width < 1)
    return most;
  return llvm::divideCeil(*width, llvm::divideCeil(*width, most));
}

/// Elements of the operand that `count` neighbours of the result reach over.
int64_t reach(const ConvolutionWindow &w, int64_t count) {
  return (count - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
}

/// Of those, the first that is inside for all neighbours that are the result's, and the one behind the last.
std::optional<std::pair<int64_t, int64_t>> middleOf(const ConvolutionWindow &w, int64_t count) {
  std::optional<int64_t> low = w.low.asConstant(), high = w.high.asConstant();
  if (!low || !high)
    return {};
  std::pair middle{std::max<int64_t>(*low, 0), reach(w, count) - std::max<int64_t>(*high, 0)};
  return middle.first < middle.second ? std::optional(middle) : std::nullopt;
}

/// Rows of neutral elements instead of lines: sizes follow from windows where there are weights, and all columns of a row are written out.
std::optional<std::pair<int64_t, int64_t>> neutralRowOf(const ChannelWindows &s,
                                                        const VectorMachine &machine) {
  if (vectorsOf(s, machine) == 1 || !isWrittenOut(s))
    return {};
  return middleOf(s.window[1], columnsOf(s, machine));
}

/// Pixels of neutral elements in scratch.
int64_t neutralPixelsOf(const ChannelWindows &s, const VectorMachine &machine) {
  auto middle = neutralRowOf(s, machine);
  return middle ? middle->second - middle->first : 1;
}

/// Whether such neighbours may all have their windows inside, as far as sizes are known.
bool mayBeInside(const ConvolutionWindow &w, int64_t count) {
  std::optional<int64_t> in = w.in.asConstant(), out = w.out.asConstant(), low = w.low.asConstant();
  if (!in || !out || !low)
    return true;
  for (int64_t first = 0; first + count <= *out; first += count)
    if (first * w.stride >= *low && first * w.stride - *low + reach(w, count) <= *in)
      return true;
  return false;
}

/// Whether rows of tiles wait for their rows of the operand: images are larger than what stays
/// near, or may be. Products with weights take long enough to hide that.
bool waitsForRows(const ChannelWindows &s) {
  if (s.hasWeights)
    return false;
  SymExpr elements = s.window[0].in * s.window[1].in * s.channels();
  std::optional<int64_t> known = elements.asConstant();
  return !known || *known * elementBits(s.element()) / 8 > kNearBytes;
}

/// Lanes of a register; bytes are not spread.
unsigned lanesOf(const ChannelWindows &s, const VectorMachine &machine) {
  return machine.lanes() * 32 / elementBits(s.computedElement());
}

} // namespace

SymTensorType ChannelWindows::lineType() const {
  return SymTensorType::get({channels()}, element());
}

Type ChannelWindows::computedElement() const {
  Value image = restored ? restored.getResult() : Value(input);
  return computeType(cast<SymTensorType>(image.getType()).getElementType());
}

Launch ChannelWindows::launch(const VectorMachine &machine) const {
  MLIRContext *context = result.getContext();
  SymExpr one = SymExpr::constant(context, 1), work = SymExpr::constant(context, kGrainWork);
  int64_t rows = rowsOf(*this, machine), columns = columnsOf(*this, machine) * kTilesOfUnit;
  SymExpr units =
      batch() * SymExpr::ceildiv(window[0].out, rows) * SymExpr::ceildiv(window[1].out, columns);
  SymExpr elements =
      SymExpr::min(SymExpr::max(window[1].out, one), SymExpr::constant(context, columns)) * rows *
      SymExpr::max(channels(), one);
  int64_t bytes = elementBits(element()) / 8;
  return {units, SymExpr::max(SymExpr::floordiv(work, elements), one),
          SymExpr::ceildiv(channels() * neutralPixelsOf(*this, machine), 64) * (64 * bytes)};
}

/// [pixels] Where elements of the operand under a tile lie.
class ChannelEmitter::Pixels {
public:
  Pixels(KernelContext &c, const ChannelWindows &s, Tile tile, Value column)
      : c(c), s(s), isBorder(tile.isBorder), outside(tile.function.getArgument(1)),
        element(memoryType(s.element())) {
    if (tile.isBorder && tile.isWhole)
      middle = neutralRowOf(s, c.machine);
    auto first = [&](const ConvolutionWindow &w, Value of) {
      return c.sub(c.mul(of, number(w.stride)), c.e.uniform(w.low));
    };
    top = first(s.window[0], tile.function.getArgument(3)), left = first(s.window[1], column);
    image = c.mul(tile.function.getArgument(2), c.e.uniform(s.window[0].in));
    origin = pixel(c.inputs[s.input.getArgNumber()], c.add(image, top), left);
  }

  /// The first channel of the element that is (y, x) from the tile's first.
  Value at(Value y, Value x) const {
    if (!isBorder)
      return pixel(origin, y, x);
    auto column = getConstantIntValue(x);
    if (middle && column && *column >= middle->first && *column < middle->second)
      return pixel(middleOfRow(y), number(0), number(*column - middle->first));
    y = c.add(top, y), x = c.add(left, x);
    Value here = pixel(c.inputs[s.input.getArgNumber()], c.add(image, y), x);
    Value both = c.b.create<arith::AndIOp>(isInside(y, s.window[0]), isInside(x, s.window[1]));
    return c.b.create<arith::SelectOp>(both, here, outside);
  }

private:
  Value number(int64_t value) const { return constantI64(c.b, value); }
  /// The first of a row's columns that are inside if the row is.
  Value middleOfRow(Value y) const {
    y = c.add(top, y);
    Value here = pixel(c.inputs[s.input.getArgNumber()], c.add(image, y),
                       c.add(left, number(middle->first)));
    return c.b.create<arith::SelectOp>(isInside(y, s.window[0]), here, outside);
  }
  Value isInside(Value position, const ConvolutionWindow &w) const {
    return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, position, c.e.uniform(w.in));
  }
  Value pixel(Value base, Value y, Value x) const {
    SymExpr channels = s.channels();
    Value line =
        elementPointer(c.b, base, element, c.mul(y, c.e.uniform(s.window[1].in * channels)));
    return elementPointer(c.b, line, element, c.mul(x, c.e.uniform(channels)));
  }

  KernelContext &c;
  const ChannelWindows &s;
  bool isBorder;
  Value outside;
  Type element;
  Value top, left, image, origin;
  std::optional<std::pair<int64_t, int64_t>> middle; ///< columns that no border crosses
};

ChannelEmitter::ChannelEmitter(KernelContext &c, const ChannelWindows &s)
    : s(s), rows(this->s.window[0]), columns(this->s.window[1]), kernel(c),
      tileRows(rowsOf(s, c.machine)), tileColumns(columnsOf(s, c.machine)),
      tileVectors(vectorsOf(s, c.machine)) {}

/// Where that saves an instruction.
bool ChannelEmitter::startsSums() const {
  return !kernel.machine.clearsForNothing() && isWrittenOut(s) && s.hasWeights;
}

void ChannelEmitter::emit() {
  KernelContext &c = kernel;
  declareTiles();
  c.e.setLanes(lanesOf(s, c.machine));
  fillNeutralLine();
  // [units] Columns are innermost: rows of the operand stay near.
  c.loop(c.begin, c.end, 1, [&](Value unit) { emitUnit(unit); });
  for (Tile tile : {inner, border, lastColumns, lastRow})
    if (tile.function)
      emitTile(tile);
}

void ChannelEmitter::declareTiles() {
  KernelContext &c = kernel;
  Type i64 = c.b.getI64Type(), pointer = c.scratch.getType();
  std::optional<int64_t> height = rows.out.asConstant(), width = columns.out.asConstant();
  bool areWhole = width && *width % tileColumns == 0;
  auto declare = [&](int64_t count, bool isBorder, bool isWhole, const char *suffix = "") {
    func::FuncOp function = declareRowTile(c, count, {pointer, i64, i64, i64, i64});
    function.setName((function.getName() + suffix).str());
    return Tile{count, isBorder, isWhole, function};
  };
  bool hasNeutralRow = neutralRowOf(s, c.machine).has_value();
  border = declare(tileRows, true, hasNeutralRow || areWhole);
  if (hasNeutralRow && !areWhole)
    lastColumns = declare(tileRows, true, false, "_end");
  if (mayBeInside(rows, tileRows) && mayBeInside(columns, tileColumns))
    inner = declare(tileRows, false, true, "_inside");
  if (tileRows > 1 && !(height && *height % tileRows == 0))
    lastRow = declare(1, true, areWhole);
}

/// [neutral line] Once for all units of a call. What stands for 0 is restored from the zero point.
void ChannelEmitter::fillNeutralLine() {
  KernelContext &c = kernel;
  SymExpr elements = s.channels() * neutralPixelsOf(s, c.machine);
  SymTensorType line = SymTensorType::get({elements}, s.element());
  c.vectors(elements, [&](IndexValue at) {
    Value neutral =
        s.restored ? parameters(c)[1] : c.e.constantData(computeType(s.element()), identity());
    c.e.store(c.scratch, line, {at}, neutral);
  });
}

/// Scale and zero point of what is restored.
SmallVector<Value> ChannelEmitter::parameters(KernelContext &c) {
  SmallVector<Value> both;
  if (s.restored)
    for (Value number : {s.restored.getScale(), s.restored.getZero()})
      both.push_back(
          c.e.pull(number, SmallVector<IndexValue>(cast<SymTensorType>(number.getType()).getRank(),
                                                   c.e.constant(0))));
  return both;
}

void ChannelEmitter::emitUnit(Value unit) {
  KernelContext &c = kernel;
  int64_t span = tileColumns * kTilesOfUnit;
  Value groups = c.e.uniform(SymExpr::ceildiv(columns.out, span)),
        blocks = c.e.uniform(SymExpr::ceildiv(rows.out, tileRows));
  auto div = [&](Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); };
  auto rem = [&](Value a, Value d) { return c.b.createOrFold<arith::RemUIOp>(a, d); };
  Value line = div(unit, groups), from = c.mul(rem(unit, groups), constantI64(c.b, span));
  Value to = least(c.add(from, constantI64(c.b, span)), c.e.uniform(columns.out));
  Value image = div(line, blocks), row = c.mul(rem(line, blocks), constantI64(c.b, tileRows));
  auto call = [&](Tile tile, Value from, Value to) { callTile(tile, {image, row, from, to}); };
  // [parts] Inside, no element is asked for its place. A block of rows at the border has no such
  // tiles.
  auto callWhole = [&] {
    if (!inner.function)
      return call(border, from, to);
    choose(
        isInside(row),
        [&] {
          auto [first, behind] = tilesInside(from, to);
          call(border, from, first);
          call(inner, first, behind);
          call(border, behind, to);
        },
        [&] { call(border, from, to); });
  };
  if (!lastRow.function)
    return callWhole();
  Value isWhole = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, c.e.uniform(rows.out),
                                            c.add(row, constantI64(c.b, tileRows)));
  choose(isWhole, callWhole, [&] { call(lastRow, from, to); });
}

/// Columns that do not fill a tile have a function of their own where the border's takes whole tiles.
void ChannelEmitter::callTile(Tile tile, const Strip &strip) {
  KernelContext &c = kernel;
  auto call = [&](Tile tile, Value from, Value to) {
    c.b.create<func::CallOp>(tile.function, ValueRange{c.kernel.getArgument(0), c.scratch,
                                                       strip.image, strip.row, from, to});
  };
  if (tile.function != border.function || !lastColumns.function)
    return call(tile, strip.from, strip.to);
  Value width = constantI64(c.b, tileColumns), columns = c.sub(strip.to, strip.from);
  Value rest = c.b.createOrFold<arith::RemUIOp>(columns, width), behind = c.sub(strip.to, rest);
  call(tile, strip.from, behind);
  Value isLeft = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, constantI64(c.b, 0));
  choose(
      isLeft, [&] { call(lastColumns, behind, strip.to); }, [] {});
}

Value ChannelEmitter::least(Value a, Value d) {
  return kernel.b.createOrFold<arith::MinSIOp>(a, d);
}

void ChannelEmitter::choose(Value condition, function_ref<void()> yes, function_ref<void()> no) {
  auto branch = kernel.b.create<scf::IfOp>(condition, true);
  OpBuilder::InsertionGuard insertion(kernel.b);
  kernel.b.setInsertionPointToStart(branch.thenBlock());
  yes();
  kernel.b.setInsertionPointToStart(branch.elseBlock());
  no();
}

/// Whether a whole block of rows from `row` on has its windows inside.
Value ChannelEmitter::isInside(Value row) {
  KernelContext &c = kernel;
  auto atLeast = [&](Value a, Value d) {
    return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, a, d);
  };
  Value first = c.sub(c.mul(row, constantI64(c.b, rows.stride)), c.e.uniform(rows.low));
  Value end = c.add(first, constantI64(c.b, reach(rows, tileRows)));
  return c.b.create<arith::AndIOp>(atLeast(first, constantI64(c.b, 0)),
                                   atLeast(c.e.uniform(rows.in), end));
}

/// The columns from `from` to `to` that whole tiles with their windows inside begin and end with.
std::pair<Value, Value> ChannelEmitter::tilesInside(Value from, Value to) {
  KernelContext &c = kernel;
  SymExpr zero = SymExpr::constant(c.b.getContext(), 0), width = columns.in + columns.low;
  SymExpr first = SymExpr::max(SymExpr::ceildiv(columns.low, columns.stride), zero);
  SymExpr behind =
      SymExpr::min(SymExpr::floordiv(width - reach(columns, 1), columns.stride) + 1, columns.out);
  auto most = [&](Value a, Value d) { return c.b.createOrFold<arith::MaxSIOp>(a, d); };
  Value begin = c.e.uniform(SymExpr::ceildiv(first, tileColumns) * tileColumns),
        end = c.e.uniform(SymExpr::floordiv(behind, tileColumns) * tileColumns);
  begin = least(most(begin, from), to);
  return {begin, most(least(end, to), begin)};
}

/// (words, line of elements outside, image, first row, columns from, to)
void ChannelEmitter::emitTile(Tile tile) {
  emitRowTile(kernel, tile.function, [&](KernelContext &c) {
    c.e.setLanes(lanesOf(s, c.machine));
    c.loop(tile.function.getArgument(4), tile.function.getArgument(5), tileColumns,
           [&](Value column) {
             Pixels pixels(c, s, tile, column);
             walkChannels(c, [&](ArrayRef<IndexValue> channels) {
               storeTile(c, tile, column, channels, sum(c, tile, pixels, channels));
             });
           });
  });
}

/// [vectors] Innermost: places are found once for all. What is left of vectors side by side goes one by one.
void ChannelEmitter::walkChannels(KernelContext &c, function_ref<void(ArrayRef<IndexValue>)> body) {
  int64_t lanes = c.e.laneCount(), step = lanes * tileVectors;
  SymExpr together = SymExpr::constant(c.b.getContext(), 0);
  if (tileVectors > 1) {
    together = SymExpr::floordiv(s.channels(), step) * step;
    c.loop(constantI64(c.b, 0), c.e.uniform(together), step, [&](Value first) {
      SmallVector<IndexValue> channels;
      for (int64_t v = 0; v < tileVectors; ++v)
        channels.push_back({c.add(first, constantI64(c.b, v * lanes)), 1});
      c.e.forget();
      body(channels);
      c.e.forget();
    });
  }
  if (together != s.channels())
    c.vectors(
        s.channels(), [&](IndexValue channel) { body(channel); }, together);
}

/// [fetch] What a tile reads of row y for the first time, when y is a row of the tile below: by
/// then it is in the second-level cache.
void ChannelEmitter::fetchRow(KernelContext &c, const Pixels &pixels, int64_t y,
                              IndexValue channel) {
  Type element = memoryType(s.element());
  for (int64_t x = 0; x < tileColumns * columns.stride; ++x) {
    Value at = elementPointer(c.b, pixels.at(constantI64(c.b, y), constantI64(c.b, x)), element,
                              channel.base);
    c.machine.prefetch(c.b, at, VectorMachine::Cache::Second);
  }
}

SmallVector<Value> ChannelEmitter::sum(KernelContext &c, Tile tile, const Pixels &pixels,
                                       ArrayRef<IndexValue> channels) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  // Null until something is added.
  Value begin;
  if (!startsSums())
    begin = c.e.constantData(s.computedElement(), identity());
  SmallVector<Value> sums(tile.rows * tileColumns * channels.size(), begin);
  SmallVector<Value> restoring = parameters(c);
  auto addRow = [&](Value y, ArrayRef<RowUse> uses, Value first, int64_t count) {
    addTaps(c, pixels, channels, restoring, {y, uses, first, count}, sums);
  };
  if (isWrittenOut(s)) {
    // [rows] From the top: rows of the window that meet it, by row of the tile.
    std::map<int64_t, SmallVector<RowUse>> byRow;
    for (int64_t q = 0; q < tile.rows; ++q)
      for (int64_t i = 0; i < rows.kernel; ++i)
        byRow[q * rows.stride + i * rows.dilation].push_back({q, number(i)});
    int64_t down = tile.rows * rows.stride;
    for (const auto &[y, uses] : byRow) {
      addRow(number(y), uses, number(0), columns.kernel);
      if (!tile.isBorder && waitsForRows(s) && y + down >= reach(rows, tile.rows))
        fetchRow(c, pixels, y + down, channels.front());
    }
    return sums;
  }
  return c.loop(number(0), number(rows.kernel), 1, sums, [&](Value i, ValueRange carried) {
    Value y = c.mul(i, number(rows.dilation));
    int64_t whole = columns.kernel / kTogether * kTogether;
    sums = c.loop(number(0), number(whole), kTogether, carried, [&](Value j, ValueRange inner) {
      sums.assign(inner.begin(), inner.end());
      addRow(y, RowUse{0, i}, j, kTogether);
      return sums;
    });
    if (whole < columns.kernel)
      addRow(y, RowUse{0, i}, number(whole), columns.kernel - whole);
    return sums;
  });
}

/// Adds taps [first, first + count) of row y of what lies under the tile.
void ChannelEmitter::addTaps(KernelContext &c, const Pixels &pixels, ArrayRef<IndexValue> channels,
                             ArrayRef<Value> restoring, const Taps &taps,
                             MutableArrayRef<Value> sums) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  std::map<int64_t, SmallVector<std::pair<int64_t, int64_t>>> byColumn; // result, tap
  for (int64_t r = 0; r < tileColumns; ++r)
    for (int64_t j = 0; j < taps.count; ++j)
      byColumn[r * columns.stride + j * columns.dilation].push_back({r, j});
  std::map<std::tuple<int64_t, int64_t, int64_t>, Value> loaded; // use, tap, vector
  auto weightsOf = [&](int64_t use, int64_t j, int64_t v) {
    Value &here = loaded[{use, j, v}];
    if (!here && s.hasWeights)
      here = weights(
          c, channels[v],
          c.add(c.mul(taps.uses[use].tap, number(columns.kernel)), c.add(taps.first, number(j))));
    return here;
  };
  Value skipped = c.mul(taps.first, number(columns.dilation));
  // [load] The element stays in a register for all windows.
  for (const auto &[column, meets] : byColumn)
    for (auto [v, channel] : llvm::enumerate(channels)) {
      Value x =
          c.e.load(pixels.at(taps.y, c.add(skipped, number(column))), s.lineType(), {channel});
      if (s.restored)
        x = s.restored.emitScalar(c.b, {x, restoring[0], restoring[1]});
      // [add] Weights are loaded when the first window needs them.
      for (auto [r, j] : meets)
        for (auto [u, use] : llvm::enumerate(taps.uses)) {
          Value &sum = sums[(use.row * tileColumns + r) * channels.size() + v];
          Value w = weightsOf(u, j, v);
          sum = sum ? add(c, sum, x, w) : start(c, channel, x, w);
        }
    }
}

void ChannelEmitter::storeTile(KernelContext &c, Tile tile, Value column,
                               ArrayRef<IndexValue> channels, ArrayRef<Value> sums) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  // [store] A tile inside has all its columns; at the border some may be outside.
  for (int64_t r = 0; r < tileColumns; ++r) {
    OpBuilder::InsertionGuard insertion(c.b);
    if (r > 0 &&
        !tile.isWhole) { // nested, so that what pixels share is loaded once: columns follow each other
      Value inside = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, c.add(column, number(r)),
                                               c.e.uniform(columns.out));
      c.b.setInsertionPointToStart(c.b.create<scf::IfOp>(inside, false).thenBlock());
    }
    for (int64_t q = 0; q < tile.rows; ++q) {
      Value y = c.add(tile.function.getArgument(3), number(q)), x = c.add(column, number(r));
      storePixel(c, {tile.function.getArgument(2), y, x}, channels,
                 sums.slice((q * tileColumns + r) * channels.size(), channels.size()));
    }
  }
}

/// All vectors of a pixel are computed before the first is stored.
void ChannelEmitter::storePixel(KernelContext &c, const Place &place, ArrayRef<IndexValue> channels,
                                ArrayRef<Value> sums) {
  SmallVector<SmallVector<IndexValue>> indices;
  SmallVector<SmallVector<Value>> data;
  for (auto [channel, sum] : llvm::zip_equal(channels, sums)) {
    SmallVector<IndexValue> index{{place.image}, {place.row}, {place.column}, channel};
    if (s.isLine)
      index.erase(index.begin() + 1);
    Value finished = finish(c, sum, place.row, place.column);
    c.e.provide(summed(), [&](ArrayRef<IndexValue>) { return finished; });
    c.e.forget();
    data.push_back(c.pullResults(index));
    indices.push_back(index);
  }
  if (channels.size() == 2 && storeTogether(c, indices.front(), data))
    return c.e.forget();
  for (auto [index, elements] : llvm::zip_equal(indices, data))
    c.storePulled(index, elements);
  c.e.forget();
}

/// Whether two vectors were stored by one instruction: of one result, which is no part of a buffer.
bool ChannelEmitter::storeTogether(KernelContext &c, ArrayRef<IndexValue> index,
                                   ArrayRef<SmallVector<Value>> data) {
  if (data[0].size() != 1 || !c.resultType(0).getElementType().isF32() ||
      inPlaceWrite(c.returnOp()->getOperand(0)))
    return false;
  Value at =
      elementPointer(c.b, c.outputs[0], c.b.getF32Type(), c.e.linear(c.resultType(0), index).base);
  c.machine.storePair(c.b, data[0][0], data[1][0], at);
  return true;
}

} // namespace weft
