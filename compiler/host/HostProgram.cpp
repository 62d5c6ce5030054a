//===- HostProgram.cpp - Emits bind and run ---------------------------------------------------------------===//
//
//   bind(in, values)   reads symbols from dimensions, checks, fills values: symbols, arena bytes, output dimensions
//   run(frame)         computes the plan's offsets, then per region: words, units, one call of the host's `parallel`, or of `together` for
//                      several kernels; between regions it reads symbols from memory, branches and loops, and asks for memory whose size is known only then
//===------------------------------------------------------------------------------------------===//

#include "compiler/host/HostProgram.h"
#include "compiler/host/HostCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "weft/artifact.h"
#include <cstddef>

using namespace mlir;

namespace weft {

static std::string symbolOf(const char *what, unsigned variant, unsigned function) {
  return what + std::to_string(variant) + "_" + std::to_string(function);
}
std::string bindSymbol(unsigned v, unsigned f) { return symbolOf("weft_bind_", v, f); }
std::string runSymbol(unsigned v, unsigned f) { return symbolOf("weft_run_", v, f); }

namespace {

constexpr double kMostBytes = 4.0e18; // nearly 2^62

class HostEmitter : HostExpressions {
public:
  HostEmitter(ModuleOp module, unsigned variant, const Program &program,
              ArrayRef<StoredWeight> weights)
      : HostExpressions(module), module(module), variant(variant), program(program),
        weights(weights), calls(*this) {
    pointer = LLVM::LLVMPointerType::get(b.getContext());
    i64 = b.getI64Type();
    i32 = b.getI32Type();
    b.setInsertionPointToEnd(module.getBody());
  }

  void emitFunction(unsigned i) {
    lowered = &program.functions[i];
    source = lowered->function;
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
  func::FuncOp begin(StringRef name, ArrayRef<Type> arguments) {
    b.setInsertionPointToEnd(module.getBody());
    auto function = b.create<func::FuncOp>(name, b.getFunctionType(arguments, {i32}));
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
    int32_t row = 0;
    for (const EntryStep &step : lowered->entry.steps) {
      if (step.kind == EntryStep::Bind) {
        symbols[lowered->entry.symbols[step.symbol].name.getValue()] =
            dimension(in, step.input, step.dim);
        continue;
      }
      if (step.kind == EntryStep::BindRoom) {
        symbols[lowered->entry.symbols[step.symbol].name.getValue()] = room(in, step);
        continue;
      }
      emitCheck(function, in, step, row++);
    }
    int64_t slot = 0;
    for (const EntrySymbol &symbol : lowered->entry.symbols)
      store(symbols.lookup(symbol.name.getValue()), values, 8 * slot++);
    for (StringAttr name : lowered->entry.boundSymbols) {
      SymExpr most = symbolsOf(source).getUpperBound(SymExpr::symbol(name));
      store(most ? emit(most) : constant(-1), values, 8 * slot++);
    }
    store(planOffsets(lowered->plan), values, 8 * slot++);
    for (ArrayRef<SymExpr> dims : lowered->outputDims)
      for (SymExpr dim : dims)
        store(dim ? emit(dim) : constant(-1), values, 8 * slot++);
    finish(0);
  }

  void emitCheck(func::FuncOp function, Value in, const EntryStep &step, int32_t row) {
    const EntrySymbol *symbol = step.symbol < lowered->entry.symbols.size()
                                    ? &lowered->entry.symbols[step.symbol]
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
    SmallVector<SymExpr> sizes(lowered->plan.peaks);
    for (Type type : source.getArgumentTypes())
      sizes.push_back(cast<SymTensorType>(type).getElements() * int64_t(8));
    for (ArrayRef<SymExpr> dims : lowered->outputDims) {
      if (llvm::is_contained(dims, SymExpr()))
        continue; // judged when run provides it
      SymExpr elements = SymExpr::constant(source.getContext(), 8);
      for (SymExpr dim : dims)
        elements = elements * dim;
      sizes.push_back(elements);
    }
    llvm::append_range(sizes, lowered->scratch);
    for (SymExpr size : sizes)
      if (!size.asConstant())
        largest = b.create<arith::MaxNumFOp>(largest, emitReal(size));
    require(function, b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, largest, limit), row);
  }

