//===- WinogradLast.cpp - 3x3 convolutions with fewer products, channels last -----------------===//
//
// A unit is a block of tiles (WinogradTiles.h) by a part of the filters, and each of the n * n
// products of a block is a contraction.
//
//   zeros, for pixels outside the image                                     [zeros]
//   for block of tiles, part of the filters                                 [units]
//     unless the unit before did: for tile of the block                     [elements]
//       where its n x n pixels lie                                          [pixels]
//       for vector of channels: B^T d B, the last one masked                [both ways]
//     for some panels of filters                                            [panels]
//       for each of n * n products, some tiles                              [products]
//         for panel: sums over channels in registers, tiles by its vectors  [sum]
//       for tile, vector of filters: A^T p A                                [results]
//         for pixel: epilogue and store, masked where filters end           [store]
//
// Lanes are channels in elements, filters in products and results. A product's elements and filters
// fit L2 together, and filters are read once per block. Filters are transformed and packed while
// compiling as [panel][n * n][channel][filter].
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/tile/FloatTile.h"
#include "targets/cpu/schedules/tile/IntegerTile.h"
#include "targets/cpu/schedules/tile/RowTile.h"
#include "targets/cpu/schedules/tile/WidenedElements.h"
#include "targets/cpu/schedules/winograd/WinogradTiles.h"
#include "targets/cpu/schedules/winograd/WinogradTransform.h"

using namespace mlir;

namespace weft {
namespace {

class Emitter {
public:
  Emitter(KernelContext &c, const WinogradTiles &s)
      : c(c), s(s), transform(s.m, /*ofIntegers=*/s.kind == WinogradTiles::Bytes),
        dot(IntegerDot::ofPairs()), lanes(s.lanes(c.machine)), sumLanes(c.machine.lanes()) {
    bool ofBytes = s.kind == WinogradTiles::Bytes;
    element = ofBytes ? Type(c.b.getI16Type()) : c.b.getF32Type();
    sums = VectorType::get({sumLanes}, ofBytes ? Type(c.b.getI32Type()) : c.b.getF32Type());
  }

