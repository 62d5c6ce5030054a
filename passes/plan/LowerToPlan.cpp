//===- LowerToPlan.cpp - Outlines kernels and names memory ------------------------------------------===//
//
//   %1 = weft.kernel loop (%x, %w) …         ->      plan.kernel @weft_k_loop_0011aabbccdd target "x86:v3" schedule "loop" … { … }
//   return %1                                        %in = plan.input 0       %w = plan.weight @w as ""      %out = plan.output 0
//                                                    plan.launch @weft_k_loop_0011aabbccdd(%in, %w) -> (%out) [n] …
//
// A value lies where it is wanted (a result of the function, what a loop carries next, its place in a stack), else in memory of its own.
//===------------------------------------------------------------------------------------------===//

#include "passes/plan/LowerToPlan.h"
#include "dialects/plan/WeightParts.h"
#include "dialects/weft/Aliases.h"
#include "dialects/weft/ops/Collective.h"
#include "mlir/IR/IRMapping.h"
#include "passes/cost/KernelWork.h"
#include "passes/kernel/ConstantParts.h"
#include "passes/kernel/KernelWords.h"
#include "passes/plan/PartSizes.h"
#include "passes/plan/PartsInside.h"
#include "passes/plan/Passes.h"
#include "weft/artifact.h"
#include "weft/sha256.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_LOWERTOPLAN
#include "passes/plan/Passes.h.inc"

void collectNodes(Location location, std::vector<std::string> &nodes) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (nodes.empty() || nodes.back() != name.getName())
      nodes.push_back(name.getName().str());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location each : fused.getLocations())
      collectNodes(each, nodes);
  }
}

std::string kernelText(StringRef target, StringRef schedule, func::FuncOp specification) {
  OwningOpRef<ModuleOp> alone = ModuleOp::create(UnknownLoc::get(specification.getContext()));
  alone->push_back(specification.clone());
  std::string text = ("// " + target + " " + schedule + "\n").str();
  llvm::raw_string_ostream stream(text);
  alone->print(stream, OpPrintingFlags().assumeVerified()); // else it is verified once more
  return text;
}

std::string kernelName(StringRef text, const KernelChoice &choice) {
  uint8_t hash[32];
  weft_sha256(text.data(), text.size(), hash);
  std::string name = "weft_k_" + choice.schedule;
  for (const auto &[pick, value] : choice.picks)
    name += "_" + pick + std::to_string(value);
  return name + "_" + llvm::toHex(ArrayRef(hash, 6), /*LowerCase=*/true);
}

/// Whether parts of weights that ranks gather can lie as a kernel wants its inputs.
static bool canGatherAs(KernelOp kernel, ArrayRef<WeightLayout> layouts) {
  return llvm::all_of(llvm::zip_equal(kernel.getInputs(), layouts), [](auto pair) {
    auto [input, layout] = pair;
    auto gather = input.template getDefiningOp<AllGatherOp>();
    return layout.isRows() || !gather || !gatheredPart(input) ||
           partsAreWhole(layout, cast<SymTensorType>(input.getType()), gather.getDim(),
                         gather.getGroup().getRanks());
  });
}

Specification specifyAsStored(KernelOp kernel,
                              function_ref<std::optional<KernelChoice>(func::FuncOp)> choose) {
  for (bool gathers = true;;) {
    Specification specification = specify(kernel, gathers);
    std::optional<KernelChoice> choice = choose(specification.function());
    if (choice && gathers && !canGatherAs(kernel, choice->layouts))
      gathers = false;
    else if (!choice || !takePartsInside(kernel, choice->layouts))
      return specification;
  }
}

namespace {

/// The kernels of a module, one for each text.
class KernelTable {
public:
  explicit KernelTable(ModuleOp module) : module(module) {}

