//===- CpuTarget.cpp - Chooses schedules for kernels and compiles them -------------------------------===//

#include "targets/cpu/CpuTarget.h"
#include "mlir/Parser/Parser.h"
#include "targets/common/ScheduledTarget.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/PeakLoops.h"

using namespace mlir;

namespace weft {
namespace {

class CpuKernels : public ScheduledTarget<Schedule, VectorMachine> {
public:
  CpuKernels(const std::string &family, const CpuLevel &level, bool exact)
      : ScheduledTarget(level.schedules, level.machine, exact), family(family), level(level) {}

  TargetName name() const override { return {family, {level.name}}; }
  std::vector<std::string> features() const override { return level.features; }

  llvm::Expected<KernelImage> compile(StringRef specification, StringRef symbol,
                                      StringRef scheduleName) const override {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerCodegenDialects(context);
    context.loadDialect<WeftDialect, SymDialect>();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(specification, &context);
    if (!module)
      return llvm::createStringError("the specification of kernel '" + symbol + "' does not parse");
    const Schedule &schedule = named(scheduleName);
    Unit unit = schedule.unit(*module->getOps<func::FuncOp>().begin(), level.machine);
    if (failed(emitKernel(*module, symbol, schedule, level.machine)))
      return llvm::createStringError("schedule '" + scheduleName + "' cannot emit kernel '" +
                                     symbol + "'");
    llvm::Expected<std::string> object = level.compile(*module);
    if (!object)
      return object.takeError();
    return KernelImage{KernelImage::ElfObject, std::move(*object), symbol.str(), unit};
  }

  llvm::Expected<PeakLoops> compilePeakLoops() const override {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerCodegenDialects(context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    PeakLoops loops = emitPeakLoops(*module, level.machine);
    llvm::Expected<std::string> object = level.compile(*module);
    if (!object)
      return object.takeError();
    loops.object = std::move(*object);
    return loops;
  }

  bool looksUpBytes() const override { return level.machine.looksUpBytes(); }
  bool multipliesBytePairs() const override { return level.machine.multipliesBytePairs(); }
  bool addsShortPairs() const override { return level.machine.pairInstructions() == 1; }
  bool prefersUnsignedBytes() const override { // tiles multiply both
    return level.machine.addsByteProducts({false, true}) &&
           !level.machine.addsByteProducts({true, true}) && !level.machine.tiles();
  }
  bool multipliesByteBlocks() const override { // numbers of 4 bits count as signed or unsigned ones
    return level.machine.addsByteProducts({false, true}) ||
           level.machine.addsByteProducts({true, true});
  }
  unsigned halfProductRate() const override {
    return productsOf(level.machine.tiles()              ? Unit::HalfTiles
                      : level.machine.addsHalfProducts() ? Unit::HalfPairs
                                                         : Unit::Reals);
  }

  double operationsOfNanosecond(func::FuncOp specification) const override {
    return level.machine.operationsOfNanosecond() * productsOf(unit(specification));
  }

private:
  std::string family;
  const CpuLevel &level;
};

class CpuHost : public HostTarget {
public:
  explicit CpuHost(const CpuLevel &level) : level(level) {}
  void loadDialects(MLIRContext &context) const override { registerCodegenDialects(context); }
  llvm::Expected<std::string> compile(ModuleOp module) const override {
    return level.compile(module);
  }

private:
  const CpuLevel &level;
};

} // namespace

std::vector<std::string> CpuFamily::levels() const {
  std::vector<std::string> names;
  for (const CpuLevel &level : all)
    names.push_back(level.name);
  return names;
}

const CpuLevel &CpuFamily::find(StringRef level) const {
  for (const CpuLevel &each : all)
    if (each.name == level)
      return each;
  llvm_unreachable("the registry asks for levels of the list");
}

std::unique_ptr<KernelTarget> CpuFamily::kernelTarget(StringRef level, bool exact) const {
  return std::make_unique<CpuKernels>(name(), find(level), exact);
}

std::shared_ptr<HostTarget> CpuFamily::hostTarget(StringRef level) const {
  return std::make_shared<CpuHost>(find(level));
}

} // namespace weft
