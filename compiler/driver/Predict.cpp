//===- Predict.cpp - How long a program would take on a machine --------------------------------------===//

#include "compiler/driver/Predict.h"
#include "dialects/plan/Plan.h"
#include "passes/cost/KernelWork.h"
#include "targets/common/Registry.h"
#include "weft/machine.hpp"
#include "llvm/ADT/MapVector.h"

#include <cmath>
#include <map>

using namespace mlir;
using llvm::createStringError;
using llvm::Expected;

namespace weft {
namespace {

/// A kernel's needs, as formulas over its specification's symbols.
struct KernelFormulas {
  SmallVector<StringAttr> symbols;
  KernelEffort effort;
  SymExpr touched, weights, moves;
  std::string unit, loops;
};

/// What of the weights is read: of tables that are looked up, what is looked up at most.
SymExpr weightBytes(func::FuncOp spec, SymExpr points) {
  SymExpr bytes = SymExpr::constant(spec.getContext(), 0);
  for (BlockArgument argument : spec.getArguments())
    if (spec.getArgAttr(argument.getArgNumber(), kWeightAttr))
      bytes = bytes +
              SymExpr::min(bytesOf(cast<SymTensorType>(argument.getType())), points * int64_t(4));
  return bytes;
}

class Predictor {
public:
  Predictor(ModuleOp module, const PredictionRequest &request)
      : module(module), request(request), context(module.getContext()) {}

  Expected<Prediction> run() {
    plan::FuncOp function = find();
    if (!function)
      return createStringError(request.function.empty()
                                   ? "the model has several functions and none is called 'main'"
                                   : "there is no function '" + request.function + "'");
    prediction.function = function.getSymName().str();
    prediction.target = cast<StringAttr>(module->getAttr(plan::kTargetAttr)).getValue().str();
    for (const auto &[name, value] : request.sizes)
      sizes[StringAttr::get(context, name)] = value;
    if (llvm::Error error = readCalls(function))
      return std::move(error);
    price();
    sortRows();
    return std::move(prediction);
  }

private:
  plan::FuncOp find() {
    plan::FuncOp only;
    unsigned count = 0;
    for (auto function : module.getOps<plan::FuncOp>()) {
      if (function.getSymName() == (request.function.empty() ? "main" : request.function))
        return function;
      only = function;
      ++count;
    }
    return request.function.empty() && count == 1 ? only : plan::FuncOp();
  }

  llvm::Error readCalls(plan::FuncOp function) {
    llvm::Error error = llvm::Error::success();
    function.walk([&](plan::LaunchOp launch) {
      if (!error)
        error = readCall(launch);
    });
    return error;
  }

  llvm::Error readCall(plan::LaunchOp launch) {
    Expected<const KernelFormulas *> kernel = formulasOf(launch.getKernel());
    if (!kernel)
      return kernel.takeError();
    Turns turns = turnsOf(launch);
    prediction.repeated += !turns.isKnown;
    std::optional<KernelNeed> need = needOf(**kernel, launch, turns.inside);
    if (!need) {
      ++prediction.unknown;
      return llvm::Error::success();
    }
    if (std::string lack = request.machine.lacks(*need); !lack.empty())
      return createStringError("the data of '" + request.machine.name + "' do not say " + lack +
                               ", by which kernel '" + launch.getKernel().str() + "' multiplies");
    PredictedKernel &row = rows[launch.getKernel()];
    if (row.nodes.empty())
      for (Attribute node : launch.getNodes())
        row.nodes.push_back(cast<StringAttr>(node).getValue().str());
    row.calls += turns.count;
    calls.push_back({launch.getKernel(), *need, double(turns.count)});
    return llvm::Error::success();
  }

  /// How often a call of the function runs an operation. What data decide is counted once.
  struct Turns {
    uint64_t count = 1;
    bool isKnown = true;
    SymValues inside; ///< sizes, with the indices of loops half way through
  };
  Turns turnsOf(Operation *op) {
    Operation *parent = op->getParentOp();
    if (isa<plan::FuncOp>(parent)) {
      Turns once;
      once.inside = sizes;
      return once;
    }
    Turns turns = turnsOf(parent);
    if (auto loop = dyn_cast<plan::LoopOp>(parent)) {
      FailureOr<int64_t> trips = loop.getTrips()[0].evaluate(turns.inside);
      bool isKnown = succeeded(trips) && !loop.getCount();
      turns.isKnown &= isKnown;
      turns.count *= isKnown ? uint64_t(std::max<int64_t>(*trips, 0)) : 1;
      turns.inside[loop.getIndexAttr()] = succeeded(trips) ? *trips / 2 : 0;
    }
    turns.isKnown &= !isa<plan::IfOp>(parent);
    return turns;
  }

