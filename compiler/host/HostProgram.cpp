//===- HostProgram.cpp - Emits bind and run ---------------------------------------------------------------===//
//
//   bind(in, values)   reads symbols from dimensions, checks, fills values: symbols, arena bytes, output dimensions
//   run(frame)         computes the plan's offsets, then per region: words, units, one call of the host's `parallel`, or of `together` for
//                      several kernels; between regions it reads symbols from memory, branches and loops, asks for memory whose size is known only then, and
//                      calls for what ranks do together. With Reach::Kernels it calls kernels itself
//===------------------------------------------------------------------------------------------===//

#include "compiler/host/HostProgram.h"
#include "compiler/host/HostCalls.h"
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

constexpr int64_t kLineBytes = 64;    ///< memory begins at lines of the caches
constexpr double kMostBytes = 4.0e18; // nearly 2^62

class HostEmitter : HostExpressions {
public:
  HostEmitter(ModuleOp module, unsigned number, const Variant &variant,
              ArrayRef<StoredWeight> weights, Reach reach)
      : HostExpressions(module), module(module), variant(number), program(variant.program),
        onDevice(variant.target.kernels->isForDevice()), weights(weights), reach(reach),
        calls(*this, reach == Reach::Kernels) {
    pointer = LLVM::LLVMPointerType::get(b.getContext());
    i64 = b.getI64Type();
    i32 = b.getI32Type();
    b.setInsertionPointToEnd(module.getBody());
  }

  void emitFunction(unsigned i) {
    planned = &program.functions[i];
    source = planned->function;
    emitBind(bindSymbol(variant, i));
    emitRun(runSymbol(variant, i));
  }

private:
  //===-- Small things ----------------------------------------------------------------------------------===//
  Value at(Value base, int64_t byteOffset) {
    return b.create<LLVM::GEPOp>(pointer, b.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{int32_t(byteOffset)});
  }
  Value load(Type type, Value base, int64_t byteOffset) {
    return b.create<LLVM::LoadOp>(type, at(base, byteOffset), 8);
  }
  void store(Value value, Value base, int64_t byteOffset) {
    b.create<LLVM::StoreOp>(value, at(base, byteOffset), 8);
  }
  /// Straight lines that run once per call: they are compiled for size.
  func::FuncOp begin(StringRef name, ArrayRef<Type> arguments) {
    b.setInsertionPointToEnd(module.getBody());
    auto function = b.create<func::FuncOp>(name, b.getFunctionType(arguments, {i32}));
    function->setAttr("passthrough", b.getStrArrayAttr({"optsize"}));
    b.setInsertionPointToStart(function.addEntryBlock());
    symbols.clear();
    emitted.clear();
    return function;
  }

  void finish(int32_t code) {
    b.create<func::ReturnOp>(ValueRange{b.create<arith::ConstantOp>(b.getI32IntegerAttr(code))});
  }

