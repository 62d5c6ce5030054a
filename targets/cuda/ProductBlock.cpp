//===- ProductBlock.cpp ---------------------------------------------------------------------------===//
//
//   the block's tile: columns innermost, then rows, then outer dimensions             [tile]
//   for all tiles of steps                                                            [sum]
//     both operands to shared memory; products of them
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/ProductBlock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

SymExpr blocksOf(const ProductShape &s, const BlockTile &tile) {
  SymExpr blocks =
      SymExpr::ceildiv(s.extent(s.m), tile.rows) * SymExpr::ceildiv(s.extent(s.n), tile.columns);
  for (unsigned factor : s.outer)
    blocks = blocks * s.extent(factor);
  return blocks;
}

TileSource ProductBlock::operand(bool isA) const {
  const ProductShape::Factors &factors = isA ? s.inA : s.inB;
  auto index = [this, isA](const IndexValue &at, const IndexValue &step) {
    IndexValue none;
    return s.indexOf(isA ? s.inA : s.inB, outer, isA ? at : none, isA ? none : at, step);
  };
  return {isA ? s.a : s.b,
          index,
          s.extent(isA ? s.m : s.n),
          s.extent(s.k),
          isA ? tile.rows : tile.columns,
          tile.depth,
          factors.back() == s.k};
}

/// [tile]
ProductBlock::ProductBlock(SimtKernel &k, const ProductShape &shape, const BlockTile &tile,
                           bool isRaw)
    : k(k), s(shape), tile(tile), reader(k, isRaw), operandA(operand(true)),
      operandB(operand(false)), results{k,
                                        s.op.getResult(),
                                        [this](const IndexValue &row, const IndexValue &column) {
                                          return s.indexOf(s.inResult, outer, row, column, {});
                                        },
                                        s.extent(s.m),
                                        s.extent(s.n),
                                        tile.rows,
                                        tile.columns,
                                        std::max(tile.columns, TileWriter::kColumns)} {
  SmallVector<SymExpr> counts;
  for (unsigned factor : s.outer)
    counts.push_back(s.extent(factor));
  counts.push_back(SymExpr::ceildiv(s.extent(s.m), tile.rows));
  counts.push_back(SymExpr::ceildiv(s.extent(s.n), tile.columns));
  outer = k.blockDigits(counts);
  firstColumn = k.mul(outer.pop_back_val(), constantI64(k.b, tile.columns));
  firstRow = k.mul(outer.pop_back_val(), constantI64(k.b, tile.rows));
}

/// [sum] A barrier before a tile is read, and one before it is written again.
SmallVector<Value> ProductBlock::sum(ValueRange sums, StoreChunk store,
                                     function_ref<SmallVector<Value>(ValueRange)> multiply) {
  auto fill = [&](const TileSource &source, Value first, Value step) {
    reader.fill(source, first, step,
                [&](Value at, Value deep, Value chunk) { store(source, at, deep, chunk); });
  };
  return k.loop(constantI64(k.b, 0), k.e.uniform(s.extent(s.k)), tile.depth, sums,
                [&](Value step, ValueRange carried) {
                  Value aligned = k.multipleOf(step, tile.depth);
                  fill(operandA, firstRow, aligned);
                  fill(operandB, firstColumn, aligned);
                  k.gatherBlock();
                  SmallVector<Value> next = multiply(carried);
                  k.gatherBlock();
                  return next;
                });
}

} // namespace weft
