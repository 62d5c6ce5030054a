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
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/IntegerDot.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kBlockBytes = 400 << 10; ///< of packed weights, to stay in L2
constexpr int64_t kUnroll = 4;
constexpr int64_t kChains = 6; ///< sums that can be under way at once

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

/// `m k, k n -> m n` or `m k, n k -> m n` on arguments of bytes, summed in i32, W a weight.
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
  auto points = [](ArrayRef<Access> accesses) {
    return accesses.size() == 2 && accesses[0].kind == AccessKind::Point &&
           accesses[1].kind == AccessKind::Point;
  };
  if (rule.factors().size() != 3 || !points(rule.operand(0)) || !points(rule.operand(1)) ||
      !points(rule.result(0)))
    return std::nullopt;
  unsigned m = rule.result(0)[0].factor(), n = rule.result(0)[1].factor(), k = 3 - m - n;
  if (rule.operand(0)[0].factor() != m || rule.operand(0)[1].factor() != k)
    return std::nullopt;
  auto kSize = rule.factors()[k].extent.asConstant(), nSize = rule.factors()[n].extent.asConstant();
  if (!kSize || !nSize || *kSize < 1 || *nSize < 1)
    return std::nullopt;
  return Shape{op,
               a.getArgNumber(),
               w.getArgNumber(),
               type.getDim(0),
               *kSize,
               *nSize,
               rule.operand(1)[0].factor() == n};
}

/// The code of one tile: some rows by all panels of a block.
class Tile {
public:
  Tile(KernelContext &c, const Shape &s, const IntegerDot &dot, int64_t rows)
      : c(c), s(s), dot(dot), rows(rows), columns(tileColumns(c.isa)),
        groups(llvm::divideCeil(s.k, dot.group())),
        chains(std::max<int64_t>(1, std::min(kUnroll, kChains / (2 * rows)))) {}

  void emit(Value first, Value from, Value to, Value scratch) {
    a = elementPointer(c.b, c.inputs[s.lhs], c.b.getI8Type(), c.mul(first, number(s.k)));
    if (dot.widens())
      a = widenRows(scratch);
    c.loop(from, to, 1, [&](Value panel) {
      c.e.forget();
      w = elementPointer(c.b, c.inputs[s.rhs], c.b.getI8Type(),
                         c.mul(panel, number(groups * columns * dot.group())));
      epilogue(first, c.mul(panel, number(columns)), accumulate());
      c.e.forget();
    });
  }

private:
  Value number(int64_t value) { return constantI64(c.b, value); }
  /// Bytes between two rows of what is multiplied.
  int64_t rowBytes() { return dot.widens() ? groups * 4 : s.k; }

  /// All rows as 16-bit numbers, padded to whole groups.
  Value widenRows(Value scratch) {
    int64_t width = 2 * c.isa.lanes, whole = s.k / width * width;
    for (int64_t r = 0; r < rows; ++r) {
      Value from = elementPointer(c.b, a, c.b.getI8Type(), number(r * s.k));
      Value to = elementPointer(c.b, scratch, c.b.getI8Type(), number(r * rowBytes()));
      auto copy = [&](Value k, int64_t count) { dot.widen(c, from, to, k, count, s.op.getLhs()); };
      c.loop(number(0), number(whole), width, [&](Value k) { copy(k, width); });
      c.loop(number(whole), number(s.k), 1, [&](Value k) { copy(k, 1); });
      if (s.k % 2)
        c.b.create<LLVM::StoreOp>(c.b.create<arith::ConstantOp>(c.b.getI16IntegerAttr(0)),
                                  elementPointer(c.b, to, c.b.getI16Type(), number(s.k)), 2);
    }
    return scratch;
  }

  /// Group `group + ahead` of row r as one number.
  Value rowGroup(Value group, int64_t r, int64_t ahead, int64_t bytes) {
    Value at = elementPointer(c.b, a, c.b.getI32Type(), group);
    auto pointer = LLVM::LLVMPointerType::get(c.b.getContext());
    auto here = [&](int64_t byte) -> Value {
      return c.b.create<LLVM::GEPOp>(
          pointer, c.b.getI8Type(), at,
          ArrayRef<LLVM::GEPArg>{int32_t(r * rowBytes() + ahead * 4 + byte)});
    };
    if (bytes == 4)
      return c.b.create<LLVM::LoadOp>(c.b.getI32Type(), here(0), 1);
    Value sum;
    for (int64_t i = 0; i < bytes; ++i) { // the row ends inside the group
      Value byte = c.b.create<arith::ExtUIOp>(
          c.b.getI32Type(), c.b.create<LLVM::LoadOp>(c.b.getI8Type(), here(i), 1));
      byte = c.b.create<arith::ShLIOp>(byte,
                                       c.b.create<arith::ConstantOp>(c.b.getI32IntegerAttr(8 * i)));
      sum = sum ? Value(c.b.create<arith::OrIOp>(sum, byte)) : byte;
    }
    return sum;
  }