  void emit() {
    Type pointer = c.scratch.getType(), i64 = c.b.getI64Type();
    for (int64_t r = 1; r <= weft::tileRows(c.machine); ++r)
      rowTiles.push_back(declareRowTile(c, r, {pointer, pointer, pointer, i64, i64}));
    readSizes();
    clearZeros();
    // [units] Parts of the filters are innermost: they share elements.
    c.loop(c.begin, c.end, 1, ValueRange{number(-1)},
           [&](Value unit, ValueRange transformed) -> SmallVector<Value> {
             Value block = div(unit, partCount), part = rem(unit, partCount);
             setBlock(block);
             ifTrue(c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, block, transformed[0]),
                    [&] { transformElements(); });
             auto cut = [&](Value each) { return div(c.mul(each, number(s.panels)), partCount); };
             Value from = cut(part), to = cut(c.add(part, number(1)));
             // [panels] As many as have room for their products.
             c.loop(from, to, s.panelsAtOnce, [&](Value panel) {
               Value end = least(c.add(panel, number(s.panelsAtOnce)), to);
               multiply(panel, end);
               transformProducts(panel, end);
             });
             return {block};
           });
    for (auto [i, tile] : llvm::enumerate(rowTiles))
      emitRowTiles(tile, i + 1);
  }

private:
  Value number(int64_t value) { return constantI64(c.b, value); }
  Value div(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value rem(Value a, Value d) { return c.b.createOrFold<arith::RemUIOp>(a, d); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }
  Value at(Value base, Value bytes) { return elementPointer(c.b, base, c.b.getI8Type(), bytes); }
  Value at(Value base, int64_t bytes) { return bytes == 0 ? base : at(base, number(bytes)); }
  Value inElements(Value count) { return c.mul(count, number(s.elementBytes())); }
  Value inSums(Value count) { return c.mul(count, number(kSumBytes)); }
  Value loadSums(Value pointer) { return c.b.create<LLVM::LoadOp>(sums, pointer, kSumBytes); }
  void store(Value data, Value pointer) {
    c.b.create<LLVM::StoreOp>(data, pointer, elementBits(getElementTypeOrSelf(data)) / 8);
  }
  Value both(Value a, Value d) { return c.b.create<arith::AndIOp>(a, d); }
  void ifTrue(Value condition, function_ref<void()> then, function_ref<void()> otherwise = {}) {
    auto choose = c.b.create<scf::IfOp>(condition, bool(otherwise));
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPointToStart(choose.thenBlock());
    then();
    if (!otherwise)
      return;
    c.b.setInsertionPointToStart(choose.elseBlock());
    otherwise();
  }

  void readSizes() {
    width = c.e.uniform(s.window[1].in), height = c.e.uniform(s.window[0].in);
    outWidth = c.e.uniform(s.window[1].out), outHeight = c.e.uniform(s.window[0].out);
    left = c.e.uniform(s.window[1].low), top = c.e.uniform(s.window[0].low);
    rowsOfTiles = c.e.uniform(s.tileRows()), columnsOfTiles = c.e.uniform(s.tileColumns());
    all = c.e.uniform(s.allTiles()), blockCount = c.e.uniform(s.blocks()),
    partCount = c.e.uniform(s.parts());
    elementStride = c.e.uniform(s.elementStride());
    productStride = c.e.uniform(s.productStride());
    products = at(c.scratch, c.e.uniform(s.productsAt()));
  }

  /// [zeros] As many as a tile has elements of one product.
  void clearZeros() {
    Value nothing =
        c.b.create<arith::ConstantOp>(c.b.getZeroAttr(VectorType::get({lanes}, element)));
    c.loop(number(0), number(s.pitch), lanes,
           [&](Value channel) { store(nothing, at(c.scratch, inElements(channel))); });
  }

  /// Blocks differ by at most one tile.
  void setBlock(Value block) {
    first = div(c.mul(block, all), blockCount);
    count = c.sub(div(c.mul(c.add(block, number(1)), all), blockCount), first);
  }

  /// A tile of the block, and where its results begin.
  struct Tile {
    Value inBlock, image, row, column;
  };
  void tiles(function_ref<void(const Tile &)> body) {
    c.loop(number(0), count, 1, [&](Value inBlock) {
      Value tile = c.add(first, inBlock), line = div(tile, columnsOfTiles);
      body({inBlock, div(line, rowsOfTiles), c.mul(rem(line, rowsOfTiles), number(s.m)),
            c.mul(rem(tile, columnsOfTiles), number(s.m))});
    });
  }

  /// Channels or filters in vectors. The last may have a mask.
  void vectors(int64_t size, function_ref<void(Value first, int64_t count)> body) {
    int64_t whole = size / lanes * lanes;
    if (whole)
      c.loop(number(0), number(whole), lanes, [&](Value at) { body(at, lanes); });
    if (whole < size)
      body(number(whole), size - whole);
  }

  //===-- Elements ----------------------------------------------------------------------------===//

  /// [elements] Those of one product lie side by side: rows of a contraction.
  void transformElements() {
    tiles([&](const Tile &tile) {
      SmallVector<Value> pixels = pixelsOf(tile);
      Value to = at(c.scratch, c.add(number(s.elementsAt()),
                                     inElements(c.mul(tile.inBlock, number(s.pitch)))));
      vectors(s.channels, [&](Value channel, int64_t some) {
        auto pixel = [&](int64_t i, int64_t j) {
          return loadPixels(elementPointer(c.b, pixels[i * s.n + j], inputElement(), channel),
                            some);
        };
        Value here = at(to, inElements(channel));
        inBothDirections(s.n, s.n, pixel, /*input=*/true, [&](int64_t i, int64_t j, Value value) {
          store(value, at(here, c.mul(number(i * s.n + j), elementStride)));
        });
      });
    });
  }

  /// [pixels] Where the pixels lie that the tile reads. Found once for all channels.
  SmallVector<Value> pixelsOf(const Tile &tile) {
    Value y = c.sub(tile.row, top), x = c.sub(tile.column, left), input = c.inputs[s.input()];
    auto within = [&](Value place, Value size) -> Value {
      return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, place, size);
    };
    SmallVector<Value> validColumns, pixels;
    for (int64_t j = 0; j < s.n; ++j)
      validColumns.push_back(within(c.add(x, number(j)), width));
    for (int64_t i = 0; i < s.n; ++i) {
      Value row = c.add(y, number(i)), valid = within(row, height);
      Value line = c.add(c.mul(c.add(c.mul(tile.image, height), row), width), x);
      Value start = elementPointer(c.b, input, inputElement(), c.mul(line, number(s.channels)));
      for (int64_t j = 0; j < s.n; ++j) {
        Value pixel = elementPointer(c.b, start, inputElement(), number(j * s.channels));
        pixels.push_back(
            c.b.create<LLVM::SelectOp>(both(valid, validColumns[j]), pixel, c.scratch));
      }
    }
    return pixels;
  }

