//===- Variant.cpp ----------------------------------------------------------------------------------===//

#include "compiler/plan/Variant.h"

using namespace mlir;

namespace weft {

LogicalResult Variant::findKernelTargets() {
  for (auto kernel : ModuleOp(*module).getOps<plan::KernelOp>()) {
    auto [place, isNew] = kernelTargets.try_emplace(kernel.getTarget());
    if (!isNew)
      continue;
    llvm::Expected<std::shared_ptr<const KernelTarget>> found =
        findKernelTarget(kernel.getTarget());
    if (!found)
      return kernel.emitError(llvm::toString(found.takeError()));
    place->second = std::move(*found);
  }
  return success();
}

/// How the kernel's target computes it by the schedule that the plan names; nothing when that does not take it.
static std::optional<KernelChoice> choiceOf(plan::KernelOp kernel, const KernelTarget &target) {
  OwningOpRef<func::FuncOp> specification = kernel.specification().clone();
  if (!llvm::is_contained(target.alternatives(*specification), kernel.getSchedule()))
    return std::nullopt;
  Picks picks = picksOf(*specification);
  picks.schedule = kernel.getSchedule().str();
  setPicks(*specification, picks);
  return target.choose(*specification);
}

/// Of a weight, also where ranks have gathered it; empty for rows.
static StringRef layoutOf(Value buffer) {
  auto weight = buffer.getDefiningOp<plan::WeightOp>();
  for (Operation *user : buffer.getUsers())
    if (auto gather = dyn_cast<plan::ExchangeOp>(user); gather && gather.getReceived() == buffer)
      weight = gather.getSent().getDefiningOp<plan::WeightOp>();
  return weight ? weight.getLayout() : StringRef();
}

/// Whether a kernel's argument is of this type where its symbols are those words.
static bool isTypeHere(SymTensorType type, SymTensorType argument, const SymMap &here) {
  return type.getElementType() == argument.getElementType() &&
         llvm::equal(type.getDims(), argument.getDims(),
                     [&](SymExpr have, SymExpr want) { return have == want.substitute(here); });
}

/// What a launch says of its kernel that is not as the code of `choice` needs it; null when nothing is.
static const char *wrongIn(plan::LaunchOp launch, plan::KernelOp kernel,
                           const KernelChoice &choice) {
  SymMap here;
  for (auto [symbol, word] :
       llvm::zip_equal(symbolsOf(kernel.specification()).getNames(), launch.getWords().getDims()))
    here[symbol] = word;
  if (launch.unitsExpr() != choice.units.substitute(here))
    return "units";
  if (launch.scratchExpr() != choice.scratch.substitute(here))
    return "scratch";
  const std::optional<RowTiles> &tiles = choice.rowTiles;
  if (std::optional<DimsAttr> rows = launch.getRows();
      rows &&
      (!tiles || (*rows)[0] != tiles->rows.substitute(here) ||
       (*rows)[1] != tiles->tiles.substitute(here) || *launch.getRowsOf() != tiles->argument ||
       int64_t(*launch.getLeast()) != tiles->least || int64_t(launch.getHeight()) != tiles->height))
    return "rows";
  for (auto [input, layout, argument] : llvm::zip_equal(
           launch.getInputs(), choice.layouts, kernel.specification().getArgumentTypes())) {
    if (layout.str() != layoutOf(input))
      return "layouts of weights";
    // Packed it is by the sizes that the kernel knows.
    auto weight = input.getDefiningOp<plan::WeightOp>();
    if (weight && !layout.isRows() &&
        !isTypeHere(cast<SymTensorType>(weight.getTensor()), cast<SymTensorType>(argument), here))
      return "sizes of weights";
  }
  return nullptr;
}

LogicalResult Variant::checkPlan() const {
  ModuleOp plan = *module;
  auto host = plan->getAttrOfType<StringAttr>(plan::kTargetAttr);
  if (std::string own = target.kernels->name().str(); !host || host.getValue() != own)
    return plan.emitError("the plan is for target '")
           << (host ? host.getValue() : "") << "', not for '" << own << "'";
  llvm::StringMap<KernelChoice> choices;
  for (auto kernel : plan.getOps<plan::KernelOp>()) {
    const KernelTarget &own = *kernelTargets.lookup(kernel.getTarget());
    if (target.kernels->isExact() && !own.isExact())
      return kernel.emitError("the kernel's target '")
             << own.scope() << "' may round more than the operators do, and exact results are "
             << "asked for";
    if (own.isForDevice() != target.kernels->isForDevice())
      return kernel.emitError("the kernel's target '")
             << own.scope() << "' computes elsewhere than '" << target.kernels->name().str()
             << "', which the plan is for";
    std::optional<KernelChoice> choice = choiceOf(kernel, own);
    if (!choice)
      return kernel.emitError("schedule '") << kernel.getSchedule() << "' does not take the kernel";
    choices[kernel.getSymName()] = std::move(*choice);
  }
  WalkResult walked = plan.walk([&](plan::LaunchOp launch) {
    auto kernel = plan.lookupSymbol<plan::KernelOp>(launch.getKernelAttr());
    const char *wrong = wrongIn(launch, kernel, choices[launch.getKernel()]);
    if (wrong)
      launch.emitError("has other ")
          << wrong << " than '" << kernel.getTarget() << "' needs for schedule '"
          << kernel.getSchedule() << "' of the kernel";
    return wrong ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

std::vector<std::string> Variant::otherTargets() const {
  std::vector<std::string> others;
  for (const PlannedKernel &kernel : program.kernels)
    if (std::string name = targetOf(kernel).name().str();
        name != target.kernels->name().str() && !llvm::is_contained(others, name))
      others.push_back(std::move(name));
  return others;
}

std::vector<std::string> Variant::features() const {
  std::vector<std::string> all = target.kernels->features();
  for (const PlannedKernel &kernel : program.kernels)
    for (std::string &feature : targetOf(kernel).features())
      if (!llvm::is_contained(all, feature))
        all.push_back(std::move(feature));
  return all;
}

std::string Variant::peakText() const {
  std::string text;
  const auto &peaks = program.functions[0].arena;
  for (SymExpr peak : peaks)
    text += (text.empty() ? "" : ", ") + peak.str();
  return peaks.size() > 1 ? "max(" + text + ")" : text;
}

} // namespace weft
