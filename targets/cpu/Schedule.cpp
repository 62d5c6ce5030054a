//===- Schedule.cpp - The frame around every kernel's loops --------------------------------------===//
//
//   read the kernel's words: pointers of operands and results, then symbols   [words]
//   what the schedule emits, in which                                         [emit]
//     for whole vector of the innermost dimension; then a masked rest         [vectors]
//   products of bf16: roundings as these do them                              [round]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/Schedule.h"
#include "dialects/weft/Aliases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

void KernelContext::vectors(SymExpr size, function_ref<void(IndexValue)> body, SymExpr from) {
  unsigned lanes = e.laneCount();
  Value first = from ? e.uniform(from) : constantI64(b, 0);
  if (lanes == 1) {
    loop(first, e.uniform(size), 1, [&](Value i) {
      e.forget();
      body({i, 1});
      e.forget();
    });
    return;
  }
  // [vectors] There is no rest where the size says so.
  SymExpr whole = SymExpr::floordiv(size, lanes) * int64_t(lanes);
  Value end = e.uniform(size), wholeEnd = e.uniform(whole);
  if (from ? whole != from : !whole.isConstant(0))
    loop(first, wholeEnd, lanes, [&](Value i) {
      e.forget();
      body({i, 1});
      e.forget();
    });
  if (whole == size)
    return;
  loop(wholeEnd, end, lanes, [&](Value i) { // runs at most once
    e.forget();
    Value left = b.create<arith::SubIOp>(end, i);
    Value lane = e.materialize({constantI64(b, 0), 1});
    e.setTailMask(b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, lane, e.splat(left)));
    body({i, 1});
    e.setTailMask({});
    e.forget();
  });
}

/// [words] In the order of the specification.
void bindWords(KernelContext &c, Value words) {
  Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type();
  int64_t word = 0;
  c.e.setBranchesWhereSame();
  if (c.machine.looksUpBytes())
    c.e.setByteTables([&b = c.b, &machine = c.machine](Value table, Value bytes) {
      return machine.lookUpBytes(b, table, bytes);
    });
  auto next = [&](Type type) -> Value {
    return c.b.create<LLVM::LoadOp>(type, elementPointer(c.b, words, i64, constantI64(c.b, word++)),
                                    8);
  };
  for (BlockArgument argument : c.spec.getArguments()) {
    c.inputs.push_back(next(pointer));
    c.e.bindPointer(argument, c.inputs.back());
    if (c.spec.getArgAttr(argument.getArgNumber(), kWeightAttr))
      c.e.setInvariant(argument);
  }
  for (size_t i = 0; i < c.spec.getNumResults(); ++i)
    c.outputs.push_back(next(pointer));
  if (auto symbols = c.spec->getAttrOfType<SymbolsAttr>(kSymbolsAttr))
    for (StringAttr symbol : symbols.getNames())
      c.e.bindSymbol(symbol, next(i64));
}

/// Products of bf16 count denormal numbers as 0. Where they are what a kernel is about, so do
/// roundings to bf16, which are one instruction then.
static void roundAsProductsDo(ModuleOp module, const VectorMachine &machine) {
  module.walk([&](arith::TruncFOp op) {
    auto to = dyn_cast<VectorType>(op.getType()), from = dyn_cast<VectorType>(op.getIn().getType());
    if (!to || !to.getElementType().isBF16() || !from.getElementType().isF32() ||
        to.getNumElements() != machine.lanes())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value bits = machine.roundForHalfProducts(b, op.getIn());
    op.replaceAllUsesWith(b.create<arith::BitcastOp>(to, bits).getResult());
    op.erase();
  });
}

LogicalResult emitKernel(ModuleOp module, StringRef name, const Schedule &schedule,
                         const VectorMachine &machine) {
  auto spec = *module.getOps<func::FuncOp>().begin();
  ImplicitLocOpBuilder b(spec.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto kernel = b.create<func::FuncOp>(name, b.getFunctionType({pointer, i64, i64, pointer}, {}));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  Value words = kernel.getArgument(0);
  ElementEmitter e(b, machine.lanes(), words);
  KernelContext context{
      {b, spec, kernel, e}, machine, kernel.getArgument(1), kernel.getArgument(2), {}};
  bindWords(context, words);
  context.scratch = b.create<LLVM::LoadOp>(pointer, kernel.getArgument(3), 8);
  // [emit] For units [begin, end).
  schedule.emit(context);
  b.create<func::ReturnOp>();
  // [round]
  Unit unit = schedule.unit(spec, machine);
  if (unit == Unit::HalfPairs || unit == Unit::HalfTiles)
    roundAsProductsDo(module, machine);
  spec.erase();
  return success();
}

} // namespace weft
