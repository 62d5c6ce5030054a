//===- Convolution.cpp - Filters times shifted rows, tiled in registers ------------------------------===//
//
// y[n, o, p] = epilogue(sum over c, i, j of w[o, c, i, j] * x[n, c, row(p) * s + i * d - top, column(p) * t + j * e - left]) with
// constant filters. A pixel p counts over rows and columns of the result: vectors run over pixels and cross the ends of rows, so
// narrow images waste no lanes. A unit is one block of pixels by some of the filters. It first copies what the block reads into scratch:
//
//   strips [channel][j][row mod s][position]: at position q of strip (c, j, i * d mod s), what pixel q reads through tap (i, j)
//
// Strips are as wide as the result, borders are zeros in them, and columns a stride apart lie side by side. Taps whose rows differ by a
// multiple of the stride share a strip: they read it a number of whole rows further. Then a tile of up to 14 filters by two vectors of
// pixels stays in registers for the whole sum; filters are packed while compiling as [tile][c, i, j][filter].
//
// A 1x1 filter that meets every pixel in place needs no copy: the strips are the channels of x.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/ConvolutionShape.h"
#include <numeric>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kTotals = 64 << 10; ///< sums of a block kept between chunks, to stay in L2
constexpr int64_t kFewestPixels = 64, kMostPixels = 256;
constexpr int64_t kChunk = 384; ///< products summed in one chain; chunks are added up: the error of a long sum stays that of a short one
constexpr int64_t kUnrolledTaps = 16; ///< code size
constexpr int64_t kChains = 8;       ///< additions that can be under way at once
constexpr int64_t kChannelsTogether = 8; ///< copied with one mask
constexpr int64_t kGrainWork = 1 << 18;

/// How a shape is cut for a processor.
struct Tiling {
  int64_t rows, lastRows, tiles; ///< filters of a tile, of a group's last tile, tiles of a group
  int64_t vectors;               ///< of pixels in a tile
  int64_t pixels;                ///< of a block
  int64_t phases, planes;        ///< strips of a channel: per residue of rows, in all
  int64_t reach;                 ///< rows that the last tap reads further than the first
  int64_t sameRow, sameReach;    ///< taps i and i + sameRow share a strip, sameReach rows apart
  int64_t chunk;                 ///< channels summed in one call of a tile
  int64_t totalFloats;           ///< sums of a block between chunks
  bool inPlace;                  ///< no strips

  Tiling(const ConvolutionShape &s, const VectorIsa &isa) {
    int64_t most = isa.registers >= 32 ? 13 : 6, filters = s.filters / s.groups;
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
    const ConvolutionWindow &h = s.window[0];
    int64_t common = std::gcd(h.stride, h.dilation);
    sameRow = h.stride / common, sameReach = h.dilation / common;
    phases = h.kernel > 1 ? std::min(h.stride, (h.kernel - 1) * h.dilation + 1) : 1;
    planes = s.window[1].kernel * phases;
    reach = (h.kernel - 1) * h.dilation / h.stride;
    inPlace = llvm::isa<BlockArgument>(s.op.getInput()) && s.window[0].isPointwise() && s.window[1].isPointwise();
    chunk = std::max<int64_t>(1, kChunk / (h.kernel * s.window[1].kernel));
    bool whole = chunk >= s.channels;
    int64_t group = vectors * isa.lanes, fit = whole ? kMostPixels : std::clamp(kTotals / filters, kFewestPixels, kMostPixels);
    pixels = std::max<int64_t>(1, fit / group) * group;
    totalFloats = whole ? 0 : tiles * pixels * slot(isa);
  }
  /// Floats for the sums of one pixel by a tile.
  int64_t slot(const VectorIsa &isa) const { return llvm::alignTo(rows, isa.lanes); }
};

class ConvolutionSchedule : public Schedule {
public:
  StringRef name() const override { return "convolution"; }
  bool accepts(func::FuncOp spec, const VectorIsa &) const override { return ConvolutionShape::match(spec).has_value(); }

