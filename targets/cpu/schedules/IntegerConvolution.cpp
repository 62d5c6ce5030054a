//===- IntegerConvolution.cpp - Filters of bytes times shifted rows of bytes, tiled in registers ---------===//
//
// y[n, o, p] = epilogue(sum over c, i, j of w[o, c, i, j] * x[n, c, row(p) * s + i * d - top, column(p) * t + j * e - left]) in i32 with
// constant filters. As in Convolution.cpp, a unit is one block of pixels, which copies what it reads into strips of scratch:
//
//   strips [channel / G][j][row mod s][position]: 4 bytes, G channels of what pixel `position` reads, side by side
//
// so that one instruction multiplies and adds G channels of a pixel (IntegerDot.h: 4 bytes, or 2 numbers of 16 bits). Then a tile of up
// to 13 filters by two vectors of pixels stays in registers for the whole sum; filters are packed as [tile][c / G][i, j][filter][G].
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/ConvolutionShape.h"
#include "targets/cpu/schedules/IntegerDot.h"
#include <numeric>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kMostPixels = 256;
constexpr int64_t kUnrolledTaps = 16; ///< code size
constexpr int64_t kGrainWork = 1 << 20;

/// How a shape is cut for a processor.
struct Tiling {
  int64_t rows, lastRows, tiles; ///< filters of a tile, of a group's last tile, tiles of a group
  int64_t vectors;               ///< of pixels in a tile
  int64_t pixels;                ///< of a block
  int64_t together, groups;      ///< channels in 4 bytes, such groups of a filter
  int64_t phases, planes;        ///< strips of a group: per residue of rows, in all
  int64_t reach;                 ///< rows that the last tap reads further than the first
  int64_t sameRow, sameReach;    ///< taps i and i + sameRow share a strip, sameReach rows apart

  Tiling(const ConvolutionShape &s, const IntegerDot &dot, const VectorIsa &isa) {
    int64_t most = isa.registers >= 32 ? 13 : 5, filters = s.filters / s.groups;
    if (s.groups == 1) {
      rows = llvm::divideCeil(filters, llvm::divideCeil(filters, most));
    } else {
      rows = std::min(most, filters); // a tile lies in one group
      while (filters % rows)
        --rows;
    }
    tiles = llvm::divideCeil(filters, rows);
    lastRows = filters - (tiles - 1) * rows;
    vectors = rows * 4 + 5 <= isa.registers ? 4 : 2;
    together = dot.group();
    groups = llvm::divideCeil(s.channels, together);
    const ConvolutionWindow &h = s.window[0];
    int64_t common = std::gcd(h.stride, h.dilation);
    sameRow = h.stride / common, sameReach = h.dilation / common;
    phases = h.kernel > 1 ? std::min(h.stride, (h.kernel - 1) * h.dilation + 1) : 1;
    planes = s.window[1].kernel * phases;
    reach = (h.kernel - 1) * h.dilation / h.stride;
    pixels = kMostPixels / (vectors * isa.lanes) * (vectors * isa.lanes);
  }
};

/// Positions of one strip: what the last tap of the last pixel reads, and what whole vectors read and write behind it.
SymExpr stripLength(const ConvolutionShape &s, const Tiling &t, const VectorIsa &isa) {
  return s.window[1].out * t.reach + (t.pixels + 2 * int64_t(isa.lanes));
}

IntegerDot dotOf(const ConvolutionShape &s, const VectorIsa &isa) {
  return IntegerDot(isa, s.op.getInput(), s.op.getFilter());
}

/// Copies what a block of pixels reads into strips.
class StripCopy {
public:
  StripCopy(KernelContext &c, const ConvolutionShape &s, const Tiling &t, const IntegerDot &dot)
      : c(c), s(s), t(t), dot(dot), rows(s.window[0]), columns(s.window[1]) {
    input = dyn_cast<BlockArgument>(s.op.getInput());
    width = c.e.uniform(columns.in), height = c.e.uniform(rows.in),
    outWidth = c.e.uniform(columns.out);
    left = c.e.uniform(columns.low), top = c.e.uniform(rows.low);
    pitch = c.e.uniform(stripLength(s, t, c.isa));
  }

