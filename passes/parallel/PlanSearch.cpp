//===- PlanSearch.cpp -----------------------------------------------------------------------------===//

#include "passes/parallel/PlanSearch.h"
#include "mlir/Pass/PassManager.h"
#include "passes/parallel/NamedPlans.h"
#include "passes/parallel/Passes.h"
#include "passes/quant/NodeNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace weft {
namespace {

constexpr unsigned kMostRounds = 6;
/// Of the work of all prices of one mesh, in operations that are split: some seconds.
constexpr size_t kMostOperations = 30000;
constexpr size_t kMostFields = 2; ///< where a search goes on from the best plan with a name

/// A mesh, the program that users have placed on it, and the best that is known.
struct Field {
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<PlanSpace> space;
  PlanChoice best;
  std::string name; ///< of the plan that is the best
};

class Search {
public:
  Search(ModuleOp module, const PlanRequest &request)
      : module(module), request(request), context(module.getContext()) {}

  FailureOr<PlanResult> run() {
    if (failed(checkRequest()))
      return failure();
    for (const auto &[mesh, names] : meshes)
      if (failed(look(mesh, names)))
        return failure();
    if (request.plan == "auto") {
      llvm::stable_sort(fields, [&](const Field &a, const Field &b) {
        return a.space->priceOf(a.best).isBetter(b.space->priceOf(b.best), request.memoryLimit);
      });
      for (Field &field : llvm::MutableArrayRef(fields).take_front(kMostFields))
        descend(field);
    }
    return finish();
  }

private:
  InFlightDiagnostic error() { return emitError(UnknownLoc::get(context)); }

  //===-- What is asked for ----------------------------------------------------------------------===//

  LogicalResult checkRequest() {
    MeshAttr given;
    if (!request.mesh.empty()) {
      llvm::Expected<MeshAttr> parsed = parseMesh(context, request.mesh);
      if (!parsed)
        return error() << llvm::toString(parsed.takeError());
      given = *parsed;
      if (request.ranks > 0 && given.getRanks() != request.ranks)
        return error() << "mesh '" << request.mesh << "' has " << given.getRanks() << " ranks, not "
                       << request.ranks;
    } else if (request.ranks < 1) {
      return error() << "plan '" << request.plan << "' needs a number of ranks, or a mesh";
    }
    if (failed(checkSizes()))
      return failure();
    return request.plan == "auto" ? addAll(given) : addNamed(given);
  }

  LogicalResult checkSizes() {
    for (const auto &[name, value] : request.sizes) {
      bool isKnown = false;
      for (auto function : module.getOps<func::FuncOp>()) {
        SymbolsAttr symbols = symbolsOf(function);
        for (ArrayRef<StringAttr> names : {symbols.getNames(), symbols.getBoundNames()})
          isKnown |= llvm::is_contained(names, StringAttr::get(context, name));
      }
      if (!isKnown)
        return error() << "the program has no size '" << name << "'";
    }
    return success();
  }

  LogicalResult addNamed(MeshAttr given) {
    unsigned axes = axesOfPlan(request.plan);
    if (!llvm::is_contained(planNames(), StringRef(request.plan)))
      return error() << "there is no plan '" << request.plan << "': there are auto, "
                     << llvm::join(planNames(), ", ") << " and files";
    if (given && given.getAxes().size() != axes)
      return error() << "plan '" << request.plan << "' is for meshes of " << axes
                     << (axes == 1 ? " axis" : " axes") << ", but '" << request.mesh << "' has "
                     << given.getAxes().size();
    meshes.push_back(
        {given ? given : meshOfPlan(context, request.plan, request.ranks), {request.plan}});
    return success();
  }