  Launch launch(func::FuncOp spec, const VectorIsa &isa) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec);
    Tiling t(s, isa);
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    int64_t work = t.pixels * (s.filters / s.groups) * s.channels * s.window[0].kernel * s.window[1].kernel;
    SymExpr strips = t.inPlace ? constant(0) : stripFloats(s, t, isa) * (s.channels * t.planes);
    return {blocks(s, t) * parts(s, t), constant(std::max<int64_t>(1, kGrainWork / work)), (strips + t.totalFloats) * 4};
  }

  SmallVector<std::string> layouts(func::FuncOp spec, const VectorIsa &isa) const override {
    ConvolutionShape s = *ConvolutionShape::match(spec);
    SmallVector<std::string> result(spec.getNumArguments());
    result[s.filter] = "panels_t<" + std::to_string(Tiling(s, isa).rows) + ">";
    return result;
  }

  void emit(KernelContext &c) const override;

  /// Blocks of pixels of all images and groups.
  static SymExpr blocks(const ConvolutionShape &s, const Tiling &t) {
    return s.batch * s.groups * SymExpr::ceildiv(s.pixels(), t.pixels);
  }
  /// Parts of the filters: few blocks are cut further, at the price of copying what they read once per worker.
  static SymExpr parts(const ConvolutionShape &s, const Tiling &t) {
    SymExpr one = SymExpr::constant(s.op.getContext(), 1);
    int64_t most = std::clamp<int64_t>(t.tiles / 6, 1, 4);
    return most == 1 ? one : SymExpr::max(one, SymExpr::min(one * most, one * (most + 1) - blocks(s, t)));
  }
  /// Positions of one strip: what the last tap of the last pixel reads, and what whole vectors read and write behind it.
  static SymExpr stripFloats(const ConvolutionShape &s, const Tiling &t, const VectorIsa &isa) {
    return s.window[1].out * t.reach + (t.pixels + 2 * int64_t(isa.lanes));
  }
};

/// Copies what a block of pixels reads into strips.
class StripCopy {
public:
  StripCopy(KernelContext &c, const ConvolutionShape &s, const Tiling &t) : c(c), s(s), t(t), rows(s.window[0]), columns(s.window[1]) {
    input = dyn_cast<BlockArgument>(s.op.getInput());
    width = c.e.uniform(columns.in), height = c.e.uniform(rows.in), outWidth = c.e.uniform(columns.out);
    left = c.e.uniform(columns.low), top = c.e.uniform(rows.low);
    pitch = c.e.uniform(ConvolutionSchedule::stripFloats(s, t, c.isa));
  }

