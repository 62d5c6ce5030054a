//===- HostProgram.cpp - Emits run ------------------------------------------------------------------------===//
//
//   run(frame)         computes the plan's offsets, then per region: words, units, one call of the host's `parallel`, or of `together` for
//                      several kernels; between regions it reads symbols from memory, branches and loops, asks for memory whose size is known only then, and
//                      calls for what ranks do together. With Reach::Kernels it calls kernels itself
//===------------------------------------------------------------------------------------------===//

#include "compiler/host/HostProgram.h"
#include "compiler/host/BindProgram.h"
#include "compiler/host/HostCalls.h"
#include "compiler/host/HostCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "weft/artifact.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstddef>

using namespace mlir;

namespace weft {

static std::string symbolOf(const char *what, unsigned variant, unsigned function) {
  return what + std::to_string(variant) + "_" + std::to_string(function);
}
std::string bindSymbol(unsigned v, unsigned f) { return symbolOf("weft_bind_", v, f); }
std::string runSymbol(unsigned v, unsigned f) { return symbolOf("weft_run_", v, f); }

namespace {

class RunEmitter : HostCode {
public:
  RunEmitter(ModuleOp module, const PlannedFunction &planned, const Variant &variant,
             ArrayRef<StoredWeight> weights, Reach reach)
      : HostCode(module, planned), program(variant.program),
        onDevice(variant.target.kernels->isForDevice()), weights(weights), reach(reach),
        calls(*this, reach == Reach::Kernels) {}

  void emitRun(StringRef name) {
    run = begin(name, {pointer});
    frame = run.getArgument(0);
    values = load(pointer, frame, offsetof(weft_frame_v1, values));
    for (auto [i, symbol] : llvm::enumerate(planned.entry.symbols))
      symbols[symbol.name.getValue()] = load(i64, values, 8 * i);
    loadPlaces(values);
    unlimited.clear();
    for (StringAttr name : planned.entry.boundSymbols)
      if (!symbolsOf(source).getUpperBound(SymExpr::symbol(name)))
        unlimited.insert(name);
    checked.clear();
    bases = {load(pointer, frame, offsetof(weft_frame_v1, arena)),
             load(pointer, frame, offsetof(weft_frame_v1, in)),
             load(pointer, frame, offsetof(weft_frame_v1, out)),
             load(pointer, frame, offsetof(weft_frame_v1, weights))};
    addresses.clear();
    blocks = {{Value(), bases[0]}};
    placeIn(Value());
    size_t most = 1;
    for (plan::TogetherOp region : planned.regions)
      most = std::max(most, launchesOf(region).size());
    bool overlaps = false;
    source.walk([&](plan::OverlapOp overlap) {
      overlaps = true;
      most = std::max(most, overlap.launches().size() + 1);
    });
    calls.begin(frame, most, overlaps);
    emitBlock(source.getBody().front());
    storeOutputDims();
    finish(0);
  }

private:
  /// Operations that only name memory have no code of their own.
  void emitBlock(mlir::Block &block) {
    for (Operation &op : block)
      TypeSwitch<Operation *>(&op)
          .Case([&](plan::LaunchOp launch) { emitLaunches({launch}); })
          .Case([&](plan::TogetherOp region) { emitLaunches(launchesOf(region)); })
          .Case<plan::AwaitOp, plan::BindOp, plan::CheckPositionsOp, plan::ExchangeOp, plan::IfOp,
                plan::LoopOp, plan::OverlapOp, plan::ReserveOp, plan::ProvideOp>(
              [&](auto step) { emitStep(step); });
  }

  static SmallVector<plan::LaunchOp> launchesOf(plan::TogetherOp region) {
    return llvm::to_vector(region.getBody().getOps<plan::LaunchOp>());
  }

  //===-- Sizes that nothing limits ---------------------------------------------------------------------===//

  /// Behind this, integers compute the expressions without wrapping. bind checked those that do not speak of unlimited symbols.
  void requireSmall(ArrayRef<SymExpr> exprs) {
    Value largest;
    for (SymExpr expr : exprs) {
      if (llvm::none_of(expr.symbols(), [&](StringAttr name) { return unlimited.count(name); }) ||
          expr.asSymbol() || !checked.insert(expr).second)
        continue;
      Value magnitude = emitMagnitude(expr);
      largest = largest ? b.create<arith::MaxNumFOp>(largest, magnitude).getResult() : magnitude;
    }
    if (!largest)
      return;
    HostCode::requireSmall(run, largest, planned.entry.sizeRow());
  }

