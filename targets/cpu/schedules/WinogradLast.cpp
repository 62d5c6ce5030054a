//===- WinogradLast.cpp - 3x3 convolutions with fewer products, channels last ------------------------------===//
//
// Tiles of m x m results are computed with n * n = (m + 2)^2 products per channel instead of 9 m^2. Tiles count over all images, row by
// row; a unit is a block of them by a part of the filters, and each of the n * n products of a block is a contraction:
//
//   elements  [n * n][tile][channel]      B^T d B, lanes are channels; made unless the unit before did
//   products  [n * n][tile][filter]       elements times panels of filters, some tiles by two vectors in registers
//   results                               A^T p A, lanes are filters; the epilogue, and out
//
// A product's elements and filters fit L2 together, and filters are read once per block. Filters are transformed and packed while
// compiling as [panel][n * n][channel][filter].
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/ConvolutionShape.h"
#include "targets/cpu/schedules/FloatTile.h"
#include "targets/cpu/schedules/RowTile.h"
#include "targets/cpu/schedules/WinogradTransform.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kBlockMiB = 10; ///< of a block's elements and products: they pass through L3
constexpr int64_t kMiBCandidates[] = {5, 10, 20};
constexpr int64_t kMostRowTiles = 10;  ///< of a block
constexpr int64_t kFewestChannels = 8; ///< below, the transforms cost more than they save
constexpr int64_t kMostForFour =
    256 *
    256; ///< channels by filters: beyond, filters for tiles of 4 are too many bytes for small images

struct Shape : ConvolutionShape {
  int64_t m, n;   ///< results and elements of a tile's side
  int64_t tiles;  ///< of a block, at most
  int64_t panels; ///< of filters
  int64_t pitch;  ///< floats of a tile's channels
  int64_t width;  ///< floats of a tile's filters

  static Match<Shape> match(func::FuncOp spec, const VectorIsa &isa);

  unsigned input() const { return cast<BlockArgument>(op.getInput()).getArgNumber(); }
  SymExpr tileRows() const { return SymExpr::ceildiv(window[0].out, m); }
  SymExpr tileColumns() const { return SymExpr::ceildiv(window[1].out, m); }
  SymExpr allTiles() const { return batch * tileRows() * tileColumns(); }
  SymExpr blocks() const { return SymExpr::ceildiv(allTiles(), tiles); }
  /// Parts of the filters: few blocks are cut further, at the price of transforming what they read once per worker.
  SymExpr parts() const {
    SymExpr one = SymExpr::constant(op.getContext(), 1);
    int64_t most = std::clamp<int64_t>(panels / 2, 1, 4);
    return most == 1 ? one
                     : SymExpr::max(one, SymExpr::min(one * most, one * (most + 1) - blocks()));
  }
  /// Tiles of a block of so many MiB.
  int64_t tilesOf(int64_t blockMiB, const VectorIsa &isa) const {
    int64_t rows = weft::tileRows(isa),
            fit = (blockMiB << 20) / (n * n * (pitch + width) * 4) / rows;
    return std::clamp<int64_t>(fit, 1, kMostRowTiles) * rows;
  }
  // Where things lie in scratch, in floats. Pixels outside the image read the zeros in front.
  SymExpr tilesOfBlock() const {
    return SymExpr::min(SymExpr::constant(op.getContext(), tiles), allTiles());
  }
  SymExpr elementsOfProduct() const { return tilesOfBlock() * pitch; }
  SymExpr resultsOfProduct() const { return tilesOfBlock() * width; }
  int64_t elementsAt() const { return pitch; }
  SymExpr productsAt() const { return elementsOfProduct() * (n * n) + elementsAt(); }
  SymExpr scratchFloats() const { return productsAt() + resultsOfProduct() * (n * n); }
};

/// Whether static images have so few results in their last tiles that the method saves a quarter of the products.
bool isWorthIt(const Shape &s) {
  auto tiles = s.allTiles().asConstant(), pixels = (s.batch * s.pixels()).asConstant();
  return !tiles || !pixels || *tiles * s.n * s.n * 4 <= *pixels * 9 * 3;
}

