//===- Lower.cpp - Outlines kernels, assigns buffers, plans memory ----------------------------------------===//

#include "compiler/plan/Lower.h"
#include "compiler/plan/KernelWork.h"
#include "dialects/weft/Aliases.h"
#include "passes/plan/Regions.h"
#include "weft/sha256.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace weft {

void collectNodes(Location location, std::vector<std::string> &nodes) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (nodes.empty() || nodes.back() != name.getName())
      nodes.push_back(name.getName().str());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location each : fused.getLocations())
      collectNodes(each, nodes);
  }
}

namespace {

//===-- Functions --------------------------------------------------------------------------------------===//

class FunctionLowering {
public:
  FunctionLowering(Program &program, std::vector<StoredWeight> &weights, func::FuncOp function,
                   const Target &target, const Tuning &tuning)
      : program(program), weights(weights), target(target), tuning(tuning) {
    lowered.function = function;
    lowered.flops = lowered.bytesMoved = SymExpr::constant(function.getContext(), 0);
    times = SymExpr::constant(function.getContext(), 1);
    symbols = symbolsOf(function);
  }

  FailureOr<LoweredFunction> run() {
    llvm::Expected<EntryPlan> entry = planEntry(lowered.function);
    if (!entry)
      return lowered.function.emitError() << llvm::toString(entry.takeError());
    lowered.entry = std::move(*entry);
    Block &body = lowered.function.getBody().front();
    for (auto [i, argument] : llvm::enumerate(body.getArguments()))
      buffers[argument] = {Buffer::Input, unsigned(i), {}};
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (!lowered.function.getResultAttr(i, kAliasesAttr))
        destinations[baseOf(value)] = {Buffer::Output, unsigned(i), {}};
    limitOutputs();
    SmallVector<StringAttr> names;
    for (const EntrySymbol &symbol : lowered.entry.symbols)
      names.push_back(symbol.name);
    auto allNames = llvm::to_vector(llvm::concat<StringAttr>(names, lowered.entry.boundSymbols));
    sizes = sizesToTry(allNames, symbols.asFacts());
    if (failed(lowerBlock(body, lowered.steps)))
      return failure();
    auto plan = [&](unsigned block) {
      return planMemory(lowered.classes, block, block ? allNames : names, symbols.asFacts(),
                        lowered.function.getContext());
    };
    lowered.plan = plan(0);
    for (unsigned block = 1; block <= late.size(); ++block)
      lowered.latePlans.push_back(plan(block));
    return std::move(lowered);
  }

private:
  /// What is bound in a block has no value behind it, and memory asked for there is asked for again.
  LogicalResult lowerBlock(Block &block, std::vector<HostStep> &steps) {
    size_t outerKnown = known.size(), outerOpen = open.size();
    llvm::SaveAndRestore<std::vector<HostStep> *> inner(current, &steps);
    LogicalResult done = lowerOperations(block, steps);
    known.resize(outerKnown);
    open.resize(outerOpen);
    return done;
  }

  LogicalResult lowerOperations(Block &block, std::vector<HostStep> &steps) {
    std::vector<ChosenKernel> run; // kernels behind the last step of the host
    for (Operation &op : block.without_terminator()) {
      LogicalResult done = success();
      if (auto kernel = dyn_cast<KernelOp>(op)) {
        if (failed(choose(kernel, run)))
          return failure();
        continue;
      }
      if (isa<HostOpInterface>(op) && failed(lowerRun(run, steps)))
        return failure();
      if (auto bind = dyn_cast<BindOp>(op))
        lowerBind(bind, steps);
      else if (auto branch = dyn_cast<IfOp>(op))
        done = lowerIf(branch, steps);
      else if (auto loop = dyn_cast<LoopOp>(op))
        done = lowerLoop(loop, steps);
      if (failed(done))
        return failure();
      if (auto host = dyn_cast<HostOpInterface>(op))
        llvm::append_range(known, host.symbolsAfter());
    }
    return lowerRun(run, steps);
  }

