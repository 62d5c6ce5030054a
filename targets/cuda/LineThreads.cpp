//===- LineThreads.cpp ------------------------------------------------------------------------------------===//
//
//   group: threads exchange with those whose numbers differ in a bit, of a group's     [group]
//   block: each warp combines, its first thread writes that to shared memory           [block]
//     behind a barrier every thread reads one of the results of all warps              [warps]
//     and each warp combines these
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/LineThreads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace weft {

SymExpr lineBlocks(SymExpr lines, SymExpr width, const LineGrid &grid, const SimtMachine &machine) {
  constexpr int64_t blocksOfEach = 4; // multiprocessor
  auto number = [&](int64_t value) { return SymExpr::constant(lines.getContext(), value); };
  SymExpr own = SymExpr::min(SymExpr::ceildiv(width, grid.lanes), number(SimtMachine::kWarp)),
          whole = SymExpr::ceildiv(lines * SymExpr::max(own, number(1)), grid.threads),
          warps = SymExpr::min(SymExpr::ceildiv(lines, grid.threads / SimtMachine::kWarp),
                               number(blocksOfEach * machine.multiprocessors)),
          isLong =
              SymExpr::min(SymExpr::floordiv(width, grid.warpsChunks * grid.lanes + 1), number(1));
  return SymExpr::max(SymExpr::max(whole, warps),
                      SymExpr::min(lines * isLong, number(grid.mostLong)));
}

Value groupBits(SimtKernel &k, Value count) {
  ImplicitLocOpBuilder &b = k.b;
  Value bits = constantI64(b, 0);
  for (int64_t size = 1; size < SimtMachine::kWarp; size *= 2)
    bits = k.add(bits,
                 b.createOrFold<arith::ExtUIOp>(
                     b.getI64Type(), b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                                                   constantI64(b, size), count)));
  return bits;
}

LineThreads LineThreads::group(SimtKernel &k, Value first, Value bits) {
  LineThreads threads(k, Kind::Group);
  ImplicitLocOpBuilder &b = k.b;
  threads.count = b.createOrFold<arith::ShLIOp>(constantI64(b, 1), bits);
  threads.line = k.add(first, b.createOrFold<arith::ShRUIOp>(k.inBlock, bits));
  threads.member =
      b.createOrFold<arith::AndIOp>(k.inBlock, k.sub(threads.count, constantI64(b, 1)));
  return threads;
}

LineThreads LineThreads::warp(SimtKernel &k, Value first) {
  LineThreads threads(k, Kind::Warp);
  Value size = constantI64(k.b, SimtMachine::kWarp);
  threads.line = k.add(first, k.b.create<arith::DivUIOp>(k.inBlock, size));
  threads.member = k.b.create<arith::RemUIOp>(k.inBlock, size);
  threads.count = constantI64(k.b, SimtMachine::kWarp);
  return threads;
}

LineThreads LineThreads::block(SimtKernel &k, Value line, Value shared, int64_t count) {
  LineThreads threads(k, Kind::Block);
  threads.line = line;
  threads.member = k.inBlock;
  threads.count = constantI64(k.b, count);
  threads.shared = shared;
  threads.warps = count / SimtMachine::kWarp;
  return threads;
}

Value LineThreads::combine(Combiner combiner, Type element, Value value) {
  switch (kind) {
  case Kind::Group:
    return combineGroup(combiner, element, value);
  case Kind::Warp:
    return k.combineWarp(combiner, element, value);
  case Kind::Block:
    return combineBlock(combiner, element, value);
  }
  llvm_unreachable("closed set");
}

/// [group] All groups have the same size, so threads of a warp go together.
Value LineThreads::combineGroup(Combiner combiner, Type element, Value value) {
  for (int64_t bits = SimtMachine::kWarp / 2; bits >= 1; bits /= 2) {
    auto branch =
        b.create<scf::IfOp>(TypeRange(value.getType()), k.less(constantI64(b, bits), count), true);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(value);
    b.setInsertionPointToStart(branch.thenBlock());
    b.create<scf::YieldOp>(
        emitCombine(b, combiner, element, value, k.exchange(value, unsigned(bits))));
    value = branch.getResult(0);
  }
  return value;
}

/// [block] Who combines next writes elsewhere, and who comes to the same place again has passed a barrier since.
Value LineThreads::combineBlock(Combiner combiner, Type element, Value value) {
  value = k.combineWarp(combiner, element, value);
  int64_t size = value.getType().getIntOrFloatBitWidth() / 8;
  Value base = constantI64(b, place * warps * kBytes / 2), bytes = constantI64(b, size);
  place = 1 - place;
  Value lane = b.create<arith::RemUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp));
  Value warp = b.create<arith::DivUIOp>(k.inBlock, constantI64(b, SimtMachine::kWarp));
  k.when(k.less(lane, constantI64(b, 1)),
         [&] { k.storeShared(value, shared, k.add(base, k.mul(warp, bytes))); });
  k.gatherBlock();
  // [warps]
  Value own = b.create<arith::RemUIOp>(lane, constantI64(b, warps));
  value = k.loadShared(value.getType(), shared, k.add(base, k.mul(own, bytes)));
  for (int64_t bits = warps / 2; bits >= 1; bits /= 2)
    value = emitCombine(b, combiner, element, value, k.exchange(value, unsigned(bits)));
  return value;
}

} // namespace weft