  Type inputElement() {
    return memoryType(cast<SymTensorType>(s.op.getInput().getType()).getElementType());
  }

  /// A vector of them as they are transformed, zeros behind the first `some`.
  Value loadPixels(Value pointer, int64_t some) {
    Value mask;
    if (some != lanes) {
      SmallVector<bool> bits(lanes, false);
      std::fill_n(bits.begin(), some, true);
      mask = c.b.create<arith::ConstantOp>(
          DenseElementsAttr::get(VectorType::get({lanes}, c.b.getI1Type()), ArrayRef<bool>(bits)));
    }
    if (s.kind == WinogradTiles::Floats)
      return loadReals(c, s.element(), pointer, mask);
    auto type = VectorType::get({lanes}, inputElement());
    Value data, zeros = c.b.create<arith::ConstantOp>(c.b.getZeroAttr(type));
    if (mask)
      data = c.b.create<LLVM::MaskedLoadOp>(type, pointer, mask, zeros, 1);
    else
      data = c.b.create<LLVM::LoadOp>(type, pointer, 1);
    return dot.widen(c, data, s.op.getInput());
  }

  /// [both ways] Applies the transform to the columns of what `element` gives, then to the rows.
  void inBothDirections(int64_t rows, int64_t columns,
                        function_ref<Value(int64_t i, int64_t j)> element, bool input,
                        function_ref<void(int64_t i, int64_t j, Value)> result) {
    auto apply = [&](ArrayRef<Value> values) {
      return input ? transform.input(c.b, values) : transform.output(c.b, values);
    };
    SmallVector<WinogradTransform::Values> made;
    for (int64_t j = 0; j < columns; ++j) {
      SmallVector<Value> column;
      for (int64_t i = 0; i < rows; ++i)
        column.push_back(element(i, j));
      made.push_back(apply(column));
    }
    for (size_t i = 0; i < made[0].size(); ++i) {
      SmallVector<Value> row;
      for (const WinogradTransform::Values &column : made)
        row.push_back(column[i]);
      for (auto [j, value] : llvm::enumerate(apply(row)))
        result(i, j, value);
    }
  }

  //===-- Products ----------------------------------------------------------------------------===//

  /// [products] Tiles are the rows of register tiles, with a function for every number of them.
  void multiply(Value firstPanel, Value endPanel) {
    Value rowCount = c.b.createOrFold<arith::CeilDivUIOp>(count, number(rowTiles.size()));
    c.loop(number(0), number(s.n * s.n), 1, [&](Value product) {
      Value elements = at(c.scratch, c.add(number(s.elementsAt()), c.mul(product, elementStride)));
      Value to = at(products, c.mul(product, productStride));
      c.loop(number(0), rowCount, 1, [&](Value some) {
        callRowTile(c, rowTiles, count, rowCount, some, [&](Value tile) {
          return SmallVector<Value>{c.kernel.getArgument(0),
                                    at(elements, inElements(c.mul(tile, number(s.pitch)))),
                                    at(c.inputs[s.filter], c.mul(product, number(s.panelBytes()))),
                                    at(to, inSums(c.mul(tile, number(s.width)))),
                                    firstPanel,
                                    endPanel};
        });
      });
    });
  }