  /// Every name on its own mesh, and grids of a batch and the rest.
  LogicalResult addAll(MeshAttr given) {
    auto stringsOf = [](ArrayRef<StringRef> names) {
      return std::vector<std::string>(names.begin(), names.end());
    };
    if (given) {
      meshes.push_back({given, stringsOf(planNames(given.getAxes().size()))});
      return success();
    }
    if (request.ranks > kMostRanksPlanned)
      return error() << "plans are found for up to " << kMostRanksPlanned << " ranks";
    meshes.push_back({meshOfPlan(context, "tp", request.ranks), {"tp", "sp"}});
    meshes.push_back({meshOfPlan(context, "dp", request.ranks), {"dp", "fsdp"}});
    StringAttr names[] = {StringAttr::get(context, "dp"), StringAttr::get(context, "tp")};
    for (int64_t batch = 2; batch < request.ranks; ++batch)
      if (request.ranks % batch == 0)
        meshes.push_back(
            {MeshAttr::get(context, names, {batch, request.ranks / batch}), {"dp+tp", "dp+sp"}});
    for (StringRef name : {"2d", "3d"})
      meshes.push_back({meshOfPlan(context, name, request.ranks), {name.str()}});
    return success();
  }

  //===-- Looking --------------------------------------------------------------------------------===//

  LogicalResult look(MeshAttr mesh, ArrayRef<std::string> names) {
    Field field;
    field.module = module.clone();
    PlaceOptions place;
    place.mesh = textOf(mesh);
    place.place = request.placements;
    PassManager manager(context);
    manager.enableVerifier(false); // it adds attributes only, to a program that was verified
    manager.addPass(createPlace(place));
    if (failed(manager.run(*field.module)))
      return failure();
    PlanSpace::Sizes sizes;
    for (func::FuncOp function : functionsToSplit(*field.module)) {
      FailureOr<SymValues> guess = guessSizes(function, request.sizes);
      if (failed(guess))
        return failure();
      sizes.push_back(*guess);
    }
    if (sizesText.empty() && !sizes.empty())
      sizesText = textOfSizes(functionsToSplit(*field.module).front(), sizes.front());
    field.space = std::make_unique<PlanSpace>(*field.module, mesh, sizes, request.links);
    PlanSpace &space = *field.space;
    if (request.plan == "auto") {
      field.best = space.nothing();
      field.name = "auto";
    }
    for (StringRef name : names) {
      PlanChoice choice = namedPlan(space, name);
      Price price = space.priceOf(choice);
      named.push_back({name.str(), textOf(mesh), price});
      if (field.best.empty() || price.isBetter(space.priceOf(field.best), request.memoryLimit)) {
        field.best = choice;
        field.name = name.str();
      }
    }
    if (field.best.empty())
      field.best = space.nothing();
    fields.push_back(std::move(field));
    return success();
  }

  static std::string textOfSizes(func::FuncOp function, const SymValues &values) {
    std::string text;
    SymbolsAttr symbols = symbolsOf(function);
    for (ArrayRef<StringAttr> names : {symbols.getNames(), symbols.getBoundNames()})
      for (StringAttr name : names)
        text +=
            (text.empty() ? "" : ", ") + name.str() + " = " + std::to_string(values.lookup(name));
    return text;
  }

  /// One variable after the other, those with the most bytes first.
  void descend(Field &field) {
    PlanSpace &space = *field.space;
    for (unsigned round = 0; round < kMostRounds; ++round) {
      bool hasChanged = false;
      for (size_t variable = 0; variable < space.variables().size(); ++variable)
        for (unsigned axis = 0; axis < space.axes(); ++axis)
          if (space.getOperationsPriced() < kMostOperations)
            hasChanged |= improve(field, variable, axis);
      if (!hasChanged)
        return;
    }
  }

  /// What is gathered costs time, and only a limit on memory makes that good.
  bool isWorthwhile(const PlanSpace &space, size_t variable, int option) const {
    return option == kOpen || request.memoryLimit > 0 ||
           !space.variables()[variable].options[option].isGathered;
  }

  bool improve(Field &field, size_t variable, unsigned axis) {
    PlanSpace &space = *field.space;
    bool hasChanged = false;
    int options = int(space.variables()[variable].options.size());
    for (int option = kOpen; option < options; ++option) {
      if (!isWorthwhile(space, variable, option))
        continue;
      PlanChoice other = field.best;
      other[space.at(variable, axis)] = option;
      if (!space.priceOf(other).isBetter(space.priceOf(field.best), request.memoryLimit))
        continue;
      field.best = other;
      field.name = "auto";
      hasChanged = true;
    }
    return hasChanged;
  }

  //===-- The answer -----------------------------------------------------------------------------===//