  /// Pixels [first, first + count) of image n, channels from `channel` on.
  void emit(Value n, Value channel, Value first, Value count) {
    image = n, begin = first, pixels = count;
    int64_t whole = s.channels / t.together;
    c.loop(number(0), number(whole), 1,
           [&](Value group) { emitGroup(channel, group, t.together); });
    if (whole < t.groups)
      emitGroup(channel, number(whole), s.channels % t.together);
  }

private:
  Value number(int64_t value) { return constantI64(c.b, value); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }
  Value most(Value a, Value d) { return c.b.createOrFold<arith::MaxSIOp>(a, d); }
  Value quotient(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value d) {
    return c.b.create<arith::CmpIOp>(predicate, a, d);
  }

  void emitGroup(Value channel, Value group, int64_t count) {
    planes.clear(), sources.clear();
    for (int64_t u = 0; u < count; ++u) {
      Value plane = c.add(channel, c.add(c.mul(group, number(t.together)), number(u)));
      planes.push_back(plane);
      if (input)
        sources.push_back(
            elementPointer(c.b, c.inputs[input.getArgNumber()], c.b.getI8Type(),
                           c.mul(c.add(c.mul(image, number(s.groups * s.channels)), plane),
                                 c.mul(height, width))));
    }
    strip = elementPointer(c.b, c.scratch, c.b.getI32Type(),
                           c.mul(group, c.mul(number(t.planes), pitch)));
    c.loop(number(0), number(rows.kernel), 1, [&](Value tap) { emitTap(tap); });
  }

