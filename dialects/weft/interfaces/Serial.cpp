//===- Serial.cpp - Loops, conditions and index arithmetic of serial operators ------------------===//

#include "dialects/weft/interfaces/Serial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace weft {

Value SerialBuilder::constant(int64_t value) {
  return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value));
}
Value SerialBuilder::add(Value a, Value c) { return b.createOrFold<arith::AddIOp>(a, c); }
Value SerialBuilder::sub(Value a, Value c) { return b.createOrFold<arith::SubIOp>(a, c); }
Value SerialBuilder::mul(Value a, Value c) { return b.createOrFold<arith::MulIOp>(a, c); }
Value SerialBuilder::less(Value a, Value c) {
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, a, c);
}
Value SerialBuilder::select(Value condition, Value yes, Value no) {
  return b.create<arith::SelectOp>(condition, yes, no);
}

std::pair<Value, Value> SerialBuilder::divmod(Value a, Value c) {
  return {b.createOrFold<arith::DivUIOp>(a, c), b.createOrFold<arith::RemUIOp>(a, c)};
}

SerialBuilder::Values SerialBuilder::unflatten(Value unit, ArrayRef<SymExpr> dims) {
  Values index(dims.size());
  for (size_t d = dims.size(); d-- > 1;)
    std::tie(unit, index[d]) = divmod(unit, symbolic(dims[d]));
  if (!dims.empty())
    index[0] = unit;
  return index;
}

SerialBuilder::Values SerialBuilder::loop(Value from, Value to, ValueRange init,
                                          function_ref<Values(Value, ValueRange)> body) {
  auto loop = b.create<scf::ForOp>(from, to, constant(1), init);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty()) // without results the terminator is there already
    b.create<scf::YieldOp>(next);
  return Values(loop.getResults());
}

void SerialBuilder::loop(Value from, Value to, function_ref<void(Value)> body) {
  loop(from, to, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

void SerialBuilder::box(ArrayRef<SymExpr> dims, function_ref<void(ArrayRef<Value>)> body) {
  Values index;
  std::function<void()> nest = [&] {
    if (index.size() == dims.size())
      return body(index);
    Value end = symbolic(dims[index.size()]);
    loop(constant(0), end, [&](Value i) {
      index.push_back(i);
      nest();
      index.pop_back();
    });
  };
  nest();
}

void SerialBuilder::when(Value condition, function_ref<void()> body) {
  auto branch = b.create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value SerialBuilder::repeat(Value init, function_ref<Value(Value)> condition,
                            function_ref<Value(Value)> body) {
  Type type = init.getType();
  auto loop = b.create<scf::WhileOp>(TypeRange{type}, ValueRange{init});
  OpBuilder::InsertionGuard insertion(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {type}, {b.getLoc()});
  Value holds = condition(before->getArgument(0));
  b.create<scf::ConditionOp>(holds, before->getArguments());
  Block *after = b.createBlock(&loop.getAfter(), {}, {type}, {b.getLoc()});
  b.create<scf::YieldOp>(body(after->getArgument(0)));
  return loop.getResult(0);
}

} // namespace weft
