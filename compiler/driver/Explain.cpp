//===- Explain.cpp - What was decided about a model's kernels, and why ----------------------------------===//

#include "compiler/driver/Explain.h"
#include "dialects/plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/kernel/Apart.h"
#include "passes/plan/LowerToPlan.h"

using namespace mlir;

namespace weft {
namespace {

std::string textIn(DictionaryAttr entry, StringRef name) {
  auto text = entry.getAs<StringAttr>(name);
  return text ? text.getValue().str() : "";
}

class Explainer {
public:
  Explainer(const KernelTarget &target, const Tuning &tuning) : target(target), tuning(tuning) {
    explanation.target = target.name().str();
    explanation.scope = target.scope();
  }

  void explain(func::FuncOp function) {
    SmallVector<KernelOp> kernels;
    function.walk<WalkOrder::PreOrder>([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (auto [i, kernel] : llvm::enumerate(kernels))
      numbers[kernel] = explanation.kernels.size() + i + 1;
    for (KernelOp kernel : kernels)
      explain(kernel, function.getName().str());
    numbers.clear();
  }

  Explanation explanation;

private:
  void explain(KernelOp kernel, std::string function) {
    ExplainedKernel row{numbers[kernel], std::move(function), "", "", {}, {}, {}, {}};
    collectNodes(kernel.getLoc(), row.nodes);
    Specification specification =
        specifyAsStored(kernel, [&](func::FuncOp function) { return target.choose(function); });
    func::FuncOp specified = specification.function();
    row.declined = target.declined(specified);
    row.chosen = choicesOf(specified);
    row.hasHalves = hasHalves(specified);
    if (std::optional<KernelChoice> choice = target.choose(specified)) {
      row.schedule = choice->schedule;
      row.unit = target.unit(specified);
      row.symbol = kernelName(kernelText(choice->target, choice->schedule, specified), *choice);
    }
    if (auto apart = kernel->getAttrOfType<ArrayAttr>(kApartAttr))
      for (auto [input, entry] : llvm::zip_equal(kernel.getInputs(), apart))
        addEdge(row, input, cast<DictionaryAttr>(entry));
    explanation.kernels.push_back(std::move(row));
  }

  static bool hasHalves(func::FuncOp specification) {
    auto result = specification.walk([](Operation *op) {
      auto isOfHalves = [](Type type) { return isHalf(getElementTypeOrSelf(type)); };
      return llvm::any_of(op->getResultTypes(), isOfHalves) ||
                     llvm::any_of(op->getOperandTypes(), isOfHalves)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  ExplainedChoices choicesOf(func::FuncOp specification) {
    ExplainedChoices chosen;
    chosen.kernel = kernelKey(specification);
    chosen.schedules = target.alternatives(specification);
    if (const TuningRecord *record = tuning.apply(specification, target))
      chosen.record = *record;
    chosen.picks = picksOf(specification);
    chosen.choices = target.choices(specification);
    return chosen;
  }

  void addEdge(ExplainedKernel &row, Value input, DictionaryAttr entry) {
    auto producer = baseOf(input).getDefiningOp<KernelOp>();
    if (producer && !entry.empty())
      row.edges.push_back({numbers.lookup(producer), textIn(entry, "from"), textIn(entry, "to"),
                           textIn(entry, "reason"), textIn(entry, "by")});
  }

  const KernelTarget &target;
  const Tuning &tuning;
  llvm::DenseMap<Operation *, unsigned> numbers; ///< of the function's kernels
};

} // namespace

Explanation explainKernels(const KernelTarget &target, ModuleOp module, const Tuning &tuning) {
  Explainer explainer(target, tuning);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      explainer.explain(function);
  return std::move(explainer.explanation);
}

static ExplainedChoices choicesOf(const OverlapOffer &offer, const OverlapWay &way,
                                  const TuningRecord *record) {
  ExplainedChoices chosen;
  chosen.kernel = offer.key;
  chosen.schedules = {kTogether.str()};
  if (offer.mayBeApart)
    chosen.schedules.insert(offer.estimate.isTogether ? chosen.schedules.end()
                                                      : chosen.schedules.begin(),
                            kApart.str());
  if (way.isTogether && !offer.pieces.empty())
    chosen.choices.push_back(
        {kPieces.str(), {offer.pieces.begin(), offer.pieces.end()}, offer.estimate.pieces});
  if (!record)
    return chosen;
  chosen.record = *record;
  if (way.isTogether != offer.estimate.isTogether)
    chosen.picks.schedule = (way.isTogether ? kTogether : kApart).str();
  if (way.isTogether && way.pieces != offer.estimate.pieces)
    chosen.picks.values[kPieces.str()] = way.pieces;
  return chosen;
}

void explainExchanges(ModuleOp plan, const Tuning &tuning, Explanation &explanation) {
  plan.walk([&](plan::ExchangeOp exchange) {
    auto prices = exchange->getAttrOfType<ArrayAttr>(plan::kPricesAttr);
    std::optional<OverlapOffer> offer = offerOf(exchange);
    if (!prices || !offer)
      return;
    auto price = [&](size_t i) { return double(cast<IntegerAttr>(prices[i]).getInt()); };
    OverlapWay way = wayOf(exchange, *offer);
    explanation.exchanges.push_back(
        {exchange.collective()->getName().stripDialect().str(), exchange.getNode().str(), price(0),
         price(1), way.isTogether, way.isTogether ? way.pieces : 0,
         choicesOf(*offer, way, tuning.find(*offer, explanation.scope))});
  });
}

} // namespace weft
