//===- EntryPoints.cpp - Checks pointers, binds sizes, lays memory out, runs ------------------===//
//
//   int32_t NAME(sizes…, inputs…, outputs and their dimensions…, weights, arena, arena_bytes)
//
// Everything that bind and run take lies on the stack: tensors of which they read data and
// dimensions, the values, the frame and the one worker, whose scratch is behind the arena of `run`
// in the caller's.
//===------------------------------------------------------------------------------------------===//

#include "compiler/embed/EntryPoints.h"
#include "compiler/host/HostExpressions.h"
#include "compiler/host/HostProgram.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "weft/artifact.h"
#include <cstddef>

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kLineBytes = 64;

class EntryEmitter : HostExpressions {
public:
  EntryEmitter(ModuleOp module, bool hasWeights, int64_t mark)
      : HostExpressions(module), module(module), hasWeights(hasWeights), mark(mark),
        pointer(LLVM::LLVMPointerType::get(b.getContext())), i64(b.getI64Type()),
        i32(b.getI32Type()) {}

  void emitFunction(const EmbeddedFunction &embedded, unsigned number) {
    function = &embedded;
    planned = embedded.planned;
    begin();
    checkPointers();
    checkSymbols();
    Value in = tensors(function->inputs, arguments.inputs, true),
          out = tensors(function->outputs, arguments.outputs, false);
    Value values = room(valueCount() * sizeof(int64_t));
    Value answer = call(bindSymbol(0, number), {in, values});
    require(isZero(answer), answer);
    Value worker = placeMemory(values);
    Value done = call(runSymbol(0, number), {frame(in, out, values, worker)});
    require(isZero(done), done);
    giveDims(out, values);
    b.create<func::ReturnOp>(ValueRange{answerOf(0)});
  }

private:
  struct Arguments {
    SmallVector<Value> symbols, inputs, outputs, dims;
    Value weights, arena, arenaBytes;
  };

  void begin() {
    SmallVector<Type> types(function->symbols.size(), i64);
    types.append(function->inputs.size(), pointer);
    for (const EmbeddedArgument &output : function->outputs)
      types.append(output.dims.empty() ? 1 : 2, pointer);
    types.append(function->weights.empty() ? 1 : 2, pointer);
    types.push_back(i64);
    b.setInsertionPointToEnd(module.getBody());
    code = b.create<func::FuncOp>(function->name, b.getFunctionType(types, {i32}));
    code->setAttr("passthrough", b.getStrArrayAttr({"optsize"}));
    b.setInsertionPointToStart(code.addEntryBlock());
    nameArguments();
    symbols.clear();
    emitted.clear();
    for (auto [symbol, value] : llvm::zip_equal(planned->entry.symbols, arguments.symbols))
      symbols[symbol.name.getValue()] = value;
  }

  void nameArguments() {
    arguments = {};
    unsigned next = 0;
    auto take = [&] { return code.getArgument(next++); };
    for (size_t i = 0; i < function->symbols.size(); ++i)
      arguments.symbols.push_back(take());
    for (size_t i = 0; i < function->inputs.size(); ++i)
      arguments.inputs.push_back(take());
    for (const EmbeddedArgument &output : function->outputs) {
      arguments.outputs.push_back(take());
      arguments.dims.push_back(output.dims.empty() ? Value() : take());
    }
    if (!function->weights.empty())
      arguments.weights = take();
    arguments.arena = take();
    arguments.arenaBytes = take();
  }

