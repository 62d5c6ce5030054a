//===- HostCode.cpp ---------------------------------------------------------------------------===//

#include "compiler/host/HostCode.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace weft {

static constexpr int64_t kLineBytes = 64;    ///< memory begins at lines of the caches
static constexpr double kMostBytes = 4.0e18; ///< nearly 2^62

HostCode::HostCode(ModuleOp module, const PlannedFunction &planned)
    : HostExpressions(module), module(module), planned(planned), source(planned.function) {
  pointer = LLVM::LLVMPointerType::get(b.getContext());
  i64 = b.getI64Type();
  i32 = b.getI32Type();
}

Value HostCode::at(Value base, int64_t byteOffset) {
  return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(byteOffset)});
}

Value HostCode::load(Type type, Value base, int64_t byteOffset) {
  return b.create<LLVM::LoadOp>(type, at(base, byteOffset), 8);
}

void HostCode::store(Value value, Value base, int64_t byteOffset) {
  b.create<LLVM::StoreOp>(value, at(base, byteOffset), 8);
}

func::FuncOp HostCode::begin(StringRef name, ArrayRef<Type> arguments) {
  b.setInsertionPointToEnd(module.getBody());
  auto function = b.create<func::FuncOp>(name, b.getFunctionType(arguments, {i32}));
  function->setAttr("passthrough", b.getStrArrayAttr({"optsize"}));
  b.setInsertionPointToStart(function.addEntryBlock());
  symbols.clear();
  emitted.clear();
  return function;
}

void HostCode::finish(int32_t code) {
  b.create<func::ReturnOp>(ValueRange{b.create<arith::ConstantOp>(b.getI32IntegerAttr(code))});
}

void HostCode::require(func::FuncOp function, Value holds, int32_t row) {
  Block *good = function.addBlock(), *bad = function.addBlock();
  b.create<cf::CondBranchOp>(holds, good, ValueRange(), bad, ValueRange());
  b.setInsertionPointToEnd(bad);
  finish(row + 1);
  b.setInsertionPointToEnd(good);
}

void HostCode::requireSmall(func::FuncOp function, Value bytes, int32_t row) {
  Value limit = b.create<arith::ConstantOp>(b.getF64FloatAttr(kMostBytes));
  require(function, b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, bytes, limit), row);
}

void HostCode::loadPlaces(Value values) {
  const EntryPlan &entry = planned.entry;
  size_t slot = entry.symbols.size() + entry.boundSymbols.size();
  for (StringAttr name : entry.rankSymbols)
    symbols[name.getValue()] = load(i64, values, 8 * slot++);
}

Value HostCode::placeIn(Value block, ArrayRef<SymExpr> loose) {
  SmallVector<plan::MemoryOp> memory;
  source.walk<WalkOrder::PreOrder>([&](plan::MemoryOp op) {
    if (op.getInside() == block)
      memory.push_back(op);
  });
  llvm::sort(memory,
             [](plan::MemoryOp a, plan::MemoryOp c) { return *a.getPlace() < *c.getPlace(); });
  SmallVector<Value> tops;
  Value peak = constant(0);
  for (plan::MemoryOp op : memory) {
    Value offset = constant(0);
    ArrayRef<int64_t> above = op.getAboveAttr();
    for (int64_t below : above)
      offset = b.create<arith::MaxSIOp>(offset, tops[below]);
    offsets[op] = offset;
    SymExpr bytes = SymExpr::ceildiv(op.getBytes()[0], kLineBytes) * kLineBytes;
    tops.push_back(b.create<arith::AddIOp>(offset, emit(bytes)));
    peak = b.create<arith::MaxSIOp>(peak, tops.back());
  }
  for (SymExpr most : loose)
    peak = b.create<arith::MaxSIOp>(peak, emit(most));
  return peak;
}
} // namespace weft