  plan::KernelOp find(func::FuncOp specification, const KernelChoice &choice,
                      ArrayRef<bool> haveRoom) {
    std::string text = kernelText(choice.target, choice.schedule, specification);
    plan::KernelOp &kernel = kernels[text];
    if (kernel)
      return kernel;
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    if (last)
      b.setInsertionPointAfter(last);
    auto dims = [&](SymExpr expr) { return DimsAttr::get(b.getContext(), {expr}); };
    KernelWork work = workOf(specification, haveRoom);
    kernel = b.create<plan::KernelOp>(b.getUnknownLoc(), kernelName(text, choice), choice.target,
                                      choice.schedule, dims(work.flops), dims(work.bytesMoved),
                                      dims(work.work));
    kernel.getBody().emplaceBlock().push_back(specification.clone());
    last = kernel;
    return kernel;
  }

private:
  ModuleOp module;
  llvm::StringMap<plan::KernelOp> kernels;
  Operation *last = nullptr;
};

class FunctionLowering {
public:
  FunctionLowering(func::FuncOp function, const KernelChooser &chooser, KernelTable &kernels)
      : source(function), chooser(chooser), kernels(kernels), b(function),
        buffer(b.getType<plan::BufferType>()), symbols(symbolsOf(function)) {}

  LogicalResult run() {
    planned = b.create<plan::FuncOp>(source.getLoc(), source.getName(), source.getFunctionType(),
                                     source.getArgAttrsAttr(), source.getResAttrsAttr());
    planned->setDiscardableAttrs(source->getDiscardableAttrDictionary());
    Block &body = source.getBody().front();
    Block *entry = b.createBlock(&planned.getBody());
    for (BlockArgument argument : body.getArguments()) {
      entry->addArgument(argument.getType(), argument.getLoc());
      buffers[argument] = prologue<plan::InputOp>(source.getLoc(), buffer, argument.getArgNumber());
    }
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (!source.getResultAttr(i, kAliasesAttr))
        destinations[baseOf(value)] = prologue<plan::OutputOp>(source.getLoc(), buffer, i);
    b.setInsertionPointToEnd(entry);
    if (failed(lowerBlock(body)))
      return failure();
    b.create<plan::ReturnOp>(source.getLoc());
    return success();
  }

private:
  //===-- Blocks ----------------------------------------------------------------------------------------===//

  /// What is bound in a block has no value behind it.
  LogicalResult lowerBlock(Block &block) {
    size_t outer = known.size();
    for (Operation &op : block.without_terminator()) {
      if (failed(lowerOperation(op)))
        return failure();
      if (auto host = dyn_cast<HostOpInterface>(op))
        llvm::append_range(known, host.symbolsAfter());
    }
    known.resize(outer);
    return success();
  }

  LogicalResult lowerOperation(Operation &op) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      return lowerKernel(kernel);
    if (auto bind = dyn_cast<BindOp>(op))
      return lowerBind(bind);
    if (auto check = dyn_cast<CheckPositionsOp>(op))
      return lowerCheck(check);
    if (auto branch = dyn_cast<IfOp>(op))
      return lowerIf(branch);
    if (auto loop = dyn_cast<LoopOp>(op))
      return lowerLoop(loop);
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      return lowerExchange(collective);
    return success(); // constants and reshapes name memory
  }

  /// The node in the model, empty when it has no name.
  static std::string nodeAt(Location location) {
    std::vector<std::string> nodes;
    collectNodes(location, nodes);
    return nodes.empty() ? "" : nodes.front();
  }

  LogicalResult lowerBind(BindOp bind) {
    unsigned bits = elementBits(bind.getValue().getType().getElementType());
    b.create<plan::BindOp>(bind.getLoc(), bind.getSymbol(), inputBuffer(bind.getValue(), ""), bits,
                           nodeAt(bind.getLoc()));
    return success();
  }

  LogicalResult lowerCheck(CheckPositionsOp check) {
    SymTensorType type = check.getPositions().getType();
    b.create<plan::CheckPositionsOp>(
        check.getLoc(), inputBuffer(check.getPositions(), ""),
        DimsAttr::get(b.getContext(), type.getDims()), elementBits(type.getElementType()),
        check.getSizes(), peoplesName(check.getPositions()), quoted(nodeAt(check.getLoc())));
    return success();
  }

  LogicalResult lowerExchange(CollectiveOpInterface collective) {
    Value given = collective->getOperand(0), result = collective->getResult(0);
    if (gatheredPart(result)) // where kernels say how it is to lie
      return success();
    if (failed(placeResult(result)))
      return failure();
    buildExchange(collective, inputBuffer(given, ""), buffers[result]);
    return success();
  }

