//===- BlockDots.cpp - Rows rounded to bytes times a weight of bytes or less ------------------===//
//
// C[m, n] = epilogue(sum over blocks b of step[m, b] * scale[b, n] * sum over k in b of A[m, k] *
// (W[k, n] - zero[b, n])), where A are the signed bytes that weft.round_blocks makes of the rows
// and W are unsigned numbers of 8, 6, 5 or 4 bits: four of their products are one instruction where
// the machine has it.
//
//   for tile of the worker's units: its rows as bytes into scratch        [round rows]
//   for block of panels, tile of up to 6 rows                             [units]
//     for panel of two vectors of columns
//       totals = 0, in registers: reals, rows by two vectors
//       for block of k
//         sums = 0 or what zero points take away, in registers: integers  [start]
//         for the block's k, 4 to 32 of them in each step
//           weights = two vectors of bytes, four k's in a lane            [load weights]
//           for four k's, row, vector: sums += dot(A[row], weights)       [dot]
//         totals += sums * scale * step, and zero points per block        [add block]
//       for vector, row: epilogue and store, masked where n ends
//
// The loops over panels and blocks are in BlockTile.cpp. A worker rounds the rows of its tiles before
// it begins. 4 bits become bytes by a mask, once for all rows of the tile, and take what they have
// above the fourth bit from a word of it (compiler/artifact/Dots.h); tiles of fewer rows than most
// fetch weights and scales ahead.
//
// Where the machine multiplies small matrices of bytes, two rows at once are (BlockMatrices.h).
//
//   zero points of one number     what they take away is where the block's sum begins
//   one per block and column      one more multiply-add per block
//
// Contraction.cpp computes such kernels in reals where there are no such products.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/common/match/RowsAlone.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/product/BlockMatrices.h"
#include "targets/cpu/schedules/tile/PanelBlocks.h"
#include "targets/cpu/schedules/tile/RoundedRows.h"

using namespace mlir;

namespace weft {
namespace {

using Shape = PackedContraction;

constexpr int64_t kByteBits = 8;
constexpr int64_t kRows = 6; ///< of a tile: twice two vectors for each stay in registers
static_assert(kRows == BlockMatrices::kRows);
constexpr int64_t kHighDepth =
    32; ///< k's that begin with words of lower bits, whatever the bits above

bool isNarrow(const PackedWeight &w) {
  return (w.form == PackedWeight::Nibbles || w.form == PackedWeight::Bytes) && !isFloat(w.element);
}

/// Numbers of 5 or 6 bits, which are bytes in the model.
bool hasFewBits(const PackedWeight &w) { return w.form == PackedWeight::Bytes && w.numberBits < 8; }

/// The numbers that are multiplied one by one are unsigned; signed bytes have this added where they are read.
int64_t shiftOf(const PackedWeight &w) {
  return w.form == PackedWeight::Bytes && !isUnsigned(w.element) ? 128 : w.bias();
}

/// Of weights, which are not negative as they are multiplied, and rows. Weights of fewer than 8 bits may count as signed.
ByteSigns signsOf(const PackedWeight &w, const VectorMachine &machine) {
  ByteSigns usual{false, true};
  bool fitsSigned = w.form != PackedWeight::Bytes || hasFewBits(w);
  return fitsSigned && !machine.addsByteProducts(usual) ? ByteSigns{true, true} : usual;
}

Match<Shape> match(func::FuncOp spec, const VectorMachine &machine) {
  Match<Shape> s = Shape::match(spec);
  if (!s)
    return s;
  if (s->roundedBlock == 0)
    return Decline::otherKind("the rows are not rounded to bytes block by block");
  if (!machine.addsByteProducts(signsOf(s->weight, machine)))
    return Decline{"the target has no products of bytes"};
  if (s->weight.block % kHighDepth != 0)
    s->weight.numberBits = 8;
  if (!isNarrow(s->weight) || s->weight.block != s->roundedBlock)
    return Decline{"the weight is not of integers of 8 or 4 bits in blocks like those of the rows"};
  return s;
}

/// How the blocks of a weight are multiplied: as small matrices where the machine has those products.
struct Products {
  Products(const PackedWeight &w, const VectorMachine &machine)
      : w(w), machine(machine), areMatrices(BlockMatrices::takes(w, machine)) {}
  Unit unit() const { return areMatrices ? Unit::ByteMatrices : Unit::ByteQuads; }
  int64_t bytesPerDepth() const {
    if (areMatrices)
      return BlockMatrices::bytesPerDepth(w, machine);
    return tileColumns(machine) * (w.form == PackedWeight::Bytes ? w.numberBits : 4) / 8;
  }
  int64_t shift() const { return areMatrices ? BlockMatrices::shiftOf(w) : shiftOf(w); }
  WeightLayout layout(WeightLayout::Order order) const {
    if (areMatrices)
      return BlockMatrices::layout(w, order, machine);
    int64_t columns = tileColumns(machine);
    return w.form == PackedWeight::Nibbles ? w.layout(order, columns)
           : hasFewBits(w)                 ? WeightLayout::fewBits(columns, order, w.numberBits)
                                           : WeightLayout::dots(columns, order, 4, 1);
  }