  FailureOr<PlanResult> finish() {
    Field *best = &fields.front();
    for (Field &field : fields)
      if (field.space->priceOf(field.best)
              .isBetter(best->space->priceOf(best->best), request.memoryLimit))
        best = &field;
    PlanResult result;
    result.name = best->name;
    result.plan.mesh = textOf(best->space->getMesh());
    result.plan.placements = best->space->placementsOf(best->best);
    llvm::append_range(result.plan.placements, request.placements);
    result.sizes = sizesText;
    result.price = best->space->priceOfAll(best->best);
    result.named = named;
    if (request.memoryLimit > 0 && result.price.memory() > request.memoryLimit)
      return error() << "no plan does with " << sizeText(request.memoryLimit)
                     << " by one rank: the least that was found is "
                     << sizeText(result.price.memory()) << " (weights "
                     << sizeText(result.price.weights) << ", values "
                     << sizeText(result.price.values)
                     << (sizesText.empty() ? "" : " at " + sizesText) << ")";
    if (request.plan == "auto")
      explain(*best, result);
    return result;
  }

  void explain(Field &field, PlanResult &result) {
    PlanSpace &space = *field.space;
    for (auto [v, variable] : llvm::enumerate(space.variables())) {
      PlanDecision decision;
      decision.first = variable.isInputs() ? "inputs" : variable.members.front().name;
      decision.members = variable.members.size();
      decision.chosen = wayText(space, field.best, v);
      if (!variable.isInputs())
        for (const std::string &node : nodeNames(variable.products.front()->getLoc()))
          decision.products.push_back(node);
      std::set<std::string> seen{decision.chosen};
      for (unsigned axis = 0; axis < space.axes(); ++axis)
        for (int option = kOpen; option < int(variable.options.size()); ++option) {
          if (!isWorthwhile(space, v, option))
            continue;
          PlanChoice other = field.best;
          other[space.at(v, axis)] = option;
          std::string text = wayText(space, other, v);
          if (seen.insert(text).second)
            decision.others.push_back(
                {text, space.priceOf(other),
                 space.priceOf(other).time() - space.priceOf(field.best).time()});
        }
      result.decisions.push_back(std::move(decision));
    }
  }

  /// Of inputs the sizes that axes split.
  static std::string wayText(const PlanSpace &space, const PlanChoice &choice, size_t v) {
    const PlanVariable &variable = space.variables()[v];
    if (!variable.isInputs()) {
      PlacementAttr placement = space.placementOf(choice, v, 0);
      return placement ? placement.str() : "open";
    }
    std::string text;
    for (unsigned axis = 0; axis < space.axes(); ++axis)
      if (int option = choice[space.at(v, axis)]; option != kOpen)
        text += (text.empty() ? "" : ", ") + variable.options[option].size.str() + " over " +
                space.getMesh().getAxes()[axis].str();
    return text.empty() ? "open" : text;
  }

  static constexpr int64_t kMostRanksPlanned = 4096;

  ModuleOp module;
  const PlanRequest &request;
  MLIRContext *context;
  std::vector<std::pair<MeshAttr, std::vector<std::string>>> meshes;
  std::vector<Field> fields;
  std::vector<PlanResult::Named> named;
  std::string sizesText;
};

} // namespace

FailureOr<PlanResult> choosePlan(ModuleOp module, const PlanRequest &request) {
  return Search(module, request).run();
}

std::string sizeText(double bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (bytes < 1024)
    os << llvm::format("%.0f B", bytes);
  else if (bytes < double(1 << 20))
    os << llvm::format("%.1f KiB", bytes / 1024);
  else
    os << llvm::format("%.1f MiB", bytes / (1 << 20));
  return text;
}

std::string timeText(double nanoseconds) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (nanoseconds < 1e6)
    os << llvm::format("%.3g us", nanoseconds / 1e3);
  else
    os << llvm::format("%.3g ms", nanoseconds / 1e6);
  return text;
}

std::string PlanResult::summary() const {
  std::string text = "mesh " + plan.mesh + " (" + name + "): " + timeText(price.time()) + " a call";
  text += sizes.empty() ? "" : " at " + sizes;
  text += ", " + timeText(price.exchanges) + " of it exchanges; " + sizeText(price.weights) +
          " of weights and " + sizeText(price.values) + " of values by one rank";
  return text;
}

} // namespace weft