  /// Pixels [first, first + count) of image n, channels from `channel` on.
  void emit(Value n, Value channel, Value first, Value count) {
    image = n, begin = first, pixels = count;
    int64_t together = kChannelsTogether;
    while (s.channels % together)
      --together;
    c.loop(number(0), number(s.channels), together, [&](Value each) {
      planes.clear(), sources.clear(), strips.clear();
      for (int64_t u = 0; u < together; ++u) {
        Value here = c.add(each, number(u)), plane = c.add(channel, here);
        planes.push_back(plane);
        if (input)
          sources.push_back(elementPointer(c.b, c.inputs[input.getArgNumber()], c.b.getF32Type(),
                                           c.mul(c.add(c.mul(image, number(s.groups * s.channels)), plane), c.mul(height, width))));
        strips.push_back(elementPointer(c.b, c.scratch, c.b.getF32Type(), c.add(number(t.totalFloats), c.mul(here, c.mul(number(t.planes), pitch)))));
      }
      c.loop(number(0), number(rows.kernel), 1, [&](Value tap) { emitTap(tap); });
    });
  }

private:
  Value number(int64_t value) { return constantI64(c.b, value); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }
  Value most(Value a, Value d) { return c.b.createOrFold<arith::MaxSIOp>(a, d); }
  Value quotient(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value d) { return c.b.create<arith::CmpIOp>(predicate, a, d); }

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
    c.loop(firstRow, endRow, 1, [&](Value each) {
      Value start = c.sub(c.mul(each, outWidth), begin);
      Value here = most(start, from), end = least(c.add(start, outWidth), to);
      Value y = c.sub(c.add(c.mul(each, stride), phase), top);
      Value inside = c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, y, number(0)), compare(arith::CmpIPredicate::slt, y, height));
      Value rowWidth = c.b.create<arith::SelectOp>(inside, width, number(0)); // a row outside has no columns
      Value line = c.mul(c.b.create<arith::SelectOp>(inside, y, number(0)), width);
      // A whole vector is written: what is too much lies in the next row, which follows, or behind the strip.
      c.loop(here, end, c.isa.lanes, [&](Value position) {
        Value x = c.sub(c.mul(c.sub(position, start), number(columns.stride)), left);
        if (columns.kernel <= kUnrolledTaps)
          for (int64_t j = 0; j < columns.kernel; ++j)
            emitVector(line, y, rowWidth, c.add(x, number(j * columns.dilation)), number(j), position);
        else
          c.loop(number(0), number(columns.kernel), 1,
                 [&](Value j) { emitVector(line, y, rowWidth, c.add(x, c.mul(j, number(columns.dilation))), j, position); });
      });
    });
  }

  /// Elements x, x + stride, … of row y, which begins at `line`, for all channels; zeros outside [0, rowWidth).
  void emitVector(Value line, Value y, Value rowWidth, Value x, Value j, Value position) {
    Value to = c.add(c.mul(c.add(c.mul(j, number(t.phases)), phase), pitch), position);
    if (!input || columns.stride > 2)
      return pullColumns(y, rowWidth, x, to);
    Value end = c.add(x, number(c.isa.lanes * columns.stride));
    Value whole = c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, x, number(0)), compare(arith::CmpIPredicate::sle, end, rowWidth));
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

  VectorType vectorType() { return VectorType::get({c.isa.lanes}, c.b.getF32Type()); }

  void copyColumns(Value from, ArrayRef<Value> masks, Value to) {
    Type f32 = c.b.getF32Type();
    SmallVector<int64_t> even;
    for (unsigned i = 0; i < c.isa.lanes; ++i)
      even.push_back(2 * i);
    for (auto [source, strip] : llvm::zip(sources, strips)) {
      SmallVector<Value, 2> parts;
      for (int64_t part = 0; part < columns.stride; ++part) {
        Value at = elementPointer(c.b, source, f32, c.add(from, number(part * c.isa.lanes)));
        if (masks.empty()) {
          parts.push_back(c.b.create<LLVM::LoadOp>(vectorType(), at, 4));
          continue;
        }
        Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vectorType()));
        parts.push_back(c.b.create<LLVM::MaskedLoadOp>(vectorType(), at, masks[part], zero, 4));
      }
      Value data = parts.size() == 1 ? parts[0] : Value(c.b.create<vector::ShuffleOp>(parts[0], parts[1], even));
      c.b.create<LLVM::StoreOp>(data, elementPointer(c.b, strip, f32, to), 4);
    }
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
    return c.b.create<arith::AndIOp>(compare(arith::CmpIPredicate::sge, lane, from), compare(arith::CmpIPredicate::slt, lane, to));
  }

  void pullColumns(Value y, Value rowWidth, Value x, Value to) {
    IndexValue column{x, columns.stride};
    Value mask = c.b.create<arith::AndIOp>(c.e.nonNegative(column), c.e.less(column, {rowWidth}));
    Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vectorType()));
    for (auto [plane, strip] : llvm::zip(planes, strips)) {
      SmallVector<IndexValue> index{{image}, {plane}};
      if (!s.isLine)
        index.push_back({y});
      index.push_back(column);
      c.e.forget();
      Value data = c.e.guarded(mask, [&] { return c.e.pull(s.op.getInput(), index); }, zero);
      c.b.create<LLVM::StoreOp>(data, elementPointer(c.b, strip, c.b.getF32Type(), to), 4);
      c.e.forget();
    }
  }

  KernelContext &c;
  const ConvolutionShape &s;
  const Tiling &t;
  const ConvolutionWindow &rows, &columns;
  BlockArgument input; ///< null when the operand is computed on the way
  Value width, height, outWidth, left, top, pitch;
  Value image, begin, pixels, phase;
  SmallVector<Value> planes, sources, strips; ///< of the channels copied together
};

