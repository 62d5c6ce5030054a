//===- SimtKernel.cpp - The frame around every thread's code ---------------------------------------===//
//
//   parameters: pointers of operands and results, symbols, the address of scratch, and of counters   [words]
//   the thread's number in the grid                                                 [thread]
//   what the schedule emits, in which                                               [emit]
//     warps combine values of their threads: halves, quarters, …                    [warps]
//   roundings to bf16 become instructions                                           [round]
//===------------------------------------------------------------------------------------------===//

#include "targets/cuda/SimtKernel.h"
#include "dialects/weft/Aliases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft {

void SimtKernel::when(Value condition, function_ref<void()> body) {
  auto branch = b.create<scf::IfOp>(condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(branch.thenBlock());
  e.forget();
  body();
  e.forget();
}

Value SimtKernel::less(Value a, Value c) {
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, a, c);
}

Value SimtKernel::warp() {
  return b.createOrFold<arith::DivUIOp>(thread, constantI64(b, SimtMachine::kWarp));
}

Value SimtKernel::lane() {
  return b.createOrFold<arith::RemUIOp>(thread, constantI64(b, SimtMachine::kWarp));
}

SmallVector<IndexValue> SimtKernel::pointIndex(ArrayRef<SymExpr> dims, Value number) {
  if (dims.empty())
    return {};
  auto [line, last] = e.divmod({number}, e.symbolic(dims.back()));
  SmallVector<IndexValue> index = lineIndex(dims, line.base);
  index.back() = last;
  return index;
}

/// There are fewer than 2^31 blocks, so none of these numbers is larger.
SmallVector<Value> SimtKernel::blockDigits(ArrayRef<SymExpr> counts) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  SmallVector<Value> digits(counts.size());
  Value rest = b.create<arith::TruncIOp>(i32, block);
  for (size_t i = counts.size(); i-- > 0;) {
    Value limit = b.createOrFold<arith::TruncIOp>(i32, e.uniform(counts[i]));
    digits[i] = b.create<arith::ExtUIOp>(i64, b.create<arith::RemUIOp>(rest, limit));
    rest = b.create<arith::DivUIOp>(rest, limit);
  }
  return digits;
}

void SimtKernel::inTurns(Value count, function_ref<void(Value)> body) {
  Value all = b.create<arith::ExtUIOp>(b.getI64Type(),
                                       call("llvm.nvvm.read.ptx.sreg.nctaid.x", b.getI32Type()));
  auto loop = b.create<scf::ForOp>(block, count, all);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  e.forget();
  body(loop.getInductionVar());
  e.forget();
}

Value SimtKernel::multipleOf(Value number, int64_t size) {
  return mul(b.createOrFold<arith::DivUIOp>(number, constantI64(b, size)), constantI64(b, size));
}

Value SimtKernel::call(StringRef intrinsic, Type type, ValueRange arguments) {
  return b
      .create<LLVM::CallIntrinsicOp>(type, StringAttr::get(b.getContext(), intrinsic), arguments)
      .getResult(0);
}

void SimtKernel::gatherWarp() {
  Value all = b.create<arith::ConstantOp>(b.getI32IntegerAttr(-1));
  b.create<LLVM::CallIntrinsicOp>(TypeRange(), "llvm.nvvm.bar.warp.sync", ValueRange{all},
                                  LLVM::FastmathFlags::none);
}

/// The barrier is for whole warps, and where branches meet again is the assembler's to choose.
void SimtKernel::gatherBlock() {
  gatherWarp();
  b.create<LLVM::CallIntrinsicOp>(TypeRange(), "llvm.nvvm.barrier0", ValueRange(),
                                  LLVM::FastmathFlags::none);
}