  /// A call of a function of the host table: (frame, number, bytes).
  Value callHost(Type result, size_t function, unsigned number, Value bytes) {
    Value host = load(pointer, frame, offsetof(weft_frame_v1, host));
    Value callee = load(pointer, host, function);
    auto type = LLVM::LLVMFunctionType::get(result, {pointer, i64, i64});
    auto call =
        b.create<LLVM::CallOp>(type, ValueRange{callee, frame, constant(int64_t(number)), bytes});
    return call.getNumResults() ? call.getResult() : Value();
  }

  void emitStep(plan::ReserveOp reserve) {
    SmallVector<SymExpr> peaks = reserve.getPeaks()->getDims();
    requireSmall(peaks);
    Value bytes = placeIn(reserve, reserve.getLoose() ? peaks : ArrayRef<SymExpr>());
    unsigned row = llvm::find(planned.late, reserve) - planned.late.begin();
    blocks[reserve] = callHost(pointer, offsetof(weft_host_v1, reserve), row, bytes);
  }

  void emitStep(plan::ProvideOp provide) {
    SymExpr bytes = provide.getBytes()[0];
    requireSmall(bytes);
    auto output = provide.getOutput().getDefiningOp<plan::OutputOp>();
    callHost(LLVM::LLVMVoidType::get(b.getContext()), offsetof(weft_host_v1, output),
             output.getIndex(), emit(bytes));
  }

  void emitLaunches(ArrayRef<plan::LaunchOp> launches) { calls.emit(prepare(launches)); }

  /// What all launches ask for comes before the first word is written.
  std::vector<EmittedKernel> prepare(ArrayRef<plan::LaunchOp> launches) {
    for (plan::LaunchOp launch : launches) {
      if (planned.isLate(launch)) {
        requireSmall(launch.scratchExpr());
        callHost(pointer, offsetof(weft_host_v1, reserve), planned.late.size(),
                 emit(launch.scratchExpr()));
      }
      requireSmall(launch.getWords().getDims());
      requireSmall({launch.unitsExpr(), launch.grainExpr()});
    }
    std::vector<EmittedKernel> kernels;
    for (plan::LaunchOp launch : launches)
      kernels.push_back(kernelOf(launch));
    return kernels;
  }

  EmittedKernel kernelOf(plan::LaunchOp launch) {
    EmittedKernel kernel;
    const PlannedKernel &row = program.kernelOf(launch);
    kernel.symbol = row.symbol;
    kernel.onDevice = onDevice, kernel.isCounted = row.isCounted;
    kernel.row = &row - program.kernels.data();
    for (ValueRange buffers : {ValueRange(launch.getInputs()), ValueRange(launch.getOutputs())})
      for (Value buffer : buffers)
        kernel.words.push_back(address(buffer));
    for (SymExpr value : launch.getWords().getDims())
      kernel.words.push_back(emit(value));
    kernel.units = launch.unitsExpr();
    kernel.grain = launch.grainExpr();
    SymMap here;
    for (auto [symbol, word] : llvm::zip_equal(row.symbols, launch.getWords().getDims()))
      here[symbol] = word;
    kernel.work = row.work.substitute(here);
    return kernel;
  }

  /// The symbol has its value: every fact all of whose symbols have one now must hold.
  void setSymbol(StringAttr name, Value value) {
    const EntryPlan &entry = planned.entry;
    symbols[name.getValue()] = value;
    unsigned place = llvm::find(entry.boundSymbols, name) - entry.boundSymbols.begin(),
             row = entry.checkCount();
    store(value, values, 8 * (entry.symbols.size() + place));
    require(run,
            unlimited.count(name)
                ? compare(arith::CmpIPredicate::ule, value, constant(kMaxSymbolValue))
                : compare(arith::CmpIPredicate::sge, value, constant(0)),
            row + place);
    row += entry.boundSymbols.size();
    for (auto [i, fact] : llvm::enumerate(entry.boundFacts)) {
      auto names = fact.symbols();
      if (llvm::is_contained(names, name) &&
          llvm::all_of(names, [&](StringAttr each) { return symbols.count(each.getValue()); })) {
        for (const SymRelation &relation : fact.relations())
          requireSmall({relation.lhs, relation.rhs});
        require(run, emit(fact), row + i);
      }
    }
  }