  //===-- Small things ------------------------------------------------------------------------===//
  Value at(Value base, int64_t offset) {
    return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  }
  Value load(Value base, int64_t offset) {
    return b.create<LLVM::LoadOp>(i64, at(base, offset), 8);
  }
  void store(Value value, Value base, int64_t offset) {
    b.create<LLVM::StoreOp>(value, at(base, offset), 4);
  }
  Value room(int64_t bytes) {
    return b.create<LLVM::AllocaOp>(pointer, b.getI8Type(), constant(std::max<int64_t>(bytes, 8)),
                                    8);
  }
  Value answerOf(int32_t answer) {
    return b.create<arith::ConstantOp>(b.getI32IntegerAttr(answer));
  }
  Value isZero(Value answer) { return compare(arith::CmpIPredicate::eq, answer, answerOf(0)); }
  Value address(Value pointer) { return b.create<LLVM::PtrToIntOp>(i64, pointer); }

  /// Goes on where `holds`, else returns `answer`.
  void require(Value holds, Value answer) {
    Block *good = code.addBlock(), *bad = code.addBlock();
    b.create<cf::CondBranchOp>(holds, good, ValueRange(), bad, ValueRange());
    b.setInsertionPointToEnd(bad);
    b.create<func::ReturnOp>(ValueRange{answer});
    b.setInsertionPointToEnd(good);
  }
  void require(Value holds, EmbeddedStatus status) { require(holds, answerOf(status)); }

  Value call(StringRef symbol, ValueRange operands) {
    return b.create<func::CallOp>(symbol, TypeRange{i32}, operands).getResult(0);
  }

  //===-- Checks ------------------------------------------------------------------------------===//
  void checkPointers() {
    SmallVector<Value> all(arguments.inputs);
    llvm::append_range(all, arguments.outputs);
    llvm::append_range(all, llvm::make_filter_range(arguments.dims, [](Value v) { return v; }));
    if (arguments.weights)
      all.push_back(arguments.weights);
    Value given;
    for (Value each : all) {
      Value here = compare(arith::CmpIPredicate::ne, address(each), constant(0));
      given = given ? b.create<arith::AndIOp>(given, here).getResult() : here;
    }
    if (given)
      require(given, EmbeddedNull);
    Value low = address(arguments.arena);
    if (arguments.weights)
      low = b.create<arith::OrIOp>(low, address(arguments.weights));
    low = b.create<arith::AndIOp>(low, constant(kLineBytes - 1));
    require(compare(arith::CmpIPredicate::eq, low, constant(0)), EmbeddedUnaligned);
    if (arguments.weights)
      require(compare(arith::CmpIPredicate::eq, load(arguments.weights, 0), constant(mark)),
              EmbeddedForeign);
  }

  /// Dimensions are computed of symbols: what these may be at all comes first, what the contract
  /// says is bind's.
  void checkSymbols() {
    Value fits;
    for (Value symbol : arguments.symbols) {
      Value here = compare(arith::CmpIPredicate::ule, symbol, constant(kMaxSymbolValue));
      fits = fits ? b.create<arith::AndIOp>(fits, here).getResult() : here;
    }
    if (fits)
      require(fits, EmbeddedSize);
  }

  //===-- What bind and run take --------------------------------------------------------------===//
  Value tensors(ArrayRef<EmbeddedArgument> described, ArrayRef<Value> data, bool hasDims) {
    Value all = room(described.size() * sizeof(weft_tensor_t));
    for (size_t i = 0; i < described.size(); ++i) {
      int64_t base = i * sizeof(weft_tensor_t);
      store(data[i], all, base + offsetof(weft_tensor_t, data));
      if (hasDims)
        for (auto [d, dim] : llvm::enumerate(described[i].type.getDims()))
          store(emit(dim), all, base + offsetof(weft_tensor_t, dim) + 8 * d);
    }
    return all;
  }

  int64_t valueCount() const {
    int64_t count = planned->entry.symbols.size() + planned->entry.boundSymbols.size() + 1;
    for (ArrayRef<SymExpr> dims : planned->outputDims)
      count += dims.size();
    return count;
  }

  Value lines(Value bytes) {
    Value up = b.create<arith::AddIOp>(bytes, constant(kLineBytes - 1));
    return b.create<arith::AndIOp>(up, constant(-kLineBytes));
  }

