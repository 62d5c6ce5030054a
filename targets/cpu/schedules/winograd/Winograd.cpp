//===- Winograd.cpp - 3x3 convolutions with fewer products ------------------------------------===//
//
// Tiles of m x m results are computed with (m + 2)^2 products per channel instead of 9 m^2: a
// quarter (m = 4) or less than half (m = 2). Tiles are the lanes.
//
//   for block of tiles, part of the filters                             [units]
//     unless the unit before did: for some channels                     [elements]
//       for tiles side by side in an image: B^T d, into lines, masked   [columns]
//       for channel, vector of tiles: (B^T d) B, lines become lanes     [rows]
//     for group of filters                                              [groups]
//       for each of n * n products: for two vectors of tiles, then one  [products]
//         for channel: sums += filters in all lanes * elements          [sum]
//       for filter, vector of tiles: A^T p A, lanes become lines        [results]
//       for tiles side by side, row: for vector of columns, filter      [store]
//         epilogue and store, masked where the tiles or the result end
//
// Sums are in registers: filters of the group by vectors of tiles. Filters are transformed and
// packed while compiling as [group][n * n][channel][filter]: a unit reads them once, from front to
// back.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/winograd/Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/tile/RegisterTile.h"
#include "targets/cpu/schedules/tile/WidenedElements.h"
#include "targets/cpu/schedules/winograd/WinogradTransform.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kElementKiB = 640; ///< of a block, to stay in L2
constexpr int64_t kElementCandidates[] = {320, 640, 1280};
constexpr int64_t kMostTiles = 64;
constexpr int64_t kFewestChannels = 8,
                  kFewestFilters = 4; ///< below, the transforms cost more than they save
/// Channels by filters. Beyond, filters for tiles of 4 are too many bytes for small images.
constexpr int64_t kMostForFour = 256 * 256;
constexpr int64_t kUnroll = 4;

/// Whole vectors of them.
int64_t tilesOfBlock(const WinogradShape &s, const VectorMachine &machine, int64_t elementKiB) {
  int64_t lanes = machine.lanes(), fit = (elementKiB << 10) / (s.n * s.n * s.channels * 4) / lanes;
  return std::clamp<int64_t>(fit, 1, kMostTiles / lanes) * lanes;
}

/// The results of a static image that a tile covers in vain, with vectors that are not full, cost
/// as much as the others.
bool isWorthIt(const WinogradShape &s, const VectorMachine &machine) {
  auto tiles = s.allTiles().asConstant(), pixels = (s.batch * s.pixels()).asConstant();
  if (!tiles || !pixels)
    return true;
  int64_t products = int64_t(llvm::alignTo(*tiles, machine.lanes())) * s.n * s.n;
  return products * 4 <= *pixels * 9 * 3;
}

} // namespace

Match<WinogradShape> WinogradShape::match(func::FuncOp spec, const VectorMachine &machine) {
  Match<ConvolutionShape> shape = ConvolutionShape::match(spec);
  if (!shape)
    return shape.decline();
  if (Decline why = shape->unlessThreeByThree())
    return why;
  if (shape->channels < kFewestChannels || shape->filters < kFewestFilters)
    return Decline{kFewChannels};
  WinogradShape s{*shape};
  int64_t lanes = machine.lanes(), most = machine.filterRows().most;
  s.filterGroups = llvm::divideCeil(s.filters, most);
  s.rows = llvm::divideCeil(s.filters, s.filterGroups);
  for (int64_t m : s.channels *s.filters <= kMostForFour ? std::initializer_list<int64_t>{4, 2}
                                                         : std::initializer_list<int64_t>{2}) {
    s.m = m, s.n = m + 2;
    s.tiles = tilesOfBlock(s, machine, pick(s.op, "block", kElementKiB));
    s.pitch = s.tiles + lanes;
    s.lineWidth = s.m * s.tiles + 2 * lanes;
    if (isWorthIt(s, machine))
      return s;
  }
  return Decline{kWasteful};
}