/// A function for a tile: some filters by some pixels, in one of three forms.
///   Vectors   lanes are pixels, every filter is broadcast
///   Ragged    the same for the last pixels, fewer than a vector
///   Few       lanes are filters, every pixel is broadcast: for few pixels that would waste most of a vector
class TileFunction {
public:
  enum Form { Vectors, Ragged, Few };

  TileFunction(KernelContext &c, const ConvolutionShape &s, const Tiling &t, int64_t rows, Form form, int64_t pixels)
      : form(form), pixels(pixels), s(s), t(t), rows(rows) {
    vectors = form == Few ? llvm::divideCeil(rows, c.isa.lanes) : llvm::divideCeil(pixels, c.isa.lanes);
    chains = form == Few ? std::max<int64_t>(1, kChains / (pixels * vectors)) : 1;
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPoint(c.kernel);
    Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type(), i1 = c.b.getI1Type();
    std::string name = (c.kernel.getName() + "_" + Twine(rows) + "x" + Twine(pixels) + (form == Vectors ? "" : form == Few ? "f" : "r")).str();
    function = c.b.create<func::FuncOp>(name, c.b.getFunctionType({pointer, pointer, pointer, i64, i64, i64, i64, pointer, i1, i1}, {}));
    function.setPrivate();
  }

  /// (words, filters of the tile, strips at the pixel, image, first filter, first pixel, channels, totals, first chunk?, last chunk?)
  func::FuncOp function;
  Form form;
  int64_t pixels; ///< of a call; at most that many when ragged

  void emit(KernelContext &outer) {
    OpBuilder::InsertionGuard insertion(outer.b);
    outer.b.setInsertionPointToStart(function.addEntryBlock());
    ElementEmitter e(outer.b, outer.isa.lanes, function.getArgument(0));
    KernelContext c{outer.b, outer.spec, function, e, outer.isa, {}, {}, {}, {}, {}};
    bindWords(c, function.getArgument(0));
    IndexValue pixel{function.getArgument(5), 1};
    pitch = c.e.uniform(t.inPlace ? s.pixels() : ConvolutionSchedule::stripFloats(s, t, c.isa));
    outWidth = c.e.uniform(s.window[1].out);
    Value mask;
    if (form == Ragged)
      mask = c.e.less(pixel, c.e.symbolic(s.pixels()));
    else if (form == Few)
      mask = firstLanes(c, pixels);
    SmallVector<Value> sums = joinChains(c, addChannels(c, t.inPlace && form == Ragged ? mask : Value()));
    auto finish = [&] {
      c.e.setTailMask(mask);
      epilogue(c, form == Few ? pixelsInLanes(c, sums) : sums, pixel);
    };
    if (t.totalFloats == 0)
      finish();
    else
      addTotals(c, sums, finish);
    c.b.create<func::ReturnOp>();
  }

private:
  /// Sums of earlier chunks join; of all but the last chunk they are kept.
  void addTotals(KernelContext &c, SmallVectorImpl<Value> &sums, function_ref<void()> finish) {
    Type f32 = c.b.getF32Type();
    auto vector = VectorType::get({c.isa.lanes}, f32);
    auto slot = [&](size_t i) { return elementPointer(c.b, function.getArgument(7), f32, constantI64(c.b, i * c.isa.lanes)); };
    SmallVector<Type> types(sums.size(), vector);
    auto join = c.b.create<scf::IfOp>(types, function.getArgument(8), true);
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(join.thenBlock());
    c.b.create<scf::YieldOp>(sums);
    c.b.setInsertionPointToStart(join.elseBlock());
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = c.b.create<arith::AddFOp>(c.b.create<LLVM::LoadOp>(vector, slot(i), 4), sum);
    c.b.create<scf::YieldOp>(sums);
    sums.assign(join.getResults().begin(), join.getResults().end());
    c.b.setInsertionPointAfter(join);
    auto end = c.b.create<scf::IfOp>(function.getArgument(9), true);
    c.b.setInsertionPointToStart(end.thenBlock());
    c.e.forget();
    finish();
    c.b.setInsertionPointToStart(end.elseBlock());
    for (auto [i, sum] : llvm::enumerate(sums))
      c.b.create<LLVM::StoreOp>(sum, slot(i), 4);
  }