  /// The positions that tap row `tap` reads and no earlier one with the same strip.
  void emitTap(Value tap) {
    Value row = c.mul(tap, number(rows.dilation)), stride = number(rows.stride);
    phase = c.b.createOrFold<arith::RemUIOp>(row, stride);
    Value offset = c.mul(quotient(row, stride), outWidth), to = c.add(offset, pixels);
    Value before = c.sub(to, c.mul(number(t.sameReach), outWidth));
    Value shared = compare(arith::CmpIPredicate::sge, tap, number(t.sameRow));
    Value from = c.b.create<arith::SelectOp>(shared, most(offset, before), offset);
    Value firstRow = quotient(c.add(begin, from), outWidth);
    Value endRow = c.add(quotient(c.sub(c.add(begin, to), number(1)), outWidth), number(1));
    if (rows.isPointwise() && columns.isPointwise())
      return emitLine(c.sub(offset, begin), offset, to, number(0), {}, c.mul(height, width));
    c.loop(firstRow, endRow, 1, [&](Value each) {
      Value start = c.sub(c.mul(each, outWidth), begin);
      Value here = most(start, from), end = least(c.add(start, outWidth), to);
      Value y = c.sub(c.add(c.mul(each, stride), phase), top);
      Value inside = c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, y, number(0)),
                                               compare(arith::CmpIPredicate::slt, y, height));
      Value rowWidth =
          c.b.create<arith::SelectOp>(inside, width, number(0)); // a row outside has no columns
      Value line = c.mul(c.b.create<arith::SelectOp>(inside, y, number(0)), width);
      emitLine(start, here, end, line, y, rowWidth);
    });
  }

  /// Positions [here, end) of a row that starts at position `start`; its elements lie from `line` on. A whole vector is written: what is
  /// too much lies in the next row, which follows, or behind the strip. Without `y` all rows are one line.
  void emitLine(Value start, Value here, Value end, Value line, Value y, Value rowWidth) {
    c.loop(here, end, c.isa.lanes, [&](Value position) {
      Value x = c.sub(c.mul(c.sub(position, start), number(columns.stride)), left);
      if (columns.kernel <= kUnrolledTaps)
        for (int64_t j = 0; j < columns.kernel; ++j)
          emitVector(line, y, rowWidth, c.add(x, number(j * columns.dilation)), number(j),
                     position);
      else
        c.loop(number(0), number(columns.kernel), 1, [&](Value j) {
          emitVector(line, y, rowWidth, c.add(x, c.mul(j, number(columns.dilation))), j, position);
        });
    });
  }

  /// Elements x, x + stride, … of row y, which begins at `line`, for all channels; zeros outside [0, rowWidth).
  void emitVector(Value line, Value y, Value rowWidth, Value x, Value j, Value position) {
    Value to = c.add(c.mul(c.add(c.mul(j, number(t.phases)), phase), pitch), position);
    if (!input || columns.stride > 2)
      return pullColumns(y, rowWidth, x, to);
    Value end = c.add(x, number(c.isa.lanes * columns.stride));
    Value whole = c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, x, number(0)),
                                            compare(arith::CmpIPredicate::sle, end, rowWidth));
    auto choose = c.b.create<scf::IfOp>(whole, true);
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(choose.thenBlock());
    copyColumns(c.add(line, x), {}, to);
    c.b.setInsertionPointToStart(choose.elseBlock());
    SmallVector<Value> masks;
    for (int64_t part = 0; part < columns.stride; ++part)
      masks.push_back(inside(c.add(x, number(part * c.isa.lanes)), rowWidth));
    copyColumns(c.add(line, x), masks, to);
  }

  VectorType bytes() { return VectorType::get({c.isa.lanes}, c.b.getI8Type()); }
  Value none() { return c.b.create<arith::ConstantOp>(c.b.getZeroAttr(bytes())); }

  void copyColumns(Value from, ArrayRef<Value> masks, Value to) {
    SmallVector<int64_t> even;
    for (unsigned i = 0; i < c.isa.lanes; ++i)
      even.push_back(2 * i);
    SmallVector<Value> channels;
    for (Value source : sources) {
      SmallVector<Value, 2> parts;
      for (int64_t part = 0; part < columns.stride; ++part) {
        Value at =
            elementPointer(c.b, source, c.b.getI8Type(), c.add(from, number(part * c.isa.lanes)));
        if (masks.empty())
          parts.push_back(c.b.create<LLVM::LoadOp>(bytes(), at, 1));
        else
          parts.push_back(c.b.create<LLVM::MaskedLoadOp>(bytes(), at, masks[part], none(), 1));
      }
      channels.push_back(parts.size() == 1
                             ? parts[0]
                             : Value(c.b.create<vector::ShuffleOp>(parts[0], parts[1], even)));
    }
    store(channels, to);
  }

  /// Channels of one vector of positions, side by side.
  void store(SmallVector<Value> channels, Value to) {
    channels.resize(t.together, none());
    if (dot.widens())
      for (Value &channel : channels)
        channel = widen(channel);
    while (channels.size() > 1) { // pairs of neighbours become one element of twice the width
      SmallVector<Value> joined;
      for (size_t i = 0; i < channels.size() / 2; ++i)
        joined.push_back(interleave(channels[2 * i], channels[2 * i + 1]));
      channels = joined;
    }
    c.b.create<LLVM::StoreOp>(channels[0], elementPointer(c.b, strip, c.b.getI32Type(), to), 4);
  }

  Value widen(Value channel) {
    auto wide = VectorType::get({c.isa.lanes}, c.b.getI16Type());
    bool isUnsignedInput =
        isUnsigned(cast<SymTensorType>(s.op.getInput().getType()).getElementType());
    return isUnsignedInput ? Value(c.b.create<arith::ExtUIOp>(wide, channel))
                           : c.b.create<arith::ExtSIOp>(wide, channel);
  }

  Value interleave(Value a, Value d) {
    auto type = cast<VectorType>(a.getType());
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      order.append({i, type.getNumElements() + i});
    Value both = c.b.create<vector::ShuffleOp>(a, d, order);
    auto wider = VectorType::get({type.getNumElements()},
                                 c.b.getIntegerType(2 * type.getElementTypeBitWidth()));
    return c.b.create<LLVM::BitcastOp>(wider, both);
  }

  /// Which lanes of x, x + 1, … lie in [0, rowWidth).
  Value inside(Value x, Value rowWidth) {
    auto type = VectorType::get({c.isa.lanes}, c.b.getI32Type());
    SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, c.isa.lanes));
    Value lane = c.b.create<arith::ConstantOp>(DenseIntElementsAttr::get(type, numbers));
    auto bound = [&](Value value) -> Value { // in lanes
      Value some = least(most(value, number(0)), number(c.isa.lanes));
      return c.b.create<vector::SplatOp>(c.b.create<arith::TruncIOp>(c.b.getI32Type(), some), type);
    };
    Value from = bound(c.sub(number(0), x)), to = bound(c.sub(rowWidth, x));
    return c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, lane, from),
                                     compare(arith::CmpIPredicate::slt, lane, to));
  }

  void pullColumns(Value y, Value rowWidth, Value x, Value to) {
    IndexValue column{x, columns.stride};
    Value mask = c.b.create<arith::AndIOp>(c.e.nonNegative(column), c.e.less(column, {rowWidth}));
    SmallVector<Value> channels;
    c.e.forget();
    for (Value plane : planes) {
      SmallVector<IndexValue> index{{image}, {plane}};
      if (!y) { // one line for all rows
        auto [row, rest] = c.e.divmod(column, {outWidth});
        if (!s.isLine)
          index.push_back(row);
        index.push_back(s.isLine ? column : rest);
      } else {
        if (!s.isLine)
          index.push_back({y});
        index.push_back(column);
      }
      channels.push_back(c.e.guarded(
          mask, [&] { return c.e.pull(s.op.getInput(), index); }, none()));
    }
    c.e.forget();
    store(channels, to);
  }

  KernelContext &c;
  const ConvolutionShape &s;
  const Tiling &t;
  const IntegerDot &dot;
  const ConvolutionWindow &rows, &columns;
  BlockArgument input; ///< null when the operand is computed on the way
  Value width, height, outWidth, left, top, pitch;
  Value image, begin, pixels, phase, strip;
  SmallVector<Value> planes, sources; ///< of the channels copied together
};

