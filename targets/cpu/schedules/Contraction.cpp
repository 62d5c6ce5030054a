//===- Contraction.cpp - Rows times packed weights, tiled in registers -----------------------------===//
//
// C[m, n] = epilogue(sum over k of A[m, k] * W[k, n]) with constant k and n. W is packed while compiling into panels of NR columns,
// [n / NR][k][NR], padded with zeros. A tile of up to MR rows by one panel stays in registers for the whole sum; A is read where it
// is, its rows a constant distance apart.
//
//   for block of panels (so many that they stay in L2) { for tile of rows { for panel in block { k loop; epilogue } } }
//
// Rows are cut into ceil(m / MR) tiles whose sizes differ by at most one, and every size 1..MR has its own function: ragged m costs nothing.
// A unit is one (block, tile).
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/Schedule.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kBlockBytes = 400 << 10; ///< of packed weights, to stay in L2
constexpr int64_t kUnroll = 4;
constexpr int64_t kLineBytes = 64; ///< of the caches
constexpr int64_t kManyTiles = 4;  ///< that then fetch a block's weights with most of their panels

struct Shape {
  ContractOp op;
  unsigned lhs, rhs;   ///< arguments of the specification
  SymExpr m;
  int64_t k, n;
  bool transposed;     ///< W is stored as [n, k]
};

/// `m k, k n -> m n` or `m k, n k -> m n` on arguments, f32, W a weight.
std::optional<Shape> match(func::FuncOp spec) {
  ContractOp op;
  for (Operation &each : spec.getBody().front())
    if (auto contract = dyn_cast<ContractOp>(each)) {
      if (op)
        return std::nullopt;
      op = contract;
    } else if (auto element = dyn_cast<ElementOpInterface>(each);
               element && element.rootKind() != RootKind::Loop && element.rootKind() != RootKind::View) {
      return std::nullopt;
    }
  if (!op)
    return std::nullopt;
  auto a = dyn_cast<BlockArgument>(op.getLhs()), w = dyn_cast<BlockArgument>(op.getRhs());
  auto type = cast<SymTensorType>(op.getResult().getType());
  if (!a || !w || !spec.getArgAttr(w.getArgNumber(), "weft.weight") || type.getRank() != 2 || !type.getElementType().isF32() ||
      !cast<SymTensorType>(a.getType()).getElementType().isF32())
    return std::nullopt;
  for (Type result : spec.getResultTypes())
    if (cast<SymTensorType>(result).getDimAttributes() != type.getDimAttributes())
      return std::nullopt;
  IterationRule rule = IterationRule::of(op);
  auto points = [](ArrayRef<Access> accesses) {
    return accesses.size() == 2 && accesses[0].kind == AccessKind::Point && accesses[1].kind == AccessKind::Point;
  };
  if (rule.factors().size() != 3 || !points(rule.operand(0)) || !points(rule.operand(1)) || !points(rule.result(0)))
    return std::nullopt;
  unsigned m = rule.result(0)[0].factor(), n = rule.result(0)[1].factor(), k = 3 - m - n;
  if (rule.operand(0)[0].factor() != m || rule.operand(0)[1].factor() != k)
    return std::nullopt;
  bool transposed = rule.operand(1)[0].factor() == n;
  auto kSize = rule.factors()[k].extent.asConstant(), nSize = rule.factors()[n].extent.asConstant();
  if (!kSize || !nSize || *kSize < 1 || *nSize < 1)
    return std::nullopt;
  return Shape{op, a.getArgNumber(), w.getArgNumber(), type.getDim(0), *kSize, *nSize, transposed};
}

class ContractionSchedule : public Schedule {
public:
  StringRef name() const override { return "contraction"; }
  bool accepts(func::FuncOp spec, const VectorIsa &) const override { return match(spec).has_value(); }

  static int64_t panelsOf(const Shape &s, const VectorIsa &isa) { return llvm::divideCeil(s.n, tileColumns(isa)); }
  static int64_t panelsPerBlock(const Shape &s, const VectorIsa &isa) {
    int64_t most = std::max<int64_t>(1, kBlockBytes / (s.k * tileColumns(isa) * 4));
    int64_t blocks = llvm::divideCeil(panelsOf(s, isa), most);
    return llvm::divideCeil(panelsOf(s, isa), blocks);
  }

