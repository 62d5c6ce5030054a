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

LogicalResult Variant::checkPlan() const {
  auto host = (*module)->getAttrOfType<StringAttr>(plan::kTargetAttr);
  if (std::string own = target.kernels->name().str(); !host || host.getValue() != own)
    return ModuleOp(*module).emitError("the plan is for target '")
           << (host ? host.getValue() : "") << "', not for '" << own << "'";
  for (auto kernel : ModuleOp(*module).getOps<plan::KernelOp>()) {
    const KernelTarget &own = *kernelTargets.lookup(kernel.getTarget());
    if (target.kernels->isExact() && !own.isExact())
      return kernel.emitError("the kernel's target '")
             << own.scope() << "' may round more than the operators do, and exact results are "
             << "asked for";
    if (!llvm::is_contained(own.alternatives(kernel.specification()), kernel.getSchedule()))
      return kernel.emitError("schedule '") << kernel.getSchedule() << "' does not take the kernel";
  }
  return success();
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

} // namespace weft