  void buildExchange(CollectiveOpInterface collective, Value sent, Value received) {
    Operation *op = collective;
    Value given = op->getOperand(0);
    auto lowered =
        b.create<plan::ExchangeOp>(op->getLoc(), sent, received, nodeOrLine(op->getLoc()));
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&lowered.getBody(), {}, given.getType(), op->getLoc());
    IRMapping inside;
    inside.map(given, body->getArgument(0));
    b.clone(*op, inside);
  }

  /// Of weights in parts: gathered in front of the first kernel that wants them to lie so.
  LogicalResult gatherWeight(Value value, const WeightLayout &layout) {
    Value &lies = gathered[{value, b.getStringAttr(layout.str())}];
    if (lies)
      return success();
    if (failed(newMemory(value, lies)))
      return failure();
    auto gather = cast<CollectiveOpInterface>(value.getDefiningOp());
    buildExchange(gather, inputBuffer(gather->getOperand(0), layout.str()), lies);
    return success();
  }

  /// The node, or where it stands in a text without names.
  static std::string nodeOrLine(Location location) {
    std::string node = nodeAt(location);
    auto place = location->findInstanceOf<FileLineColLoc>();
    return !node.empty() || !place ? node : "line " + std::to_string(place.getLine());
  }

  /// Names of other models' nodes have their quotes: "node '/Cast' (Cast)".
  static std::string quoted(const std::string &node) {
    bool isBare = !node.empty() && node.find('\'') == std::string::npos;
    return isBare ? "'" + node + "'" : node;
  }

  /// "input 'ids'", "'/Cast'"; empty for a value that has no name.
  std::string peoplesName(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner()->getParentOp() == source)
      if (auto name = source.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
        return ("input '" + name.getValue() + "'").str();
    return quoted(nodeAt(value.getLoc()));
  }

  LogicalResult lowerIf(IfOp branch) {
    Value condition = inputBuffer(branch.getCondition(), "");
    SmallVector<Value> inRegions; // results whose size only the regions know
    for (Value result : branch.getResults())
      if (!sizeHere(result))
        inRegions.push_back(result);
      else if (failed(placeResult(result)))
        return failure();
    SmallVector<Type> types(inRegions.size(), buffer);
    auto lowered = b.create<plan::IfOp>(branch.getLoc(), types, condition, branch.getBindsAttr());
    for (bool yes : {true, false})
      if (failed(lowerBranch(branch, yes ? branch.getYes() : branch.getNo(),
                             yes ? lowered.getYes() : lowered.getNo())))
        return failure();
    b.setInsertionPointAfter(lowered);
    for (auto [result, lies] : llvm::zip_equal(inRegions, lowered.getResults()))
      buffers[result] = lies;
    return success();
  }

  LogicalResult lowerBranch(IfOp branch, Region &from, Region &to) {
    ValueRange yielded = from.front().getTerminator()->getOperands();
    for (auto [result, value] : llvm::zip(branch.getResults(), yielded))
      if (buffers.count(result))
        destinations[baseOf(value)] = buffers[result];
    b.createBlock(&to);
    if (failed(lowerBlock(from.front())))
      return failure();
    SmallVector<Value> left;
    for (auto [result, value] : llvm::zip(branch.getResults(), yielded))
      if (!buffers.count(result))
        left.push_back(inputBuffer(value, ""));
    b.create<plan::YieldOp>(branch.getLoc(),
                            DimsAttr::get(b.getContext(), branch.boundDims(yielded)), left);
    return success();
  }

  LogicalResult lowerLoop(LoopOp loop) {
    Value begin = loop.isConditional() ? inputBuffer(loop.getInits()[0], "") : Value();
    SmallVector<Value> carried, memory;
    for (auto [init, inside] :
         llvm::zip_first(loop.carriedInits(), loop.getBody().front().getArguments())) {
      carried.push_back(inputBuffer(init, ""));
      for (int i = 0; i < 2; ++i)
        if (failed(newMemory(inside, memory.emplace_back())))
          return failure();
    }
    for (Value stacked : loop.getResults().drop_front(carried.size())) {
      Type element = cast<SymTensorType>(stacked.getType()).getElementType();
      if (elementBits(element) < 8 && !element.isInteger(1))
        return loop.emitError("stacks elements of less than a byte, which is not supported");
      if (failed(placeResult(stacked)))
        return failure();
    }
    SmallVector<Type> types(carried.size(), buffer);
    auto lowered =
        b.create<plan::LoopOp>(loop.getLoc(), types, loop.getIndexAttr(), loop.getTripsAttr(),
                               loop.getCountAttr(), begin, carried, memory);
    if (failed(lowerBody(loop, lowered)))
      return failure();
    b.setInsertionPointAfter(lowered);
    for (auto [lies, result] : llvm::zip_first(lowered.getResults(), loop.getResults()))
      buffers[result] = lies;
    return success();
  }

  LogicalResult lowerBody(LoopOp loop, plan::LoopOp lowered) {
    Block &body = loop.getBody().front();
    Block *block = b.createBlock(&lowered.getBody());
    size_t carried = lowered.getCarried().size();
    SmallVector<Value> yielded(loop.yielded());
    for (size_t i = 0; i < carried; ++i)
      buffers[body.getArgument(i)] = block->addArgument(buffer, loop.getLoc());
    for (size_t i = 0; i < carried; ++i)
      destinations[baseOf(yielded[i])] = block->addArgument(buffer, loop.getLoc());
    for (size_t i = carried; i < yielded.size(); ++i) {
      SymExpr offset =
          SymExpr::symbol(loop.getIndexAttr()) * bytesOf(cast<SymTensorType>(yielded[i].getType()));
      destinations[baseOf(yielded[i])] =
          b.create<plan::PartOp>(loop.getLoc(), buffer, buffers[loop.getResult(i)],
                                 DimsAttr::get(b.getContext(), {offset}));
    }
    known.push_back(loop.getIndexAttr());
    if (failed(lowerBlock(body)))
      return failure();
    known.pop_back();
    SmallVector<Value> goOn;
    if (loop.isConditional())
      goOn.push_back(inputBuffer(body.getTerminator()->getOperand(0), ""));
    b.create<plan::YieldOp>(loop.getLoc(), DimsAttr::get(b.getContext(), ArrayRef<SymExpr>()),
                            goOn);
    return success();
  }

  //===-- Kernels ---------------------------------------------------------------------------------------===//

  LogicalResult refuseKernel(KernelOp kernel) {
    for (Type type : kernel.getResultTypes())
      if (Type element = cast<SymTensorType>(type).getElementType(); isPacked(element))
        return kernel.emitError("results of ")
               << elementBits(element)
               << " bits an element are not supported here; compute with 8 bits and convert";
    return kernel.emitError("no schedule of target '")
           << chooser.name() << "' can compute this kernel";
  }

  /// Of dimensions that are long sums, products are formulas of too many terms. A formula that does not fit would be computed as anything.
  LogicalResult refuseLaunch(KernelOp kernel) {
    InFlightDiagnostic diag =
        kernel.emitError("no formula of 64 bits says how this kernel is launched: its dimensions "
                         "are sums of too many symbols");
    diag.attachNote() << "hint: give some of them a size, as --dim does";
    return diag;
  }

  LogicalResult lowerKernel(KernelOp kernel) {
    auto choose = [&](func::FuncOp function) { return chooser.choose(function); };
    Specification specification = specifyAsStored(kernel, choose);
    std::optional<KernelChoice> choice = choose(specification.function());
    if (!choice)
      return refuseKernel(kernel);
    func::FuncOp function = specification.function();
    SmallVector<Value> inputs, outputs;
    SmallVector<bool> haveRoom;
    for (auto [input, layout] : llvm::zip_equal(kernel.getInputs(), choice->layouts)) {
      if (gatheredPart(input) && failed(gatherWeight(input, layout)))
        return failure();
      inputs.push_back(inputBuffer(input, layout.str()));
      haveRoom.push_back(hasRoom(inputs.back()));
    }
    for (OpResult result : kernel.getResults()) {
      if (failed(inPlaceWrite(yielded(result)) ? placeInPlace(result) : placeResult(result)))
        return failure();
      outputs.push_back(buffers[result]);
    }
    static_assert(kMostKernelWords == WEFT_MAX_WORDS);
    if (inputs.size() + outputs.size() + specification.values.size() > WEFT_MAX_WORDS)
      return kernel.emitError("a kernel needs more than ")
             << unsigned(WEFT_MAX_WORDS) << " operands and symbols";
    std::vector<std::string> nodes;
    collectNodes(kernel.getLoc(), nodes);
    auto here = [&](SymExpr expr) {
      return DimsAttr::get(b.getContext(), {expr.substitute(specification.toFunction)});
    };
    for (SymExpr expr : {choice->units, choice->grain, choice->scratch})
      if (expr.substitute(specification.toFunction).isOverflow())
        return refuseLaunch(kernel);
    DimsAttr rows;
    IntegerAttr least, of;
    int64_t height = 0;
    if (const std::optional<RowTiles> &tiles = choice->rowTiles; tiles && meshOf(source)) {
      rows = DimsAttr::get(b.getContext(), {tiles->rows.substitute(specification.toFunction),
                                            tiles->tiles.substitute(specification.toFunction)});
      least = b.getI64IntegerAttr(tiles->least);
      of = b.getI64IntegerAttr(tiles->argument);
      height = tiles->height;
    }
    b.create<plan::LaunchOp>(
        kernel.getLoc(), kernels.find(function, *choice, haveRoom).getSymName(), inputs, outputs,
        DimsAttr::get(b.getContext(), specification.values), here(choice->units),
        here(choice->grain), here(choice->scratch), rows, least, of, height,
        b.getStrArrayAttr(SmallVector<StringRef>(nodes.begin(), nodes.end())));
    return success();
  }

  static Value yielded(OpResult result) {
    auto kernel = cast<KernelOp>(result.getOwner());
    return kernel.getBody().front().getTerminator()->getOperand(result.getResultNumber());
  }

  //===-- Memory ----------------------------------------------------------------------------------------===//

  /// At the begin of the function.
  template <typename Op, typename... Arguments> Value prologue(Arguments... arguments) {
    OpBuilder::InsertionGuard guard(b);
    if (lastOfPrologue)
      b.setInsertionPointAfter(lastOfPrologue);
    else
      b.setInsertionPointToStart(&planned.getBody().front());
    auto op = b.create<Op>(arguments...);
    lastOfPrologue = op;
    return op;
  }

  Value inputBuffer(Value input, StringRef layout) {
    Value value = baseOf(input);
    if (Value lies = gathered.lookup({value, b.getStringAttr(layout)}))
      return lies;
    std::optional<ConstantPart> stored = constantPart(value);
    if (!stored)
      return buffers.lookup(value);
    Attribute elements = stored->whole.getValue();
    bool isWhole = stored->at.empty();
    auto part = isWhole ? DimsAttr() : DimsAttr::get(b.getContext(), stored->at);
    auto size = isWhole ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(stored->sizes);
    auto of = isWhole ? TypeAttr() : TypeAttr::get(stored->type);
    Type type = layout.empty() ? value.getType() : input.getType();
    Value &weight = weights[{elements, b.getStringAttr(layout), type, part}];
    if (!weight)
      weight =
          prologue<plan::WeightOp>(stored->whole.getLoc(), buffer, elements,
                                   b.getStringAttr(layout), part, size, of, TypeAttr::get(type));
    return weight;
  }

  /// Whether the memory of an argument with room.
  bool hasRoom(Value lies) {
    while (auto part = lies.getDefiningOp<plan::PartOp>())
      lies = part.getWhole();
    auto input = lies.getDefiningOp<plan::InputOp>();
    return input && source.getArgAttr(input.getIndex(), kViewAttr);
  }

  /// The most bytes that a value can have, as far as they are known before it is computed. Null when only what computes it knows.
  SymExpr sizeHere(Value value) {
    SymExpr bytes = bytesOf(largestParts(cast<SymTensorType>(value.getType()), symbols.asFacts()));
    SymExpr most = symbols.getUpperBound(bytes);
    return most ? most : symbols.getUpperBound(bytes, known);
  }

  LogicalResult newMemory(Value value, Value &memory) {
    Operation *op = value.getDefiningOp();
    if (!op)
      op = cast<BlockArgument>(value).getOwner()->getParentOp();
    SymExpr bytes = sizeHere(value);
    if (!bytes)
      return op->emitError("needs memory for '")
             << bytesOf(cast<SymTensorType>(value.getType())).str()
             << "' bytes before the contents of tensors decide how many they are";
    plan::Space space = chooser.isForDevice() ? plan::Space::Device : plan::Space::Host;
    memory = b.create<plan::MemoryOp>(op->getLoc(), buffer, space,
                                      DimsAttr::get(b.getContext(), {bytes}), Value(),
                                      IntegerAttr(), DenseI64ArrayAttr());
    return success();
  }

  /// Where it is wanted, else in memory of its own.
  LogicalResult placeResult(Value result) {
    auto wanted = destinations.find(result);
    if (wanted == destinations.end())
      return newMemory(result, buffers[result]);
    buffers[result] = wanted->second;
    provide(wanted->second, result);
    return success();
  }

  /// An output whose size cannot be limited before the function runs has no memory before it is computed.
  void provide(Value lies, Value value) {
    auto output = lies.getDefiningOp<plan::OutputOp>();
    if (!output)
      return;
    SymTensorType type = callersType(output.getIndex());
    if (llvm::all_of(type.getDims(), [&](SymExpr dim) { return symbols.getUpperBound(dim); }))
      return;
    SymExpr bytes = bytesOf(cast<SymTensorType>(value.getType()));
    b.create<plan::ProvideOp>(value.getLoc(), lies, DimsAttr::get(b.getContext(), {bytes}));
  }

  SymTensorType callersType(unsigned result) {
    auto type = cast<SymTensorType>(source.getResultTypes()[result]);
    auto aliases = source.getResultAttrOfType<AliasesAttr>(result, kAliasesAttr);
    return aliases ? SymTensorType::get(aliases.getSeen().getDims(), type.getElementType()) : type;
  }

  /// In the memory of the argument that it changes, which must be a buffer with room.
  LogicalResult placeInPlace(OpResult result) {
    auto kernel = cast<KernelOp>(result.getOwner());
    auto inside = dyn_cast<BlockArgument>(inPlaceWrite(yielded(result))->buffer);
    auto changed = inside ? dyn_cast<BlockArgument>(kernel.getInputs()[inside.getArgNumber()])
                          : BlockArgument();
    if (!changed || changed.getOwner()->getParentOp() != source || !hasRoom(buffers[changed]))
      return kernel.emitError("only inputs with room can be changed in place");
    buffers[result] = b.create<plan::PartOp>(kernel.getLoc(), buffer, buffers[changed], DimsAttr());
    return success();
  }

  func::FuncOp source;
  plan::FuncOp planned;
  const KernelChooser &chooser;
  KernelTable &kernels;
  OpBuilder b;
  Type buffer;
  SymbolsAttr symbols;
  Operation *lastOfPrologue = nullptr;
  llvm::DenseMap<Value, Value> buffers;                         ///< where values lie
  llvm::DenseMap<Value, Value> destinations;                    ///< where they are wanted
  llvm::DenseMap<std::pair<Value, StringAttr>, Value> gathered; ///< by how they lie
  llvm::DenseMap<std::tuple<Attribute, StringAttr, Type, Attribute>, Value> weights;
  SmallVector<StringAttr> known; ///< bound symbols that have values here
};

struct LowerToPlanPass : impl::LowerToPlanBase<LowerToPlanPass> {
  explicit LowerToPlanPass(std::shared_ptr<const KernelChooser> chooser)
      : chooser(std::move(chooser)) {}

  void runOnOperation() override {
    if (!chooser || failed(lower(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult lower(ModuleOp module) {
    KernelTable kernels(module);
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    llvm::erase_if(functions,
                   [](func::FuncOp each) { return !each.isPublic() || each.isExternal(); });
    if (functions.empty())
      return module.emitError("the model has no public function");
    for (func::FuncOp function : functions)
      if (failed(FunctionLowering(function, *chooser, kernels).run()))
        return failure();
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      function.erase();
    module->setAttr(plan::kTargetAttr, StringAttr::get(module.getContext(), chooser->name()));
    return success();
  }

  std::shared_ptr<const KernelChooser> chooser;
};

} // namespace

std::unique_ptr<Pass> createLowerToPlan(std::shared_ptr<const KernelChooser> chooser) {
  return std::make_unique<LowerToPlanPass>(std::move(chooser));
}

} // namespace weft
