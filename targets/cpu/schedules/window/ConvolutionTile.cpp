//===- ConvolutionTile.cpp - Sums in registers over channels and taps -------------------------===//
//
//   sums = 0, in registers: filters by vectors of pixels
//   for channel of the chunk                                             [channels]
//     for tap of the window, written out when they are not many          [taps]
//       for filter, vector: sums += w in all lanes * pixels              [pixels in lanes]
//       few pixels: for pixel, vector: sums += x in all lanes * filters  [filters in lanes]
//   chains of few pixels are added up                                    [join chains]
//   sums of the chunks before join; all but the last chunk end here      [totals]
//   few pixels: vectors of filters become vectors of pixels              [turn]
//   for vector, filter: epilogue and store, masked where pixels end      [store]
//
// With few pixels, lanes are filters: sums are pixels by vectors of filters, in several chains.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/window/ConvolutionTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/tile/SpreadRun.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kUnrolledTaps = 16; ///< code size
constexpr int64_t kNearFilters =
    1 << 16;                   ///< more of them are fetched while the tile before is computed
constexpr int64_t kChains = 8; ///< additions that can be under way at once

class TileEmitter {
public:
  TileEmitter(KernelContext &c, const ConvolutionShape &s, const ConvolutionTiling &t,
              const ConvolutionTile &tile)
      : s(s), t(t), function(tile.function), form(tile.form), rows(tile.rows), pixels(tile.pixels) {
    vectors = form == ConvolutionTile::Few ? llvm::divideCeil(rows, c.machine.lanes())
                                           : llvm::divideCeil(pixels, c.machine.lanes());
    chains = form == ConvolutionTile::Few ? std::max<int64_t>(1, kChains / (pixels * vectors)) : 1;
  }