/// A function for a tile: some filters by some vectors of pixels; `ragged` ones end where the image does.
class TileFunction {
public:
  TileFunction(KernelContext &c, const ConvolutionShape &s, const Tiling &t, const IntegerDot &dot,
               int64_t rows, int64_t vectors, bool ragged)
      : ragged(ragged), pixels(vectors * c.isa.lanes), s(s), t(t), dot(dot), rows(rows),
        vectors(vectors) {
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPoint(c.kernel);
    Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type();
    std::string name =
        (c.kernel.getName() + "_" + Twine(rows) + "x" + Twine(pixels) + (ragged ? "r" : "")).str();
    function = c.b.create<func::FuncOp>(
        name, c.b.getFunctionType({pointer, pointer, pointer, i64, i64, i64}, {}));
    function.setPrivate();
  }

  /// (words, filters of the tile, strips at the pixel, image, first filter, first pixel)
  func::FuncOp function;
  bool ragged;
  int64_t pixels; ///< of a call; at most that many when ragged

  void emit(KernelContext &outer) {
    OpBuilder::InsertionGuard insertion(outer.b);
    outer.b.setInsertionPointToStart(function.addEntryBlock());
    ElementEmitter e(outer.b, outer.isa.lanes, function.getArgument(0));
    KernelContext c{outer.b, outer.spec, function, e, outer.isa, {}, {}, {}, {}, {}};
    bindWords(c, function.getArgument(0));
    IndexValue pixel{function.getArgument(5), 1};
    pitch = c.e.uniform(stripLength(s, t, c.isa));
    outWidth = c.e.uniform(s.window[1].out);
    SmallVector<Value> sums = addChannels(c);
    if (ragged)
      c.e.setTailMask(c.e.less(pixel, c.e.symbolic(s.pixels())));
    epilogue(c, sums, pixel);
    c.b.create<func::ReturnOp>();
  }

private:
  SmallVector<Value> addChannels(KernelContext &c) {
    SmallVector<Value> sums(rows * vectors, dot.zero(c));
    int64_t taps = s.window[0].kernel * s.window[1].kernel, unroll = taps == 1 ? 4 : 1,
            whole = t.groups / unroll * unroll;
    auto run = [&](int64_t begin, int64_t end, int64_t by) {
      sums = c.loop(constantI64(c.b, begin), constantI64(c.b, end), by, ValueRange(sums),
                    [&](Value i, ValueRange carried) {
                      SmallVector<Value> next(carried);
                      for (int64_t u = 0; u < by; ++u)
                        next = addGroup(c, c.add(i, constantI64(c.b, u)), next);
                      return next;
                    });
    };
    run(0, whole, unroll);
    if (whole < t.groups)
      run(whole, t.groups, 1);
    return sums;
  }

