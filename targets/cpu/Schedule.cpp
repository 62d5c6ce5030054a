//===- Schedule.cpp - The frame around every kernel's loops --------------------------------------===//
//
//   read the kernel's words: pointers of operands and results, then symbols   [words]
//   what the schedule emits, in which                                         [emit]
//     for whole vector of the innermost dimension; then a masked rest         [vectors]
//       elements of all results are pulled, and then stored                   [store]
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/Schedule.h"
#include "dialects/weft/Aliases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

Value KernelContext::mul(Value a, Value c) { return b.createOrFold<arith::MulIOp>(a, c); }
Value KernelContext::add(Value a, Value c) { return b.createOrFold<arith::AddIOp>(a, c); }
Value KernelContext::sub(Value a, Value c) { return b.createOrFold<arith::SubIOp>(a, c); }

SmallVector<Value> KernelContext::loop(Value from, Value to, int64_t step, ValueRange init,
                                       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = b.create<scf::ForOp>(from, to, constantI64(b, step), init);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    b.create<scf::YieldOp>(next);
  return SmallVector<Value>(loop.getResults());
}

void KernelContext::loop(Value from, Value to, int64_t step, function_ref<void(Value)> body) {
  loop(from, to, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void KernelContext::choose(Value condition, function_ref<void()> yes, function_ref<void()> no) {
  auto branch = b.create<scf::IfOp>(condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(branch.thenBlock());
  yes();
  b.setInsertionPointToStart(branch.elseBlock());
  no();
}

/// Where an element of a result lies: in a buffer, behind what was there.
static SmallVector<IndexValue> placeOf(ElementEmitter &e, Value result,
                                       ArrayRef<IndexValue> index) {
  SmallVector<IndexValue> place(index);
  if (std::optional<InPlaceWrite> write = inPlaceWrite(result))
    place[write->dim] = e.add(place[write->dim], e.symbolic(write->start));
  return place;
}

void KernelContext::storeResults(ArrayRef<IndexValue> index) {
  // [store] What one result replaces another may still read.
  SmallVector<Value> data;
  for (Value result : returnOp()->getOperands())
    data.push_back(e.pull(writtenValue(result), index));
  for (auto [i, result] : llvm::enumerate(returnOp()->getOperands()))
    e.store(outputs[i], resultType(i), placeOf(e, result, index), data[i]);
}

void KernelContext::vectors(SymExpr size, function_ref<void(IndexValue)> body) {
  unsigned lanes = e.laneCount();
  if (lanes == 1) {
    loop(constantI64(b, 0), e.uniform(size), 1, [&](Value i) {
      e.forget();
      body({i, 1});
      e.forget();
    });
    return;
  }
  // [vectors] There is no rest where the size says so.
  SymExpr whole = SymExpr::floordiv(size, lanes) * int64_t(lanes);
  Value end = e.uniform(size), wholeEnd = e.uniform(whole);
  if (!whole.isConstant(0))
    loop(constantI64(b, 0), wholeEnd, lanes, [&](Value i) {
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

bool writesPackedElements(func::FuncOp spec) {
  return llvm::any_of(spec.getResultTypes(), [](Type type) {
    return isPacked(cast<SymTensorType>(type).getElementType());
  });
}

Value foldLanes(ImplicitLocOpBuilder &b, Value vector,
                function_ref<Value(ImplicitLocOpBuilder &, Value, Value)> combine) {
  auto shape = dyn_cast<VectorType>(vector.getType());
  if (!shape)
    return vector;
  for (int64_t width = shape.getNumElements() / 2; width >= 1; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < width; ++l) {
      low.push_back(l);
      high.push_back(l + width);
    }
    Value a = b.create<vector::ShuffleOp>(vector, vector, low),
          d = b.create<vector::ShuffleOp>(vector, vector, high);
    vector = combine(b, a, d);
  }
  return b.create<vector::ExtractOp>(vector, ArrayRef<int64_t>{0});
}

Value combineLanes(ImplicitLocOpBuilder &b, Combiner combiner, Type element, Value vector) {
  return foldLanes(b, vector, [&](ImplicitLocOpBuilder &b, Value a, Value d) {
    return emitCombine(b, combiner, element, a, d);
  });
}

Value powerOfNegative(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  auto constant = [&](double value) -> Value {
    TypedAttr number = b.getFloatAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      number = DenseElementsAttr::get(vector, number);
    return b.create<arith::ConstantOp>(number);
  };
  Value least = constant(element.isF64() ? -708 : -87);
  Value vanishes = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, least);
  Value power = b.create<math::ExpOp>(b.create<arith::SelectOp>(vanishes, least, x).getResult());
  return b.create<arith::SelectOp>(vanishes, constant(0), power);
}

/// [words] In the order of the specification.
void bindWords(KernelContext &c, Value words) {
  Type pointer = LLVM::LLVMPointerType::get(c.b.getContext()), i64 = c.b.getI64Type();
  int64_t word = 0;
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
  KernelContext context{b,  spec, kernel, e, machine, kernel.getArgument(1), kernel.getArgument(2),
                        {}, {},   {}};
  bindWords(context, words);
  context.scratch = b.create<LLVM::LoadOp>(pointer, kernel.getArgument(3), 8);
  // [emit] For units [begin, end).
  schedule.emit(context);
  b.create<func::ReturnOp>();
  Unit unit = schedule.unit(spec, machine);
  if (unit == Unit::HalfPairs || unit == Unit::HalfTiles)
    roundAsProductsDo(module, machine);
  spec.erase();
  return success();
}

} // namespace weft