  /// The sums over the channels of the call.
  SmallVector<Value> addChannels(KernelContext &c, Value mask) {
    Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(VectorType::get({c.isa.lanes}, c.b.getF32Type())));
    SmallVector<Value> sums(form == Few ? pixels * vectors * chains : rows * vectors, zero);
    int64_t taps = s.window[0].kernel * s.window[1].kernel, unroll = taps == 1 ? 4 : 1;
    bool one = t.totalFloats == 0;
    Value count = one ? constantI64(c.b, s.channels) : function.getArgument(6);
    Value whole = c.b.createOrFold<arith::SubIOp>(count, c.b.createOrFold<arith::RemUIOp>(count, constantI64(c.b, unroll)));
    auto run = [&](Value begin, Value end, int64_t by) {
      sums = c.loop(begin, end, by, ValueRange(sums), [&](Value i, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t u = 0; u < by; ++u)
          next = addChannel(c, c.add(i, constantI64(c.b, u)), next, mask);
        return next;
      });
    };
    run(constantI64(c.b, 0), whole, unroll);
    if (unroll > 1)
      run(whole, count, 1);
    return sums;
  }

  SmallVector<Value> addChannel(KernelContext &c, Value channel, ArrayRef<Value> init, Value mask) {
    const ConvolutionWindow &down = s.window[0], &across = s.window[1];
    Type f32 = c.b.getF32Type();
    Value filters = elementPointer(c.b, function.getArgument(1), f32, c.mul(channel, constantI64(c.b, down.kernel * across.kernel * t.rows)));
    Value strips = elementPointer(c.b, function.getArgument(2), f32, c.mul(channel, c.mul(constantI64(c.b, t.planes), pitch)));
    bool unrollRows = down.kernel * across.kernel <= kUnrolledTaps, unrollColumns = across.kernel <= kUnrolledTaps;
    return walk(c, down.kernel, unrollRows, init, [&](Value i, ValueRange outer) {
      Value row = c.mul(i, constantI64(c.b, down.dilation)), stride = constantI64(c.b, down.stride);
      Value phase = c.b.createOrFold<arith::RemUIOp>(row, stride);
      Value start = c.add(c.mul(phase, pitch), c.mul(c.b.createOrFold<arith::DivUIOp>(row, stride), outWidth));
      return walk(c, across.kernel, unrollColumns, SmallVector<Value>(outer), [&](Value j, ValueRange carried) {
        Value tap = c.add(c.mul(i, constantI64(c.b, across.kernel)), j);
        Value w = elementPointer(c.b, filters, f32, c.mul(tap, constantI64(c.b, t.rows)));
        Value x = elementPointer(c.b, strips, f32, c.add(start, c.mul(j, c.mul(constantI64(c.b, t.phases), pitch))));
        return form == Few ? addFewPixels(c, w, x, carried) : addTap(c, w, x, carried, mask);
      });
    });
  }

  using Body = function_ref<SmallVector<Value>(Value, ValueRange)>;
  static SmallVector<Value> walk(KernelContext &c, int64_t count, bool unroll, ArrayRef<Value> init, Body body) {
    if (!unroll)
      return c.loop(constantI64(c.b, 0), constantI64(c.b, count), 1, ValueRange(init), body);
    SmallVector<Value> values(init);
    for (int64_t i = 0; i < count; ++i)
      values = body(constantI64(c.b, i), ValueRange(values));
    return values;
  }

  /// Vectors of pixels first, then for every filter one broadcast and its multiply-adds.
  SmallVector<Value> addTap(KernelContext &c, Value w, Value x, ValueRange carried, Value mask) {
    Type f32 = c.b.getF32Type(), pointer = LLVM::LLVMPointerType::get(c.b.getContext());
    auto vector = VectorType::get({c.isa.lanes}, f32);
    auto at = [&](Value base, int64_t offset) -> Value {
      return c.b.create<LLVM::GEPOp>(pointer, f32, base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    };
    SmallVector<Value> pixels, next(carried);
    Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector));
    for (int64_t v = 0; v < vectors; ++v)
      pixels.push_back(mask ? Value(c.b.create<LLVM::MaskedLoadOp>(vector, at(x, v * c.isa.lanes), mask, zero, 4))
                            : Value(c.b.create<LLVM::LoadOp>(vector, at(x, v * c.isa.lanes), 4)));
    if (form == Vectors && t.totalFloats > 0) // the same tap of the next tile: a new place in memory for every chunk
      c.b.create<LLVM::Prefetch>(at(w, s.channels * s.window[0].kernel * s.window[1].kernel * t.rows), 0, 2, 1);
    for (int64_t r = 0; r < rows; ++r) {
      Value all = c.b.create<vector::SplatOp>(c.b.create<LLVM::LoadOp>(f32, at(w, r), 4), vector);
      for (int64_t v = 0; v < vectors; ++v)
        next[vectors * r + v] = c.b.create<vector::FMAOp>(all, pixels[v], next[vectors * r + v]);
    }
    return next;
  }


  static Value firstLanes(KernelContext &c, int64_t count) {
    SmallVector<bool> in(c.isa.lanes);
    std::fill(in.begin(), in.begin() + std::min<int64_t>(count, c.isa.lanes), true);
    return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(VectorType::get({c.isa.lanes}, c.b.getI1Type()), ArrayRef<bool>(in)));
  }

  /// Vectors of filters, then for every pixel one broadcast and its multiply-adds, in the next of the chains.
  SmallVector<Value> addFewPixels(KernelContext &c, Value w, Value x, ValueRange carried) {
    Type f32 = c.b.getF32Type(), pointer = LLVM::LLVMPointerType::get(c.b.getContext());
    auto vector = VectorType::get({c.isa.lanes}, f32);
    auto at = [&](Value base, int64_t offset) -> Value {
      return c.b.create<LLVM::GEPOp>(pointer, f32, base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    };
    SmallVector<Value> filters, next(carried);
    Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector));
    for (int64_t v = 0; v < vectors; ++v)
      filters.push_back(c.b.create<LLVM::MaskedLoadOp>(vector, at(w, v * c.isa.lanes), firstLanes(c, rows - v * c.isa.lanes), zero, 4));
    int64_t chain = chains == 1 ? 0 : steps++ % chains;
    for (int64_t i = 0; i < pixels; ++i) {
      Value all = c.b.create<vector::SplatOp>(c.b.create<LLVM::LoadOp>(f32, at(x, i), 4), vector);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = next[(chain * pixels + i) * vectors + v];
        sum = c.b.create<vector::FMAOp>(all, filters[v], sum);
      }
    }
    return next;
  }

  SmallVector<Value> joinChains(KernelContext &c, ArrayRef<Value> sums) {
    size_t count = sums.size() / chains;
    SmallVector<Value> totals(sums.take_front(count));
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [i, total] : llvm::enumerate(totals))
        total = c.b.create<arith::AddFOp>(total, sums[chain * count + i]);
    return totals;
  }

  /// Turns vectors of filters into a vector of pixels for each filter.
  SmallVector<Value> pixelsInLanes(KernelContext &c, ArrayRef<Value> sums) {
    SmallVector<Value> result;
    for (int64_t r = 0; r < rows; ++r) {
      Value row = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(VectorType::get({c.isa.lanes}, c.b.getF32Type())));
      for (int64_t i = 0; i < pixels; ++i) {
        Value each = c.b.create<vector::ExtractOp>(sums[i * vectors + r / c.isa.lanes], r % c.isa.lanes);
        row = c.b.create<vector::InsertOp>(each, row, i);
      }
      result.push_back(row);
    }
    return result;
  }

  void epilogue(KernelContext &c, ArrayRef<Value> sums, IndexValue pixel) {
    bool inOrder = s.walksPixelsInOrder();
    int64_t across = form == Few ? 1 : vectors;
    for (int64_t v = 0; v < across; ++v) {
      IndexValue here = c.e.add(pixel, c.e.constant(v * c.isa.lanes)), n{function.getArgument(3)};
      for (int64_t r = 0; r < rows; ++r) {
        IndexValue channel{c.add(function.getArgument(4), constantI64(c.b, r))};
        SmallVector<IndexValue> to = s.at(c.e, n, channel, here), index = inOrder ? to : s.rowAndColumn(c.e, n, channel, here);
        Value sum = sums[across * r + v];
        c.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
        SmallVector<Value> data;
        for (Value result : c.returnOp()->getOperands())
          data.push_back(c.e.pull(result, index));
        for (auto [i, value] : llvm::enumerate(data))
          c.e.store(c.outputs[i], c.resultType(i), to, value);
        c.e.forget();
      }
    }
  }

  const ConvolutionShape &s;
  const Tiling &t;
  int64_t rows, vectors;
  int64_t chains;    ///< sums of one pixel and vector of filters, so that additions need not wait for each other
  int64_t steps = 0; ///< taps emitted
  Value pitch, outWidth;
};

