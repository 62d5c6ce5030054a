//===- IntegerContraction.cpp - Rows of integers times packed bytes, tiled in registers -------===//
//
// C[m, n] = epilogue(sum over k of A[m, k] * W[k, n]) in i32 with constant k and n.
//
//   for block of panels, tile of rows                                      [units]
//     widen rows of bytes to 16 bits into scratch, where G = 2             [widen rows]
//     pair them there, where G = 8 and panels are many; shift them         [place]
//     there, where G = 4 and the processor has no unsigned by signed
//     for panel of two vectors of columns, or three                        [panels]
//       sums = 0, in registers: rows by these
//       for group of G k's: sums += A[row] in all lanes * W[panel]         [sum]
//         beside it: fetch a part of the next block, or of the next rows   [fetch]
//         and epilogue and store of the panel before, masked where n ends  [store]
//
// W is packed while compiling into panels of two vectors of columns (of one where there are no more, of three where G = 8 and k is long),
// [n / NR][k / G][NR][G],
// padded with zeros: G products of bytes are one instruction and end in one lane.
//
//   G = 8   where it multiplies small matrices, and k is a multiple of that; A is read where it is
//   G = 4   where the processor multiplies unsigned by signed bytes and adds
//           four products; A is read where it is
//   G = 2   anywhere else, and for other signs: pairs of 16-bit numbers; A's
//           rows are widened into scratch once per tile, but read where they
//           are when they are such numbers already, and whole pairs
//
// Sums are exact (modulo 2^32) in all. Tiles and blocks of panels are those of PanelBlocks.h.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/cpu/schedules/product/ByteContraction.h"
#include "targets/cpu/schedules/tile/ByteMatrixTile.h"
#include "targets/cpu/schedules/tile/IntegerTile.h"
#include "targets/cpu/schedules/tile/PanelBlocks.h"
#include "targets/cpu/schedules/tile/RowTile.h"
#include "targets/cpu/schedules/tile/TrailingRows.h"

using namespace mlir;

namespace weft {
namespace {

using Shape = ByteContraction;

/// What sums them: instructions for small matrices, else for groups of a row.
struct Products {
  Products(const Shape &s, const VectorMachine &machine)
      : dot(machine, s.op), signs(IntegerDot::signsOf(s.op.getLhs(), s.op.getRhs())),
        areMatrices(!s.hasShortRows && ByteMatrixTile::takes(machine, signs, s.k)),
        vectors(areMatrices ? ByteMatrixTile::vectorsFor(s.n, s.k, machine)
                            : IntegerTile::vectorsFor(s.n, machine)),
        columns(vectors * machine.lanes()),
        pairsRows(areMatrices && ByteMatrixTile::paysToPair(llvm::divideCeil(s.n, columns))),
        shiftsRows(!areMatrices && dot.isShifted() &&
                   IntegerTile::paysToShift(llvm::divideCeil(s.n, columns))),
        widens(!areMatrices && dot.widens() && !(s.hasShortRows && s.k % 2 == 0)) {}
  Unit unit() const { return areMatrices ? Unit::ByteMatrices : dot.unit(); }
  int64_t group() const { return areMatrices ? ByteMatrixTile::kGroup : dot.group(); }
  WeightLayout layout(WeightLayout::Order order) const {
    return areMatrices ? WeightLayout::dots(columns, order, group(), 1)
                       : dot.layout(order, columns, 1);
  }
  /// Of `k` products of each column.
  int64_t panelBytes(int64_t k) const {
    int64_t behind = areMatrices ? 0 : dot.shiftBytes(columns);
    return llvm::divideCeil(k, group()) * group() * columns + behind;
  }
  std::unique_ptr<RunTile> tile(KernelContext &c, int64_t rows) const {
    if (areMatrices)
      return std::make_unique<ByteMatrixTile>(c, signs, rows, vectors, pairsRows);
    return std::make_unique<IntegerTile>(c, dot, rows, vectors, shiftsRows);
  }