  /// An integer that a kernel has written.
  Value loadInteger(Value address, unsigned bits) {
    Type type = b.getIntegerType(bits);
    if (!onDevice)
      return b.create<LLVM::LoadOp>(type, address, bits / 8);
    Value host = load(pointer, frame, offsetof(weft_frame_v1, host));
    Value callee = load(pointer, host, offsetof(weft_host_v1, fetch));
    auto signature = LLVM::LLVMFunctionType::get(i64, {pointer, pointer, i64});
    Value word = b.create<LLVM::CallOp>(signature,
                                        ValueRange{callee, frame, address, constant(int64_t(bits))})
                     .getResult();
    return b.createOrFold<arith::TruncIOp>(type, word);
  }

  void emitStep(plan::BindOp bind) {
    unsigned bits = bind.getBits();
    Value value = loadInteger(address(bind.getValue()), bits);
    setSymbol(bind.getSymbolAttr(),
              bits == 64 ? value : Value(b.create<arith::ExtSIOp>(i64, value)));
  }

  void emitStep(plan::CheckPositionsOp check) {
    SmallVector<SymExpr> exprs = check.getDims().getDims();
    llvm::append_range(exprs, check.getSizes().getDims());
    requireSmall(exprs);
    SmallVector<Value> words{address(check.getPositions())};
    for (SymExpr expr : exprs)
      words.push_back(emit(expr));
    unsigned row = llvm::find(planned.positions, check) - planned.positions.begin();
    if (reach == Reach::Kernels)
      require(run,
              calls.arePositions(ArrayRef(words).drop_back(check.getSizes().size()),
                                 ArrayRef(words).take_back(check.getSizes().size()),
                                 check.getBits()),
              positionsAnswer(planned, row) - 1);
    else
      calls.emit(offsetof(weft_host_v1, check_positions), row, words);
  }

  void emitStep(plan::ExchangeOp exchange) {
    auto [row, words] = wordsOf(exchange);
    calls.emit(exchange.getBeside() ? offsetof(weft_host_v1, exchange_begin)
                                    : offsetof(weft_host_v1, exchange),
               row, words);
  }

  void emitStep(plan::AwaitOp end) {
    auto [row, words] = wordsOf(end.exchange());
    calls.emit(offsetof(weft_host_v1, exchange_end), row, words);
  }

  void emitStep(plan::OverlapOp overlap) {
    SmallVector<plan::LaunchOp> launches = overlap.launches();
    for (plan::LaunchOp launch : launches)
      requireSmall(launch.getRows()->getDims());
    std::vector<EmittedKernel> kernels = prepare(launches);
    auto [row, words] = wordsOf(overlap.exchange());
    std::vector<EmittedRows> rows;
    for (plan::LaunchOp launch : launches)
      rows.push_back(rowsOf(launch));
    calls.emitOverlap(kernels, rows, {row, words, overlap.comesFirst()});
  }

  /// Of a kernel that may be called for some rows, these are the first dimension of what has them.
  EmittedRows rowsOf(plan::LaunchOp launch) {
    EmittedRows rows{(*launch.getRows())[0], (*launch.getRows())[1], int64_t(*launch.getLeast()),
                     int64_t(launch.getHeight())};
    if (!rows.height)
      return rows;
    const PlannedKernel &kernel = program.kernelOf(launch);
    func::FuncOp specification = plan::KernelOp(kernel.op).specification();
    auto of = cast<SymTensorType>(specification.getArgument(*launch.getRowsOf()).getType());
    SymMap here;
    for (auto [name, word] : llvm::zip_equal(kernel.symbols, launch.getWords().getDims()))
      here[name] = word;
    for (TypeRange types :
         {TypeRange(specification.getArgumentTypes()), TypeRange(specification.getResultTypes())})
      for (Type type : types) {
        auto tensor = cast<SymTensorType>(type);
        SymExpr bytes = SymExpr::constant(source.getContext(), 0);
        if (tensor.getRank() && tensor.getDim(0) == of.getDim(0)) {
          bytes = bytes + elementBytes(tensor.getElementType(), 8) / 8;
          for (SymExpr dim : llvm::drop_begin(tensor.getDims()))
            bytes = bytes * dim.substitute(here);
        }
        rows.rowBytes.push_back(bytes);
      }
    requireSmall(rows.rowBytes);
    rows.countWord = rows.rowBytes.size() +
                     (llvm::find(kernel.symbols, of.getDim(0).asSymbol()) - kernel.symbols.begin());
    return rows;
  }