  /// Sets the offsets of a block's storage classes; the peak.
  Value planOffsets(const MemoryPlan &plan) {
    offsets.resize(lowered->classes.size());
    SmallVector<Value> tops(lowered->classes.size());
    Value peak = constant(0);
    for (unsigned i : plan.order) {
      Value offset = constant(0);
      for (unsigned j : plan.below[i])
        offset = b.create<arith::MaxSIOp>(offset, tops[j]);
      offsets[i] = offset;
      tops[i] = b.create<arith::AddIOp>(offset, emit(lowered->classes[i].bytes));
      peak = b.create<arith::MaxSIOp>(peak, tops[i]);
    }
    for (SymExpr most : plan.isExact ? ArrayRef<SymExpr>() : ArrayRef<SymExpr>(plan.peaks))
      peak = b.create<arith::MaxSIOp>(peak, emit(most));
    return peak;
  }

  //===-- run -------------------------------------------------------------------------------------------===//
  void emitRun(StringRef name) {
    run = begin(name, {pointer});
    frame = run.getArgument(0);
    values = load(pointer, frame, offsetof(weft_frame_v1, values));
    for (auto [i, symbol] : llvm::enumerate(lowered->entry.symbols))
      symbols[symbol.name.getValue()] = load(i64, values, 8 * i);
    unlimited.clear();
    for (StringAttr name : lowered->entry.boundSymbols)
      if (!symbolsOf(source).getUpperBound(SymExpr::symbol(name)))
        unlimited.insert(name);
    blocks.assign(1 + lowered->latePlans.size(), Value());
    checked.clear();
    bases = {load(pointer, frame, offsetof(weft_frame_v1, arena)),
             load(pointer, frame, offsetof(weft_frame_v1, in)),
             load(pointer, frame, offsetof(weft_frame_v1, out)),
             load(pointer, frame, offsetof(weft_frame_v1, weights))};
    blocks[0] = bases[0];
    planOffsets(lowered->plan);
    slots.assign(lowered->slots, Value());
    unsigned most = 1;
    for (const CallRegion &region : lowered->regions)
      most = std::max(most, region.count);
    calls.begin(frame, most);
    emitSteps(lowered->steps);
    storeOutputDims();
    finish(0);
  }

  void emitSteps(const std::vector<HostStep> &steps) {
    for (const HostStep &step : steps)
      switch (step.kind) {
      case HostStep::Run:
        emitRegion(lowered->regions[step.index]);
        break;
      case HostStep::Bind:
        emitBindStep(lowered->binds[step.index]);
        break;
      case HostStep::If:
        emitIf(lowered->ifs[step.index]);
        break;
      case HostStep::Loop:
        emitLoop(lowered->loops[step.index]);
        break;
      case HostStep::Reserve:
        emitReserve(step.index);
        break;
      case HostStep::Provide:
        emitProvide(lowered->provides[step.index]);
        break;
      }
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
            lowered->entry.sizeRow());
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

  void emitReserve(unsigned block) {
    const MemoryPlan &plan = lowered->latePlans[block];
    requireSmall(plan.peaks);
    Value bytes = planOffsets(plan);
    blocks[block + 1] = callHost(pointer, offsetof(weft_host_v1, reserve), block, bytes);
  }

  void emitProvide(const ProvideStep &step) {
    requireSmall(step.bytes);
    callHost(LLVM::LLVMVoidType::get(b.getContext()), offsetof(weft_host_v1, output), step.output,
             emit(step.bytes));
  }

  /// What all calls ask for comes before the first word is written.
  void emitRegion(const CallRegion &region) {
    ArrayRef<KernelCall> members = ArrayRef(lowered->calls).slice(region.first, region.count);
    for (const KernelCall &call : members) {
      if (call.lateScratch) {
        requireSmall(call.lateScratch);
        callHost(pointer, offsetof(weft_host_v1, reserve), lowered->latePlans.size(),
                 emit(call.lateScratch));
      }
      requireSmall(call.values);
      requireSmall({call.units, call.grain});
    }
    std::vector<EmittedKernel> kernels;
    for (const KernelCall &call : members) {
      EmittedKernel &kernel = kernels.emplace_back();
      kernel.symbol = program.kernels[call.kernel].symbol;
      kernel.row = call.kernel;
      for (const Buffer &buffer : call.pointers)
        kernel.words.push_back(address(buffer));
      for (SymExpr value : call.values)
        kernel.words.push_back(emit(value));
      kernel.units = call.units;
      kernel.grain = call.grain;
      kernel.work = call.work;
    }
    calls.emit(kernels);
  }