Value SimtKernel::sharedBytes(int64_t bytes, int64_t alignment) {
  constexpr unsigned space = 3;
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(kernel->getParentOfType<ModuleOp>().getBody());
  bool isDeclared = bytes <= kMostDeclared;
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), isDeclared ? uint64_t(bytes) : 0);
  std::string name =
      isDeclared ? "shared" : "shared_" + std::to_string(bytes); // for readers of the text
  auto array = b.create<LLVM::GlobalOp>(
      type, /*isConstant=*/false, isDeclared ? LLVM::Linkage::Internal : LLVM::Linkage::External,
      name, Attribute(), uint64_t(alignment), space);
  if (isDeclared) {
    b.createBlock(&array.getInitializerRegion());
    b.create<LLVM::ReturnOp>(ValueRange{b.create<LLVM::UndefOp>(type)});
  } else {
    launchBytes = bytes;
  }
  b.setInsertionPointToStart(&kernel.getBody().front());
  return b.create<LLVM::AddressOfOp>(array);
}

Value SimtKernel::sharedPlace(Value pointer, Value bytes) {
  return b.create<LLVM::GEPOp>(pointer.getType(), b.getI8Type(), pointer,
                               ArrayRef<LLVM::GEPArg>{bytes});
}

static unsigned sharedAlignment(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  int64_t bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return unsigned(std::min<int64_t>(16, (vector ? vector.getNumElements() : 1) * bits / 8));
}

Value SimtKernel::loadShared(Type type, Value pointer, Value bytes) {
  return b.create<LLVM::LoadOp>(type, sharedPlace(pointer, bytes), sharedAlignment(type));
}

void SimtKernel::storeShared(Value data, Value pointer, Value bytes) {
  b.create<LLVM::StoreOp>(data, sharedPlace(pointer, bytes), sharedAlignment(data.getType()));
}

void SimtKernel::copyShared(Value to, Value from, Value isThere) {
  constexpr int32_t bytes = 16;
  constexpr unsigned global = 1;
  Type i32 = b.getI32Type();
  auto number = [&](int32_t n) -> Value {
    return b.create<arith::ConstantOp>(b.getI32IntegerAttr(n));
  };
  Value there = number(bytes);
  if (isThere)
    there = b.create<arith::SelectOp>(i32, isThere, there, number(0));
  Value source =
      b.create<LLVM::AddrSpaceCastOp>(LLVM::LLVMPointerType::get(b.getContext(), global), from);
  b.create<LLVM::CallIntrinsicOp>(TypeRange(), "llvm.nvvm.cp.async.cg.shared.global.16.s",
                                  ValueRange{to, source, there}, LLVM::FastmathFlags::none);
}

void SimtKernel::endCopies() {
  b.create<LLVM::CallIntrinsicOp>(TypeRange(), "llvm.nvvm.cp.async.commit.group", ValueRange(),
                                  LLVM::FastmathFlags::none);
}

void SimtKernel::awaitCopies(int64_t groups) {
  Value left = b.create<arith::ConstantOp>(b.getI32IntegerAttr(int32_t(groups)));
  b.create<LLVM::CallIntrinsicOp>(TypeRange(), "llvm.nvvm.cp.async.wait.group", ValueRange{left},
                                  LLVM::FastmathFlags::none);
}

void SimtKernel::showToProducts() {
  assembly("fence.proxy.async.shared::cta;", "~{memory}", {}, {});
}

SmallVector<Value> SimtKernel::assembly(StringRef text, StringRef constraints, ArrayRef<Type> types,
                                        ValueRange operands) {
  Type all = types.empty() ? Type() : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), types));
  auto made = b.create<LLVM::InlineAsmOp>(
      all ? TypeRange(all) : TypeRange(), operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> results;
  for (size_t i = 0; i < types.size(); ++i)
    results.push_back(b.create<LLVM::ExtractValueOp>(made.getRes(), int64_t(i)));
  return results;
}

