//===- BlockTile.cpp - The loops over panels and blocks --------------------------------------------------===//
//
//   for panel of two vectors of columns                                     [panels]
//     totals = 0, in registers
//     for block of k: totals += its products, scaled                        [blocks]
//     epilogue and store, masked where n ends                               [store]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/product/BlockTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;

namespace weft {

Value BlockTile::at(Value base, int64_t offset) {
  return c.b.create<LLVM::GEPOp>(base.getType(), c.b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

Value BlockTile::bits(int64_t value) {
  return c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(integers(), c.b.getI32IntegerAttr(int32_t(value))));
}

Value BlockTile::constant(double value) {
  return c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(reals(), c.b.getF32FloatAttr(float(value))));
}

void BlockTile::emit(Value first, Value from, Value to) {
  // [panels] Scales and zero points lie in panels, too.
  c.loop(from, to, 1, [&](Value panel) {
    c.e.forget();
    // [store] The tail mask is there for all panels when n ends inside one.
    storeRowTile(c, s.op.getResult(), first, {panel, 2, columns}, s.n, rowByRow(accumulate(panel)));
    c.e.forget();
  });
}

BlockTile::Values BlockTile::accumulate(Value panel) {
  weights = pointer(c.inputs[w.data], c.mul(panel, number(s.k * perDepth)));
  scales = panelOf(w.scale, panel);
  zeros = w.zero ? panelOf(*w.zero, panel) : Value();
  Values totals(count, c.b.create<arith::ConstantOp>(c.b.getZeroAttr(reals())));
  // [blocks] Those of the rows are those of the weight.
  return c.loop(number(0), number(blocks), 1, ValueRange(totals),
                [&](Value nth, ValueRange totals) { return addBlock(nth, totals); });
}

/// Where one panel of scales or zero points begins.
Value BlockTile::panelOf(const BlockNumbers &numbers, Value panel) {
  auto type = cast<SymTensorType>(c.spec.getArgument(numbers.argument).getType());
  int64_t stored = *type.getDim(s.transposed ? 1 : 0).asConstant();
  return pointer(c.inputs[numbers.argument],
                 c.mul(panel, number(numbers.columnBytes(stored) * columns)));
}

Value BlockTile::scalesOf(Value nth, int64_t v) {
  int64_t lanes = c.machine.lanes();
  return w.scale.load(c, scales, nth, columns, v * lanes, lanes);
}

Value BlockTile::zerosOf(Value nth, int64_t v, int64_t shift) {
  int64_t lanes = c.machine.lanes();
  Value zero = w.zero->load(c, zeros, nth, columns, v * lanes, lanes);
  return shift ? Value(c.b.create<arith::AddFOp>(zero, constant(double(shift)))) : zero;
}

BlockTile::Values BlockTile::sumBlock(Value nth, Values sums) {
  Value first = c.mul(nth, number(w.block));
  int64_t step = std::gcd(w.block, kUnroll);
  if (step == w.block) {
    multiplyAdd(first, number(0), step, sums);
    return sums;
  }
  return c.loop(number(0), number(w.block), step, ValueRange(sums),
                [&](Value k, ValueRange carried) {
                  Values next(carried);
                  multiplyAdd(c.add(first, k), k, step, next);
                  return next;
                });
}

} // namespace weft