  void step(Value group, int64_t ahead, int64_t bytes, MutableArrayRef<Value> sums) {
    Value row =
        elementPointer(c.b, w, c.b.getI8Type(), c.mul(group, number(columns * dot.group())));
    SmallVector<Value, 2> loaded;
    for (int64_t v = 0; v < 2; ++v)
      loaded.push_back(dot.loadWeights(c, row, (ahead * columns + v * c.isa.lanes) * dot.group()));
    for (int64_t r = 0; r < rows; ++r) {
      Value all = dot.broadcast(c, rowGroup(group, r, ahead, bytes));
      for (int64_t v = 0; v < 2; ++v)
        sums[2 * r + v] = dot.multiplyAdd(c, sums[2 * r + v], all, loaded[v]);
    }
  }

  /// The sums of all rows and vectors of one panel, row by row.
  SmallVector<Value> accumulate() {
    SmallVector<Value> sums(chains * rows * 2, dot.zero(c));
    bool ragged = !dot.widens() && s.k % 4;
    int64_t full = ragged ? groups - 1 : groups, whole = full / kUnroll * kUnroll;
    auto chain = [&](int64_t u) {
      return MutableArrayRef<Value>(sums).slice(u % chains * rows * 2, rows * 2);
    };
    sums = c.loop(number(0), number(whole), kUnroll, ValueRange(sums),
                  [&](Value group, ValueRange carried) {
                    sums.assign(carried.begin(), carried.end());
                    for (int64_t u = 0; u < kUnroll; ++u)
                      step(group, u, 4, chain(u));
                    return sums;
                  });
    for (int64_t g = whole; g < groups; ++g)
      step(number(g), 0, ragged && g == full ? s.k % 4 : 4, chain(g));
    for (int64_t i = rows * 2; i < chains * rows * 2; ++i)
      sums[i % (rows * 2)] = c.b.create<arith::AddIOp>(sums[i % (rows * 2)], sums[i]);
    sums.resize(rows * 2);
    return sums;
  }

  void epilogue(Value first, Value column, ArrayRef<Value> sums) {
    bool ragged = s.n % columns != 0;
    for (int64_t v = 0; v < 2; ++v) {
      IndexValue n{c.add(column, number(v * c.isa.lanes)), 1};
      if (ragged)
        c.e.setTailMask(c.e.less(n, c.e.constant(s.n)));
      for (int64_t r = 0; r < rows; ++r) {
        SmallVector<IndexValue> index{{c.add(first, number(r))}, n};
        Value sum = sums[2 * r + v];
        c.e.provide(s.op.getResult(), [&](ArrayRef<IndexValue>) { return sum; });
        c.storeResults(index);
      }
      c.e.setTailMask({});
      c.e.forget();
    }
  }

  KernelContext &c;
  const Shape &s;
  const IntegerDot &dot;
  int64_t rows, columns, groups, chains;
  Value a, w;
};

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
    SmallVector<func::FuncOp> tiles;
    for (int64_t r = 1; r <= rows; ++r)
      tiles.push_back(declareTile(c, r));
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
  static func::FuncOp declareTile(KernelContext &c, int64_t rows) {
    OpBuilder::InsertionGuard insertion(c.b);
    c.b.setInsertionPoint(c.kernel);
    Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type();
    auto tile =
        c.b.create<func::FuncOp>((c.kernel.getName() + "_rows" + Twine(rows)).str(),
                                 c.b.getFunctionType({pointer, i64, i64, i64, pointer}, {}));
    tile.setPrivate();
    return tile;
  }

  static void emitTile(KernelContext &outer, func::FuncOp tile, int64_t rows) {
    OpBuilder::InsertionGuard insertion(outer.b);
    outer.b.setInsertionPointToStart(tile.addEntryBlock());
    Value words = tile.getArgument(0);
    ElementEmitter e(outer.b, outer.isa.lanes, words);
    KernelContext c{outer.b, outer.spec, tile, e, outer.isa, {}, {}, {}, {}, {}};
    bindWords(c, words);
    Shape s = *match(c.spec);
    IntegerDot dot = dotOf(s, c.isa);
    Tile(c, s, dot, rows)
        .emit(tile.getArgument(1), tile.getArgument(2), tile.getArgument(3), tile.getArgument(4));
    c.b.create<func::ReturnOp>();
  }
};

} // namespace

const Schedule *integerContractionSchedule() {
  static const IntegerContractionSchedule schedule;
  return &schedule;
}

} // namespace weft