/// Threads exchange words of 32 bits.
Value SimtKernel::inWords(Value value, function_ref<Value(Value)> word) {
  Type type = value.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  unsigned width = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value raw = type == integer ? value : b.create<arith::BitcastOp>(integer, value);
  if (width < 32)
    raw = b.create<arith::TruncIOp>(integer, word(b.create<arith::ExtUIOp>(i32, raw)));
  else if (width == 32)
    raw = word(raw);
  else {
    Value half = constantI64(b, 32);
    Value low = word(b.create<arith::TruncIOp>(i32, raw)),
          high = word(b.create<arith::TruncIOp>(i32, b.create<arith::ShRUIOp>(raw, half)));
    raw =
        b.create<arith::OrIOp>(b.create<arith::ExtUIOp>(i64, low),
                               b.create<arith::ShLIOp>(b.create<arith::ExtUIOp>(i64, high), half));
  }
  return type == integer ? raw : b.create<arith::BitcastOp>(type, raw);
}

Value SimtKernel::exchange(Value value, unsigned bits) {
  auto number = [&](int32_t n) -> Value {
    return b.create<arith::ConstantOp>(b.getI32IntegerAttr(n));
  };
  return inWords(value, [&](Value own) {
    return call("llvm.nvvm.shfl.sync.bfly.i32", b.getI32Type(),
                {number(-1), own, number(int32_t(bits)), number(SimtMachine::kWarp - 1)});
  });
}

Value SimtKernel::ofLane(Value value, Value lane) {
  Value from = b.create<arith::TruncIOp>(b.getI32Type(), lane),
        all = b.create<arith::ConstantOp>(b.getI32IntegerAttr(-1)),
        clamp = b.create<arith::ConstantOp>(b.getI32IntegerAttr(SimtMachine::kWarp - 1));
  return inWords(value, [&](Value own) {
    return call("llvm.nvvm.shfl.sync.idx.i32", b.getI32Type(), {all, own, from, clamp});
  });
}

/// [warps]
Value SimtKernel::combineWarp(Combiner combiner, Type element, Value value) {
  for (int64_t bits = SimtMachine::kWarp / 2; bits >= 1; bits /= 2)
    value = emitCombine(b, combiner, element, value, exchange(value, bits));
  return value;
}

Launch SimtSchedule::blocks(SymExpr count, int64_t perBlock) const {
  MLIRContext *context = count.getContext();
  return {SymExpr::ceildiv(count, perBlock), SymExpr::constant(context, 1),
          SymExpr::constant(context, 0)};
}

/// The type of 16 bits to which whoever reads the argument, a weight of f32, rounds it; null where somebody does not.
static Type roundedType(func::FuncOp spec, BlockArgument argument) {
  if (!spec.getArgAttr(argument.getArgNumber(), kWeightAttr) ||
      !cast<SymTensorType>(argument.getType()).getElementType().isF32())
    return {};
  Type rounded;
  for (Operation *user : argument.getUsers()) {
    auto convert = dyn_cast<ConvertOp>(user);
    Type element = convert ? convert.getType().getElementType() : Type();
    if (!convert || !isHalf(element) || (rounded && rounded != element))
      return {};
    rounded = element;
  }
  return rounded;
}

SmallVector<WeightLayout> SimtSchedule::layouts(func::FuncOp spec, const SimtMachine &) const {
  SmallVector<WeightLayout> layouts(spec.getNumArguments());
  for (BlockArgument argument : spec.getArguments())
    if (Type rounded = roundedType(spec, argument))
      layouts[argument.getArgNumber()] =
          WeightLayout::rounded(rounded.isF16() ? WeightLayout::F16 : WeightLayout::BF16);
  return layouts;
}