  Launch launch(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *match(spec);
    int64_t blocks = llvm::divideCeil(panelsOf(s, isa), panelsPerBlock(s, isa));
    SymExpr one = SymExpr::constant(spec.getContext(), 1);
    return {SymExpr::ceildiv(s.m, tileRows(isa)) * blocks, one, SymExpr::constant(spec.getContext(), 0)};
  }

  SmallVector<std::string> layouts(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *match(spec);
    SmallVector<std::string> result(spec.getNumArguments());
    result[s.rhs] = (s.transposed ? "panels_t<" : "panels<") + std::to_string(tileColumns(isa)) + ">";
    return result;
  }

  void emit(KernelContext &c) const override {
    Shape s = *match(c.spec);
    int64_t rows = tileRows(c.isa), perBlock = panelsPerBlock(s, c.isa);
    SmallVector<func::FuncOp> tiles;
    for (int64_t r = 1; r <= rows; ++r)
      tiles.push_back(declareTile(c, r));
    Value m = c.e.uniform(s.m), count = c.e.uniform(SymExpr::ceildiv(s.m, rows));
    auto div = [&](Value a, Value d) -> Value { return c.b.create<arith::DivUIOp>(a, d); };
    auto rem = [&](Value a, Value d) -> Value { return c.b.create<arith::RemUIOp>(a, d); };
    c.loop(c.begin, c.end, 1, [&](Value unit) {
      Value block = div(unit, count), tile = rem(unit, count);
      Value from = c.mul(block, constantI64(c.b, perBlock));
      Value to = c.b.create<arith::MinSIOp>(c.add(from, constantI64(c.b, perBlock)), constantI64(c.b, panelsOf(s, c.isa)));
      // Every tile of this block fetches its part of the next one: what follows in memory, here or in the next kernel's weight. Where
      // there are many tiles, their first panel fetches the rows of the next tile instead.
      Value many = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, count, constantI64(c.b, kManyTiles));
      Value skipped = perBlock > 1 ? c.b.create<arith::ExtUIOp>(c.b.getI64Type(), many).getResult() : constantI64(c.b, 0);
      int64_t panelBytes = s.k * tileColumns(c.isa) * 4;
      Value fetching = c.mul(c.sub(constantI64(c.b, perBlock), skipped), constantI64(c.b, s.k));
      Value stride = div(constantI64(c.b, perBlock * panelBytes), c.mul(fetching, count));
      Value ahead = c.add(c.mul(c.sub(to, from), constantI64(c.b, panelBytes)), c.mul(c.mul(tile, stride), fetching));
      callRowTile(c, tiles, m, count, tile,
                  [&](Value first) -> SmallVector<Value> { return {c.kernel.getArgument(0), first, from, to, ahead, stride, skipped}; });
    });
    for (auto [i, tile] : llvm::enumerate(tiles))
      emitTile(c, tile, i + 1);
  }

