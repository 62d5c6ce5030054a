//===- PlannedProgram.cpp -----------------------------------------------------------------------===//

#include "compiler/plan/PlannedProgram.h"
#include "dialects/plan/WeightLayout.h"
#include "passes/cost/KernelChoice.h"
#include "passes/cost/KernelWork.h"
#include "passes/plan/LowerToPlan.h"
#include "weft/sha256.h"

using namespace mlir;

namespace weft {
namespace {

PlannedKernel rowOf(plan::KernelOp op) {
  PlannedKernel row;
  func::FuncOp specification = op.specification();
  row.op = op;
  row.text = kernelText(op.getTarget(), op.getSchedule(), specification);
  row.symbol = op.getSymName().str();
  row.target = op.getTarget().str();
  row.schedule = op.getSchedule().str();
  uint8_t hash[32];
  weft_sha256(row.text.data(), row.text.size(), hash);
  memcpy(row.key, hash, sizeof(row.key));
  row.pointers = specification.getNumArguments() + specification.getNumResults();
  row.isTuned = specification->hasAttr(kPicksAttr);
  llvm::append_range(row.symbols, symbolsOf(specification).getNames());
  row.flops = op.getFlops()[0];
  row.bytesMoved = op.getMoves()[0];
  row.work = op.getWork()[0];
  return row;
}

uint16_t kindOf(ExchangeKind kind) {
  switch (kind) {
  case ExchangeKind::AllReduce:
    return WEFT_ALL_REDUCE;
  case ExchangeKind::AllGather:
    return WEFT_ALL_GATHER;
  case ExchangeKind::ReduceScatter:
    return WEFT_REDUCE_SCATTER;
  case ExchangeKind::AllToAll:
    return WEFT_ALL_TO_ALL;
  case ExchangeKind::Broadcast:
    return WEFT_BROADCAST;
  case ExchangeKind::Permute:
    return WEFT_PERMUTE;
  }
  llvm_unreachable("closed set");
}

/// How the runtime combines; nothing where it cannot.
std::optional<uint16_t> combinerOf(Combiner combiner, Type element) {
  bool isBool = element.isInteger(1);
  if (!isBool && !element.isF64() && !element.isF32() && !isHalf(element) &&
      !isa<IntegerType>(element))
    return std::nullopt;
  switch (combiner) {
  case Combiner::Max:
    return WEFT_MAX;
  case Combiner::Min:
    return WEFT_MIN;
  case Combiner::Or:
    return isBool ? std::optional<uint16_t>(WEFT_MAX) : std::nullopt;
  case Combiner::And:
    return isBool ? std::optional<uint16_t>(WEFT_MIN) : std::nullopt;
  case Combiner::Sum:
    return isBool ? std::nullopt : std::optional<uint16_t>(WEFT_SUM);
  case Combiner::Prod:
    return isBool ? std::nullopt : std::optional<uint16_t>(WEFT_PROD);
  }
  llvm_unreachable("closed set");
}

/// Reads one function; kernels and groups are added to the program.
class FunctionReader {
public:
  FunctionReader(Program &program, plan::FuncOp function)
      : program(program), module(function->getParentOfType<ModuleOp>()),
        symbols(symbolsOf(function)) {
    planned.function = function;
    planned.flops = planned.bytesMoved = SymExpr::constant(function.getContext(), 0);
  }