  /// Bytes to the next panel, behind the last to the next product's first.
  Value nextFilters(KernelContext &inner, Value panel, Value from, Value to) {
    Value next = inner.add(panel, number(1)),
          isLast = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, next, to);
    int64_t step = s.n * s.n * s.panelBytes();
    Value back = inner.add(inner.mul(inner.sub(from, panel), number(step)), number(s.panelBytes()));
    return c.b.create<arith::SelectOp>(isLast, back, number(step));
  }

  /// [sum] (words, elements, filters of the product, products, panels from, to). Meanwhile, the
  /// next panel of filters is fetched.
  void emitRowTiles(func::FuncOp function, int64_t rows) {
    emitRowTile(c, function, [&](KernelContext &inner) {
      std::unique_ptr<RunTile> tile = tileOf(inner, rows);
      RowRuns source{function.getArgument(1), s.pitch * s.elementBytes(), s.channels};
      Value from = function.getArgument(4), to = function.getArgument(5);
      inner.loop(from, to, 1, [&](Value panel) {
        Value filters =
            at(function.getArgument(2), inner.mul(panel, number(s.n * s.n * s.panelBytes())));
        int64_t stepBytes = s.panelBytes() / tile->steps(s.channels);
        source.ahead = {at(filters, nextFilters(inner, panel, from, to)), number(stepBytes),
                        int64_t(llvm::divideCeil(stepBytes, kLineBytes))};
        Value place = at(function.getArgument(3),
                         inSums(inner.mul(inner.sub(panel, from), number(s.columns))));
        SmallVector<Value> made = tile->accumulate(source, filters);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t v = 0; v < tile->vectors; ++v)
            store(made[tile->vectors * r + v], at(place, (r * s.width + v * sumLanes) * kSumBytes));
      });
    });
  }

  std::unique_ptr<RunTile> tileOf(KernelContext &inner, int64_t rows) {
    int64_t vectors = s.columns / c.machine.lanes();
    if (s.kind == WinogradTiles::Bytes)
      return std::make_unique<IntegerTile>(inner, dot, rows, vectors);
    return std::make_unique<FloatTile>(inner, rows, vectors);
  }

  //===-- Results -----------------------------------------------------------------------------===//

  /// [results] What follows, for the results of panels [from, to). Tiles that reach over the result
  /// have all theirs in scratch first.
  void transformProducts(Value from, Value to) {
    Value begin = c.mul(from, number(s.columns)),
          end = least(c.mul(to, number(s.columns)), number(s.filters));
    tiles([&](const Tile &tile) {
      Value ofTile = at(products, inSums(c.mul(tile.inBlock, number(s.width))));
      auto ofFilter = [&](Value filter) { return at(ofTile, inSums(c.sub(filter, begin))); };
      Value rows = least(c.sub(outHeight, tile.row), number(s.m)),
            columns = least(c.sub(outWidth, tile.column), number(s.m));
      auto isWhole = [&](Value size) -> Value {
        return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, size, number(s.m));
      };
      ifTrue(
          both(isWhole(rows), isWhole(columns)),
          [&] {
            c.loop(begin, end, sumLanes, [&](Value filter) {
              resultsOf(ofFilter(filter), [&](int64_t i, int64_t j, Value value) {
                storeResult(tile, number(i), number(j), filter, value);
              });
            });
          },
          [&] {
            c.loop(begin, end, sumLanes, [&](Value filter) {
              Value place = ofFilter(filter); // the results take the place of products
              resultsOf(place, [&](int64_t i, int64_t j, Value value) {
                store(value, at(place, c.mul(number(i * s.m + j), productStride)));
              });
              c.loop(number(0), rows, 1, [&](Value i) {
                c.loop(number(0), columns, 1, [&](Value j) {
                  Value nth = c.add(c.mul(i, number(s.m)), j);
                  storeResult(tile, i, j, filter, loadSums(at(place, c.mul(nth, productStride))));
                });
              });
            });
          });
    });
  }

  void resultsOf(Value first, function_ref<void(int64_t i, int64_t j, Value)> result) {
    auto product = [&](int64_t i, int64_t j) {
      return loadSums(at(first, c.mul(number(i * s.n + j), productStride)));
    };
    inBothDirections(s.n, s.n, product, /*input=*/false, [&](int64_t i, int64_t j, Value output) {
      result(i, j, transform.result(c.b, i, j, output));
    });
  }

  /// [store] Only of pixels inside.
  void storeResult(const Tile &tile, Value i, Value j, Value filter, Value value) {
    c.e.forget();
    IndexValue n{filter, 1};
    if (s.filters % sumLanes)
      c.e.setTailMask(c.e.less(n, c.e.constant(s.filters)));
    c.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return value; });
    c.storeResults({{tile.image}, {c.add(tile.row, i)}, {c.add(tile.column, j)}, n});
    c.e.setTailMask({});
    c.e.forget();
  }

  static constexpr int64_t kSumBytes = 4;

  KernelContext &c;
  const WinogradTiles &s;
  WinogradTransform transform;
  IntegerDot dot;
  int64_t lanes, sumLanes; ///< channels and filters of a vector
  Type element;
  VectorType sums;
  SmallVector<func::FuncOp> rowTiles;
  Value width, height, outWidth, outHeight, left, top, rowsOfTiles, columnsOfTiles, all, blockCount,
      partCount;
  Value products, elementStride, productStride; ///< in scratch
  Value first, count;                           ///< tiles of the block
};