  Expected<const KernelFormulas *> formulasOf(StringRef symbol) {
    auto [place, isNew] = formulas.try_emplace(symbol.str());
    if (!isNew)
      return &place->second;
    auto kernel = SymbolTable::lookupNearestSymbolFrom<plan::KernelOp>(
        module, StringAttr::get(context, symbol));
    auto target = findKernelTarget(kernel.getTarget());
    if (!target)
      return target.takeError();
    func::FuncOp spec = kernel.specification();
    KernelFormulas &made = place->second;
    made.effort = (*target)->effort(spec);
    made.unit = nameOf((*target)->unit(spec)).str();
    LoopKind loops = (*target)->loops(spec);
    made.loops = nameOf(loops).str();
    if (loops == LoopKind::General) { // no tile of sums: a product and a sum are two operations
      made.effort.operations = made.effort.operations + made.effort.multiplyAdds * int64_t(2);
      made.effort.multiplyAdds = SymExpr::constant(context, 0);
    }
    if (auto list = spec->getAttrOfType<SymbolsAttr>(kSymbolsAttr))
      llvm::append_range(made.symbols, list.getNames());
    SmallVector<bool> noRoom(spec.getNumArguments(), false);
    KernelWork work = workOf(spec, noRoom);
    made.touched = work.touched;
    made.moves = kernel.getMoves()[0];
    made.weights = weightBytes(spec, work.points);
    PredictedKernel &row = rows[symbol];
    row = {symbol.str(), kernel.getSchedule().str(), made.unit, made.loops};
    prediction.target = kernel.getTarget().str();
    return &made;
  }

  /// Nothing where data decide the sizes.
  std::optional<KernelNeed> needOf(const KernelFormulas &kernel, plan::LaunchOp launch,
                                   const SymValues &inside) {
    SymValues values;
    for (auto [i, symbol] : llvm::enumerate(kernel.symbols)) {
      FailureOr<int64_t> value = launch.getWords()[i].evaluate(inside);
      if (failed(value))
        return std::nullopt;
      values[symbol] = *value;
    }
    bool known = true;
    auto number = [&](SymExpr expr, const SymValues &of) {
      FailureOr<int64_t> value = expr.evaluate(of);
      known &= succeeded(value);
      return succeeded(value) ? double(*value) : 0.0;
    };
    KernelNeed need;
    need.unit = kernel.unit;
    need.loops = kernel.loops;
    need.multiplyAdds = number(kernel.effort.multiplyAdds, values);
    need.operations = number(kernel.effort.operations, values);
    need.bytes = std::min(number(kernel.touched, values), number(kernel.moves, values));
    double units = number(launch.unitsExpr(), inside), grain = number(launch.grainExpr(), inside);
    need.pieces = std::max(1.0, std::ceil(units / std::max(grain, 1.0)));
    around += number(kernel.weights, values);
    most = std::max(most, need.bytes);
    return known ? std::optional(need) : std::nullopt;
  }

  void price() {
    for (auto &[symbol, need, times] : calls) {
      need.bytesAroundIt = around + most;
      KernelTime time = request.machine.time(need, request.threads);
      PredictedKernel &row = rows[symbol];
      if (row.nanoseconds == 0)
        row.limit = time.limit();
      row.multiplyAdds += times * need.multiplyAdds;
      row.operations += times * need.operations;
      row.bytes += times * need.bytes;
      row.nanoseconds += times * time.all();
      prediction.nanoseconds += times * time.all();
    }
  }

  void sortRows() {
    for (auto &[symbol, row] : rows)
      if (row.calls)
        prediction.kernels.push_back(row);
    llvm::stable_sort(prediction.kernels, [](const PredictedKernel &a, const PredictedKernel &b) {
      return a.nanoseconds > b.nanoseconds;
    });
  }

  ModuleOp module;
  const PredictionRequest &request;
  MLIRContext *context;
  SymValues sizes;
  std::map<std::string, KernelFormulas> formulas;
  llvm::MapVector<StringRef, PredictedKernel> rows; ///< by symbol, in the order of calls
  std::vector<std::tuple<StringRef, KernelNeed, double>> calls; ///< each with how often it runs
  double around = 0, most = 0; ///< bytes of all weights that are read, and of the largest call
  Prediction prediction;
};

} // namespace

Expected<Prediction> predictPlan(ModuleOp plan, const PredictionRequest &request) {
  return Predictor(plan, request).run();
}

static weft::Diagnostic unpriced(llvm::Error error) {
  return {weft::Diagnostic::Error, "W0301", "", llvm::toString(std::move(error)), ""};
}

Result<Prediction> predict(const Module &module, const CompileOptions &options,
                           const PredictionRequest &request) {
  std::optional<Expected<Prediction>> prediction;
  Result<void> done = readPlan(
      module, options, [&](ModuleOp plan) { prediction.emplace(predictPlan(plan, request)); });
  if (!done)
    return done.diagnostics();
  if (*prediction)
    return std::move(**prediction);
  return unpriced(prediction->takeError());
}

Result<std::vector<double>> predictSeconds(const Module &module, const CompileOptions &options,
                                           const Machine &machine,
                                           const std::vector<SymbolSizes> &calls,
                                           unsigned threads) {
  std::vector<double> seconds;
  llvm::Error problem = llvm::Error::success();
  Result<void> done = readPlan(module, options, [&](ModuleOp plan) {
    for (const SymbolSizes &sizes : calls) {
      Expected<Prediction> prediction = predictPlan(plan, {*machine, sizes, int64_t(threads)});
      if (!prediction) {
        problem = llvm::joinErrors(std::move(problem), prediction.takeError());
        return;
      }
      seconds.push_back(prediction->nanoseconds * 1e-9);
    }
  });
  if (problem)
    return unpriced(std::move(problem));
  if (!done)
    return done.diagnostics();
  return seconds;
}

} // namespace weft