SymExpr WinogradShape::parts() const {
  SymExpr one = SymExpr::constant(op.getContext(), 1);
  int64_t most = std::clamp<int64_t>(filterGroups / 4, 1, 4);
  return most == 1 ? one : SymExpr::max(one, SymExpr::min(one * most, one * (most + 1) - blocks()));
}

namespace {

class WinogradEmitter {
public:
  explicit WinogradEmitter(KernelContext &c)
      : c(c), s(*WinogradShape::match(c.spec, c.machine)), transform(s.m), lanes(c.machine.lanes()),
        f32(c.b.getF32Type()), vector(VectorType::get({lanes}, f32)) {}

  void emit() {
    width = c.e.uniform(s.window[1].in), height = c.e.uniform(s.window[0].in);
    outWidth = c.e.uniform(s.window[1].out), outHeight = c.e.uniform(s.window[0].out);
    left = c.e.uniform(s.window[1].low), top = c.e.uniform(s.window[0].low);
    tileRows = c.e.uniform(s.tileRows()), tileColumns = c.e.uniform(s.tileColumns());
    Value vectors = c.e.uniform(SymExpr::ceildiv(s.allTiles(), lanes)),
          all = c.e.uniform(s.allTiles());
    Value blockCount = c.e.uniform(s.blocks()), partCount = c.e.uniform(s.parts());
    // [units] Parts of the filters are innermost: they share elements.
    c.loop(c.begin, c.end, 1, ValueRange{number(-1)},
           [&](Value unit, ValueRange transformed) -> SmallVector<Value> {
             Value block = div(unit, partCount), part = rem(unit, partCount);
             auto start = [&](Value each) {
               return least(c.mul(div(c.mul(each, vectors), blockCount), number(lanes)), all);
             };
             first = start(block), end = start(c.add(block, number(1)));
             count = c.b.createOrFold<arith::CeilDivUIOp>(c.sub(end, first), number(lanes));
             Value isNew =
                 c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, block, transformed[0]);
             {
               auto once = c.b.create<scf::IfOp>(isNew, false);
               OpBuilder::InsertionGuard insertion(c.b);
               c.b.setInsertionPointToStart(once.thenBlock());
               transformElements();
             }
             auto cut = [&](Value each) {
               return div(c.mul(each, number(s.filterGroups)), partCount);
             };
             // [groups] No more filters than fit into registers.
             c.loop(cut(part), cut(c.add(part, number(1))), 1, [&](Value group) {
               multiply(group);
               transformResults();
               storeGroup(group);
             });
             return {block};
           });
  }

private:
  Value number(int64_t value) { return constantI64(c.b, value); }
  Value div(Value a, Value d) { return c.b.createOrFold<arith::DivUIOp>(a, d); }
  Value rem(Value a, Value d) { return c.b.createOrFold<arith::RemUIOp>(a, d); }
  Value least(Value a, Value d) { return c.b.createOrFold<arith::MinSIOp>(a, d); }
  Value most(Value a, Value d) { return c.b.createOrFold<arith::MaxSIOp>(a, d); }
  Value at(Value base, Value offset) { return elementPointer(c.b, base, f32, offset); }
  Value at(Value base, int64_t offset) { return offset == 0 ? base : at(base, number(offset)); }
  Value pixelAt(Value base, Value offset) {
    return elementPointer(c.b, base, memoryType(s.element()), offset);
  }
  Value load(Value pointer) { return c.b.create<LLVM::LoadOp>(vector, pointer, 4); }
  void store(Value data, Value pointer) { c.b.create<LLVM::StoreOp>(data, pointer, 4); }

  /// Tiles of the block that lie side by side in one image.
  struct Run {
    Value image, row; ///< the image, and the row of tiles in it
    Value from, to;   ///< columns of tiles
    Value position;   ///< of the first in the block
  };
  void runs(function_ref<void(const Run &)> body) {
    Value last = c.add(div(c.sub(end, number(1)), tileColumns), number(1));
    c.loop(div(first, tileColumns), last, 1, [&](Value line) {
      Value start = c.mul(line, tileColumns), from = most(start, first),
            to = least(c.add(start, tileColumns), end);
      body({div(line, tileRows), rem(line, tileRows), c.sub(from, start), c.sub(to, start),
            c.sub(from, first)});
    });
  }

