//===- IntegerContraction.cpp - Rows of bytes times packed bytes, tiled in registers ------------------===//
//
// C[m, n] = epilogue(sum over k of A[m, k] * W[k, n]) in i32 with constant k and n. W is packed while compiling into panels of two vectors
// of columns, [n / NR][k / G][NR][G], padded with zeros: G products of bytes are one instruction and end in one lane.
//
//   G = 4   where the processor multiplies unsigned by signed bytes and adds four products (x86: VNNI); A is read where it is
//   G = 2   anywhere else, and for other signs: pairs of 16-bit numbers; A's rows are widened into scratch once per tile
//
// Sums are exact (modulo 2^32) in both. Tiles, blocks and units are those of Contraction.cpp.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/cpu/schedules/ContractionShape.h"
#include "targets/cpu/schedules/IntegerTile.h"
#include "targets/cpu/schedules/RowTile.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kBlockBytes = 400 << 10; ///< of packed weights, to stay in L2

struct Shape {
  mutable ContractOp op; ///< a handle; its methods are not const
  unsigned lhs, rhs;     ///< arguments of the specification
  SymExpr m;
  int64_t k, n;
  bool transposed; ///< W is stored as [n, k]
};

/// The only root of a kernel, when it is a contraction.
ContractOp onlyRoot(func::FuncOp spec) {
  ContractOp op;
  for (Operation &each : spec.getBody().front()) {
    auto contract = dyn_cast<ContractOp>(each);
    auto element = dyn_cast<ElementOpInterface>(each);
    if (contract ? op != ContractOp()
                 : element && element.rootKind() != RootKind::Loop &&
                       element.rootKind() != RootKind::View)
      return {};
    if (contract)
      op = contract;
  }
  return op;
}

/// `m k, k n -> m n` or `m k, n k -> m n` on arguments of bytes, summed in i32, W a weight; more dimensions of W are 1.
std::optional<Shape> match(func::FuncOp spec) {
  ContractOp op = onlyRoot(spec);
  if (!op || !op.getAccumulate().isInteger(32))
    return std::nullopt;
  auto a = dyn_cast<BlockArgument>(op.getLhs()), w = dyn_cast<BlockArgument>(op.getRhs());
  auto type = cast<SymTensorType>(op.getResult().getType());
  if (!a || !w || !spec.getArgAttr(w.getArgNumber(), "weft.weight") || type.getRank() != 2 ||
      !isByte(a) || !isByte(w))
    return std::nullopt;
  for (Type result : spec.getResultTypes())
    if (cast<SymTensorType>(result).getDimAttributes() != type.getDimAttributes())
      return std::nullopt;
  IterationRule rule = IterationRule::of(op);
  auto lhs = matrixFactors(rule.operand(0)), rhs = matrixFactors(rule.operand(1)),
       result = matrixFactors(rule.result(0));
  if (rule.factors().size() != 3 || !lhs || !rhs || !result)
    return std::nullopt;
  auto [m, n] = *result;
  unsigned k = 3 - m - n;
  if (*lhs != std::pair(m, k))
    return std::nullopt;
  auto kSize = rule.factors()[k].extent.asConstant(), nSize = rule.factors()[n].extent.asConstant();
  if (!kSize || !nSize || *kSize < 1 || *nSize < 1)
    return std::nullopt;
  return Shape{op,     a.getArgNumber(), w.getArgNumber(), type.getDim(0),
               *kSize, *nSize,           rhs->first == n};
}

/// All rows as 16-bit numbers, padded to whole groups.
void widenRows(KernelContext &c, const Shape &s, const IntegerDot &dot, int64_t rows, Value a,
               Value scratch, int64_t rowBytes) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  int64_t width = 2 * c.isa.lanes, whole = s.k / width * width;
  for (int64_t r = 0; r < rows; ++r) {
    Value from = elementPointer(c.b, a, c.b.getI8Type(), number(r * s.k));
    Value to = elementPointer(c.b, scratch, c.b.getI8Type(), number(r * rowBytes));
    auto copy = [&](Value k, int64_t count) { dot.widen(c, from, to, k, count, s.op.getLhs()); };
    c.loop(number(0), number(whole), width, [&](Value k) { copy(k, width); });
    c.loop(number(whole), number(s.k), 1, [&](Value k) { copy(k, 1); });
    if (s.k % 2)
      c.b.create<LLVM::StoreOp>(c.b.create<arith::ConstantOp>(c.b.getI16IntegerAttr(0)),
                                elementPointer(c.b, to, c.b.getI16Type(), number(s.k)), 2);
  }
}

