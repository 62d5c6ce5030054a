//===- ChannelWindows.cpp - Tiles of pixels by vectors of channels ----------------------------===//
//
//   a line of neutral elements into scratch, for elements outside      [neutral line]
//   for image, block of one or two rows, eight tiles of columns        [units]
//     tiles at the border, tiles inside, tiles at the border           [parts]
//       for tile of columns: where its elements lie                    [pixels]
//         for vector of channels, the last one masked                  [vectors]
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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Two rows, when their windows share rows of the operand and sums and weights stay in registers.
int64_t rowsOf(const ChannelWindows &s, const VectorMachine &machine) {
  const ConvolutionWindow &down = s.window[0];
  bool share = down.stride % down.dilation == 0 && down.stride / down.dilation < down.kernel;
  int64_t sums = int64_t(machine.registers()) - 1 - 2 * weightsOf(s);
  return share && isWrittenOut(s) && !down.out.isConstant(1) && sums >= kFewestSums ? 2 : 1;
}

int64_t columnsOf(const ChannelWindows &s, const VectorMachine &machine) {
  int64_t fit = (int64_t(machine.registers()) - 1) / rowsOf(s, machine) - weightsOf(s);
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
          SymExpr::ceildiv(channels(), 64) * (64 * bytes)};
}

/// [pixels] Where elements of the operand under a tile lie.
class ChannelEmitter::Pixels {
public:
  Pixels(KernelContext &c, const ChannelWindows &s, Tile tile, Value column)
      : c(c), s(s), isBorder(tile.isBorder), outside(tile.function.getArgument(1)),
        element(memoryType(s.element())) {
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
    y = c.add(top, y), x = c.add(left, x);
    Value here = pixel(c.inputs[s.input.getArgNumber()], c.add(image, y), x);
    Value both = c.b.create<arith::AndIOp>(isInside(y, s.window[0]), isInside(x, s.window[1]));
    return c.b.create<arith::SelectOp>(both, here, outside);
  }

private:
  Value number(int64_t value) const { return constantI64(c.b, value); }
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
};

ChannelEmitter::ChannelEmitter(KernelContext &c, const ChannelWindows &s)
    : s(s), rows(this->s.window[0]), columns(this->s.window[1]), kernel(c),
      tileRows(rowsOf(s, c.machine)), tileColumns(columnsOf(s, c.machine)) {}

void ChannelEmitter::emit() {
  KernelContext &c = kernel;
  Type i64 = c.b.getI64Type(), pointer = c.scratch.getType();
  auto declare = [&](int64_t count, bool isBorder) {
    func::FuncOp function = declareRowTile(c, count, {pointer, i64, i64, i64, i64});
    if (!isBorder)
      function.setName((function.getName() + "_inside").str());
    return Tile{count, isBorder, function};
  };
  std::optional<int64_t> height = rows.out.asConstant();
  border = declare(tileRows, true);
  if (mayBeInside(rows, tileRows) && mayBeInside(columns, tileColumns))
    inner = declare(tileRows, false);
  if (tileRows > 1 && !(height && *height % tileRows == 0))
    lastRow = declare(1, true);
  c.e.setLanes(lanesOf(s, c.machine));
  fillNeutralLine();
  // [units] Columns are innermost: rows of the operand stay near.
  c.loop(c.begin, c.end, 1, [&](Value unit) { emitUnit(unit); });
  for (Tile tile : {inner, border, lastRow})
    if (tile.function)
      emitTile(tile);
}

/// [neutral line] Once for all units of a call. What stands for 0 is restored from the zero point.
void ChannelEmitter::fillNeutralLine() {
  KernelContext &c = kernel;
  c.vectors(s.channels(), [&](IndexValue channel) {
    Value neutral =
        s.restored ? parameters(c)[1] : c.e.constantData(computeType(s.element()), identity());
    c.e.store(c.scratch, s.lineType(), {channel}, neutral);
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
  auto call = [&](Tile tile, Value from, Value to) {
    c.b.create<func::CallOp>(tile.function,
                             ValueRange{c.kernel.getArgument(0), c.scratch, image, row, from, to});
  };
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
             // [vectors] Innermost: places are found once for all.
             c.vectors(s.channels(), [&](IndexValue channel) {
               storeTile(c, tile, column, channel, sum(c, tile, pixels, channel));
             });
           });
  });
}

