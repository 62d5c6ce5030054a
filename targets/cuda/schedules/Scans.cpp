//===- Scans.cpp - Each element combined with all before it, along the last dimension -----------------------===//
//
//   a line in tiles, one after the other: of a warp, or where lines are long or few, of a block   [ways]
//     a thread pulls a chunk of lanes and combines each with those before it there               [chunk]
//     what whole chunks give is combined across the warp, and across warps through shared memory  [before]
//     all elements are combined with what is before the chunk, and stored                        [store]
//     what the tile gives goes on to the next one                                                [carry]
//
// Where lines run from the end, chunks and lanes are counted from there. Sums are in the order of a tree that sizes decide.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Order.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/common/match/SerialShape.h"
#include "targets/cuda/Stream.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kThreads = 256, kWarp = SimtMachine::kWarp, kWarps = kThreads / kWarp;
/// Of a warp: so many chunks of a line, and where there are so many lines, more.
constexpr int64_t kWarpsChunks = 64, kManyLines = 2048, kManyChunks = 2048;
constexpr int64_t kPlaces = 2; ///< of shared memory, of which neighbouring tiles take one each

SymTensorType typeOf(CumulateOp op) { return cast<SymTensorType>(op.getInput().getType()); }

Match<CumulateOp> matchScan(func::FuncOp spec) {
  Match<ElementOpInterface> root = matchSerial(spec);
  if (!root)
    return root.decline();
  auto op = dyn_cast<CumulateOp>(root->getOperation());
  if (!op)
    return Decline::otherKind("nothing is combined with what is before it");
  if (int64_t(op.getAxis()) != int64_t(typeOf(op).getRank()) - 1)
    return Decline{"it is not along the last dimension"};
  return op;
}

SymExpr linesOf(CumulateOp op) {
  SymExpr lines = SymExpr::constant(op.getContext(), 1);
  for (SymExpr dim : outerDims(typeOf(op), op.getAxis()))
    lines = lines * dim;
  return lines;
}

class ScanEmitter {
public:
  ScanEmitter(SimtKernel &k, CumulateOp op, unsigned lanes, Value shared)
      : k(k), b(k.b), op(op), dims(typeOf(op).getDims()), element(typeOf(op).getElementType()),
        scalar(computeType(element)), combiner(Combiner(op.getKind())), lanes(lanes),
        shared(shared), lines(k.e.uniform(linesOf(op))),
        chunks(b.createOrFold<arith::DivUIOp>(k.e.uniform(dims.back()), number(lanes))),
        lane(b.create<arith::RemUIOp>(k.inBlock, number(kWarp))),
        warp(b.create<arith::DivUIOp>(k.inBlock, number(kWarp))),
        none(b.create<arith::ConstantOp>(combinerIdentity(combiner, element))) {}

  /// [ways]
  void emit() {
    Value isLong =
        b.create<arith::AndIOp>(k.less(number(kWarpsChunks), chunks),
                                b.create<arith::OrIOp>(k.less(lines, number(kManyLines)),
                                                       k.less(number(kManyChunks), chunks)));
    k.choose(
        isLong,
        [&] {
          linesOfBlocks();
          k.e.forget();
        },
        [&] {
          linesOfWarps();
          k.e.forget();
        });
  }

private:
  /// What comes before a thread's chunk in its tile, and what the tile gives.
  struct Before {
    Value own, all;
  };

  Value number(int64_t value) { return constantI64(b, value); }
  Value combine(Value a, Value c) { return emitCombine(b, combiner, element, a, c); }

  void linesOfBlocks() {
    Value all = b.create<arith::ExtUIOp>(
        b.getI64Type(), k.call("llvm.nvvm.read.ptx.sreg.nctaid.x", b.getI32Type()));
    auto loop = b.create<scf::ForOp>(k.block, lines, all);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(loop.getBody());
    emitLine(loop.getInductionVar(), k.inBlock, kThreads,
             [&](Value total, Value tile) { return beforeInBlock(total, tile); });
    k.gatherBlock();
  }

  void linesOfWarps() {
    Value line = k.warp();
    k.when(k.less(line, lines), [&] {
      emitLine(line, lane, kWarp, [&](Value total, Value) { return beforeInWarp(total); });
    });
  }

  /// [carry]
  void emitLine(Value line, Value member, int64_t threads,
                function_ref<Before(Value total, Value tile)> before) {
    SmallVector<IndexValue> index = k.lineIndex(dims, line);
    Value tiles = b.createOrFold<arith::CeilDivUIOp>(chunks, number(threads));
    k.loop(number(0), tiles, 1, ValueRange{none}, [&](Value tile, ValueRange carried) {
      Value chunk = k.add(k.mul(tile, number(threads)), member), isThere = k.less(chunk, chunks);
      Value fromFront = op.getReverse() ? k.sub(k.sub(chunks, number(1)), chunk) : chunk;
      index.back() = {k.mul(fromFront, number(lanes)), 1};
      k.e.forget();
      Value elements = k.e.guarded(
          isThere, [&] { return k.e.pull(op.getInput(), index); }, k.e.splat(none));
      SmallVector<Value> prefixes = prefixesOf(elements);
      Before known = before(prefixes.back(), tile);
      Value first = combine(carried[0], known.own);
      k.when(isThere, [&] { store(index, first, prefixes); });
      return SmallVector<Value>{combine(carried[0], known.all)};
    });
  }