Match<Shape> Shape::match(func::FuncOp spec, const VectorIsa &isa) {
  Match<ConvolutionShape> shape = ConvolutionShape::match(spec, /*channelsLast=*/true);
  if (!shape)
    return shape.decline();
  if (Decline why = shape->unlessThreeByThree(isa))
    return why;
  if (shape->channels < kFewestChannels ||
      shape->filters <= int64_t(isa.lanes)) // products have two vectors of filters
    return Decline{kFewChannels};
  Shape s{*shape};
  s.panels = llvm::divideCeil(s.filters, weft::tileColumns(isa));
  s.width = s.panels * weft::tileColumns(isa);
  s.pitch = llvm::alignTo(s.channels, isa.lanes);
  if (s.pitch * 4 % 1024 == 0) // tiles shall not meet in few sets of the first-level cache
    s.pitch += isa.lanes;
  for (int64_t m : {4, 2}) {
    if (m == 4 && s.channels * s.filters > kMostForFour)
      continue;
    s.m = m, s.n = m + 2;
    s.tiles = s.tilesOf(pick(s.op, "block", kBlockMiB), isa);
    if (isWorthIt(s))
      return s;
  }
  return Decline{kWasteful};
}

class Emitter {
public:
  explicit Emitter(KernelContext &c)
      : c(c), s(*Shape::match(c.spec, c.isa)), transform(s.m), lanes(c.isa.lanes),
        f32(c.b.getF32Type()), vector(VectorType::get({lanes}, f32)) {}