  const PackedWeight &w;
  const VectorMachine &machine;
  const bool areMatrices;
};

/// Rows one by one, four bytes of each in all lanes.
class DotTile : public BlockTile {
public:
  DotTile(KernelContext &c, const Shape &s, const RoundedRows::Bytes &a, int64_t rows, Value first)
      : BlockTile(c, s, rows, 2 * rows, Products(s.weight, c.machine).bytesPerDepth()), a(a) {
    Value perRow = c.mul(first, number(blocks));
    bytes = pointer(a.bytes, c.mul(first, number(s.k)));
    steps = elementPointer(c.b, a.steps, f32(), perRow);
    corrections = elementPointer(c.b, a.corrections, f32(), perRow);
  }

private:
  Value spread(VectorType type, Value pointer) {
    return c.b.create<vector::SplatOp>(c.b.create<LLVM::LoadOp>(type.getElementType(), pointer, 4),
                                       type);
  }

  /// [add block] A block's integers are exact; they become reals here.
  Values addBlock(Value nth, ValueRange totals) override {
    // [start] One number for the zero points is part of the row's correction.
    Values starts, next;
    Value startColumn = pointer(corrections, c.mul(nth, number(4)));
    for (int64_t r = 0; r < rows; ++r)
      starts.append(2, a.zero.value_or(0) != 0 ? spread(integers(), at(startColumn, r * blocks * 4))
                                               : bits(0));
    Values sums = sumBlock(nth, starts);
    Value perRow = c.mul(nth, number(4));
    Value stepColumn = pointer(steps, perRow), correctionColumn = pointer(corrections, perRow);
    Value scale[2], zero[2];
    if (rows < kRows)
      w.fetchScalesAhead(c, scales, nth, columns);
    for (int64_t v = 0; v < 2; ++v) {
      scale[v] = scalesOf(nth, v);
      if (w.zero)
        zero[v] = c.b.create<arith::MulFOp>(zerosOf(nth, v, shiftOf(w)), scale[v]);
    }
    for (int64_t r = 0; r < rows; ++r) {
      Value step = spread(reals(), at(stepColumn, r * blocks * 4));
      for (int64_t v = 0; v < 2; ++v) {
        Value sum = c.b.create<arith::SIToFPOp>(reals(), sums[2 * r + v]);
        sum = c.b.create<arith::MulFOp>(sum, scale[v]);
        next.push_back(c.b.create<vector::FMAOp>(sum, step, totals[2 * r + v]));
        if (w.zero)
          next.back() = c.b.create<vector::FMAOp>(
              zero[v], spread(reals(), at(correctionColumn, r * blocks * 4)), next.back());
      }
    }
    return next;
  }

  void multiplyAdd(Value k, Value, int64_t depth, MutableArrayRef<Value> sums) override {
    Value here = pointer(weights, c.mul(k, number(perDepth))), x = pointer(bytes, k);
    int64_t unit = hasFewBits(w)                   ? kByteBits * 4 / highBits()
                   : w.form == PackedWeight::Bytes ? 4
                                                   : 8;
    for (int64_t u = 0; u < depth; u += unit) {
      // [load weights] Once for all rows.
      Words words[2]; // by vector
      for (int64_t v = 0; v < 2; ++v)
        words[v] = loadWords(at(here, u * perDepth + v * c.machine.lanes() * 4));
      if (rows < kRows)
        PackedWeight::fetchAhead(c, at(here, u * perDepth), unit * perDepth);
      // [dot] Four bytes of a row in all lanes, for both vectors.
      for (int64_t g = 0; g * 4 < unit; ++g) {
        Value group[2] = {groupOf(words[0], g), groupOf(words[1], g)};
        for (int64_t r = 0; r < rows; ++r) {
          Value all = spread(integers(), at(x, r * s.k + u + g * 4));
          for (int64_t v = 0; v < 2; ++v)
            sums[2 * r + v] = dot(sums[2 * r + v], group[v], all);
        }
      }
    }
  }