  /// The symbol has its value: every fact all of whose symbols have one now must hold.
  void setSymbol(StringAttr name, Value value) {
    const EntryPlan &entry = lowered->entry;
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

  void emitBindStep(const BindStep &bind) {
    Value value =
        b.create<LLVM::LoadOp>(b.getIntegerType(bind.bits), address(bind.value), bind.bits / 8);
    setSymbol(bind.symbol, bind.bits == 64 ? value : Value(b.create<arith::ExtSIOp>(i64, value)));
  }

  Value isTrue(const Buffer &condition) {
    Value byte = b.create<LLVM::LoadOp>(b.getI8Type(), address(condition), 1);
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

  void emitIf(const IfStep &step) {
    SmallVector<Type> types(step.symbols.size(), i64);
    types.append(step.slots.size(), pointer);
    Block *yes = newBlock({}), *no = newBlock({}), *after = newBlock(types);
    b.create<cf::CondBranchOp>(isTrue(step.condition), yes, ValueRange(), no, ValueRange());
    for (bool taken : {true, false}) {
      Scope scope(*this);
      b.setInsertionPointToEnd(taken ? yes : no);
      emitSteps(taken ? step.yes : step.no);
      SmallVector<Value> given;
      requireSmall(taken ? step.yesDims : step.noDims);
      for (SymExpr dim : taken ? step.yesDims : step.noDims)
        given.push_back(emit(dim));
      for (const Buffer &buffer : taken ? step.yesBuffers : step.noBuffers)
        given.push_back(address(buffer));
      b.create<cf::BranchOp>(after, given);
    }
    b.setInsertionPointToEnd(after);
    for (auto [slot, value] :
         llvm::zip(step.slots, after->getArguments().drop_front(step.symbols.size())))
      slots[slot] = value;
    for (auto [name, value] : llvm::zip_first(step.symbols, after->getArguments()))
      setSymbol(name, value);
  }

  /// head(i, goes on, current..., next..., spare...): body or exit.
  void emitLoop(const LoopStep &step) {
    size_t n = step.carried.size();
    SmallVector<Type> types(2 + 3 * n, pointer);
    types[0] = i64;
    types[1] = b.getI1Type();
    Block *head = newBlock(types), *body = newBlock({}), *exit = newBlock({});
    Value always = b.create<arith::ConstantOp>(b.getBoolAttr(true));
    SmallVector<Value> start{constant(0), step.count ? isTrue(step.begin) : always};
    for (const CarriedValue &each : step.carried)
      start.push_back(address(each.init));
    for (unsigned CarriedValue::*storage : {&CarriedValue::first, &CarriedValue::second})
      for (const CarriedValue &each : step.carried)
        start.push_back(address({Buffer::Arena, each.*storage, {}}));
    requireSmall(step.trips);
    Value trips = emit(step.trips);
    b.create<cf::BranchOp>(head, start);
    b.setInsertionPointToEnd(head);
    auto arguments = head->getArguments();
    for (auto [i, each] : llvm::enumerate(step.carried)) {
      slots[each.current] = arguments[2 + i];
      slots[each.next] = arguments[2 + n + i];
    }
    Value more = compare(arith::CmpIPredicate::slt, arguments[0], trips);
    b.create<cf::CondBranchOp>(b.create<arith::AndIOp>(more, arguments[1]), body, ValueRange(),
                               exit, ValueRange());
    {
      Scope scope(*this);
      b.setInsertionPointToEnd(body);
      setSymbol(step.index, arguments[0]);
      emitSteps(step.body);
      SmallVector<Value> next{b.create<arith::AddIOp>(arguments[0], constant(1)),
                              step.count ? isTrue(step.goOn) : always};
      for (size_t from :
           {size_t(1), size_t(2), size_t(1)}) // what was next is current, and is the next spare one
        for (size_t i = 0; i < n; ++i)
          next.push_back(arguments[2 + from * n + i]);
      b.create<cf::BranchOp>(head, next);
    }
    b.setInsertionPointToEnd(exit);
    if (step.count)
      setSymbol(step.count, arguments[0]);
  }

  /// Dimensions that bind could only limit.
  void storeOutputDims() {
    for (unsigned i = 0; i < source.getNumResults(); ++i)
      for (auto [d, dim] : llvm::enumerate(callersOutput(source, i).getDims()))
        if (dim != lowered->outputDims[i][d])
          store(emit(dim), bases[2],
                i * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, dim) + 8 * d);
  }

  Value address(const Buffer &buffer) {
    Value base = baseAddress(buffer);
    return buffer.offset ? Value(b.create<LLVM::GEPOp>(pointer, b.getI8Type(), base,
                                                       ArrayRef<LLVM::GEPArg>{emit(buffer.offset)}))
                         : base;
  }

  Value baseAddress(const Buffer &buffer) {
    switch (buffer.kind) {
    case Buffer::Slot:
      return slots[buffer.index];
    case Buffer::Arena:
      return b.create<LLVM::GEPOp>(pointer, b.getI8Type(),
                                   blocks[lowered->classes[buffer.index].block],
                                   ArrayRef<LLVM::GEPArg>{offsets[buffer.index]});
    case Buffer::Input:
      return load(pointer, bases[1],
                  buffer.index * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, data));
    case Buffer::Output:
      return load(pointer, bases[2],
                  buffer.index * sizeof(weft_tensor_t) + offsetof(weft_tensor_t, data));
    case Buffer::Weight:
      return b.create<LLVM::GEPOp>(
          pointer, b.getI8Type(), bases[3],
          ArrayRef<LLVM::GEPArg>{constant(int64_t(weights[buffer.index].offset))});
    }
    llvm_unreachable("closed set of buffers");
  }