  FailureOr<PlannedFunction> run() {
    plan::FuncOp function = planned.function;
    llvm::Expected<EntryPlan> entry = planEntry(function);
    if (!entry)
      return function.emitError() << llvm::toString(entry.takeError());
    planned.entry = std::move(*entry);
    for (unsigned i = 0; i < function.getResultTypes().size(); ++i)
      for (SymExpr dim : (planned.outputDims.emplace_back(), callersOutput(function, i).getDims()))
        planned.outputDims.back().push_back(symbols.getUpperBound(dim));
    Block &body = function.getBody().front();
    for (auto arena : body.getOps<plan::ArenaOp>()) {
      planned.arena = arena.getPeaks().getDims();
      planned.isArenaLoose = arena.getLoose();
    }
    if (planned.arena.empty())
      return function.emitError("has no 'plan.arena'; 'plan-place-memory' makes one");
    if (failed(checkPlaces()) || failed(checkSizes()) || failed(setMesh()))
      return failure();
    read(body, SymExpr::constant(function.getContext(), 1));
    if (!isSupported)
      return failure();
    return std::move(planned);
  }

private:
  /// Texts may come from anywhere: all memory is placed, once in every place.
  LogicalResult checkPlaces() {
    llvm::DenseMap<Value, SmallVector<int64_t>> places;
    WalkResult walked = planned.function.walk([&](Operation *op) {
      if (auto reserve = dyn_cast<plan::ReserveOp>(op); reserve && !reserve.getPeaks()) {
        reserve.emitError("has no peaks; 'plan-place-memory' finds them");
        return WalkResult::interrupt();
      }
      auto memory = dyn_cast<plan::MemoryOp>(op);
      if (memory && !memory.getPlace()) {
        memory.emitError("has no place; 'plan-place-memory' finds one");
        return WalkResult::interrupt();
      }
      if (memory)
        places[memory.getInside()].push_back(*memory.getPlace());
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    for (auto &[block, taken] : places) {
      llvm::sort(taken);
      for (auto [i, place] : llvm::enumerate(taken))
        if (place != int64_t(i))
          return planned.function.emitError("places memory twice or leaves place ")
                 << i << " of a block out";
    }
    return success();
  }

  /// What the runtime has room for.
  LogicalResult checkSizes() {
    WalkResult walked = planned.function.walk([&](Operation *op) {
      auto launch = dyn_cast<plan::LaunchOp>(op);
      if (launch &&
          launch.getInputs().size() + launch.getOutputs().size() + launch.getWords().size() >
              WEFT_MAX_WORDS) {
        launch.emitError("a kernel needs more than ")
            << unsigned(WEFT_MAX_WORDS) << " operands and symbols";
        return WalkResult::interrupt();
      }
      auto check = dyn_cast<plan::CheckPositionsOp>(op);
      if (check && check.getDims().size() + check.getSizes().size() >= WEFT_MAX_WORDS) {
        check.emitError("needs more than ") << unsigned(WEFT_MAX_WORDS) << " dimensions and sizes";
        return WalkResult::interrupt();
      }
      auto together = dyn_cast<plan::TogetherOp>(op);
      if (together && together.getBody().front().getOperations().size() > WEFT_MAX_PARTS) {
        together.emitError("holds more than ") << unsigned(WEFT_MAX_PARTS) << " launches";
        return WalkResult::interrupt();
      }
      auto overlap = dyn_cast<plan::OverlapOp>(op);
      if (overlap && overlap.launches().size() > WEFT_MAX_PARTS) {
        overlap.emitError("holds more than ") << unsigned(WEFT_MAX_PARTS) << " launches";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  /// A file is for one number of ranks.
  LogicalResult setMesh() {
    MeshAttr mesh = meshOf(planned.function);
    if (mesh && program.mesh && mesh != program.mesh)
      return planned.function.emitError("has ")
             << mesh << ", but another function of the file has " << program.mesh;
    if (mesh)
      program.mesh = mesh;
    return success();
  }

  /// `times`: how often the block runs, at most; null: nothing limits it.
  void read(Block &block, SymExpr times) {
    for (Operation &op : block) {
      if (auto reserve = dyn_cast<plan::ReserveOp>(op))
        planned.late.push_back(reserve);
      else if (auto launch = dyn_cast<plan::LaunchOp>(op))
        read(launch, times);
      else if (auto together = dyn_cast<plan::TogetherOp>(op))
        planned.regions.push_back(together);
      else if (auto overlap = dyn_cast<plan::OverlapOp>(op))
        planned.overlaps.push_back(overlap);
      else if (auto check = dyn_cast<plan::CheckPositionsOp>(op))
        planned.positions.push_back(check);
      else if (auto exchange = dyn_cast<plan::ExchangeOp>(op)) {
        read(exchange, times);
        continue; // its region is no code
      }
      SymExpr inside = times;
      if (auto loop = dyn_cast<plan::LoopOp>(op)) {
        SymExpr most = symbols.getUpperBound(loop.getTrips()[0]);
        inside = times && most ? times * most : SymExpr();
      }
      for (Region &region : op.getRegions())
        read(region.front(), inside);
    }
  }

  void read(plan::LaunchOp launch, SymExpr times) {
    auto [place, isNew] =
        program.kernelRows.try_emplace(launch.getKernel(), program.kernels.size());
    if (isNew)
      program.kernels.push_back(rowOf(module.lookupSymbol<plan::KernelOp>(launch.getKernelAttr())));
    PlannedKernel &kernel = program.kernels[place->second];
    ++kernel.calls;
    for (StringAttr node : launch.getNodes().getAsRange<StringAttr>())
      if (kernel.nodes.empty() || kernel.nodes.back() != node.getValue())
        kernel.nodes.push_back(node.str());
    addScratch(launch.scratchExpr());
    if (!times)
      return; // as sizes that nothing limits, turns that nothing limits are not counted
    SymMap here;
    for (auto [symbol, word] : llvm::zip_equal(kernel.symbols, launch.getWords().getDims()))
      here[symbol] = word;
    auto add = [&](SymExpr &total, SymExpr more) {
      if (SymExpr most = symbols.getUpperBound(more.substitute(here)))
        total = total + most * times;
    };
    add(planned.bytesMoved, kernel.bytesMoved);
    add(planned.flops, kernel.flops);
  }

  void read(plan::ExchangeOp op, SymExpr times) {
    CollectiveOpInterface collective = op.collective();
    MeshAttr group = collective.getGroup();
    auto type = cast<SymTensorType>(collective->getOperand(0).getType());
    PlannedExchange row{op, collective.getForm(), type.getElementType(), 0, 0, 0};
    if (auto weight = op.getSent().getDefiningOp<plan::WeightOp>();
        weight && !weight.getLayout().empty())
      sendBytes(row, cast<SymTensorType>(collective->getResult(0).getType()));
    row.kind = kindOf(row.form.kind);
    if (row.form.combiner) {
      std::optional<uint16_t> code = combinerOf(*row.form.combiner, type.getElementType());
      if (!code) {
        collective->emitOpError("cannot combine ")
            << type.getElementType() << " in this way in compiled programs";
        isSupported = false;
      }
      row.combiner = code.value_or(0);
    }
    auto *known = llvm::find(program.groups, group);
    row.group = known - program.groups.begin();
    if (known == program.groups.end())
      program.groups.push_back(group);
    planned.exchanges.push_back(row);
    addTraffic(collective, times);
  }

  /// Of packed parts, which are the packed whole when they lie behind each other.
  static void sendBytes(PlannedExchange &row, SymTensorType whole) {
    MLIRContext *context = whole.getContext();
    SymExpr one = SymExpr::constant(context, 1);
    row.element = IntegerType::get(context, 8);
    row.form.outer = row.form.inner = one;
    row.form.first = bytesOf(whole);
  }

  void addTraffic(CollectiveOpInterface collective, SymExpr times) {
    std::string axes;
    for (StringAttr axis : collective.getGroup().getAxes())
      axes += (axes.empty() ? "" : ", ") + axis.str();
    auto row = llvm::find_if(planned.traffic, [&](auto &each) { return each.axes == axes; });
    SymExpr none = SymExpr::constant(collective->getContext(), 0);
    if (row == planned.traffic.end())
      row = planned.traffic.insert(row, {axes, none, none});
    SymExpr bytes = symbols.getUpperBound(collective.sentBytes());
    if (bytes && times) // else nothing limits it
      row->bytes = row->bytes + bytes * times;
    if (times)
      row->messages = row->messages + collective.sentMessages() * times;
  }

  /// Workers' scratch begins at lines of the cache, so the runtime gives whole ones.
  static SymExpr inLines(SymExpr bytes) {
    constexpr int64_t kLine = 64;
    return SymExpr::ceildiv(bytes, kLine) * kLine;
  }

  void addScratch(SymExpr scratch) {
    SymExpr most = symbols.getUpperBound(scratch);
    SmallVector<SymExpr> &all = most ? planned.scratch : planned.lateScratch;
    SymExpr bytes = most ? inLines(most) : scratch;
    if (bytes.isConstant(0) || llvm::is_contained(all, bytes))
      return;
    auto *number = llvm::find_if(all, [](SymExpr each) { return each.asConstant().has_value(); });
    if (!bytes.asConstant() || number == all.end())
      all.push_back(bytes);
    else if (*bytes.asConstant() > *number->asConstant())
      *number = bytes;
  }

  Program &program;
  ModuleOp module;
  SymbolsAttr symbols;
  PlannedFunction planned;
  bool isSupported = true; ///< by the runtime
};

} // namespace

bool PlannedFunction::isLate(plan::LaunchOp launch) const {
  return llvm::is_contained(lateScratch, launch.scratchExpr());
}

FailureOr<Program> programOf(ModuleOp module) {
  Program program;
  for (auto function : module.getOps<plan::FuncOp>()) {
    FailureOr<PlannedFunction> planned = FunctionReader(program, function).run();
    if (failed(planned))
      return failure();
    program.functions.push_back(std::move(*planned));
  }
  return program;
}

/// What is stored for it: the whole where its parts are ranges of that.
static StoredWeight storedFor(plan::WeightOp op) {
  StoredWeight weight;
  weight.value = op.getValue();
  weight.whole = op.wholeType();
  weight.layout = WeightLayout::parse(op.getLayout())->ofWhole().str();
  bool isRange = op.distances().has_value();
  weight.type = isRange ? op.wholeType() : cast<SymTensorType>(op.getTensor());
  if (!isRange)
    weight.size = llvm::to_vector(op.getSize().value_or(ArrayRef<int64_t>()));
  return weight;
}

static bool isRow(const StoredWeight &wanted, const StoredWeight &weight) {
  return weight.value == wanted.value && weight.layout == wanted.layout &&
         weight.type == wanted.type && weight.whole == wanted.whole && weight.size == wanted.size;
}

void addWeights(ModuleOp module, std::vector<StoredWeight> &weights) {
  auto add = [&](plan::WeightOp op) {
    StoredWeight weight = storedFor(op);
    if (llvm::any_of(weights, [&](const StoredWeight &each) { return isRow(weight, each); }))
      return;
    auto name = dyn_cast<FlatSymbolRefAttr>(op.getValue());
    weight.name = name ? name.getValue().str() : "constant" + std::to_string(weights.size());
    weights.push_back(std::move(weight));
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *user) {
    for (Value operand : user->getOperands())
      if (auto op = operand.getDefiningOp<plan::WeightOp>())
        add(op);
  });
}

unsigned rowOf(plan::WeightOp weight, ArrayRef<StoredWeight> weights) {
  StoredWeight wanted = storedFor(weight);
  auto row = llvm::find_if(weights, [&](const StoredWeight &each) { return isRow(wanted, each); });
  assert(row != weights.end() && "addWeights was called before");
  return row - weights.begin();
}

SymExpr offsetOf(plan::WeightOp weight, ArrayRef<StoredWeight> weights) {
  const StoredWeight &stored = weights[rowOf(weight, weights)];
  SymExpr offset = SymExpr::constant(weight.getContext(), int64_t(stored.offset));
  if (std::optional<SmallVector<int64_t>> distances = weight.distances())
    for (auto [at, distance] : llvm::zip_equal(weight.getPart()->getDims(), *distances))
      offset = offset + at * distance;
  else if (SymExpr part = weight.partNumber())
    offset = offset + part * int64_t(stored.distance);
  return offset;
}

} // namespace weft