namespace {

/// A row of the operand adds row `tap` of the window to the sums of row `row` of a tile.
struct RowUse {
  int64_t row;
  Value tap;
};

} // namespace

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
                                       IndexValue channel) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  SymTensorType line = s.lineType();
  // Null until something is added, where that saves an instruction.
  Value begin;
  if (c.machine.clearsForNothing() || !isWrittenOut(s) || !s.hasWeights)
    begin = c.e.constantData(s.computedElement(), identity());
  SmallVector<Value> sums(tile.rows * tileColumns, begin);
  SmallVector<Value> restoring = parameters(c);
  // Taps [first, first + count) of row y of what lies under the tile.
  auto addRow = [&](Value y, ArrayRef<RowUse> uses, Value first, int64_t count) {
    std::map<int64_t, SmallVector<std::pair<int64_t, int64_t>>> byColumn; // result, tap
    for (int64_t r = 0; r < tileColumns; ++r)
      for (int64_t j = 0; j < count; ++j)
        byColumn[r * columns.stride + j * columns.dilation].push_back({r, j});
    std::map<std::pair<int64_t, int64_t>, Value> loaded; // use, tap
    auto weightsOf = [&](size_t use, int64_t j) {
      Value &here = loaded[{int64_t(use), j}];
      if (!here && s.hasWeights)
        here =
            weights(c, channel,
                    c.add(c.mul(uses[use].tap, number(columns.kernel)), c.add(first, number(j))));
      return here;
    };
    Value skipped = c.mul(first, number(columns.dilation));
    // [load] The element stays in a register for all windows.
    for (const auto &[column, meets] : byColumn) {
      Value x = c.e.load(pixels.at(y, c.add(skipped, number(column))), line, {channel});
      if (s.restored)
        x = s.restored.emitScalar(c.b, {x, restoring[0], restoring[1]});
      // [add] Weights are loaded when the first window needs them.
      for (auto [r, j] : meets)
        for (auto [u, use] : llvm::enumerate(uses)) {
          Value &sum = sums[use.row * tileColumns + r];
          sum = sum ? add(c, sum, x, weightsOf(u, j)) : start(c, x, weightsOf(u, j));
        }
    }
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
        fetchRow(c, pixels, y + down, channel);
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

void ChannelEmitter::storeTile(KernelContext &c, Tile tile, Value column, IndexValue channel,
                               ArrayRef<Value> sums) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  Value image = tile.function.getArgument(2), row = tile.function.getArgument(3);
  std::optional<int64_t> width = columns.out.asConstant();
  bool isWhole = !tile.isBorder || (width && *width % tileColumns == 0);
  auto store = [&](int64_t q, int64_t r) {
    Value y = c.add(row, number(q)), x = c.add(column, number(r));
    Value sum = finish(c, sums[q * tileColumns + r], y, x);
    c.e.provide(s.result, [&](ArrayRef<IndexValue>) { return sum; });
    SmallVector<IndexValue> index{{image}, {y}, {x}, channel};
    if (s.isLine)
      index.erase(index.begin() + 1);
    c.e.forget();
    c.storeResults(index);
    c.e.forget();
  };
  // [store] A tile inside has all its columns; at the border some may be outside.
  for (int64_t r = 0; r < tileColumns; ++r) {
    OpBuilder::InsertionGuard insertion(c.b);
    if (r > 0 &&
        !isWhole) { // nested, so that what pixels share is loaded once: columns follow each other
      Value inside = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, c.add(column, number(r)),
                                               c.e.uniform(columns.out));
      c.b.setInsertionPointToStart(c.b.create<scf::IfOp>(inside, false).thenBlock());
    }
    for (int64_t q = 0; q < tile.rows; ++q)
      store(q, r);
  }
}

} // namespace weft