  SmallVector<Value> addGroup(KernelContext &c, Value group, ArrayRef<Value> init) {
    const ConvolutionWindow &down = s.window[0], &across = s.window[1];
    int64_t bytes = t.rows * t.together;
    Value filters =
        elementPointer(c.b, function.getArgument(1), c.b.getI8Type(),
                       c.mul(group, constantI64(c.b, down.kernel * across.kernel * bytes)));
    Value strips = elementPointer(c.b, function.getArgument(2), c.b.getI32Type(),
                                  c.mul(group, c.mul(constantI64(c.b, t.planes), pitch)));
    bool unrollRows = down.kernel * across.kernel <= kUnrolledTaps,
         unrollColumns = across.kernel <= kUnrolledTaps;
    return walk(c, down.kernel, unrollRows, init, [&](Value i, ValueRange outer) {
      Value row = c.mul(i, constantI64(c.b, down.dilation)), stride = constantI64(c.b, down.stride);
      Value phase = c.b.createOrFold<arith::RemUIOp>(row, stride);
      Value start = c.add(c.mul(phase, pitch),
                          c.mul(c.b.createOrFold<arith::DivUIOp>(row, stride), outWidth));
      return walk(c, across.kernel, unrollColumns, SmallVector<Value>(outer),
                  [&](Value j, ValueRange carried) {
                    Value tap = c.add(c.mul(i, constantI64(c.b, across.kernel)), j);
                    Value w = elementPointer(c.b, filters, c.b.getI8Type(),
                                             c.mul(tap, constantI64(c.b, bytes)));
                    Value x = elementPointer(
                        c.b, strips, c.b.getI32Type(),
                        c.add(start, c.mul(j, c.mul(constantI64(c.b, t.phases), pitch))));
                    return addTap(c, w, x, carried);
                  });
    });
  }

  using Body = function_ref<SmallVector<Value>(Value, ValueRange)>;
  static SmallVector<Value> walk(KernelContext &c, int64_t count, bool unroll, ArrayRef<Value> init,
                                 Body body) {
    if (!unroll)
      return c.loop(constantI64(c.b, 0), constantI64(c.b, count), 1, ValueRange(init), body);
    SmallVector<Value> values(init);
    for (int64_t i = 0; i < count; ++i)
      values = body(constantI64(c.b, i), ValueRange(values));
    return values;
  }