/// [words] In the order of the specification; then scratch. Kernels write new memory: unless a result is stored in place, nobody writes
/// what they read.
static void bindParameters(SimtKernel &k) {
  unsigned next = 0;
  bool writesInPlace = llvm::any_of(k.returnOp()->getOperands(),
                                    [](Value result) { return inPlaceWrite(result).has_value(); });
  for (BlockArgument argument : k.spec.getArguments()) {
    k.inputs.push_back(k.kernel.getArgument(next++));
    SmallVector<Value> inMemory;
    if (roundedType(k.spec, argument)) // what lies there is what its readers make of it
      for (Operation *reader : argument.getUsers())
        inMemory.push_back(reader->getResult(0));
    else
      inMemory.push_back(argument);
    bool isConstant = !writesInPlace || k.spec.getArgAttr(argument.getArgNumber(), kWeightAttr);
    for (Value value : inMemory) {
      k.e.bindPointer(value, k.inputs.back());
      if (isConstant)
        k.e.setInvariant(value);
    }
  }
  for (size_t i = 0; i < k.spec.getNumResults(); ++i)
    k.outputs.push_back(k.kernel.getArgument(next++));
  for (StringAttr symbol : symbolsOf(k.spec).getNames())
    k.e.bindSymbol(symbol, k.kernel.getArgument(next++));
  k.scratch = k.kernel.getArgument(next++);
  if (next < k.kernel.getNumArguments())
    k.counters = k.kernel.getArgument(next);
}

/// f32 rounded to bf16, two at a time where there are as many.
static Value roundedToBrain(ImplicitLocOpBuilder &b, Value reals, Type type) {
  auto one = [&](Type result, StringRef intrinsic, ValueRange operands) {
    return b
        .create<LLVM::CallIntrinsicOp>(result, StringAttr::get(b.getContext(), intrinsic), operands)
        .getResult(0);
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return one(type, "llvm.nvvm.f2bf16.rn", reals);
  SmallVector<Value> rounded;
  Type element = b.getBF16Type(), pair = VectorType::get({2}, element);
  auto at = [&](Value from, int64_t i) -> Value { return b.create<vector::ExtractOp>(from, i); };
  int64_t count = vector.getNumElements(), i = 0;
  for (; i + 1 < count; i += 2) {
    Value two = one(pair, "llvm.nvvm.ff2bf16x2.rn", {at(reals, i + 1), at(reals, i)});
    if (type == pair)
      return two;
    rounded.append({at(two, 0), at(two, 1)});
  }
  if (i < count)
    rounded.push_back(roundedToBrain(b, at(reals, i), element));
  return b.create<vector::FromElementsOp>(vector, rounded);
}

/// [round] Whoever knows no such instruction takes eight of integers.
static void roundByInstructions(func::FuncOp kernel) {
  kernel.walk([](arith::TruncFOp op) {
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!getElementTypeOrSelf(op.getType()).isBF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32() || (vector && vector.getRank() != 1))
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    op.replaceAllUsesWith(roundedToBrain(b, op.getIn(), op.getType()));
    op.erase();
  });
}

int64_t emitSimtKernel(ModuleOp module, StringRef name, const SimtSchedule &schedule,
                       const SimtMachine &machine) {
  auto spec = *module.getOps<func::FuncOp>().begin();
  ImplicitLocOpBuilder b(spec.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  SmallVector<Type> parameters(spec.getNumArguments() + spec.getNumResults(), pointer);
  parameters.append(symbolsOf(spec).getNames().size(), i64);
  parameters.append(schedule.isCounted(spec, machine) ? 2 : 1, pointer);
  auto kernel = b.create<func::FuncOp>(name, b.getFunctionType(parameters, {}));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  ElementEmitter e(b, 1, Value());
  e.setGuardsBranch();
  SimtKernel k{{b, spec, kernel, e}, machine};
  bindParameters(k);
  // [thread] Grids have fewer than 2^31 blocks.
  auto number = [&](StringRef which) -> Value {
    return b.create<arith::ExtUIOp>(
        i64, k.call(("llvm.nvvm.read.ptx.sreg." + which).str(), b.getI32Type()));
  };
  k.block = number("ctaid.x");
  k.inBlock = number("tid.x");
  k.thread = k.add(k.mul(k.block, constantI64(b, schedule.threads())), k.inBlock);
  // [emit]
  schedule.emit(k);
  b.create<func::ReturnOp>();
  roundByInstructions(kernel);
  spec.erase();
  return k.launchBytes;
}

} // namespace weft