  //===-- bind ------------------------------------------------------------------------------------------===//
  Value dimension(Value in, unsigned input, unsigned dim) {
    return load(i64, in, input * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, dim) + 8 * dim);
  }

  /// How long the buffer of an input is along a dimension: what the stride in front of it says, where there is one.
  Value room(Value in, const EntryStep &step) {
    Value stride = load(i64, in,
                        step.input * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, stride) +
                            8 * (step.dim - 1));
    Value isNone = compare(arith::CmpIPredicate::eq, stride, constant(0));
    Value places = b.create<arith::DivSIOp>(stride, constant(step.factor));
    return b.create<arith::SelectOp>(isNone, dimension(in, step.input, step.dim), places);
  }

  /// Where the rank stands, which the runtime knows before a call.
  void loadPlaces(Value values) {
    const EntryPlan &entry = planned->entry;
    size_t slot = entry.symbols.size() + entry.boundSymbols.size();
    for (StringAttr name : entry.rankSymbols)
      symbols[name.getValue()] = load(i64, values, 8 * slot++);
  }

  /// Continues in a new block when `holds`, else returns `row` + 1.
  void require(func::FuncOp function, Value holds, int32_t row) {
    Block *good = function.addBlock(), *bad = function.addBlock();
    b.create<cf::CondBranchOp>(holds, good, ValueRange(), bad, ValueRange());
    b.setInsertionPointToEnd(bad);
    finish(row + 1);
    b.setInsertionPointToEnd(good);
  }

  void emitBind(StringRef name) {
    func::FuncOp function = begin(name, {pointer, pointer});
    Value in = function.getArgument(0), values = function.getArgument(1);
    loadPlaces(values);
    int32_t row = 0;
    for (const EntryStep &step : planned->entry.steps) {
      if (step.kind == EntryStep::Bind) {
        symbols[planned->entry.symbols[step.symbol].name.getValue()] =
            dimension(in, step.input, step.dim);
        continue;
      }
      if (step.kind == EntryStep::BindRoom) {
        symbols[planned->entry.symbols[step.symbol].name.getValue()] = room(in, step);
        continue;
      }
      emitCheck(function, in, step, row++);
    }
    int64_t slot = 0;
    for (const EntrySymbol &symbol : planned->entry.symbols)
      store(symbols.lookup(symbol.name.getValue()), values, 8 * slot++);
    for (StringAttr name : planned->entry.boundSymbols) {
      SymExpr most = symbolsOf(source).getUpperBound(SymExpr::symbol(name));
      store(most ? emit(most) : constant(-1), values, 8 * slot++);
    }
    slot += planned->entry.rankSymbols.size(); // they are there
    store(placeIn(Value(), planned->isArenaLoose ? planned->arena : ArrayRef<SymExpr>()), values,
          8 * slot++);
    for (ArrayRef<SymExpr> dims : planned->outputDims)
      for (SymExpr dim : dims)
        store(dim ? emit(dim) : constant(-1), values, 8 * slot++);
    finish(0);
  }

  void emitCheck(func::FuncOp function, Value in, const EntryStep &step, int32_t row) {
    const EntrySymbol *symbol = step.symbol < planned->entry.symbols.size()
                                    ? &planned->entry.symbols[step.symbol]
                                    : nullptr;
    auto value = [&] { return symbols.lookup(symbol->name.getValue()); };
    switch (step.check) {
    case WEFT_CHECK_SOLVE: {
      Value have = dimension(in, step.input, step.dim),
            rest = b.create<arith::SubIOp>(have, constant(step.addend));
      Value enough = compare(arith::CmpIPredicate::sge, rest, constant(0));
      Value exact = compare(arith::CmpIPredicate::eq,
                            b.create<arith::RemSIOp>(rest, constant(step.factor)), constant(0));
      require(function, b.create<arith::AndIOp>(enough, exact), row);
      symbols[symbol->name.getValue()] = b.create<arith::DivSIOp>(rest, constant(step.factor));
      return;
    }
    case WEFT_CHECK_DIM:
      require(function,
              compare(arith::CmpIPredicate::eq, dimension(in, step.input, step.dim),
                      emit(step.expected)),
              row);
      return;
    case WEFT_CHECK_MIN:
      require(function, compare(arith::CmpIPredicate::sge, value(), constant(symbol->min)), row);
      return;
    case WEFT_CHECK_MAX:
      require(function, compare(arith::CmpIPredicate::sle, value(), constant(symbol->max)), row);
      return;
    case WEFT_CHECK_MULTIPLE:
      require(function,
              compare(arith::CmpIPredicate::eq,
                      b.create<arith::RemSIOp>(value(), constant(symbol->multiple)), constant(0)),
              row);
      return;
    case WEFT_CHECK_FACT:
      require(function, emit(*step.fact), row);
      return;
    case WEFT_CHECK_ROOM: {
      Value isShared = compare(arith::CmpIPredicate::eq, room(in, step), value());
      Value isEnough = compare(arith::CmpIPredicate::sge, value(), emit(step.expected));
      require(function, b.create<arith::AndIOp>(isShared, isEnough), row);
      return;
    }
    case WEFT_CHECK_SIZE:
      emitSizeCheck(function, row);
      return;
    case WEFT_CHECK_DATA: // of symbols that run binds
      return;
    }
  }

  /// Every size and the peak stay below 2^62, judged in double arithmetic.
  void emitSizeCheck(func::FuncOp function, int32_t row) {
    Value limit = b.create<arith::ConstantOp>(b.getF64FloatAttr(kMostBytes)),
          largest = b.create<arith::ConstantOp>(b.getF64FloatAttr(0));
    SmallVector<SymExpr> sizes(planned->arena);
    for (Type type : source.getArgumentTypes())
      sizes.push_back(cast<SymTensorType>(type).getElements() * int64_t(8));
    for (ArrayRef<SymExpr> dims : planned->outputDims) {
      if (llvm::is_contained(dims, SymExpr()))
        continue; // judged when run provides it
      SymExpr elements = SymExpr::constant(source.getContext(), 8);
      for (SymExpr dim : dims)
        elements = elements * dim;
      sizes.push_back(elements);
    }
    llvm::append_range(sizes, planned->scratch);
    for (SymExpr size : sizes)
      if (!size.asConstant())
        largest = b.create<arith::MaxNumFOp>(largest, emitReal(size));
    require(function, b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, largest, limit), row);
  }

  /// Sets the offsets of the memory in a block, in the order of placement; the peak, at least `loose`.
  Value placeIn(Value block, ArrayRef<SymExpr> loose = {}) {
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

  //===-- run -------------------------------------------------------------------------------------------===//
  void emitRun(StringRef name) {
    run = begin(name, {pointer});
    frame = run.getArgument(0);
    values = load(pointer, frame, offsetof(weft_frame_v1, values));
    for (auto [i, symbol] : llvm::enumerate(planned->entry.symbols))
      symbols[symbol.name.getValue()] = load(i64, values, 8 * i);
    loadPlaces(values);
    unlimited.clear();
    for (StringAttr name : planned->entry.boundSymbols)
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
    for (plan::TogetherOp region : planned->regions)
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
    Value limit = b.create<arith::ConstantOp>(b.getF64FloatAttr(kMostBytes));
    require(run, b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, largest, limit),
            planned->entry.sizeRow());
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
    unsigned row = llvm::find(planned->late, reserve) - planned->late.begin();
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
      if (planned->isLate(launch)) {
        requireSmall(launch.scratchExpr());
        callHost(pointer, offsetof(weft_host_v1, reserve), planned->late.size(),
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
    const EntryPlan &entry = planned->entry;
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
    unsigned row = llvm::find(planned->positions, check) - planned->positions.begin();
    if (reach == Reach::Kernels)
      require(run,
              calls.arePositions(ArrayRef(words).drop_back(check.getSizes().size()),
                                 ArrayRef(words).take_back(check.getSizes().size()),
                                 check.getBits()),
              positionsAnswer(*planned, row) - 1);
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
    auto row = llvm::find_if(planned->exchanges,
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
    return {row - planned->exchanges.begin(), words};
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
    explicit Scope(HostEmitter &emitter)
        : emitter(emitter), emitted(emitter.emitted), symbols(emitter.symbols),
          checked(emitter.checked) {}
    ~Scope() {
      emitter.emitted = std::move(emitted);
      emitter.checked = std::move(checked);
      emitter.symbols = std::move(symbols);
    }
    HostEmitter &emitter;
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
        if (dim != planned->outputDims[i][d])
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

  ModuleOp module;
  unsigned variant;
  const Program &program;
  bool onDevice; ///< run kernels, and lies what they read and write
  ArrayRef<StoredWeight> weights;
  Reach reach;
  const PlannedFunction *planned = nullptr;
  plan::FuncOp source; ///< of `planned`, in the compiler's context
  Type pointer, i64, i32;
  func::FuncOp run;
  Value frame, values; ///< of run
  HostCalls calls;
  SmallVector<Value, 4> bases;
  llvm::DenseMap<Value, Value> offsets;   ///< of memory in its block
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
  HostEmitter emitter(module, number, variant, weights, reach);
  const Program &program = variant.program;
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  if (!variant.target.kernels->isForDevice())
    for (const PlannedKernel &kernel : program.kernels)
      b.create<LLVM::LLVMFuncOp>(
          kernel.symbol, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                                     {pointer, i64, i64, pointer}));
  for (unsigned i = 0; i < program.functions.size(); ++i)
    emitter.emitFunction(i);
}

} // namespace weft
