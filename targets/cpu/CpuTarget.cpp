//===- CpuTarget.cpp - Chooses schedules for kernels and compiles them -------------------------------===//

#include "targets/cpu/CpuTarget.h"
#include "mlir/Parser/Parser.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/PeakLoops.h"

using namespace mlir;

namespace weft {
namespace {

class CpuKernels : public KernelTarget {
public:
  CpuKernels(const std::string &family, const CpuLevel &level, bool exact)
      : family(family), level(level), exact(exact) {}

  TargetName name() const override { return {family, {level.name}}; }
  bool isExact() const override { return exact; }
  std::vector<std::string> features() const override { return level.features; }

  std::optional<KernelChoice> choose(func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    if (!schedule)
      return std::nullopt;
    Launch launch = schedule->launch(spec, level.machine);
    return KernelChoice{scope(),
                        schedule->name().str(),
                        launch.units,
                        launch.grain,
                        launch.scratch,
                        schedule->layouts(spec, level.machine),
                        picksOf(spec).values,
                        schedule->rowTiles(spec, level.machine)};
  }

  std::vector<DeclinedSchedule> declined(func::FuncOp spec) const override {
    std::vector<DeclinedSchedule> list;
    find(spec, [&](const Schedule *schedule, Decline why) {
      list.push_back({schedule->name().str(), why});
    });
    return list;
  }

  std::vector<std::string> alternatives(func::FuncOp spec) const override {
    std::vector<std::string> names;
    for (const Schedule *schedule : allowed(spec))
      names.push_back(schedule->name().str());
    return names;
  }

  Unit unit(func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    return schedule ? schedule->unit(spec, level.machine) : Unit::Reals;
  }

  std::vector<Choice> choices(func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    return schedule ? schedule->choices(spec, level.machine) : std::vector<Choice>();
  }

  llvm::Expected<KernelImage> compile(StringRef specification, StringRef symbol,
                                      StringRef scheduleName) const override {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerCodegenDialects(context);
    context.loadDialect<WeftDialect, SymDialect>();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(specification, &context);
    if (!module)
      return llvm::createStringError("the specification of kernel '" + symbol + "' does not parse");
    Unit unit = Unit::Reals;
    for (const Schedule *schedule : level.schedules)
      if (schedule->name() == scheduleName) {
        unit = schedule->unit(*module->getOps<func::FuncOp>().begin(), level.machine);
        if (failed(emitKernel(*module, symbol, *schedule, level.machine)))
          return llvm::createStringError("schedule '" + scheduleName + "' cannot emit kernel '" +
                                         symbol + "'");
      }
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

  unsigned halfProductRate() const override {
    const unsigned ofTiles = 8; // of whole products: of operands in registers twice that
    return level.machine.tiles() ? ofTiles : level.machine.addsHalfProducts() ? 2 : 1;
  }

private:
  /// What takes whatever others are made for.
  const Schedule *general() const { return level.schedules.back(); }

  /// The first that takes the kernel; those before it go to `declined`.
  const Schedule *
  find(func::FuncOp spec,
       llvm::function_ref<void(const Schedule *schedule, Decline why)> declined) const {
    for (const Schedule *schedule : level.schedules) {
      Decline why = decline(*schedule, spec);
      if (!why)
        return schedule;
      declined(schedule, why);
    }
    return nullptr;
  }

  /// The schedule that computes the kernel by itself, and those after it that may do so instead: none that rounds more. The general
  /// schedule is no alternative to others.
  std::vector<const Schedule *> allowed(func::FuncOp spec) const {
    std::vector<const Schedule *> list;
    for (const Schedule *schedule : level.schedules)
      if (list.empty() ||
          (schedule != general() && (schedule->isExact() || !list.front()->isExact())))
        if (!decline(*schedule, spec))
          list.push_back(schedule);
    return list;
  }

  /// The one that was picked, else the first that takes the kernel.
  const Schedule *taken(func::FuncOp spec) const {
    std::string picked = picksOf(spec).schedule;
    if (picked.empty())
      return find(spec, [](const Schedule *, Decline) {});
    for (const Schedule *schedule : allowed(spec))
      if (schedule->name() == picked)
        return schedule;
    return nullptr;
  }

  Decline decline(const Schedule &schedule, func::FuncOp spec) const {
    if (Decline why = schedule.decline(spec, level.machine))
      return why;
    if (exact && !schedule.isExact())
      return {"it rounds more than the operators do, and exact results are asked for"};
    if (&schedule != general() && writesPackedElements(spec))
      return {"a result has elements of less than a byte, which only 'loop' writes"};
    return {};
  }

  std::string family;
  const CpuLevel &level;
  bool exact;
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