/// The loops over units, blocks and tiles.
class ConvolutionEmitter {
public:
  ConvolutionEmitter(KernelContext &c) : c(c), s(*ConvolutionShape::match(c.spec)), t(s, c.isa) {}

  void emit() {
    declareTiles(t.rows, whole);
    if (t.lastRows != t.rows)
      declareTiles(t.lastRows, last);
    total = c.e.uniform(s.pixels());
    perImage = c.e.uniform(SymExpr::ceildiv(s.pixels(), t.pixels));
    partCount = c.e.uniform(ConvolutionSchedule::parts(s, t));
    pitch = c.e.uniform(t.inPlace ? s.pixels() : ConvolutionSchedule::stripFloats(s, t, c.isa));
    Value none = constantI64(c.b, -1);
    c.loop(c.begin, c.end, 1, ValueRange{none}, [&](Value unit, ValueRange copied) -> SmallVector<Value> {
      Value block = div(unit, partCount);
      emitUnit(block, rem(unit, partCount), copied[0]);
      return {block};
    });
    for (std::vector<TileFunction> *functions : {&whole, &last})
      for (TileFunction &function : *functions)
        function.emit(c);
  }

private:
  /// From many pixels to few.
  void declareTiles(int64_t rows, std::vector<TileFunction> &functions) {
    int64_t lanes = c.isa.lanes;
    functions.push_back(TileFunction(c, s, t, rows, TileFunction::Vectors, t.vectors * lanes));
    functions.push_back(TileFunction(c, s, t, rows, TileFunction::Vectors, lanes));
    if (2 * rows <= lanes)
      functions.push_back(TileFunction(c, s, t, rows, TileFunction::Ragged, lanes));
    else
      for (int64_t pixels = lanes / 2; pixels >= 1; pixels /= 2)
        functions.push_back(TileFunction(c, s, t, rows, TileFunction::Few, pixels));
  }