  ModuleOp module;
  unsigned variant;
  const Program &program;
  ArrayRef<StoredWeight> weights;
  const LoweredFunction *lowered = nullptr;
  func::FuncOp source; ///< of `lowered`, in the compiler's context
  Type pointer, i64, i32;
  func::FuncOp run;
  Value frame, values; ///< of run
  HostCalls calls;
  SmallVector<Value, 4> bases;
  SmallVector<Value> offsets, slots;
  llvm::DenseSet<StringAttr> unlimited; ///< bound symbols that bind can limit by nothing
  SmallVector<Value> blocks;            ///< the arena, then late blocks
  llvm::DenseSet<SymExpr> checked;      ///< by requireSmall on every way here
};

} // namespace

void emitHostProgram(ModuleOp module, unsigned variant, const Program &program,
                     ArrayRef<StoredWeight> weights) {
  HostEmitter emitter(module, variant, program, weights);
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  for (const KernelCode &kernel : program.kernels)
    b.create<LLVM::LLVMFuncOp>(kernel.symbol,
                               LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                                           {pointer, i64, i64, pointer}));
  for (unsigned i = 0; i < program.functions.size(); ++i)
    emitter.emitFunction(i);
}

void emitDescriptor(ModuleOp module, StringRef descriptor) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto addData = [&](StringRef name, StringRef bytes, StringRef section, unsigned align) {
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    auto global =
        b.create<LLVM::GlobalOp>(module.getLoc(), type, /*isConstant=*/true,
                                 LLVM::Linkage::External, name, b.getStringAttr(bytes), align);
    global.setVisibility_(LLVM::Visibility::Hidden);
    if (!section.empty())
      global.setSection(section);
  };
  addData(kDescriptorSymbol, descriptor, "", 64);
  std::string note;
  uint32_t header[3] = {sizeof(WEFT_NOTE_NAME), sizeof(weft_file_v1), WEFT_NOTE_TYPE};
  note.append(reinterpret_cast<char *>(header), sizeof(header));
  note.append(WEFT_NOTE_NAME, sizeof(WEFT_NOTE_NAME));
  note.resize(llvm::alignTo(note.size(), 4));
  note.append(sizeof(weft_file_v1), '\0');
  addData("weft_note", note, ".note.weft", 8);
}

} // namespace weft
