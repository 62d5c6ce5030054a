//===- Tiles.cpp - Products of f16 or bf16 by tensor cores --------------------------------------------===//
//
//   warp of the grid, where there is a tile of 16 x 8 results with its number            [tiles]
//     for 16 steps of the sum
//       each thread pulls its pairs of both operands, zeros behind the last step         [fragments]
//       one instruction of the warp adds the products to the sums                        [multiply]
//     each thread pulls the epilogue at its four sums and stores                       [store]
//
// Pairs of neighbouring steps share a register: which thread holds which element of a tile is the instruction's. Rows and columns beyond
// the last read the last one, and are not stored. The order of a sum is fixed.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "targets/common/match/ProductShape.h"
#include "targets/cuda/SimtKernel.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kRows = 16, kColumns = 8, kSteps = 16;

Type elementOf(Value operand) { return cast<SymTensorType>(operand.getType()).getElementType(); }

SymExpr tilesOf(const ProductShape &s) {
  SymExpr tiles =
      SymExpr::ceildiv(s.extent(s.m), kRows) * SymExpr::ceildiv(s.extent(s.n), kColumns);
  for (unsigned factor : s.outer)
    tiles = tiles * s.extent(factor);
  return tiles;
}

/// Emits the code of one thread of a tile's warp.
class TileEmitter {
public:
  TileEmitter(SimtKernel &k, const ProductShape &s) : k(k), b(k.b), s(s), outer(s.outer.size()) {
    auto [rest, column] = k.e.divmod({k.warp()}, k.e.symbolic(tiles(s.n, kColumns)));
    auto [stack, row] = k.e.divmod(rest, k.e.symbolic(tiles(s.m, kRows)));
    for (size_t i = outer.size(); i-- > 0;) {
      auto [quotient, remainder] = k.e.divmod(stack, k.e.symbolic(s.extent(s.outer[i])));
      outer[i] = remainder.base;
      stack = quotient;
    }
    firstRow = k.mul(row.base, constantI64(b, kRows));
    firstColumn = k.mul(column.base, constantI64(b, kColumns));
    group = b.create<arith::DivUIOp>(k.lane(), constantI64(b, 4));
    pair = k.mul(b.create<arith::RemUIOp>(k.lane(), constantI64(b, 4)), constantI64(b, 2));
    rows = k.e.uniform(s.extent(s.m));
    columns = k.e.uniform(s.extent(s.n));
    depth = k.e.uniform(s.extent(s.k));
  }

  void emit() {
    Value zero = b.create<arith::ConstantOp>(b.getF32FloatAttr(0));
    SmallVector<Value> sums(4, zero);
    sums = k.loop(constantI64(b, 0), depth, kSteps, ValueRange(sums),
                  [&](Value step, ValueRange carried) {
                    k.e.forget();
                    SmallVector<Value> next = multiply(step, carried);
                    k.e.forget();
                    return next;
                  });
    store(sums);
  }

private:
  SymExpr tiles(unsigned factor, int64_t size) const {
    return SymExpr::ceildiv(s.extent(factor), size);
  }
  Value plus(Value a, int64_t c) { return k.add(a, constantI64(b, c)); }
  Value last(Value place, Value size) { return b.create<arith::MinSIOp>(place, plus(size, -1)); }