  /// Of a unit of one vector of columns, as they are stored. `high`: what numbers have above the fourth bit, or null.
  struct Words {
    SmallVector<Value, 4> low;
    Value high;
  };
  Words loadWords(Value pointer) {
    auto load = [&](int64_t word) {
      return c.b.create<LLVM::LoadOp>(integers(), at(pointer, word * columns * 4), 4);
    };
    int64_t count = hasFewBits(w) ? kByteBits / highBits() / 2 : 1;
    Words words;
    for (int64_t word = 0; word < count; ++word)
      words.low.push_back(load(word));
    if (hasFewBits(w))
      words.high = load(count);
    return words;
  }

  /// Bits above the fourth of each number.
  int64_t highBits() const { return w.numberBits - 4; }

  /// Unsigned bytes, the `g`-th four k's of each column in a lane.
  Value groupOf(const Words &words, int64_t g) {
    if (w.form == PackedWeight::Bytes && !hasFewBits(w))
      return isUnsigned(w.element)
                 ? words.low[0]
                 : Value(c.b.create<arith::XOrIOp>(words.low[0], bits(int64_t(0x80808080))));
    // Low halves of bytes, then high ones.
    Value low = c.b.create<arith::AndIOp>(moved(words.low[g / 2], -4 * (g % 2)), bits(0x0f0f0f0f));
    if (!words.high)
      return low;
    Value high = c.b.create<arith::AndIOp>(moved(words.high, 4 - highBits() * g),
                                           bits(((1 << highBits()) - 1) * int64_t(0x10101010)));
    return c.b.create<arith::OrIOp>(low, high);
  }

  /// By so many bits up, or down.
  Value moved(Value word, int64_t up) {
    return up > 0   ? Value(c.b.create<arith::ShLIOp>(word, bits(up)))
           : up < 0 ? Value(c.b.create<arith::ShRUIOp>(word, bits(-up)))
                    : word;
  }

  Value dot(Value sum, Value weight, Value activation) {
    return c.machine.addByteProducts(c.b, sum, weight, activation, signsOf(w, c.machine));
  }

  RoundedRows::Bytes a;            ///< of all rows
  Value bytes, steps, corrections; ///< of this tile's rows
};

class BlockDotsSchedule : public Schedule {
public:
  StringRef name() const override { return "block_dots"; }
  LoopKind loops() const override { return LoopKind::Products; }
  Decline decline(func::FuncOp spec, const VectorMachine &machine) const override {
    return match(spec, machine).decline();
  }
  Unit unit(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *match(spec, machine);
    return Products(s.weight, machine).unit();
  }

  static int64_t panelsOf(const Shape &s, const VectorMachine &machine) {
    return llvm::divideCeil(s.n, tileColumns(machine));
  }
  static int64_t panelBytes(const Shape &s, const VectorMachine &machine) {
    return s.k * Products(s.weight, machine).bytesPerDepth();
  }
  static int64_t panelsPerBlock(const Shape &s, const VectorMachine &machine) {
    return PanelBlocks::panelsOfBlock(panelsOf(s, machine), panelBytes(s, machine),
                                      pick(s.op, "block", kBlockKiB));
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *match(spec, machine);
    std::vector<Choice> list;
    PanelBlocks::offerBlocks(list, panelsOf(s, machine), panelBytes(s, machine));
    return list;
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *match(spec, machine);
    int64_t blocks = llvm::divideCeil(panelsOf(s, machine), panelsPerBlock(s, machine));
    SymExpr tiles = SymExpr::ceildiv(s.m, kRows);
    bool areMatrices = Products(s.weight, machine).areMatrices;
    return {tiles * blocks, SymExpr::constant(spec.getContext(), 1),
            areMatrices ? tiles * BlockMatrices::regionBytes(s)
                        : s.m * (s.k + s.k / s.weight.block * 8)};
  }

  /// A row is rounded and summed alike in tiles of all sizes.
  std::optional<RowTiles> rowTiles(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *match(spec, machine);
    return rowsAlone(spec, s.lhs, s.m, kRows);
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    Shape s = *match(spec, machine);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    result[s.weight.data] = Products(s.weight, machine).layout(s.order());
    s.weight.placeScales(s.order(), tileColumns(machine), result);
    return result;
  }