  Value number(int64_t value) { return constantI64(c.b, value); }
  Value div(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value rem(Value a, Value d) { return c.b.createOrFold<arith::RemUIOp>(a, d); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }

  /// The pixel where a block starts: blocks are equal to a tile.
  Value blockStart(Value block) {
    Value groups = c.e.uniform(SymExpr::ceildiv(s.pixels(), t.vectors * int64_t(c.isa.lanes)));
    return least(c.mul(div(c.mul(block, groups), perImage), number(t.vectors * c.isa.lanes)), total);
  }

  void emitUnit(Value block, Value part, Value copied) {
    Value inImage = rem(block, perImage), rest = div(block, perImage);
    image = div(rest, number(s.groups)), group = rem(rest, number(s.groups));
    first = blockStart(inImage), end = blockStart(c.add(inImage, number(1)));
    Value channel = c.mul(group, number(s.channels));
    if (!t.inPlace) {
      StripCopy copy(c, s, t);
      Value isNew = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, block, copied);
      auto once = c.b.create<scf::IfOp>(isNew, false);
      OpBuilder::InsertionGuard insertion(c.b);
      c.b.setInsertionPointToStart(once.thenBlock());
      copy.emit(image, channel, first, c.sub(end, first));
    }
    Value plane = c.add(c.mul(image, number(s.groups * s.channels)), channel);
    source = t.inPlace ? elementPointer(c.b, c.inputs[cast<BlockArgument>(s.op.getInput()).getArgNumber()], c.b.getF32Type(),
                                        c.add(c.mul(plane, total), first))
                       : elementPointer(c.b, c.scratch, c.b.getF32Type(), number(t.totalFloats));
    auto cut = [&](Value each) { return div(c.mul(each, number(t.tiles)), partCount); };
    Value from = cut(part), to = cut(c.add(part, number(1)));
    c.loop(number(0), number(s.channels), t.chunk, [&](Value channel) {
      chunk = channel;
      if (t.lastRows == t.rows)
        return emitTiles(from, to, whole);
      Value lastTile = number(t.tiles - 1);
      emitTiles(from, least(to, lastTile), whole);
      emitTiles(c.b.create<arith::MaxSIOp>(from, lastTile), to, last);
    });
  }