  /// Its row, and what it is called with.
  std::pair<unsigned, SmallVector<Value>> wordsOf(plan::ExchangeOp exchange) {
    auto row = llvm::find_if(planned.exchanges,
                             [&](const PlannedExchange &each) { return each.op == exchange; });
    const ExchangeForm &form = row->form;
    SymExpr none = SymExpr::constant(source.getContext(), 0);
    SymExpr sizes[] = {form.outer,
                       form.first,
                       form.middle,
                       form.second,
                       form.inner,
                       form.received ? form.received : none,
                       form.longest ? form.longest : none};
    requireSmall(sizes);
    SmallVector<Value> words{address(exchange.getSent()), address(exchange.getReceived())};
    for (SymExpr size : sizes)
      words.push_back(emit(size));
    return {row - planned.exchanges.begin(), words};
  }

  Value isTrue(Value condition) {
    Value byte = loadInteger(address(condition), 8);
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, byte,
                                   b.create<arith::ConstantOp>(b.getI8IntegerAttr(0)));
  }

  Block *newBlock(ArrayRef<Type> arguments) {
    Block *block = run.addBlock();
    for (Type type : arguments)
      block->addArgument(type, b.getLoc());
    return block;
  }

  /// Values computed meanwhile are forgotten afterwards: other blocks may not see them.
  struct Scope {
    explicit Scope(RunEmitter &emitter)
        : emitter(emitter), emitted(emitter.emitted), symbols(emitter.symbols),
          checked(emitter.checked) {}
    ~Scope() {
      emitter.emitted = std::move(emitted);
      emitter.checked = std::move(checked);
      emitter.symbols = std::move(symbols);
    }
    RunEmitter &emitter;
    llvm::DenseMap<SymExpr, Value> emitted;
    llvm::StringMap<Value> symbols;
    llvm::DenseSet<SymExpr> checked;
  };

  void emitStep(plan::IfOp branch) {
    SmallVector<StringAttr, 1> names = branch.symbolsAfter();
    SmallVector<Type> types(names.size(), i64);
    types.append(branch.getNumResults(), pointer);
    Block *yes = newBlock({}), *no = newBlock({}), *after = newBlock(types);
    b.create<cf::CondBranchOp>(isTrue(branch.getCondition()), yes, ValueRange(), no, ValueRange());
    for (bool taken : {true, false}) {
      Scope scope(*this);
      Block &from = (taken ? branch.getYes() : branch.getNo()).front();
      b.setInsertionPointToEnd(taken ? yes : no);
      emitBlock(from);
      auto yield = cast<plan::YieldOp>(from.getTerminator());
      SmallVector<Value> given;
      requireSmall(yield.getDims().getDims());
      for (SymExpr dim : yield.getDims().getDims())
        given.push_back(emit(dim));
      for (Value buffer : yield.getBuffers())
        given.push_back(address(buffer));
      b.create<cf::BranchOp>(after, given);
    }
    b.setInsertionPointToEnd(after);
    for (auto [buffer, value] :
         llvm::zip_equal(branch.getResults(), after->getArguments().drop_front(names.size())))
      addresses[buffer] = value;
    for (auto [name, value] : llvm::zip_first(names, after->getArguments()))
      setSymbol(name, value);
  }

  /// head(i, goes on, current..., next..., spare...): body or exit.
  void emitStep(plan::LoopOp loop) {
    size_t n = loop.getCarried().size();
    SmallVector<Type> types(2 + 3 * n, pointer);
    types[0] = i64;
    types[1] = b.getI1Type();
    Block *head = newBlock(types), *body = newBlock({}), *exit = newBlock({});
    bool isConditional = loop.getCount().has_value();
    Value always = b.create<arith::ConstantOp>(b.getBoolAttr(true));
    SmallVector<Value> start{constant(0), isConditional ? isTrue(loop.getBegin()) : always};
    for (Value init : loop.getCarried())
      start.push_back(address(init));
    for (size_t storage : {0, 1})
      for (size_t i = 0; i < n; ++i)
        start.push_back(address(loop.getMemory()[2 * i + storage]));
    SymExpr most = loop.getTrips()[0];
    requireSmall(most);
    Value trips = emit(most);
    b.create<cf::BranchOp>(head, start);
    b.setInsertionPointToEnd(head);
    auto arguments = head->getArguments();
    for (size_t i = 0; i < n; ++i) {
      addresses[loop.getBody().getArgument(i)] = addresses[loop.getResult(i)] = arguments[2 + i];
      addresses[loop.getBody().getArgument(n + i)] = arguments[2 + n + i];
    }
    Value more = compare(arith::CmpIPredicate::slt, arguments[0], trips);
    b.create<cf::CondBranchOp>(b.create<arith::AndIOp>(more, arguments[1]), body, ValueRange(),
                               exit, ValueRange());
    b.setInsertionPointToEnd(body);
    emitBody(loop, head, always);
    b.setInsertionPointToEnd(exit);
    if (isConditional)
      setSymbol(loop.getCountAttr(), arguments[0]);
  }