  IntegerDot dot;
  ByteSigns signs; ///< of the operands
  bool areMatrices;
  int64_t vectors, columns;   ///< of a panel
  bool pairsRows, shiftsRows; ///< in scratch
  bool widens;                ///< rows, or pads them, in scratch
};

/// [widen rows] All rows as 16-bit numbers, padded to whole groups.
void widenRows(KernelContext &c, const Shape &s, const IntegerDot &dot, int64_t rows, Value a,
               Value scratch, int64_t rowBytes) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  int64_t width = 2 * c.machine.lanes(), whole = s.k / width * width;
  for (int64_t r = 0; r < rows; ++r) {
    Value from = elementPointer(c.b, a, c.b.getI8Type(), number(r * s.rowBytes()));
    Value to = elementPointer(c.b, scratch, c.b.getI8Type(), number(r * rowBytes));
    auto copy = [&](Value k, int64_t count) { dot.widen(c, from, to, k, count, s.op.getLhs()); };
    c.loop(number(0), number(whole), width, [&](Value k) { copy(k, width); });
    c.loop(number(whole), number(s.k), 1, [&](Value k) { copy(k, 1); });
    if (s.k % 2)
      c.b.create<LLVM::StoreOp>(c.b.create<arith::ConstantOp>(c.b.getI16IntegerAttr(0)),
                                elementPointer(c.b, to, c.b.getI16Type(), number(s.k)), 2);
  }
}

/// The code of tiles of a size.
void emitPanels(KernelContext &c, const Shape &s, const Products &products,
                const PanelBlocks &blocks, int64_t rows, const PanelBlocks::Tile &t) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  // [sum] The tile has the loop over groups, and few rows have several chains of sums.
  std::unique_ptr<RunTile> ofProducts = products.tile(c, rows);
  RunTile &tile = *ofProducts;
  Type byte = c.b.getI8Type();
  // [store] Behind the sums where the tile leaves no registers for it.
  TrailingRows trailing(tile, s.op.getResult(), s.n, [&](Value nth, Value row, IndexValue column) {
    return SmallVector<IndexValue>{{c.add(t.nth(c, nth, rows).first, row)}, column};
  });
  auto rowsOf = [&](Value nth) {
    Value first = t.nth(c, nth, rows).first;
    return elementPointer(c.b, c.inputs[s.lhs], byte, c.mul(first, number(s.rowBytes())));
  };
  auto sourceOf = [&](Value nth) {
    RowRuns source{rowsOf(nth), s.rowBytes(), s.k};
    source.readsBeyond = false; // the tensor may end there
    if (products.widens) {
      source.rowBytes = llvm::divideCeil(s.k, 2) * 4;
      widenRows(c, s, products.dot, rows, source.first, t.scratch, source.rowBytes);
      source.first = t.scratch;
    }
    // [place] Or they stay where they are.
    return tile.placed(source, t.scratch);
  };
  // [panels] Of all tiles of the call: results of the last panel are stored behind them.
  trailing.loop(t.count, t.from, t.to, sourceOf, [&](Value nth, Value panel, RowRuns &source) {
    PanelBlocks::Tile here = t.nth(c, nth, rows);
    // [fetch] What the next tile's epilogue reads and writes comes near as well.
    if (int64_t turns = tile.turns(source))
      source.nextRows = NextRows(c, s.op.getResult(), rows, here.first,
                                 {panel, tile.vectors, tile.columns}, turns);
    Value next = elementPointer(c.b, rowsOf(nth), byte, number(rows * s.rowBytes()));
    source.ahead = blocks.ahead(c, here, panel, c.inputs[s.rhs], next);
    return elementPointer(c.b, c.inputs[s.rhs], byte,
                          c.mul(panel, number(products.panelBytes(s.k))));
  });
}

class IntegerContractionSchedule : public Schedule {
public:
  StringRef name() const override { return "integer_contraction"; }
  LoopKind loops() const override { return LoopKind::Products; }
  Decline decline(func::FuncOp spec, const VectorMachine &) const override {
    return Shape::match(spec).decline();
  }

  Unit unit(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *Shape::match(spec);
    return Products(s, machine).unit();
  }

  static PanelBlocks blocksOf(Shape &s, const VectorMachine &machine) {
    Products products(s, machine);
    int64_t groups = llvm::divideCeil(s.k, products.group());
    SymExpr panels = SymExpr::constant(s.m.getContext(), llvm::divideCeil(s.n, products.columns));
    return PanelBlocks(s.m, mostRows(s, machine), panels, products.panelBytes(s.k), groups,
                       pick(s.op, "block", kBlockKiB));
  }
  static int64_t mostRows(const Shape &s, const VectorMachine &machine) {
    return pick(s.op, "rows", IntegerTile::mostRows(machine));
  }

  std::vector<Choice> choices(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *Shape::match(spec);
    std::vector<Choice> list;
    blocksOf(s, machine).offer(list, IntegerTile::mostRows(machine), machine);
    return list;
  }

  Launch launch(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *Shape::match(spec);
    Products products(s, machine);
    int64_t most = mostRows(s, machine),
            scratch = products.widens       ? most * llvm::divideCeil(s.k, 2) * 4
                      : products.pairsRows  ? ByteMatrixTile::pairedBytes(most, s.k)
                      : products.shiftsRows ? IntegerTile::shiftedBytes(most, s.k, machine)
                                            : 0;
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    return {blocksOf(s, machine).units(), constant(1), constant(scratch)};
  }

  std::optional<RowTiles> rowTiles(func::FuncOp spec, const VectorMachine &machine) const override {
    Shape s = *Shape::match(spec);
    return blocksOf(s, machine).rowTiles(spec, s.lhs);
  }

  SmallVector<WeightLayout> layouts(func::FuncOp spec,
                                    const VectorMachine &machine) const override {
    Shape s = *Shape::match(spec);
    SmallVector<WeightLayout> result(spec.getNumArguments());
    Products products(s, machine);
    result[s.rhs] = products.layout(s.order());
    return result;
  }

  void emit(KernelContext &c) const override {
    Shape s = *Shape::match(c.spec);
    Products products(s, c.machine);
    PanelBlocks blocks = blocksOf(s, c.machine);
    // [units] Tiles of one size that follow each other share a call.
    blocks.emit(c, [&](KernelContext &inner, int64_t rows, const PanelBlocks::Tile &tile) {
      emitPanels(inner, s, products, blocks, rows, tile);
    });
  }
};

} // namespace

const Schedule *integerContractionSchedule() {
  static const IntegerContractionSchedule schedule;
  return &schedule;
}

} // namespace weft