  //===-- Operations of the host ------------------------------------------------------------------------===//

  void lowerBind(BindOp bind, std::vector<HostStep> &steps) {
    std::vector<std::string> nodes;
    collectNodes(bind.getLoc(), nodes);
    steps.push_back({HostStep::Bind, unsigned(lowered.binds.size())});
    lowered.binds.push_back({bind.getSymbolAttr(), inputBuffer(bind.getValue(), ""),
                             elementBits(bind.getValue().getType().getElementType()),
                             nodes.empty() ? "" : nodes.front()});
    ++time;
  }

  LogicalResult lowerIf(IfOp branch, std::vector<HostStep> &steps) {
    IfStep step;
    step.condition = inputBuffer(branch.getCondition(), "");
    ++time;
    for (Value result : branch.getResults())
      if (sizeHere(result) && failed(placeResult(result)))
        return failure();
    llvm::append_range(step.symbols, branch.symbolsAfter());
    for (bool yes : {true, false}) {
      Block &block = (yes ? branch.getYes() : branch.getNo()).front();
      ValueRange yielded = block.getTerminator()->getOperands();
      for (auto [result, value] : llvm::zip(branch.getResults(), yielded))
        if (buffers.count(result))
          destinations[baseOf(value)] = buffers[result];
      if (failed(lowerBlock(block, yes ? step.yes : step.no)))
        return failure();
      (yes ? step.yesDims : step.noDims) = branch.boundDims(yielded);
      for (auto [result, value] : llvm::zip(branch.getResults(), yielded))
        if (!buffers.count(result))
          (yes ? step.yesBuffers : step.noBuffers).push_back(inputBuffer(value, ""));
    }
    pointToResults(branch, step);
    for (Value result : branch.getResults())
      touch(buffers[result]);
    ++time;
    steps.push_back({HostStep::If, unsigned(lowered.ifs.size())});
    lowered.ifs.push_back(std::move(step));
    return success();
  }

  /// Results that had no place before the regions ran.
  void pointToResults(IfOp branch, IfStep &step) {
    for (Value result : branch.getResults()) {
      if (buffers.count(result))
        continue;
      size_t place = step.slots.size();
      step.slots.push_back(addSlot({}, step.yesBuffers[place]));
      keepClasses(slotClasses.back(), step.noBuffers[place]);
      buffers[result] = {Buffer::Slot, step.slots.back(), {}};
    }
  }

  LogicalResult lowerLoop(LoopOp loop, std::vector<HostStep> &steps) {
    LoopStep step;
    step.index = loop.getIndexAttr();
    step.count = loop.getCountAttr();
    step.trips = loop.getTrips()[0];
    unsigned begin = ++time;
    if (loop.isConditional())
      step.begin = inputBuffer(loop.getInits()[0], "");
    Block &body = loop.getBody().front();
    SmallVector<Value> yielded(loop.yielded());
    for (auto [i, init] : llvm::enumerate(loop.carriedInits())) {
      CarriedValue carried;
      carried.init = inputBuffer(init, "");
      for (unsigned *storage : {&carried.first, &carried.second})
        if (failed(addClass(body.getArgument(i), *storage)))
          return failure();
      carried.current = addSlot({carried.first, carried.second}, carried.init);
      carried.next = addSlot({carried.first, carried.second}, carried.init);
      buffers[body.getArgument(i)] =
          buffers[loop.getResult(i)] = {Buffer::Slot, carried.current, {}};
      destinations[baseOf(yielded[i])] = {Buffer::Slot, carried.next, {}};
      step.carried.push_back(carried);
    }
    for (size_t i = step.carried.size(); i < yielded.size(); ++i) {
      auto element = cast<SymTensorType>(yielded[i].getType());
      if (elementBits(element.getElementType()) < 8 && !element.getElementType().isInteger(1))
        return loop.emitError("stacks elements of less than a byte, which is not supported");
      if (failed(placeResult(loop.getResult(i))))
        return failure();
      Buffer slice = buffers[loop.getResult(i)];
      slice.offset = SymExpr::symbol(step.index) * bytesOf(element);
      destinations[baseOf(yielded[i])] = slice;
    }
    if (failed(lowerBody(loop, step)))
      return failure();
    keepUntilNow(begin);
    for (Value result : loop.getResults())
      touch(buffers[result]);
    ++time;
    steps.push_back({HostStep::Loop, unsigned(lowered.loops.size())});
    lowered.loops.push_back(std::move(step));
    return success();
  }