/// The code of one tile: some rows by panels [from, to).
void emitRows(KernelContext &c, const Shape &s, const IntegerDot &dot, int64_t rows, Value first,
              Value from, Value to, Value scratch) {
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  IntegerTile tile(c, dot, rows);
  Value a = elementPointer(c.b, c.inputs[s.lhs], c.b.getI8Type(), c.mul(first, number(s.k)));
  RowRuns source{a, s.k, s.k};
  source.readsBeyond = false; // the tensor may end there
  if (dot.widens()) {
    source.rowBytes = llvm::divideCeil(s.k, 2) * 4;
    widenRows(c, s, dot, rows, a, scratch, source.rowBytes);
    source.first = scratch;
  }
  c.loop(from, to, 1, [&](Value panel) {
    fetchNextRows(c, s.op.getResult(), rows, first, panel);
    c.e.forget();
    Value w = elementPointer(c.b, c.inputs[s.rhs], c.b.getI8Type(),
                             c.mul(panel, number(tile.runBytes(s.k))));
    SmallVector<Value> sums = tile.accumulate(source, w);
    storeRowTile(c, s.op.getResult(), first, panel, 2, s.n, sums);
    c.e.forget();
  });
}

class IntegerContractionSchedule : public Schedule {
public:
  StringRef name() const override { return "integer_contraction"; }
  bool accepts(func::FuncOp spec, const VectorIsa &) const override {
    return match(spec).has_value();
  }

  static IntegerDot dotOf(Shape &s, const VectorIsa &isa) {
    return IntegerDot(isa, s.op.getLhs(), s.op.getRhs());
  }
  static int64_t panelsOf(const Shape &s, const VectorIsa &isa) {
    return llvm::divideCeil(s.n, tileColumns(isa));
  }
  static int64_t panelsPerBlock(const Shape &s, const VectorIsa &isa) {
    int64_t most = std::max<int64_t>(1, kBlockBytes / (s.k * tileColumns(isa)));
    int64_t blocks = llvm::divideCeil(panelsOf(s, isa), most);
    return llvm::divideCeil(panelsOf(s, isa), blocks);
  }

  Launch launch(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *match(spec);
    int64_t blocks = llvm::divideCeil(panelsOf(s, isa), panelsPerBlock(s, isa));
    int64_t scratch = dotOf(s, isa).widens() ? tileRows(isa) * llvm::divideCeil(s.k, 2) * 4 : 0;
    auto constant = [&](int64_t value) { return SymExpr::constant(spec.getContext(), value); };
    return {SymExpr::ceildiv(s.m, tileRows(isa)) * blocks, constant(1), constant(scratch)};
  }

  SmallVector<std::string> layouts(func::FuncOp spec, const VectorIsa &isa) const override {
    Shape s = *match(spec);
    SmallVector<std::string> result(spec.getNumArguments());
    result[s.rhs] = dotOf(s, isa).layout(s.transposed, tileColumns(isa), 1);
    return result;
  }

  void emit(KernelContext &c) const override {
    Shape s = *match(c.spec);
    int64_t rows = tileRows(c.isa), perBlock = panelsPerBlock(s, c.isa);
    Type i64 = c.b.getI64Type();
    SmallVector<func::FuncOp> tiles;
    for (int64_t r = 1; r <= rows; ++r)
      tiles.push_back(declareRowTile(c, r, {i64, i64, i64, c.scratch.getType()}));
    Value m = c.e.uniform(s.m), count = c.e.uniform(SymExpr::ceildiv(s.m, rows));
    c.loop(c.begin, c.end, 1, [&](Value unit) {
      Value block = c.b.create<arith::DivUIOp>(unit, count),
            tile = c.b.create<arith::RemUIOp>(unit, count);
      Value from = c.mul(block, constantI64(c.b, perBlock));
      Value to = c.b.create<arith::MinSIOp>(c.add(from, constantI64(c.b, perBlock)),
                                            constantI64(c.b, panelsOf(s, c.isa)));
      callRowTile(c, tiles, m, count, tile, [&](Value first) -> SmallVector<Value> {
        return {c.kernel.getArgument(0), first, from, to, c.scratch};
      });
    });
    for (auto [i, tile] : llvm::enumerate(tiles))
      emitTile(c, tile, i + 1);
  }

private:
  static void emitTile(KernelContext &outer, func::FuncOp tile, int64_t rows) {
    emitRowTile(outer, tile, [&](KernelContext &c) {
      Shape s = *match(c.spec);
      IntegerDot dot = dotOf(s, c.isa);
      emitRows(c, s, dot, rows, tile.getArgument(1), tile.getArgument(2), tile.getArgument(3),
               tile.getArgument(4));
    });
  }
};

} // namespace

const Schedule *integerContractionSchedule() {
  static const IntegerContractionSchedule schedule;
  return &schedule;
}

} // namespace weft