  /// The bits of an operand's element.
  Value bits(Value operand, ArrayRef<IndexValue> index) {
    Type i16 = b.getI16Type();
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument) // as it was rounded to be of this type, nothing is lost
      return b.create<arith::BitcastOp>(
          i16, b.create<arith::TruncFOp>(elementOf(operand), k.e.pull(operand, index)));
    auto raw = SymTensorType::get(cast<SymTensorType>(operand.getType()).getDims(), i16);
    return k.e.load(k.inputs[argument.getArgNumber()], raw, index);
  }

  /// [fragments] Elements of two neighbouring steps in one register.
  Value fragment(Value operand, const ProductShape::Factors &factors, Value row, Value column,
                 Value step) {
    bool isWhole = s.extent(s.k) == SymExpr::floordiv(s.extent(s.k), kSteps) * kSteps;
    Value none = b.create<arith::ConstantOp>(b.getI16IntegerAttr(0)), word;
    for (int64_t i = 0; i < 2; ++i) {
      Value here = plus(step, i), near = isWhole ? here : last(here, depth);
      Value half = bits(operand, s.indexOf(factors, outer, {row}, {column}, {near}));
      if (!isWhole) // no branch: the warp stays together
        half = b.create<arith::SelectOp>(k.less(here, depth), half, none);
      Value wide = b.create<arith::ExtUIOp>(b.getI32Type(), half);
      if (!word) {
        word = wide;
        continue;
      }
      Value sixteen = b.create<arith::ConstantOp>(b.getI32IntegerAttr(16));
      word = b.create<arith::OrIOp>(word, b.create<arith::ShLIOp>(wide, sixteen));
    }
    if (elementOf(operand).isBF16())
      return word;
    return b.create<LLVM::BitcastOp>(VectorType::get({2}, b.getF16Type()), word);
  }

  /// [multiply] Registers of A: rows eight apart, then steps; of B: steps.
  SmallVector<Value> multiply(Value step, ValueRange sums) {
    SmallVector<Value> arguments;
    Value own = k.add(step, pair);
    for (int64_t i = 0; i < 4; ++i) {
      Value row = last(plus(k.add(firstRow, group), 8 * (i & 1)), rows);
      arguments.push_back(fragment(s.a, s.inA, row, {}, plus(own, 8 * (i >> 1))));
    }
    Value column = last(k.add(firstColumn, group), columns);
    for (int64_t i = 0; i < 2; ++i)
      arguments.push_back(fragment(s.b, s.inB, {}, column, plus(own, 8 * i)));
    llvm::append_range(arguments, sums);
    if (!isa<BlockArgument>(s.a) || !isa<BlockArgument>(s.b)) // what computes them may branch
      k.gatherWarp();
    Type f32 = b.getF32Type();
    bool isBf16 = elementOf(s.a).isBF16();
    Value all = k.call(
        isBf16 ? "llvm.nvvm.mma.m16n8k16.row.col.bf16" : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
        LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32}), arguments);
    SmallVector<Value> next;
    for (int64_t i = 0; i < 4; ++i)
      next.push_back(b.create<LLVM::ExtractValueOp>(all, i));
    return next;
  }

  /// [store] Sums 0 and 1 are neighbours, 2 and 3 those eight rows below.
  void store(ArrayRef<Value> sums) {
    for (int64_t i = 0; i < 4; ++i) {
      Value row = plus(k.add(firstRow, group), 8 * (i >> 1));
      Value column = plus(k.add(firstColumn, pair), i & 1);
      Value isThere = b.create<arith::AndIOp>(k.less(row, rows), k.less(column, columns));
      k.when(isThere, [&] {
        k.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return sums[i]; });
        k.storeResults(s.indexOf(s.inResult, outer, {row}, {column}, {}));
      });
    }
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  ProductShape s;
  SmallVector<Value> outer;
  Value firstRow, firstColumn;
  Value group,
      pair; ///< of the thread: its row and column in a quarter of a tile, its pair of steps
  Value rows, columns, depth;
};

class TilesSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "product"; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    Match<ProductShape> s = ProductShape::match(spec);
    if (!s)
      return s.decline();
    if (!isHalf(elementOf(s->a)) || elementOf(s->a) != elementOf(s->b))
      return {"tensor cores multiply f16 by f16 and bf16 by bf16"};
    return {};
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    return blocks(tilesOf(*ProductShape::match(spec)), threads() / SimtMachine::kWarp);
  }

  Unit unit(func::FuncOp, const SimtMachine &) const override { return Unit::HalfTiles; }

  void emit(SimtKernel &k) const override {
    ProductShape s = *ProductShape::match(k.spec);
    // [tiles] All threads of a warp have one.
    k.when(k.less(k.warp(), k.e.uniform(tilesOf(s))), [&] { TileEmitter(k, s).emit(); });
  }
};

} // namespace

const SimtSchedule *simtTiles() {
  static const TilesSchedule schedule;
  return &schedule;
}

} // namespace weft