  LogicalResult lowerBody(LoopOp loop, LoopStep &step) {
    Block &body = loop.getBody().front();
    SymExpr outer = times;
    SymExpr most = symbols.getUpperBound(step.trips);
    times = times && most ? times * most : SymExpr();
    ++time;
    known.push_back(step.index);
    if (failed(lowerBlock(body, step.body)))
      return failure();
    known.pop_back();
    if (loop.isConditional())
      step.goOn = inputBuffer(body.getTerminator()->getOperand(0), "");
    times = outer;
    return success();
  }

  unsigned addSlot(ArrayRef<unsigned> classes, const Buffer &init) {
    slotClasses.emplace_back(classes);
    keepClasses(slotClasses.back(), init);
    return lowered.slots++;
  }

  /// The classes that `buffer` lies in.
  void keepClasses(SmallVector<unsigned> &kept, const Buffer &buffer) {
    if (buffer.kind == Buffer::Arena)
      kept.push_back(buffer.index);
    else if (buffer.kind == Buffer::Slot)
      llvm::append_range(kept, SmallVector<unsigned>(slotClasses[buffer.index]));
  }

  /// What was written before `begin` and read since is needed again the next time.
  void keepUntilNow(unsigned begin) {
    for (StorageClass &each : lowered.classes)
      if (each.birth <= begin && each.death >= begin)
        each.death = time;
  }

  //===-- Kernels ---------------------------------------------------------------------------------------===//

  LogicalResult refuseKernel(KernelOp kernel) {
    for (Type type : kernel.getResultTypes())
      if (Type element = cast<SymTensorType>(type).getElementType(); isPacked(element))
        return kernel.emitError("results of ")
               << elementBits(element)
               << " bits an element are not supported here; compute with 8 bits and convert";
    return kernel.emitError("no schedule of target '")
           << target.name() << "' can compute this kernel";
  }

  struct ChosenKernel {
    KernelOp op;
    Specification specification;
    KernelChoice choice; ///< over symbols of the function
  };

  LogicalResult choose(KernelOp kernel, std::vector<ChosenKernel> &run) {
    Specification specification = specify(kernel);
    auto function = *specification.module->getOps<func::FuncOp>().begin();
    tuning.apply(function, target);
    std::optional<KernelChoice> choice = target.choose(function);
    if (!choice)
      return refuseKernel(kernel);
    for (SymExpr *expr : {&choice->units, &choice->grain, &choice->scratch})
      *expr = expr->substitute(specification.toFunction);
    run.push_back({kernel, std::move(specification), std::move(*choice)});
    return success();
  }

  /// Kernels with no step of the host between them: all of a region have one time, so that none lies where another of them reads or
  /// writes.
  LogicalResult lowerRun(std::vector<ChosenKernel> &run, std::vector<HostStep> &steps) {
    SmallVector<KernelOp> ops;
    SmallVector<bool> splitsWell;
    SymFacts facts = symbols.asFacts();
    for (const ChosenKernel &kernel : run) {
      ops.push_back(kernel.op);
      splitsWell.push_back(hasManyPieces(kernel.choice, facts));
    }
    for (ArrayRef<unsigned> region :
         formRegions(ops, splitsWell, [&](Value value) { return bytesTried(value); })) {
      unsigned first = lowered.calls.size();
      for (unsigned kernel : region)
        if (failed(lowerKernel(run[kernel])))
          return failure();
      steps.push_back({HostStep::Run, unsigned(lowered.regions.size())});
      lowered.regions.push_back({first, unsigned(region.size())});
      ++time;
    }
    run.clear();
    return success();
  }