  void emit() {
    Type pointer = c.scratch.getType(), i64 = c.b.getI64Type();
    for (int64_t r = 1; r <= weft::tileRows(c.isa); ++r)
      rowTiles.push_back(declareRowTile(c, r, {pointer, pointer, pointer, i64, i64}));
    readSizes();
    clearZeros();
    c.loop(c.begin, c.end, 1, ValueRange{number(-1)},
           [&](Value unit, ValueRange transformed) -> SmallVector<Value> {
             Value block = div(unit, partCount), part = rem(unit, partCount);
             setBlock(block);
             ifTrue(c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, block, transformed[0]),
                    [&] { transformElements(); });
             auto cut = [&](Value each) { return div(c.mul(each, number(s.panels)), partCount); };
             Value from = cut(part), to = cut(c.add(part, number(1)));
             multiply(from, to);
             transformProducts(from, to);
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
  Value at(Value base, Value offset) { return elementPointer(c.b, base, f32, offset); }
  Value at(Value base, int64_t offset) { return offset == 0 ? base : at(base, number(offset)); }
  Value load(Value pointer) { return c.b.create<LLVM::LoadOp>(vector, pointer, 4); }
  void store(Value data, Value pointer) { c.b.create<LLVM::StoreOp>(data, pointer, 4); }
  Value zero() { return c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector)); }
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
    elementStride = c.e.uniform(s.elementsOfProduct());
    productStride = c.e.uniform(s.resultsOfProduct());
    products = at(c.scratch, c.e.uniform(s.productsAt()));
  }

  void clearZeros() {
    Value nothing = zero();
    c.loop(number(0), number(s.pitch), lanes,
           [&](Value channel) { store(nothing, at(c.scratch, channel)); });
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

  //===-- Elements --------------------------------------------------------------------------------------===//

  void transformElements() {
    tiles([&](const Tile &tile) {
      SmallVector<Value> pixels = pixelsOf(tile);
      Value to = at(c.scratch, c.add(number(s.elementsAt()), c.mul(tile.inBlock, number(s.pitch))));
      vectors(s.channels, [&](Value channel, int64_t some) {
        auto element = [&](int64_t i, int64_t j) {
          return loadSome(at(pixels[i * s.n + j], channel), some);
        };
        Value here = at(to, channel);
        inBothDirections(s.n, s.n, element, /*input=*/true, [&](int64_t i, int64_t j, Value value) {
          store(value, at(here, c.mul(number(i * s.n + j), elementStride)));
        });
      });
    });
  }

  /// Where the pixels lie that the tile reads.
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
      Value start = at(input, c.mul(line, number(s.channels)));
      for (int64_t j = 0; j < s.n; ++j)
        pixels.push_back(c.b.create<LLVM::SelectOp>(both(valid, validColumns[j]),
                                                    at(start, j * s.channels), c.scratch));
    }
    return pixels;
  }

  Value loadSome(Value pointer, int64_t some) {
    if (some == lanes)
      return load(pointer);
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), some, true);
    Value mask = c.b.create<arith::ConstantOp>(
        DenseElementsAttr::get(VectorType::get({lanes}, c.b.getI1Type()), ArrayRef<bool>(bits)));
    return c.b.create<LLVM::MaskedLoadOp>(vector, pointer, mask, zero(), 4);
  }

  /// Applies the transform to the columns of what `element` gives, then to the rows.
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

  //===-- Products --------------------------------------------------------------------------------------===//

  void multiply(Value firstPanel, Value endPanel) {
    Value rowCount = c.b.createOrFold<arith::CeilDivUIOp>(count, number(rowTiles.size()));
    c.loop(number(0), number(s.n * s.n), 1, [&](Value product) {
      Value elements = at(c.scratch, c.add(number(s.elementsAt()), c.mul(product, elementStride)));
      Value to = at(products, c.mul(product, productStride));
      c.loop(number(0), rowCount, 1, [&](Value some) {
        callRowTile(c, rowTiles, count, rowCount, some, [&](Value tile) {
          return SmallVector<Value>{c.kernel.getArgument(0),
                                    at(elements, c.mul(tile, number(s.pitch))),
                                    at(c.inputs[s.filter], c.mul(product, number(panelFloats()))),
                                    at(to, c.mul(tile, number(s.width))),
                                    firstPanel,
                                    endPanel};
        });
      });
    });
  }

  /// Of one product.
  int64_t panelFloats() const { return s.channels * weft::tileColumns(c.isa); }

  /// Bytes to the next panel, behind the last to the next product's first.
  Value nextFilters(KernelContext &inner, Value panel, Value from, Value to) {
    Value next = inner.add(panel, number(1)),
          isLast = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, next, to);
    int64_t step = s.n * s.n * panelFloats() * 4;
    Value back =
        inner.add(inner.mul(inner.sub(from, panel), number(step)), number(panelFloats() * 4));
    return c.b.create<arith::SelectOp>(isLast, back, number(step));
  }

  /// (words, elements, filters of the product, products, panels from, to)
  void emitRowTiles(func::FuncOp function, int64_t rows) {
    emitRowTile(c, function, [&](KernelContext &inner) {
      FloatTile tile(inner, rows);
      RowRuns source{function.getArgument(1), s.pitch * 4, s.channels};
      inner.loop(function.getArgument(4), function.getArgument(5), 1, [&](Value panel) {
        Value filters =
            at(function.getArgument(2), inner.mul(panel, number(s.n * s.n * panelFloats())));
        Value distance =
            nextFilters(inner, panel, function.getArgument(4), function.getArgument(5));
        int64_t stepBytes = weft::tileColumns(c.isa) * 4;
        source.ahead = {elementPointer(c.b, filters, c.b.getI8Type(), distance), number(stepBytes),
                        int64_t(llvm::divideCeil(stepBytes, kLineBytes))};
        Value to = at(function.getArgument(3), inner.mul(panel, number(weft::tileColumns(c.isa))));
        SmallVector<Value> sums = tile.accumulate(source, filters);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t v = 0; v < 2; ++v)
            store(sums[2 * r + v], at(to, r * s.width + v * lanes));
      });
    });
  }

  //===-- Results ---------------------------------------------------------------------------------------===//

  /// What follows, for the results of panels [from, to).
  void transformProducts(Value from, Value to) {
    Value begin = c.mul(from, number(weft::tileColumns(c.isa)));
    Value end = least(c.mul(to, number(weft::tileColumns(c.isa))), number(s.filters));
    tiles([&](const Tile &tile) {
      Value ofTile = at(products, c.mul(tile.inBlock, number(s.width)));
      Value rows = least(c.sub(outHeight, tile.row), number(s.m)),
            columns = least(c.sub(outWidth, tile.column), number(s.m));
      auto isWhole = [&](Value size) -> Value {
        return c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, size, number(s.m));
      };
      ifTrue(
          both(isWhole(rows), isWhole(columns)),
          [&] {
            c.loop(begin, end, lanes, [&](Value filter) {
              resultsOf(at(ofTile, filter), [&](int64_t i, int64_t j, Value value) {
                storeResult(tile, number(i), number(j), filter, value);
              });
            });
          },
          [&] {
            c.loop(begin, end, lanes, [&](Value filter) {
              Value place = at(ofTile, filter); // the results take the place of products
              resultsOf(place, [&](int64_t i, int64_t j, Value value) {
                store(value, at(place, c.mul(number(i * s.m + j), productStride)));
              });
              c.loop(number(0), rows, 1, [&](Value i) {
                c.loop(number(0), columns, 1, [&](Value j) {
                  Value nth = c.add(c.mul(i, number(s.m)), j);
                  storeResult(tile, i, j, filter, load(at(place, c.mul(nth, productStride))));
                });
              });
            });
          });
    });
  }

  void resultsOf(Value first, function_ref<void(int64_t i, int64_t j, Value)> result) {
    auto product = [&](int64_t i, int64_t j) {
      return load(at(first, c.mul(number(i * s.n + j), productStride)));
    };
    inBothDirections(s.n, s.n, product, /*input=*/false, result);
  }

  void storeResult(const Tile &tile, Value i, Value j, Value filter, Value value) {
    c.e.forget();
    IndexValue n{filter, 1};
    if (s.filters % lanes)
      c.e.setTailMask(c.e.less(n, c.e.constant(s.filters)));
    c.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return value; });
    c.storeResults({{tile.image}, {c.add(tile.row, i)}, {c.add(tile.column, j)}, n});
    c.e.setTailMask({});
    c.e.forget();
  }

  KernelContext &c;
  Shape s;
  WinogradTransform transform;
  int64_t lanes;
  Type f32;
  VectorType vector;
  SmallVector<func::FuncOp> rowTiles;
  Value width, height, outWidth, outHeight, left, top, rowsOfTiles, columnsOfTiles, all, blockCount,
      partCount;
  Value products, elementStride, productStride; ///< in scratch
  Value first, count;                           ///< tiles of the block
};

class WinogradLastSchedule : public Schedule {
public:
  StringRef name() const override { return "winograd_last"; }
  bool isExact() const override { return false; }
  Decline decline(func::FuncOp spec, const VectorIsa &isa) const override {
    return Shape::match(spec, isa).decline();
  }

  Launch launch(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *Shape::match(spec, isa);
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    return {s.blocks() * s.parts(), constant(1), s.scratchFloats() * 4};
  }

  SmallVector<std::string> layouts(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *Shape::match(spec, isa);
    SmallVector<std::string> result(spec.getNumArguments());
    result[s.filter] =
        "winograd" + std::to_string(s.m) + "<" + std::to_string(weft::tileColumns(isa)) + ">";
    return result;
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *Shape::match(spec, isa);
    std::vector<Choice> list;
    offer(list, "block", kMiBCandidates, kBlockMiB,
          [&](int64_t mib) { return s.tilesOf(mib, isa); });
    return list;
  }

  void emit(KernelContext &c) const override { Emitter(c).emit(); }
};

} // namespace

const Schedule *winogradLastSchedule() {
  static const WinogradLastSchedule schedule;
  return &schedule;
}

} // namespace weft