  void emit(KernelContext &outer) {
    OpBuilder::InsertionGuard insertion(outer.b);
    outer.b.setInsertionPointToStart(function.addEntryBlock());
    ElementEmitter e(outer.b, outer.machine.lanes(), function.getArgument(0));
    KernelContext c{{outer.b, outer.spec, function, e}, outer.machine, {}, {}, {}};
    bindWords(c, function.getArgument(0));
    IndexValue pixel{function.getArgument(5), 1};
    pitch = c.e.uniform(t.inPlace ? s.pixels() : t.stripFloats(s, c.machine));
    outWidth = c.e.uniform(s.window[1].out);
    Value mask;
    if (form == ConvolutionTile::Ragged)
      mask = c.e.less(pixel, c.e.symbolic(s.pixels()));
    else if (form == ConvolutionTile::Few)
      mask = firstLanes(c, pixels);
    SmallVector<Value> sums = joinChains(
        c, addChannels(c, t.inPlace && form == ConvolutionTile::Ragged ? mask : Value()));
    auto finish = [&] {
      c.e.setTailMask(mask);
      epilogue(c, form == ConvolutionTile::Few ? pixelsInLanes(c, sums) : sums, pixel);
    };
    if (t.totalFloats == 0)
      finish();
    else
      addTotals(c, sums, finish);
    c.b.create<func::ReturnOp>();
  }

private:
  /// [totals] Sums of earlier chunks join; of all but the last chunk they are kept.
  void addTotals(KernelContext &c, SmallVectorImpl<Value> &sums, function_ref<void()> finish) {
    Type f32 = c.b.getF32Type();
    auto vector = VectorType::get({c.machine.lanes()}, f32);
    auto slot = [&](size_t i) {
      return elementPointer(c.b, function.getArgument(7), f32,
                            constantI64(c.b, i * c.machine.lanes()));
    };
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

  /// [channels] The sums over the channels of the call. With one tap, four channels are written
  /// out.
  SmallVector<Value> addChannels(KernelContext &c, Value mask) {
    Value zero = c.b.create<arith::ConstantOp>(
        c.b.getZeroAttr(VectorType::get({c.machine.lanes()}, c.b.getF32Type())));
    SmallVector<Value> sums(
        form == ConvolutionTile::Few ? pixels * vectors * chains : rows * vectors, zero);
    int64_t taps = s.window[0].kernel * s.window[1].kernel, unroll = taps == 1 ? 4 : 1;
    bool one = t.totalFloats == 0;
    Value count = one ? constantI64(c.b, s.channels) : function.getArgument(6);
    Value whole = c.b.createOrFold<arith::SubIOp>(
        count, c.b.createOrFold<arith::RemUIOp>(count, constantI64(c.b, unroll)));
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

  /// [taps] In the order in which filters are packed.
  SmallVector<Value> addChannel(KernelContext &c, Value channel, ArrayRef<Value> init, Value mask) {
    const ConvolutionWindow &down = s.window[0], &across = s.window[1];
    Type f32 = c.b.getF32Type();
    Value filters =
        elementPointer(c.b, function.getArgument(1), f32,
                       c.mul(channel, constantI64(c.b, down.kernel * across.kernel * t.rows)));
    Value strips = elementPointer(c.b, function.getArgument(2), f32,
                                  c.mul(channel, c.mul(constantI64(c.b, t.planes), pitch)));
    bool unrollRows = down.kernel * across.kernel <= kUnrolledTaps,
         unrollColumns = across.kernel <= kUnrolledTaps;
    return walk(c, down.kernel, unrollRows, init, [&](Value i, ValueRange outer) {
      Value row = c.mul(i, constantI64(c.b, down.dilation)), stride = constantI64(c.b, down.stride);
      Value phase = c.b.createOrFold<arith::RemUIOp>(row, stride);
      Value start = c.add(c.mul(phase, pitch),
                          c.mul(c.b.createOrFold<arith::DivUIOp>(row, stride), outWidth));
      return walk(
          c, across.kernel, unrollColumns, SmallVector<Value>(outer),
          [&](Value j, ValueRange carried) {
            Value tap = c.add(c.mul(i, constantI64(c.b, across.kernel)), j);
            Value w = elementPointer(c.b, filters, f32, c.mul(tap, constantI64(c.b, t.rows)));
            Value x = elementPointer(
                c.b, strips, f32, c.add(start, c.mul(j, c.mul(constantI64(c.b, t.phases), pitch))));
            return form == ConvolutionTile::Few ? addFewPixels(c, w, x, carried)
                                                : addTap(c, w, x, carried, mask);
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

  /// [pixels in lanes] Vectors of pixels first, then for every filter one broadcast and its
  /// multiply-adds.
  SmallVector<Value> addTap(KernelContext &c, Value w, Value x, ValueRange carried, Value mask) {
    Type f32 = c.b.getF32Type(), pointer = LLVM::LLVMPointerType::get(c.b.getContext());
    auto vector = VectorType::get({c.machine.lanes()}, f32);
    auto at = [&](Value base, int64_t offset) -> Value {
      return c.b.create<LLVM::GEPOp>(pointer, f32, base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    };
    SmallVector<Value> pixels, next(carried);
    Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector));
    for (int64_t v = 0; v < vectors; ++v)
      pixels.push_back(
          mask ? Value(c.b.create<LLVM::MaskedLoadOp>(vector, at(x, v * c.machine.lanes()), mask,
                                                      zero, 4))
               : Value(c.b.create<LLVM::LoadOp>(vector, at(x, v * c.machine.lanes()), 4)));
    bool many = s.filters * s.channels * s.window[0].kernel * s.window[1].kernel > kNearFilters;
    // The same tap of the next tile: a new place in memory for every chunk.
    if (form == ConvolutionTile::Vectors && (many || t.totalFloats > 0))
      c.machine.prefetch(c.b, at(w, s.channels * s.window[0].kernel * s.window[1].kernel * t.rows),
                         VectorMachine::Cache::Second);
    SpreadRun taps(c, f32, rows);
    for (int64_t r = 0; r < rows; ++r) {
      Value all = taps.element(r, [&](int64_t row) { return at(w, row); });
      for (int64_t v = 0; v < vectors; ++v)
        next[vectors * r + v] = c.machine.multiplyAdd(c.b, all, pixels[v], next[vectors * r + v]);
    }
    return next;
  }

  static Value firstLanes(KernelContext &c, int64_t count) {
    SmallVector<bool> in(c.machine.lanes());
    std::fill(in.begin(), in.begin() + std::min<int64_t>(count, c.machine.lanes()), true);
    return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(
        VectorType::get({c.machine.lanes()}, c.b.getI1Type()), ArrayRef<bool>(in)));
  }

  /// [filters in lanes] Vectors of filters, then for every pixel one broadcast and its
  /// multiply-adds, in the next of the chains.
  SmallVector<Value> addFewPixels(KernelContext &c, Value w, Value x, ValueRange carried) {
    Type f32 = c.b.getF32Type(), pointer = LLVM::LLVMPointerType::get(c.b.getContext());
    auto vector = VectorType::get({c.machine.lanes()}, f32);
    auto at = [&](Value base, int64_t offset) -> Value {
      return c.b.create<LLVM::GEPOp>(pointer, f32, base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    };
    SmallVector<Value> filters, next(carried);
    Value zero = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector));
    for (int64_t v = 0; v < vectors; ++v)
      filters.push_back(c.b.create<LLVM::MaskedLoadOp>(vector, at(w, v * c.machine.lanes()),
                                                       firstLanes(c, rows - v * c.machine.lanes()),
                                                       zero, 4));
    int64_t chain = chains == 1 ? 0 : steps++ % chains;
    SpreadRun few(c, f32, pixels);
    for (int64_t i = 0; i < pixels; ++i) {
      Value all = few.element(i, [&](int64_t pixel) { return at(x, pixel); });
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = next[(chain * pixels + i) * vectors + v];
        sum = c.machine.multiplyAdd(c.b, all, filters[v], sum);
      }
    }
    return next;
  }

  /// [join chains] There is one where lanes are pixels.
  SmallVector<Value> joinChains(KernelContext &c, ArrayRef<Value> sums) {
    size_t count = sums.size() / chains;
    SmallVector<Value> totals(sums.take_front(count));
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [i, total] : llvm::enumerate(totals))
        total = c.b.create<arith::AddFOp>(total, sums[chain * count + i]);
    return totals;
  }

  /// [turn] Turns vectors of filters into a vector of pixels for each filter.
  SmallVector<Value> pixelsInLanes(KernelContext &c, ArrayRef<Value> sums) {
    SmallVector<Value> result;
    for (int64_t r = 0; r < rows; ++r) {
      Value row = c.b.create<arith::ConstantOp>(
          c.b.getZeroAttr(VectorType::get({c.machine.lanes()}, c.b.getF32Type())));
      for (int64_t i = 0; i < pixels; ++i) {
        Value each = c.b.create<vector::ExtractOp>(sums[i * vectors + r / c.machine.lanes()],
                                                   r % c.machine.lanes());
        row = c.b.create<vector::InsertOp>(each, row, i);
      }
      result.push_back(row);
    }
    return result;
  }

  /// [store] Rows and columns are found only where something behind the sum does not walk over them
  /// as one.
  void epilogue(KernelContext &c, ArrayRef<Value> sums, IndexValue pixel) {
    bool inOrder = s.walksPixelsInOrder();
    int64_t across = form == ConvolutionTile::Few ? 1 : vectors;
    for (int64_t v = 0; v < across; ++v) {
      IndexValue here = c.e.add(pixel, c.e.constant(v * c.machine.lanes())),
                 n{function.getArgument(3)};
      for (int64_t r = 0; r < rows; ++r) {
        IndexValue channel{c.add(function.getArgument(4), constantI64(c.b, r))};
        SmallVector<IndexValue> to = s.at(c.e, n, channel, here),
                                index = inOrder ? to : s.rowAndColumn(c.e, n, channel, here);
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
  const ConvolutionTiling &t;
  func::FuncOp function;
  ConvolutionTile::Form form;
  int64_t rows, pixels, vectors;
  /// Sums of one pixel and vector of filters, so that additions need not wait for each other.
  int64_t chains;
  int64_t steps = 0; ///< taps emitted
  Value pitch, outWidth;
};

} // namespace

ConvolutionTile declareTile(KernelContext &c, int64_t rows, ConvolutionTile::Form form,
                            int64_t pixels) {
  OpBuilder::InsertionGuard insertion(c.b);
  c.b.setInsertionPoint(c.kernel);
  Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type(),
       i1 = c.b.getI1Type();
  const char *suffix = form == ConvolutionTile::Vectors ? ""
                       : form == ConvolutionTile::Few   ? "f"
                                                        : "r";
  std::string name = (c.kernel.getName() + "_" + Twine(rows) + "x" + Twine(pixels) + suffix).str();
  auto function = c.b.create<func::FuncOp>(
      name,
      c.b.getFunctionType({pointer, pointer, pointer, i64, i64, i64, i64, pointer, i1, i1}, {}));
  function.setPrivate();
  return {form, rows, pixels, function};
}

void emitTile(KernelContext &c, const ConvolutionShape &s, const ConvolutionTiling &t,
              const ConvolutionTile &tile) {
  TileEmitter(c, s, t, tile).emit(c);
}

} // namespace weft