  /// One turn, and the branch back to `head`.
  void emitBody(plan::LoopOp loop, Block *head, Value always) {
    Scope scope(*this);
    size_t n = loop.getCarried().size();
    auto arguments = head->getArguments();
    setSymbol(loop.getIndexAttr(), arguments[0]);
    emitBlock(loop.getBody().front());
    auto yield = cast<plan::YieldOp>(loop.getBody().front().getTerminator());
    SmallVector<Value> next{b.create<arith::AddIOp>(arguments[0], constant(1)),
                            loop.getCount() ? isTrue(yield.getBuffers()[0]) : always};
    for (size_t from :
         {size_t(1), size_t(2), size_t(1)}) // what was next is current, and is the next spare one
      for (size_t i = 0; i < n; ++i)
        next.push_back(arguments[2 + from * n + i]);
    b.create<cf::BranchOp>(head, next);
  }

  /// Dimensions that bind could only limit.
  void storeOutputDims() {
    for (unsigned i = 0; i < source.getNumResults(); ++i)
      for (auto [d, dim] : llvm::enumerate(callersOutput(source, i).getDims()))
        if (dim != planned.outputDims[i][d])
          store(emit(dim), bases[2],
                i * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, dim) + 8 * d);
  }

  Value address(Value buffer) {
    auto behind = [&](Value base, Value offset) -> Value {
      return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
    };
    auto data = [&](Value tensors, unsigned i) {
      return load(pointer, tensors, i * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, data));
    };
    Operation *op = buffer.getDefiningOp();
    if (auto part = dyn_cast_if_present<plan::PartOp>(op)) {
      Value whole = address(part.getWhole());
      return part.getOffset() ? behind(whole, emit((*part.getOffset())[0])) : whole;
    }
    if (auto memory = dyn_cast_if_present<plan::MemoryOp>(op))
      return behind(blocks.lookup(memory.getInside()), offsets.lookup(memory));
    if (auto input = dyn_cast_if_present<plan::InputOp>(op))
      return data(bases[1], input.getIndex());
    if (auto output = dyn_cast_if_present<plan::OutputOp>(op))
      return data(bases[2], output.getIndex());
    if (auto weight = dyn_cast_if_present<plan::WeightOp>(op))
      return behind(bases[3], emit(offsetOf(weight, weights)));
    return addresses.lookup(buffer);
  }

  const Program &program;
  bool onDevice; ///< run kernels, and lies what they read and write
  ArrayRef<StoredWeight> weights;
  Reach reach;
  func::FuncOp run;
  Value frame, values; ///< of run
  HostCalls calls;
  SmallVector<Value, 4> bases;
  llvm::DenseMap<Value, Value> addresses; ///< of what branches and loops move
  llvm::DenseSet<StringAttr> unlimited;   ///< bound symbols that bind can limit by nothing
  llvm::DenseMap<Value, Value> blocks;    ///< their addresses; null is the arena
  llvm::DenseSet<SymExpr> checked;        ///< by requireSmall on every way here
};

} // namespace

int32_t positionsAnswer(const PlannedFunction &function, unsigned row) {
  const EntryPlan &entry = function.entry;
  return entry.checkCount() + entry.boundSymbols.size() + entry.boundFacts.size() + row + 1;
}

void emitHostProgram(ModuleOp module, unsigned number, const Variant &variant,
                     ArrayRef<StoredWeight> weights, Reach reach) {
  const Program &program = variant.program;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  if (!variant.target.kernels->isForDevice())
    for (const PlannedKernel &kernel : program.kernels)
      b.create<LLVM::LLVMFuncOp>(
          kernel.symbol, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                                     {pointer, i64, i64, pointer}));
  for (auto [i, function] : llvm::enumerate(program.functions)) {
    emitBind(module, function, bindSymbol(number, i));
    RunEmitter(module, function, variant, weights, reach).emitRun(runSymbol(number, i));
  }
}

} // namespace weft