  /// Tiles [from, to) of the group: each function does what those before it left.
  void emitTiles(Value from, Value to, const std::vector<TileFunction> &functions) {
    c.loop(from, to, 1, [&](Value tile) {
      int64_t taps = s.window[0].kernel * s.window[1].kernel;
      Value pointer = c.inputs[s.filter], packed = c.add(c.mul(group, number(t.tiles)), tile);
      Value channel = c.add(c.mul(packed, number(s.channels)), chunk);
      filters = elementPointer(c.b, pointer, c.b.getF32Type(), c.mul(channel, number(taps * t.rows)));
      totals = elementPointer(c.b, c.scratch, c.b.getF32Type(), c.mul(tile, number(t.pixels * t.slot(c.isa))));
      filter = c.add(c.mul(group, number(s.filters / s.groups)), c.mul(tile, number(t.rows)));
      Value begin = first;
      for (const TileFunction &each : functions) {
        Value step = number(each.pixels), stop = end;
        if (each.form != TileFunction::Ragged)
          stop = c.add(begin, c.mul(div(c.sub(end, begin), step), step));
        c.loop(begin, stop, each.pixels, [&](Value pixel) { call(each, pixel); });
        begin = stop;
      }
    });
  }

  void call(const TileFunction &tile, Value pixel) {
    Type f32 = c.b.getF32Type();
    Value offset = c.sub(pixel, first), plane = c.mul(number(t.planes), pitch), left = c.sub(number(s.channels), chunk);
    Value strips = elementPointer(c.b, source, f32, c.add(offset, c.mul(chunk, plane)));
    Value isFirst = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, chunk, number(0));
    Value isLast = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sle, left, number(t.chunk));
    Value slots = elementPointer(c.b, totals, f32, c.mul(offset, number(t.slot(c.isa))));
    c.b.create<func::CallOp>(tile.function, ValueRange{c.kernel.getArgument(0), filters, strips, image, filter, pixel,
                                                       least(left, number(t.chunk)), slots, isFirst, isLast});
  }

  KernelContext &c;
  ConvolutionShape s;
  Tiling t;
  std::vector<TileFunction> whole, last; ///< tiles, and the last of a group
  Value total, perImage, partCount, pitch, image, group, first, end, source, chunk, totals, filters, filter;
};

void ConvolutionSchedule::emit(KernelContext &c) const { ConvolutionEmitter(c).emit(); }

} // namespace

const Schedule *convolutionSchedule() {
  static const ConvolutionSchedule schedule;
  return &schedule;
}

} // namespace weft