  /// Whether all workers are busy nearly to the end, for any sizes.
  static bool hasManyPieces(const KernelChoice &choice, const SymFacts &facts) {
    constexpr int64_t kMany = 64;
    SymInterval units = facts.bounds(choice.units), grain = facts.bounds(choice.grain);
    return units.low && grain.high && *units.low / std::max<int64_t>(*grain.high, 1) >= kMany;
  }

  /// What the value takes of the plan, at the sizes that are tried.
  SmallVector<int64_t, 4> bytesTried(Value value) {
    SmallVector<int64_t, 4> tried(sizes.size(), 0);
    auto result = dyn_cast<OpResult>(value);
    bool isInPlace = result && isa<KernelOp>(result.getOwner()) && inPlaceWrite(yielded(result));
    if (destinations.count(value) || isInPlace)
      return tried;
    SymExpr bytes = bytesOf(cast<SymTensorType>(value.getType())),
            most = symbols.getUpperBound(bytes);
    for (auto [place, values] : llvm::zip_equal(tried, sizes))
      place = (most ? most : bytes).evaluate(values).value_or(0);
    return tried;
  }

  LogicalResult lowerKernel(const ChosenKernel &chosen) {
    KernelOp kernel = chosen.op;
    const Specification &specification = chosen.specification;
    const KernelChoice &choice = chosen.choice;
    KernelCall call;
    call.op = kernel;
    call.kernel = kernelRow(specification, choice, kernel);
    for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
      call.pointers.push_back(inputBuffer(input, choice.layouts[i]));
    for (OpResult result : kernel.getResults()) {
      if (failed(inPlaceWrite(yielded(result)) ? placeInPlace(result) : placeResult(result)))
        return failure();
      call.pointers.push_back(buffers[result]);
    }
    call.values = specification.values;
    call.units = choice.units;
    call.grain = choice.grain;
    call.work = program.kernels[call.kernel].work.substitute(specification.toFunction);
    addScratch(call, choice.scratch);
    addCost(program.kernels[call.kernel], specification.toFunction);
    if (call.pointers.size() + call.values.size() > WEFT_MAX_WORDS)
      return kernel.emitError("a kernel needs more than ")
             << WEFT_MAX_WORDS << " operands and symbols";
    lowered.calls.push_back(std::move(call));
    return success();
  }

  void addScratch(KernelCall &call, SymExpr scratch) {
    SymExpr most = symbols.getUpperBound(scratch);
    if (!most)
      most = call.lateScratch = scratch;
    SmallVector<SymExpr> &all = call.lateScratch ? lowered.lateScratch : lowered.scratch;
    if (!most.isConstant(0) && !llvm::is_contained(all, most))
      all.push_back(most);
  }

  void addCost(const KernelCode &code, const SymMap &toFunction) {
    if (!times)
      return; // as sizes that nothing limits, turns that nothing limits are not counted
    auto add = [&](SymExpr &total, SymExpr more) {
      if (SymExpr most = symbols.getUpperBound(more.substitute(toFunction)))
        total = total + most * times;
    };
    add(lowered.bytesMoved, code.bytesMoved);
    add(lowered.flops, code.flops);
  }

  /// Whether the input of a kernel is, or lies in, an argument with room.
  bool hasRoom(Value input) {
    Buffer buffer = buffers.lookup(baseOf(input));
    return !input.getDefiningOp<ConstantOp>() && buffer.kind == Buffer::Input &&
           lowered.function.getArgAttr(buffer.index, kViewAttr);
  }

  void limitOutputs() {
    for (unsigned i = 0; i < lowered.function.getNumResults(); ++i) {
      SmallVector<SymExpr> &dims = lowered.outputDims.emplace_back();
      for (SymExpr dim : callersOutput(lowered.function, i).getDims())
        dims.push_back(symbols.getUpperBound(dim));
    }
  }