private:
  static func::FuncOp declareTile(KernelContext &c, int64_t rows) {
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPoint(c.kernel);
    Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type();
    auto tile = c.b.create<func::FuncOp>((c.kernel.getName() + "_rows" + Twine(rows)).str(),
                                         c.b.getFunctionType({pointer, i64, i64, i64, i64, i64, i64}, {}));
    tile.setPrivate();
    return tile;
  }

  /// Panels [from, to) for `rows` rows starting at `first`.
  static void emitTile(KernelContext &outer, func::FuncOp tile, int64_t rows) {
    OpBuilder::InsertionGuard insertion(outer.b);
    outer.b.setInsertionPointToStart(tile.addEntryBlock());
    Value words = tile.getArgument(0), first = tile.getArgument(1);
    ElementEmitter e(outer.b, outer.isa.lanes, words);
    KernelContext c{outer.b, outer.spec, tile, e, outer.isa, {}, {}, {}, {}, {}};
    bindWords(c, words);
    Shape s = *match(c.spec);
    Type f32 = c.b.getF32Type();
    Value a = elementPointer(c.b, c.inputs[s.lhs], f32, c.mul(first, constantI64(c.b, s.k)));
    c.loop(tile.getArgument(2), tile.getArgument(3), 1, [&](Value panel) {
      e.forget();
      Value w = elementPointer(c.b, c.inputs[s.rhs], f32, c.mul(panel, constantI64(c.b, s.k * tileColumns(c.isa))));
      auto [ahead, stride] = fetchedAhead(c, s, tile, rows, a, panel);
      SmallVector<Value> sums = accumulate(c, s, rows, {a, s.k, w, constantI64(c.b, tileColumns(c.isa)), 1, ahead, stride});
      Value column = c.mul(panel, constantI64(c.b, tileColumns(c.isa)));
      epilogue(c, s, rows, first, column, sums);
      e.forget();
    });
    c.b.create<func::ReturnOp>();
  }

  /// Where `panel` fetches from, and how many bytes further for every k.
  static std::pair<Value, Value> fetchedAhead(KernelContext &c, const Shape &s, func::FuncOp tile, int64_t rows, Value a, Value panel) {
    Type f32 = c.b.getF32Type(), byte = c.b.getI8Type();
    Value from = tile.getArgument(2), stride = tile.getArgument(5), skipped = tile.getArgument(6), nth = c.sub(panel, from);
    Value block = elementPointer(c.b, c.inputs[s.rhs], f32, c.mul(from, constantI64(c.b, s.k * tileColumns(c.isa))));
    Value steps = c.mul(c.sub(nth, skipped), constantI64(c.b, s.k));
    Value weights = elementPointer(c.b, block, byte, c.add(tile.getArgument(4), c.mul(steps, stride)));
    Value first = c.b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, nth, skipped);
    Value next = elementPointer(c.b, a, f32, constantI64(c.b, rows * s.k));
    return {c.b.create<LLVM::SelectOp>(first, next, weights), c.b.create<arith::SelectOp>(first, constantI64(c.b, kLineBytes), stride)};
  }

  /// The sums of all rows and vectors of one panel, row by row.
  static SmallVector<Value> accumulate(KernelContext &c, const Shape &s, int64_t rows, TileSource whole) {
    auto vector = VectorType::get({c.isa.lanes}, c.b.getF32Type());
    const SmallVector<Value> zeros(rows * 2, c.b.create<arith::ConstantOp>(c.b.getZeroAttr(vector)));
    SmallVector<Value> sums(zeros);
    if (s.k <= kSumChunk) {
      multiplyAdd(c, whole, constantI64(c.b, s.k), kUnroll, sums, rows, 2);
      return sums;
    }
    auto addChunk = [&](Value from, int64_t depth, ValueRange totals) {
      SmallVector<Value> part(zeros);
      TileSource chunk = whole;
      chunk.a = elementPointer(c.b, whole.a, c.b.getF32Type(), from);
      chunk.b = elementPointer(c.b, whole.b, c.b.getF32Type(), c.mul(from, whole.columnStride));
      chunk.ahead = elementPointer(c.b, whole.ahead, c.b.getI8Type(), c.mul(from, whole.aheadStride));
      multiplyAdd(c, chunk, constantI64(c.b, depth), kUnroll, part, rows, 2);
      for (auto [total, value] : llvm::zip(totals, part))
        value = c.b.create<arith::AddFOp>(total, value);
      return part;
    };
    int64_t covered = s.k / kSumChunk * kSumChunk;
    sums = c.loop(constantI64(c.b, 0), constantI64(c.b, covered), kSumChunk, ValueRange(sums),
                  [&](Value from, ValueRange totals) { return addChunk(from, kSumChunk, totals); });
    if (covered < s.k)
      sums = addChunk(constantI64(c.b, covered), s.k - covered, ValueRange(sums));
    return sums;
  }

  static void epilogue(KernelContext &c, Shape s, int64_t rows, Value first, Value column, ArrayRef<Value> sums) {
    bool ragged = s.n % tileColumns(c.isa) != 0;
    for (int64_t v = 0; v < 2; ++v) {
      IndexValue n{c.add(column, constantI64(c.b, v * c.isa.lanes)), 1};
      if (ragged)
        c.e.setTailMask(c.e.less(n, c.e.constant(s.n)));
      for (int64_t r = 0; r < rows; ++r) {
        SmallVector<IndexValue> index{{c.add(first, constantI64(c.b, r))}, n};
        Value sum = sums[2 * r + v];
        c.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
        c.storeResults(index);
      }
      c.e.setTailMask({});
      c.e.forget();
    }
  }
};

} // namespace

const Schedule *contractionSchedule() {
  static const ContractionSchedule schedule;
  return &schedule;
}

} // namespace weft