  int64_t placeOf(int64_t number) { return op.getReverse() ? int64_t(lanes) - 1 - number : number; }

  /// [chunk]
  SmallVector<Value> prefixesOf(Value elements) {
    if (lanes == 1)
      return {elements};
    SmallVector<Value> prefixes;
    for (int64_t l = 0; l < int64_t(lanes); ++l) {
      Value x = b.create<vector::ExtractOp>(elements, ArrayRef<int64_t>{placeOf(l)});
      prefixes.push_back(prefixes.empty() ? x : combine(prefixes.back(), x));
    }
    return prefixes;
  }

  /// [store]
  void store(ArrayRef<IndexValue> index, Value first, ArrayRef<Value> prefixes) {
    SmallVector<Value> elements(lanes);
    for (int64_t l = 0; l < int64_t(lanes); ++l) {
      Value &element = elements[placeOf(l)];
      if (!op.getExclusive())
        element = combine(first, prefixes[l]);
      else
        element = l == 0 ? first : combine(first, prefixes[l - 1]);
    }
    Value data = elements.front();
    if (lanes > 1)
      data = b.create<vector::FromElementsOp>(VectorType::get({lanes}, scalar), elements);
    k.e.provide(op.getResult(), [&](ArrayRef<IndexValue>) { return data; });
    k.storeResults(index);
  }

  /// [before]
  Before beforeInWarp(Value total) {
    Value sum = total;
    for (int64_t distance = 1; distance < kWarp; distance *= 2)
      sum = b.create<arith::SelectOp>(k.less(lane, number(distance)), sum,
                                      combine(ofLaneBefore(sum, distance), sum));
    Value own = b.create<arith::SelectOp>(k.less(lane, number(1)), none, ofLaneBefore(sum, 1));
    return {own, k.ofLane(sum, number(kWarp - 1))};
  }

  Value ofLaneBefore(Value value, int64_t distance) {
    Value from = b.create<arith::MaxSIOp>(k.sub(lane, number(distance)), number(0));
    return k.ofLane(value, from);
  }

  /// Numbers narrower than words are words in shared memory.
  Type sharedType() { return scalar.getIntOrFloatBitWidth() < 32 ? Type(b.getI32Type()) : scalar; }

  /// [before] Tiles write to two places in turns: who comes to one again has passed a barrier since.
  Before beforeInBlock(Value total, Value tile) {
    Before inWarp = beforeInWarp(total);
    Type type = sharedType();
    int64_t size = type.getIntOrFloatBitWidth() / 8;
    Value place = b.create<arith::RemUIOp>(tile, number(kPlaces));
    Value base = k.mul(place, number(kWarps * size));
    k.when(k.less(lane, number(1)), [&] {
      Value all = inWarp.all;
      if (type != scalar)
        all = b.create<arith::ExtUIOp>(type, all);
      k.storeShared(all, shared, k.add(base, k.mul(warp, number(size))));
    });
    k.gatherBlock();
    Value before = none, all = none;
    for (int64_t w = 0; w < kWarps; ++w) {
      Value own = k.loadShared(type, shared, k.add(base, number(w * size)));
      if (type != scalar)
        own = b.create<arith::TruncIOp>(scalar, own);
      all = combine(all, own);
      before = b.create<arith::SelectOp>(k.less(number(w), warp), all, before);
    }
    return {combine(before, inWarp.own), all};
  }

  SimtKernel &k;
  ImplicitLocOpBuilder &b;
  CumulateOp op;
  SmallVector<SymExpr> dims;
  Type element, scalar;
  Combiner combiner;
  unsigned lanes;
  Value shared, lines, chunks, lane, warp, none;
};

class ScansSchedule : public SimtSchedule {
public:
  StringRef name() const override { return "scan"; }
  int64_t threads() const override { return kThreads; }

  Decline decline(func::FuncOp spec, const SimtMachine &) const override {
    return matchScan(spec).decline();
  }

  Launch launch(func::FuncOp spec, const SimtMachine &) const override {
    CumulateOp op = *matchScan(spec);
    Launch launch = blocks(linesOf(op), kWarps);
    SymExpr few = SymExpr::min(linesOf(op), SymExpr::constant(spec.getContext(), kManyLines));
    launch.units = SymExpr::max(launch.units, few);
    return launch;
  }

  void emit(SimtKernel &k) const override {
    CumulateOp op = *matchScan(k.spec);
    Value shared = k.sharedBytes(kPlaces * kWarps * 8);
    Stream stream(k, typeOf(op).getDims().back(), streamLanes(k.spec, typeOf(op)));
    stream.emit([&](unsigned lanes) { ScanEmitter(k, op, lanes, shared).emit(); });
  }
};

} // namespace

const SimtSchedule *simtScans() {
  static const ScansSchedule schedule;
  return &schedule;
}

} // namespace weft