  /// Lanes x, x + 1, … inside [0, limit).
  Value inside(Value x, Value limit) {
    auto type = VectorType::get({lanes}, c.b.getI32Type());
    SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
    Value lane = c.b.create<arith::ConstantOp>(DenseIntElementsAttr::get(type, numbers));
    auto bound = [&](Value value) -> Value {
      Value some = least(most(value, number(0)), number(lanes));
      return c.b.create<vector::SplatOp>(c.b.create<arith::TruncIOp>(c.b.getI32Type(), some), type);
    };
    Value from =
        c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, lane, bound(c.sub(number(0), x)));
    return c.b.create<arith::AndIOp>(
        from, c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, lane, bound(c.sub(limit, x))));
  }

  //===-- Elements ----------------------------------------------------------------------------===//

  /// [elements] Some channels share masks.
  void transformElements() {
    int64_t together = WinogradShape::kChannelsTogether;
    c.loop(number(0), number(s.channels), together, [&](Value channel) {
      Value some = least(c.sub(number(s.channels), channel), number(together));
      runs([&](const Run &run) { transformColumns(run, channel, some); });
      c.loop(number(0), some, 1, [&](Value each) {
        transformRows(c.add(channel, each), at(c.scratch, c.mul(each, number(s.lineFloats()))));
      });
    });
  }

  /// [columns] Lines of the run's tiles. The shifted lines have every tile's elements from m on;
  /// the first m of a run have no place there. What a vector writes behind the run lies in the next
  /// one, which follows, or behind the line.
  void transformColumns(const Run &run, Value channel, Value some) {
    Value y = c.sub(c.mul(run.row, number(s.m)), top),
          x = c.sub(c.mul(run.from, number(s.m)), left);
    Value columns = c.add(c.mul(c.sub(run.to, run.from), number(s.m)), number(s.n - s.m));
    Value plane = c.add(c.mul(run.image, number(s.channels)), channel), size = c.mul(height, width);
    Value source =
        pixelAt(c.inputs[s.input()], c.add(c.mul(plane, size), c.add(c.mul(y, width), x)));
    Value target = at(c.scratch, c.mul(run.position, number(s.m)));
    c.loop(number(0), columns, lanes, [&](Value column) {
      Value all = inside(c.add(x, column), width),
            isFirst = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, column, number(0));
      SmallVector<Value> masks;
      for (int64_t i = 0; i < s.n; ++i) {
        Value valid =
            c.b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, c.add(y, number(i)), height);
        masks.push_back(
            c.b.create<arith::AndIOp>(all, c.b.create<vector::SplatOp>(valid, all.getType())));
      }
      SmallVector<bool> behind(lanes, true);
      std::fill(behind.begin(), behind.begin() + s.m, false);
      Value later = c.b.create<arith::ConstantOp>(
          DenseElementsAttr::get(cast<ShapedType>(all.getType()), ArrayRef<bool>(behind)));
      Value every = c.b.create<arith::ConstantOp>(
          DenseElementsAttr::get(cast<ShapedType>(all.getType()), true));
      Value shifted = c.b.create<arith::SelectOp>(isFirst, later, every);
      c.loop(number(0), some, 1, [&](Value each) {
        Value from = pixelAt(source, c.add(c.mul(each, size), column)),
              to = at(target, c.add(c.mul(each, number(s.lineFloats())), column));
        SmallVector<Value> elements;
        for (int64_t i = 0; i < s.n; ++i)
          elements.push_back(
              loadReals(c, s.element(), pixelAt(from, c.mul(width, number(i))), masks[i]));
        for (auto [i, value] : llvm::enumerate(transform.input(c.b, elements))) {
          store(value, at(to, i * s.lineWidth));
          c.b.create<LLVM::MaskedStoreOp>(value, at(to, int64_t(s.n + i) * s.lineWidth - s.m),
                                          shifted, 4);
        }
      });
    });
  }

  /// [rows] From a channel's lines to its elements.
  void transformRows(Value channel, Value lines) {
    c.loop(number(0), count, 1, [&](Value group) {
      Value tile = c.mul(group, number(lanes)), line = at(lines, c.mul(tile, number(s.m)));
      Value to = at(c.scratch,
                    c.add(number(s.elementsAt()), c.add(c.mul(channel, number(s.pitch)), tile)));
      for (int64_t i = 0; i < s.n; ++i) {
        SmallVector<Value> aligned, shifted;
        for (int64_t k = 0; k < s.m; ++k) {
          aligned.push_back(load(at(line, i * s.lineWidth + k * lanes)));
          shifted.push_back(load(at(line, (s.n + i) * s.lineWidth + k * lanes)));
        }
        SmallVector<Value, 4> elements = separateLanes(c.b, aligned, s.m);
        llvm::append_range(elements, separateLanes(c.b, shifted, s.n - s.m));
        for (auto [j, value] : llvm::enumerate(transform.input(c.b, elements)))
          store(value, at(to, (i * s.n + int64_t(j)) * s.channels * s.pitch));
      }
    });
  }

  //===-- Products ----------------------------------------------------------------------------===//

  /// [products] Each is a contraction of its own.
  void multiply(Value group) {
    Value filters = at(c.inputs[s.filter], c.mul(group, number(s.n * s.n * s.channels * s.rows)));
    c.loop(number(0), number(s.n * s.n), 1, [&](Value product) {
      Value panel = at(filters, c.mul(product, number(s.channels * s.rows)));
      Value from = at(c.scratch,
                      c.add(number(s.elementsAt()), c.mul(product, number(s.channels * s.pitch))));
      Value to =
          at(c.scratch, c.add(number(s.productsAt()), c.mul(product, number(s.rows * s.tiles))));
      Value pairs = c.mul(div(count, number(2)), number(2));
      c.loop(number(0), pairs, 2, [&](Value each) { multiplyVectors(panel, from, to, each, 2); });
      c.loop(pairs, count, 1, [&](Value each) { multiplyVectors(panel, from, to, each, 1); });
    });
  }

  /// [sum] In chunks when there are many channels: the error of a long sum stays that of a short
  /// one.
  void multiplyVectors(Value panel, Value from, Value to, Value group, int64_t vectors) {
    Value tile = c.mul(group, number(lanes));
    TileSource source{panel, 1, at(from, tile), number(s.pitch), s.rows};
    source.ahead = {at(panel, s.channels * s.rows),
                    number(s.rows * 4)}; // the next product's filters
    SmallVector<Value> zeros(s.rows * vectors,
                             c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector))),
        sums = zeros;
    if (s.channels <= 2 * kSumChunk) {
      multiplyAdd(c, source, number(s.channels), kUnroll, sums, s.rows, vectors);
    } else {
      sums = c.loop(number(0), number(s.channels), kSumChunk, ValueRange(sums),
                    [&](Value channel, ValueRange totals) {
                      TileSource part = source;
                      part.a = at(source.a, c.mul(channel, number(s.rows)));
                      part.b = at(source.b, c.mul(channel, number(s.pitch)));
                      part.ahead = source.ahead.behind(c, channel);
                      SmallVector<Value> next = zeros;
                      multiplyAdd(c, part,
                                  least(c.sub(number(s.channels), channel), number(kSumChunk)),
                                  kUnroll, next, s.rows, vectors);
                      for (auto [total, value] : llvm::zip(totals, next))
                        value = c.b.create<arith::AddFOp>(total, value);
                      return next;
                    });
    }
    for (int64_t r = 0; r < s.rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        store(sums[vectors * r + v], at(to, c.add(tile, number(r * s.tiles + v * lanes))));
  }

  //===-- Results -----------------------------------------------------------------------------===//

  /// [results] All of the block's tiles, also those that reach over the result.
  void transformResults() {
    c.loop(number(0), number(s.rows), 1, [&](Value filter) {
      c.loop(number(0), count, 1, [&](Value group) {
        Value tile = c.mul(group, number(lanes));
        Value from = at(c.scratch,
                        c.add(number(s.productsAt()), c.add(c.mul(filter, number(s.tiles)), tile)));
        Value to = at(c.scratch,
                      c.add(number(s.resultsAt()),
                            c.mul(c.add(c.mul(filter, number(s.m * s.tiles)), tile), number(s.m))));
        SmallVector<WinogradTransform::Values> columns;
        for (int64_t j = 0; j < s.n; ++j) {
          SmallVector<Value> products;
          for (int64_t i = 0; i < s.n; ++i)
            products.push_back(load(at(from, (i * s.n + j) * s.rows * s.tiles)));
          columns.push_back(transform.output(c.b, products));
        }
        for (int64_t i = 0; i < s.m; ++i) {
          SmallVector<Value> row;
          for (const WinogradTransform::Values &column : columns)
            row.push_back(column[i]);
          for (auto [k, value] : llvm::enumerate(joinLanes(c.b, transform.output(c.b, row))))
            store(value, at(to, i * s.m * s.tiles + int64_t(k) * lanes));
        }
      });
    });
  }

  /// [store] What follows, for the rows and columns of the result that the tiles cover.
  void storeGroup(Value group) {
    Value filter = c.mul(group, number(s.rows)),
          filterCount = least(c.sub(number(s.filters), filter), number(s.rows));
    runs([&](const Run &run) {
      Value y = c.mul(run.row, number(s.m)), x = c.mul(run.from, number(s.m)),
            stop = least(c.mul(run.to, number(s.m)), outWidth);
      Value from = at(c.scratch, c.add(number(s.resultsAt()), c.mul(run.position, number(s.m))));
      c.loop(number(0), least(c.sub(outHeight, y), number(s.m)), 1, [&](Value i) {
        c.loop(x, stop, lanes, [&](Value column) {
          Value mask = inside(number(0), c.sub(stop, column));
          c.loop(number(0), filterCount, 1, [&](Value each) {
            Value offset = c.mul(c.add(c.mul(each, number(s.m)), i), number(s.m * s.tiles));
            Value data = load(at(from, c.add(offset, c.sub(column, x))));
            c.e.forget();
            c.e.setTailMask(mask);
            c.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return data; });
            c.storeResults({{run.image}, {c.add(filter, each)}, {c.add(y, i)}, {column, 1}});
            c.e.setTailMask({});
            c.e.forget();
          });
        });
      });
    });
  }

  KernelContext &c;
  WinogradShape s;
  WinogradTransform transform;
  int64_t lanes;
  Type f32;
  VectorType vector;
  Value width, height, outWidth, outHeight, left, top, tileRows, tileColumns;
  Value first, end, count; ///< tiles of the block, and their vectors
};