  void emit(KernelContext &c) const override {
    Shape s = *match(c.spec, c.machine);
    int64_t perBlock = panelsPerBlock(s, c.machine);
    Type i64 = c.b.getI64Type();
    SmallVector<func::FuncOp> tiles;
    for (int64_t r = 1; r <= kRows; ++r)
      tiles.push_back(declareRowTile(c, r, {i64, i64, i64, c.scratch.getType()}));
    Value m = c.e.uniform(s.m), count = c.e.uniform(SymExpr::ceildiv(s.m, kRows));
    roundRows(c, s, m, count);
    auto run = [&](Value tile, Value fromBlock, Value toBlock) {
      Value from = c.mul(fromBlock, constantI64(c.b, perBlock)),
            to = c.b.create<arith::MinSIOp>(c.mul(toBlock, constantI64(c.b, perBlock)),
                                            constantI64(c.b, panelsOf(s, c.machine)));
      callRowTile(c, tiles, m, count, tile, [&](Value first) -> SmallVector<Value> {
        return {c.kernel.getArgument(0), first, from, to, rowsIn(c, s, c.scratch, tile)};
      });
    };
    // [units] Tiles are innermost: a block of panels stays near for all rows.
    c.loop(c.begin, c.end, 1, [&](Value unit) {
      Value block = c.b.create<arith::DivUIOp>(unit, count),
            tile = c.b.create<arith::RemUIOp>(unit, count);
      run(tile, block, c.add(block, constantI64(c.b, 1)));
    });
    for (auto [i, tile] : llvm::enumerate(tiles))
      emitTile(c, tile, i + 1);
  }

private:
  /// What the zero points are when they are one number, with what is added to make weights
  /// unsigned.
  static std::optional<int64_t> zeroOf(const Shape &s, const VectorMachine &machine) {
    if (s.weight.zero)
      return std::nullopt;
    return int64_t(s.weight.offset) + Products(s.weight, machine).shift();
  }

  static RoundedRows::Bytes bytesIn(KernelContext &c, const Shape &s, Value scratch) {
    Value m = c.e.uniform(s.m);
    Type i8 = c.b.getI8Type();
    Value steps = elementPointer(c.b, scratch, i8, c.mul(m, constantI64(c.b, s.k)));
    Value corrections =
        elementPointer(c.b, steps, i8, c.mul(m, constantI64(c.b, s.k / s.weight.block * 4)));
    return {scratch, steps, corrections, zeroOf(s, c.machine)};
  }

  /// Where the rows of a tile are: those that are multiplied in pairs have a region of their own.
  static Value rowsIn(KernelContext &c, const Shape &s, Value scratch, Value tile) {
    if (!Products(s.weight, c.machine).areMatrices)
      return scratch;
    return elementPointer(c.b, scratch, c.b.getI8Type(),
                          c.mul(tile, constantI64(c.b, BlockMatrices::regionBytes(s))));
  }

  /// [round rows] The rows of all tiles of units [begin, end), each once.
  static void roundRows(KernelContext &c, const Shape &s, Value m, Value count) {
    bool areMatrices = Products(s.weight, c.machine).areMatrices;
    RoundedRows rows(c, s.k, s.weight.block);
    RoundedRows::Bytes bytes = areMatrices ? RoundedRows::Bytes() : bytesIn(c, s, c.scratch);
    Value once = c.b.create<arith::MinSIOp>(c.end, c.add(c.begin, count));
    c.loop(c.begin, once, 1, [&](Value unit) {
      Value tile = c.b.create<arith::RemUIOp>(unit, count);
      RowRange range = rowsOfTile(c, m, count, tile);
      if (areMatrices)
        BlockMatrices::place(c, s, rowsIn(c, s, c.scratch, tile), range.first, range.size,
                             zeroOf(s, c.machine));
      else
        rows.toBytes(c.inputs[s.lhs], bytes, range.first, range.size);
    });
  }

  static void emitTile(KernelContext &outer, func::FuncOp tile, int64_t rows) {
    emitRowTile(outer, tile, [&](KernelContext &c) {
      Shape s = *match(c.spec, c.machine);
      Value first = tile.getArgument(1), placed = tile.getArgument(4);
      std::unique_ptr<BlockTile> products;
      if (Products(s.weight, c.machine).areMatrices)
        products = std::make_unique<BlockMatrices>(c, s, rows, placed, zeroOf(s, c.machine));
      else
        products = std::make_unique<DotTile>(c, s, bytesIn(c, s, placed), rows, first);
      products->emit(first, tile.getArgument(2), tile.getArgument(3));
    });
  }
};

} // namespace

const Schedule *blockDotsSchedule() {
  static const BlockDotsSchedule schedule;
  return &schedule;
}

} // namespace weft