  unsigned kernelRow(const Specification &specification, const KernelChoice &choice,
                     KernelOp kernel) {
    ModuleOp module = *specification.module;
    std::string text = "// " + target.name() + " " + choice.schedule + "\n";
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    unsigned row = 0;
    while (row < program.kernels.size() && program.kernels[row].text != text)
      ++row;
    if (row == program.kernels.size()) {
      KernelCode code;
      code.text = text;
      code.schedule = choice.schedule;
      uint8_t hash[32];
      weft_sha256(text.data(), text.size(), hash);
      memcpy(code.key, hash, sizeof(code.key));
      auto function = *module.getOps<func::FuncOp>().begin();
      Picks picks = picksOf(function);
      code.isTuned = !picks.empty();
      code.symbol = "weft_k_" + choice.schedule;
      for (const auto &[name, value] : picks.values)
        code.symbol += "_" + name + std::to_string(value);
      code.symbol += "_" + llvm::toHex(ArrayRef(hash, 6), /*LowerCase=*/true);
      code.pointers = function.getNumArguments() + function.getNumResults();
      llvm::append_range(code.symbols, symbolsOf(function).getNames());
      SmallVector<bool> haveRoom;
      for (Value input : kernel.getInputs())
        haveRoom.push_back(hasRoom(input));
      describeWork(function, haveRoom, code);
      program.kernels.push_back(std::move(code));
    }
    collectNodes(kernel.getLoc(), program.kernels[row].nodes);
    ++program.kernels[row].calls;
    return row;
  }

  //===-- Memory ----------------------------------------------------------------------------------------===//

  Buffer inputBuffer(Value input, StringRef layout) {
    Value value = baseOf(input);
    if (auto constant = value.getDefiningOp<ConstantOp>())
      return {Buffer::Weight,
              weightRow(constant, layout,
                        cast<SymTensorType>(layout.empty() ? value.getType() : input.getType())),
              {}};
    Buffer buffer = buffers.lookup(value);
    touch(buffer);
    return buffer;
  }

  /// What the buffer lies in lives until now.
  void touch(const Buffer &buffer) {
    if (buffer.kind == Buffer::Arena)
      lowered.classes[buffer.index].death = time;
    else if (buffer.kind == Buffer::Slot)
      for (unsigned each : slotClasses[buffer.index])
        lowered.classes[each].death = time;
  }

  /// The most bytes that a value can have, as far as they are known before it is computed: over the signature if possible, else over all
  /// symbols that have values by now. Null when only what computes it knows.
  SymExpr sizeHere(Value value) {
    SymExpr bytes = bytesOf(cast<SymTensorType>(value.getType()));
    SymExpr most = symbols.getUpperBound(bytes);
    return most ? most : symbols.getUpperBound(bytes, known);
  }

  LogicalResult addClass(Value value, unsigned &index) {
    SymExpr most = sizeHere(value);
    if (!most) {
      Operation *op = value.getDefiningOp();
      return (op ? op : cast<BlockArgument>(value).getOwner()->getParentOp())
                 ->emitError("needs memory for '")
             << bytesOf(cast<SymTensorType>(value.getType())).str()
             << "' bytes before the contents of tensors decide how many they are";
    }
    index = lowered.classes.size();
    unsigned block = symbols.getUpperBound(most) ? 0 : lateBlock(most);
    lowered.classes.push_back({SymExpr::ceildiv(most, 64) * int64_t(64), time, time, block});
    return success();
  }

  /// The block that is asked for first of those where all symbols of `bytes` have values; a new one is asked for here.
  unsigned lateBlock(SymExpr bytes) {
    for (unsigned block : open)
      if (symbols.getUpperBound(bytes, late[block - 1]) == bytes)
        return block;
    late.push_back(known);
    open.push_back(late.size());
    current->push_back({HostStep::Reserve, unsigned(late.size() - 1)});
    return late.size();
  }