class WinogradSchedule : public Schedule {
public:
  StringRef name() const override { return "winograd"; }
  LoopKind loops() const override { return LoopKind::Transformed; }
  bool isExact() const override { return false; }
  Decline decline(func::FuncOp spec, const VectorMachine &machine) const override {
    return WinogradShape::match(spec, machine).decline();
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    WinogradShape s = *WinogradShape::match(spec, machine);
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    return {s.blocks() * s.parts(), constant(1), constant(s.scratchFloats() * 4)};
  }

  KernelEffort effort(func::FuncOp spec, const VectorMachine &machine) const override {
    WinogradShape s = *WinogradShape::match(spec, machine);
    return transformedEffort(spec, s.allTiles() * (s.n * s.n), s.channels, s.rows * s.filterGroups);
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    WinogradShape s = *WinogradShape::match(spec, machine);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    result[s.filter] = WeightLayout::winograd(s.m, s.rows, s.filterForm());
    return result;
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    WinogradShape s = *WinogradShape::match(spec, machine);
    std::vector<Choice> list;
    offer(list, "block", kElementCandidates, kElementKiB,
          [&](int64_t kib) { return tilesOfBlock(s, machine, kib); });
    return list;
  }

  void emit(KernelContext &c) const override { WinogradEmitter(c).emit(); }
};

} // namespace

const Schedule *winogradSchedule() {
  static const WinogradSchedule schedule;
  return &schedule;
}

} // namespace weft