  /// Vectors of pixels first, then for every filter one broadcast and its multiply-adds.
  SmallVector<Value> addTap(KernelContext &c, Value w, Value x, ValueRange carried) {
    auto pointer = LLVM::LLVMPointerType::get(c.b.getContext());
    SmallVector<Value> pixelGroups, next(carried);
    for (int64_t v = 0; v < vectors; ++v) {
      Value at = c.b.create<LLVM::GEPOp>(pointer, c.b.getI32Type(), x,
                                         ArrayRef<LLVM::GEPArg>{int32_t(v * c.isa.lanes)});
      pixelGroups.push_back(dot.loadActivations(c, at));
    }
    for (int64_t r = 0; r < rows; ++r) {
      Value all = dot.broadcastWeights(
          c, c.b.create<LLVM::GEPOp>(pointer, c.b.getI8Type(), w,
                                     ArrayRef<LLVM::GEPArg>{int32_t(r * t.together)}));
      for (int64_t v = 0; v < vectors; ++v)
        next[vectors * r + v] = dot.multiplyAdd(c, next[vectors * r + v], pixelGroups[v], all);
    }
    return next;
  }

  void epilogue(KernelContext &c, ArrayRef<Value> sums, IndexValue pixel) {
    bool inOrder = s.walksPixelsInOrder();
    IndexValue n{function.getArgument(3)};
    SmallVector<IndexValue> channels;
    for (int64_t r = 0; r < rows; ++r)
      channels.push_back({c.add(function.getArgument(4), constantI64(c.b, r))});
    for (int64_t v = 0; v < vectors; ++v) {
      IndexValue here = c.e.add(pixel, c.e.constant(v * c.isa.lanes));
      for (int64_t r = 0; r < rows; ++r) {
        SmallVector<IndexValue> to = s.at(c.e, n, channels[r], here),
                                index = inOrder ? to : s.rowAndColumn(c.e, n, channels[r], here);
        Value sum = sums[vectors * r + v];
        c.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
        SmallVector<Value> data;
        for (Value result : c.returnOp()->getOperands())
          data.push_back(c.e.pull(result, index));
        for (auto [i, value] : llvm::enumerate(data))
          c.e.store(c.outputs[i], c.resultType(i), to, value);
      }
    }
    c.e.forget();
  }

  const ConvolutionShape &s;
  const Tiling &t;
  const IntegerDot &dot;
  int64_t rows, vectors;
  Value pitch, outWidth;
};

/// The loops over units and tiles.
class Emitter {
public:
  Emitter(KernelContext &c)
      : c(c), s(*ConvolutionShape::match(c.spec, true)), dot(dotOf(s, c.isa)), t(s, dot, c.isa) {}

  void emit() {
    declareTiles(t.rows, whole);
    if (t.lastRows != t.rows)
      declareTiles(t.lastRows, last);
    total = c.e.uniform(s.pixels());
    perImage = c.e.uniform(SymExpr::ceildiv(s.pixels(), t.pixels));
    pitch = c.e.uniform(stripLength(s, t, c.isa));
    c.loop(c.begin, c.end, 1, [&](Value unit) { emitUnit(unit); });
    for (std::vector<TileFunction> *functions : {&whole, &last})
      for (TileFunction &function : *functions)
        function.emit(c);
  }

private:
  /// From many pixels to few.
  void declareTiles(int64_t rows, std::vector<TileFunction> &functions) {
    for (int64_t vectors = t.vectors; vectors >= 1; vectors /= 2)
      functions.push_back(TileFunction(c, s, t, dot, rows, vectors, false));
    functions.push_back(TileFunction(c, s, t, dot, rows, 1, true));
  }