  /// Where it is wanted, else in memory of its own.
  LogicalResult placeResult(Value result) {
    if (auto wanted = destinations.find(result); wanted != destinations.end()) {
      buffers[result] = wanted->second;
      provide(wanted->second, result);
      touch(wanted->second);
      return success();
    }
    unsigned index = 0;
    if (failed(addClass(result, index)))
      return failure();
    buffers[result] = {Buffer::Arena, index, {}};
    return success();
  }

  static Value yielded(OpResult result) {
    auto kernel = cast<KernelOp>(result.getOwner());
    return kernel.getBody().front().getTerminator()->getOperand(result.getResultNumber());
  }

  /// In the memory of the argument that it changes, which must be a buffer with room.
  LogicalResult placeInPlace(OpResult result) {
    auto kernel = cast<KernelOp>(result.getOwner());
    auto inside = dyn_cast<BlockArgument>(inPlaceWrite(yielded(result))->buffer);
    auto changed = inside ? dyn_cast<BlockArgument>(kernel.getInputs()[inside.getArgNumber()])
                          : BlockArgument();
    if (!changed || changed.getOwner()->getParentOp() != lowered.function || !hasRoom(changed))
      return kernel.emitError("only inputs with room can be changed in place");
    buffers[result] = buffers[changed];
    return success();
  }

  /// An output whose size bind cannot limit has no memory before it is computed.
  void provide(const Buffer &buffer, Value value) {
    if (buffer.kind != Buffer::Output ||
        !llvm::is_contained(lowered.outputDims[buffer.index], SymExpr()))
      return;
    current->push_back({HostStep::Provide, unsigned(lowered.provides.size())});
    lowered.provides.push_back({buffer.index, bytesOf(cast<SymTensorType>(value.getType()))});
  }

  unsigned weightRow(ConstantOp constant, StringRef layout, SymTensorType type) {
    for (auto [i, weight] : llvm::enumerate(weights))
      if (weight.value == constant.getValue() && weight.layout == layout && weight.type == type)
        return i;
    StoredWeight weight;
    auto name = dyn_cast<FlatSymbolRefAttr>(constant.getValue());
    weight.name = name ? name.getValue().str() : "constant" + std::to_string(weights.size());
    weight.layout = layout.str();
    weight.type = type;
    weight.value = constant.getValue();
    weights.push_back(std::move(weight));
    return weights.size() - 1;
  }

  Program &program;
  std::vector<StoredWeight> &weights;
  const Target &target;
  const Tuning &tuning;
  LoweredFunction lowered;
  SymbolsAttr symbols;
  SmallVector<SymValues> sizes; ///< at which orders are compared
  SymExpr times; ///< how often the block that is lowered runs, at most; null: nothing limits it
  llvm::DenseMap<Value, Buffer> buffers, destinations;
  SmallVector<StringAttr> known;             ///< bound symbols that have values here
  std::vector<SmallVector<StringAttr>> late; ///< those of each late block
  SmallVector<unsigned> open;                ///< late blocks that were asked for on the way here
  std::vector<HostStep> *current = nullptr;
  std::vector<SmallVector<unsigned>> slotClasses; ///< storage classes that a slot may point into
  unsigned time = 0;
};

} // namespace

bool allAccepted(ModuleOp module, const Target &target) {
  return !module
              .walk([&](KernelOp kernel) {
                Specification specification = specify(kernel);
                bool accepted = target.choose(*specification.module->getOps<func::FuncOp>().begin())
                                    .has_value();
                return accepted ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

FailureOr<Program> lowerProgram(ModuleOp module, const Target &target, const Tuning &tuning,
                                std::vector<StoredWeight> &weights) {
  Program program;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    FailureOr<LoweredFunction> lowered =
        FunctionLowering(program, weights, function, target, tuning).run();
    if (failed(lowered))
      return failure();
    program.functions.push_back(std::move(*lowered));
  }
  if (program.functions.empty())
    return module.emitError("the model has no public function");
  return program;
}

} // namespace weft