class WinogradLastSchedule : public Schedule {
public:
  explicit WinogradLastSchedule(WinogradTiles::Kind kind) : kind(kind) {}
  StringRef name() const override {
    return kind == WinogradTiles::Bytes ? "winograd_bytes" : "winograd_last";
  }
  LoopKind loops() const override { return LoopKind::Transformed; }
  bool isExact() const override { return kind == WinogradTiles::Bytes; }
  Decline decline(func::FuncOp spec, const VectorMachine &machine) const override {
    return WinogradTiles::match(spec, machine, kind).decline();
  }
  Unit unit(func::FuncOp, const VectorMachine &) const override {
    return kind == WinogradTiles::Bytes ? Unit::ShortPairs : Unit::Reals;
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    WinogradTiles s = *WinogradTiles::match(spec, machine, kind);
    return {s.blocks() * s.parts(), SymExpr::constant(spec.getContext(), 1), s.scratchBytes()};
  }

  KernelEffort effort(func::FuncOp spec, const VectorMachine &machine) const override {
    WinogradTiles s = *WinogradTiles::match(spec, machine, kind);
    return transformedEffort(spec, s.allTiles() * (s.n * s.n), s.channels, s.panels * s.columns);
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    WinogradTiles s = *WinogradTiles::match(spec, machine, kind);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    result[s.filter] = s.layout();
    return result;
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    std::vector<Choice> list;
    WinogradTiles::match(spec, machine, kind)->offerBlocks(list, machine);
    return list;
  }

  void emit(KernelContext &c) const override {
    WinogradTiles s = *WinogradTiles::match(c.spec, c.machine, kind);
    Emitter(c, s).emit();
  }

private:
  WinogradTiles::Kind kind;
};

} // namespace

const Schedule *winogradLastSchedule() {
  static const WinogradLastSchedule schedule(WinogradTiles::Floats);
  return &schedule;
}

const Schedule *winogradBytesSchedule() {
  static const WinogradLastSchedule schedule(WinogradTiles::Bytes);
  return &schedule;
}

} // namespace weft