  Value number(int64_t value) { return constantI64(c.b, value); }
  Value div(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value rem(Value a, Value d) { return c.b.createOrFold<arith::RemUIOp>(a, d); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }

  /// The pixel where a block starts: blocks are equal to a tile.
  Value blockStart(Value block) {
    Value groups = c.e.uniform(SymExpr::ceildiv(s.pixels(), t.vectors * int64_t(c.isa.lanes)));
    return least(c.mul(div(c.mul(block, groups), perImage), number(t.vectors * c.isa.lanes)),
                 total);
  }

  void emitUnit(Value block) {
    Value inImage = rem(block, perImage), rest = div(block, perImage);
    image = div(rest, number(s.groups)), group = rem(rest, number(s.groups));
    first = blockStart(inImage), end = blockStart(c.add(inImage, number(1)));
    StripCopy(c, s, t, dot).emit(image, c.mul(group, number(s.channels)), first, c.sub(end, first));
    if (t.lastRows == t.rows)
      return emitTiles(number(0), number(t.tiles), whole);
    emitTiles(number(0), number(t.tiles - 1), whole);
    emitTiles(number(t.tiles - 1), number(t.tiles), last);
  }

  /// Tiles [from, to) of the group: each function does what those before it left.
  void emitTiles(Value from, Value to, const std::vector<TileFunction> &functions) {
    c.loop(from, to, 1, [&](Value tile) {
      int64_t tileBytes = t.groups * s.window[0].kernel * s.window[1].kernel * t.rows * t.together;
      Value packed = c.add(c.mul(group, number(t.tiles)), tile);
      Value filters = elementPointer(c.b, c.inputs[s.filter], c.b.getI8Type(),
                                     c.mul(packed, number(tileBytes)));
      Value filter = c.add(c.mul(group, number(s.filters / s.groups)), c.mul(tile, number(t.rows)));
      Value begin = first;
      for (const TileFunction &each : functions) {
        Value step = number(each.pixels), stop = end;
        if (!each.ragged)
          stop = c.add(begin, c.mul(div(c.sub(end, begin), step), step));
        c.loop(begin, stop, each.pixels, [&](Value pixel) {
          Value strips = elementPointer(c.b, c.scratch, c.b.getI32Type(), c.sub(pixel, first));
          c.b.create<func::CallOp>(each.function, ValueRange{c.kernel.getArgument(0), filters,
                                                             strips, image, filter, pixel});
        });
        begin = stop;
      }
    });
  }

  KernelContext &c;
  ConvolutionShape s;
  IntegerDot dot;
  Tiling t;
  std::vector<TileFunction> whole, last; ///< tiles, and the last of a group
  Value total, perImage, pitch, image, group, first, end;
};

class IntegerConvolutionSchedule : public Schedule {
public:
  StringRef name() const override { return "integer_convolution"; }
  bool accepts(func::FuncOp spec, const VectorIsa &) const override {
    return ConvolutionShape::match(spec, true).has_value();
  }

  Launch launch(func::FuncOp spec, const VectorIsa &isa) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec, true);
    Tiling t(s, dotOf(s, isa), isa);
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    int64_t work =
        t.pixels * (s.filters / s.groups) * s.channels * s.window[0].kernel * s.window[1].kernel;
    SymExpr blocks = s.batch * s.groups * SymExpr::ceildiv(s.pixels(), t.pixels);
    return {blocks, constant(std::max<int64_t>(1, kGrainWork / work)),
            stripLength(s, t, isa) * (t.groups * t.planes * 4)};
  }

  SmallVector<std::string> layouts(func::FuncOp spec, const VectorIsa &isa) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec, true);
    IntegerDot dot = dotOf(s, isa);
    SmallVector<std::string> result(spec.getNumArguments());
    result[s.filter] =
        dot.layout(true, Tiling(s, dot, isa).rows, s.window[0].kernel * s.window[1].kernel);
    return result;
  }

  void emit(KernelContext &c) const override { Emitter(c).emit(); }
};

} // namespace

const Schedule *integerConvolutionSchedule() {
  static const IntegerConvolutionSchedule schedule;
  return &schedule;
}

} // namespace weft
