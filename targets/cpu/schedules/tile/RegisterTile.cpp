//===- RegisterTile.cpp - The inner loop of products of floats ---------------------------------------===//

#include "targets/cpu/schedules/tile/RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "targets/cpu/schedules/tile/SpreadRun.h"

using namespace mlir;

namespace weft {
namespace {

/// What is multiplied in one turn of the loop, `together` k's.
class Factors {
public:
  Factors(KernelContext &c, const TileSource &s, int64_t together, int64_t rows)
      : isAlongRows(s.rowStride == 1 && s.depthStride != 1),
        runs(isAlongRows ? together : rows,
             SpreadRun(c, s.pairs ? Type(c.b.getI32Type()) : Type(c.b.getF32Type()),
                       isAlongRows          ? rows
                       : s.depthStride == 1 ? together
                                            : 0)) {}
  /// `addressOf(row, k)` of those of the turn.
  Value element(int64_t row, int64_t k, function_ref<Value(int64_t, int64_t)> addressOf) {
    if (isAlongRows)
      return runs[k].element(row, [&](int64_t other) { return addressOf(other, k); });
    return runs[row].element(k, [&](int64_t other) { return addressOf(row, other); });
  }

private:
  bool isAlongRows; ///< what lies one behind the other is of several rows
  SmallVector<SpreadRun> runs;
};

/// One k: the vectors of B, all or one by one, and for every row one broadcast and its multiply-adds.
void step(KernelContext &c, const TileSource &s, Value k, int64_t ahead, Factors &factors,
          MutableArrayRef<Value> sums, int64_t rows, int64_t vectors) {
  Type f32 = c.b.getF32Type(), pointer = LLVM::LLVMPointerType::get(c.b.getContext());
  auto vector = VectorType::get({c.machine.lanes()}, s.pairs ? Type(c.b.getI32Type()) : f32);
  auto at = [&](Value base, int64_t offset) -> Value {
    return c.b.create<LLVM::GEPOp>(pointer, f32, base, ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  };
  Value here = ahead ? c.add(k, constantI64(c.b, ahead)) : k;
  Value row = elementPointer(c.b, s.b, f32, c.mul(here, s.columnStride));
  Value column = elementPointer(c.b, s.a, f32, c.mul(k, constantI64(c.b, s.depthStride)));
  s.ahead.fetch(c, here);
  int64_t together = loadedTogether(vectors, c.machine);
  for (int64_t first = 0; first < vectors; first += together) {
    SmallVector<Value, 4> loaded;
    for (int64_t v = first; v < first + together; ++v)
      loaded.push_back(c.b.create<LLVM::LoadOp>(vector, at(row, v * c.machine.lanes()), 4));
    for (int64_t r = 0; r < rows; ++r) {
      Value all = factors.element(r, ahead, [&](int64_t row, int64_t k) {
        return at(column, row * s.rowStride + k * s.depthStride);
      });
      for (int64_t v = 0; v < together; ++v) {
        Value &sum = sums[vectors * r + first + v];
        sum = s.pairs ? c.machine.addHalfProducts(c.b, sum, all, loaded[v])
                      : c.machine.multiplyAdd(c.b, all, loaded[v], sum);
      }
    }
  }
}

} // namespace

Ahead Ahead::behind(KernelContext &c, Value steps) const {
  if (!from)
    return {};
  return {elementPointer(c.b, from, c.b.getI8Type(), c.mul(steps, stride)), stride, lines};
}

void Ahead::fetch(KernelContext &c, Value step) const {
  if (!from)
    return;
  Value line = elementPointer(c.b, from, c.b.getI8Type(), c.mul(step, stride));
  for (int64_t i = 0; i < lines; ++i)
    c.machine.prefetch(c.b,
                       elementPointer(c.b, line, c.b.getI8Type(), constantI64(c.b, i * kLineBytes)),
                       VectorMachine::Cache::Second);
}

void multiplyAdd(KernelContext &c, const TileSource &source, Value depth, int64_t unroll,
                 SmallVectorImpl<Value> &sums, int64_t rows, int64_t vectors) {
  Value whole = c.b.createOrFold<arith::SubIOp>(
      depth, c.b.createOrFold<arith::RemUIOp>(depth, constantI64(c.b, unroll)));
  auto run = [&](Value from, Value to, int64_t by) {
    sums = c.loop(from, to, by, ValueRange(sums), [&](Value k, ValueRange carried) {
      SmallVector<Value> next(carried);
      if (source.everyTurn)
        source.everyTurn(k);
      Factors factors(c, source, by, rows);
      for (int64_t u = 0; u < by; ++u)
        step(c, source, k, u, factors, next, rows, vectors);
      return next;
    });
  };
  if (!matchPattern(whole, m_Zero()))
    run(constantI64(c.b, 0), whole, unroll);
  if (unroll > 1 && whole != depth)
    run(whole, depth, 1);
}

int64_t panelVectors(int64_t columns, const VectorMachine &machine) {
  auto padded = [&](int64_t vectors) {
    return int64_t(llvm::alignTo(columns, vectors * machine.lanes()));
  };
  const int64_t gain = 32; // tiles of three vectors take so much less: a part
  bool isThree =
      machine.productRows().byThree && padded(3) - padded(2) <= padded(2) / gain && columns > 0;
  return isThree ? 3 : 2;
}

int64_t rowsBy(int64_t vectors, const VectorMachine &machine) {
  return vectors == 3 ? machine.productRows().byThree : tileRows(machine);
}

int64_t loadedTogether(int64_t vectors, const VectorMachine &machine) {
  bool areMany = vectors == 3 &&
                 machine.laneRun(); // beside factors of all rows no register is left for the others
  return machine.loadsBetween() || areMany ? 1 : vectors;
}

void offerRows(std::vector<Choice> &list, SymExpr m, int64_t estimate,
               const VectorMachine &machine) {
  offer(list, "rows", machine.productRows().candidates, estimate, [&](int64_t rows) {
    std::optional<int64_t> tiles = SymExpr::ceildiv(m, rows).asConstant();
    return tiles ? *tiles : -rows;
  });
}

} // namespace weft