  /// The worker, once the caller's memory is seen to be enough. Sizes are below 2^62: bind saw to
  /// it.
  Value placeMemory(Value values) {
    size_t slot = planned->entry.symbols.size() + planned->entry.boundSymbols.size();
    Value arena = lines(load(values, 8 * slot)), scratch = constant(0);
    for (SymExpr bytes : planned->scratch)
      scratch = b.create<arith::MaxSIOp>(scratch, emit(bytes));
    Value total = b.create<arith::AddIOp>(arena, lines(scratch));
    require(compare(arith::CmpIPredicate::ule, total, arguments.arenaBytes), EmbeddedArena);
    Value isNull = compare(arith::CmpIPredicate::eq, address(arguments.arena), constant(0)),
          isEmpty = compare(arith::CmpIPredicate::eq, total, constant(0));
    Value isGiven =
        b.create<arith::XOrIOp>(isNull, b.create<arith::ConstantOp>(b.getBoolAttr(true)));
    require(b.create<arith::OrIOp>(isGiven, isEmpty), EmbeddedNull);
    Value worker = room(sizeof(weft_worker_t));
    Value behind = b.create<LLVM::GEPOp>(pointer, b.getI8Type(), arguments.arena,
                                         ArrayRef<LLVM::GEPArg>{arena});
    store(behind, worker, offsetof(weft_worker_t, scratch));
    store(answerOf(0), worker, offsetof(weft_worker_t, index));
    return worker;
  }

  Value weightsAddress() {
    if (arguments.weights)
      return at(arguments.weights, kWeightsHead);
    if (hasWeights)
      return b.create<LLVM::AddressOfOp>(pointer, kEmbeddedWeights);
    return b.create<LLVM::ZeroOp>(pointer);
  }

  Value frame(Value in, Value out, Value values, Value worker) {
    Value frame = room(sizeof(weft_frame_v1));
    store(in, frame, offsetof(weft_frame_v1, in));
    store(out, frame, offsetof(weft_frame_v1, out));
    store(arguments.arena, frame, offsetof(weft_frame_v1, arena));
    store(weightsAddress(), frame, offsetof(weft_frame_v1, weights));
    store(values, frame, offsetof(weft_frame_v1, values));
    store(worker, frame, offsetof(weft_frame_v1, worker0));
    return frame;
  }

  /// Those that data decide are in the tensors of outputs, the others among bind's values.
  void giveDims(Value out, Value values) {
    size_t slot = planned->entry.symbols.size() + planned->entry.boundSymbols.size() + 1;
    for (auto [i, output] : llvm::enumerate(function->outputs)) {
      for (auto [d, dim] : llvm::enumerate(output.type.getDims())) {
        if (!output.dims.empty()) {
          bool isDecided = dim != output.most[d];
          Value size =
              isDecided
                  ? load(out, i * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, dim) + 8 * d)
                  : load(values, 8 * slot);
          store(size, arguments.dims[i], 8 * d);
        }
        ++slot;
      }
    }
  }

  ModuleOp module;
  bool hasWeights;
  int64_t mark;
  Type pointer, i64, i32;
  const EmbeddedFunction *function = nullptr;
  const PlannedFunction *planned = nullptr;
  func::FuncOp code;
  Arguments arguments;
};

} // namespace

void emitEntryPoints(ModuleOp module, const EmbeddedModel &model, bool hasWeights, int64_t mark) {
  if (hasWeights) {
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    b.create<LLVM::GlobalOp>(module.getLoc(), b.getI8Type(), /*isConstant=*/true,
                             LLVM::Linkage::External, kEmbeddedWeights, Attribute(), 64);
  }
  EntryEmitter emitter(module, hasWeights, mark);
  for (auto [i, function] : llvm::enumerate(model.functions))
    emitter.emitFunction(function, i);
}

} // namespace weft
