//===- CudaFamily.cpp - Architectures, and how their kernels are compiled ---------------------------------===//

#include "targets/cuda/CudaFamily.h"
#include "mlir/Parser/Parser.h"
#include "targets/common/ScheduledTarget.h"
#include "targets/cpu/Codegen.h"
#include "targets/cuda/Ptx.h"
#include "targets/cuda/SimtKernel.h"

using namespace mlir;

namespace weft {
namespace {

/// PTX of this version is enough for all of them, and drivers since CUDA 12.0 take it.
constexpr const char *kPtxVersion = "+ptx80";

const std::vector<SimtMachine> &machines() {
  static const std::vector<SimtMachine> all = {{"sm_80", kPtxVersion, 108},
                                               {"sm_86", kPtxVersion, 84},
                                               {"sm_89", kPtxVersion, 142},
                                               {"sm_90", kPtxVersion, 132},
                                               {"sm_90a", kPtxVersion, 132,
                                                /*hasGroupProducts=*/true,
                                                /*tileBytes=*/97 * 1024}};
  return all;
}

llvm::ArrayRef<const SimtSchedule *> simtSchedules() {
  static const SimtSchedule *const all[] = {
      simtAttention(),  simtTiles(),    simtRealTiles(), simtReductions(), simtLines(), simtScans(),
      simtSelections(), simtScatters(), simtUnits(),     simtTurns(),      simtPoints()};
  return all;
}

class CudaKernels : public ScheduledTarget<SimtSchedule, SimtMachine> {
public:
  CudaKernels(const SimtMachine &machine, std::vector<std::string> features, bool exact)
      : ScheduledTarget(simtSchedules(), machine, exact), machine(machine),
        needed(std::move(features)) {}

  TargetName name() const override { return {"cuda", {machine.architecture}}; }
  std::vector<std::string> features() const override { return needed; }
  bool isForDevice() const override { return true; }

  llvm::Expected<KernelImage> compile(StringRef specification, StringRef symbol,
                                      StringRef scheduleName) const override {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerCodegenDialects(context);
    context.loadDialect<WeftDialect, SymDialect>();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(specification, &context);
    if (!module)
      return llvm::createStringError("the specification of kernel '" + symbol + "' does not parse");
    const SimtSchedule &schedule = named(scheduleName);
    auto spec = *module->getOps<func::FuncOp>().begin();
    Unit unit = schedule.unit(spec, machine);
    bool isCounted = schedule.isCounted(spec, machine);
    BlockShape blocks{schedule.threads(), schedule.blocksAtOnce(spec)};
    int64_t launchBytes = emitSimtKernel(*module, symbol, schedule, machine);
    llvm::Expected<std::string> ptx = compileToPtx(*module, symbol, blocks, machine);
    if (!ptx)
      return ptx.takeError();
    KernelImage image{KernelImage::Ptx, std::move(*ptx), symbol.str(), unit};
    image.threads = schedule.threads();
    image.blockBytes = launchBytes;
    image.isCounted = isCounted;
    return image;
  }

  std::string join(ArrayRef<std::string> images) const override { return joinPtx(images); }

  llvm::Expected<PeakLoops> compilePeakLoops() const override {
    return llvm::createStringError("no loops show what '" + name().str() + "' can do at most");
  }

private:
  const SimtMachine &machine;
  std::vector<std::string> needed;
};

class CudaFamily : public TargetFamily {
public:
  explicit CudaFamily(const TargetFamily &host) : host(host) {}
  std::string name() const override { return "cuda"; }
  bool isDevice() const override { return true; }
  std::vector<std::string> levels() const override {
    std::vector<std::string> names;
    for (const SimtMachine &machine : machines())
      names.push_back(machine.architecture);
    return names;
  }
  std::string hostLevel() const override { return ""; }
  std::string hostProcessor() const override { return ""; }

  std::unique_ptr<KernelTarget> kernelTarget(llvm::StringRef level, bool exact) const override {
    std::vector<std::string> features = host.kernelTarget(host.levels().front(), exact)->features();
    features.insert(features.begin(), level.str());
    const SimtMachine &machine = *llvm::find_if(
        machines(), [&](const SimtMachine &each) { return each.architecture == level; });
    return std::make_unique<CudaKernels>(machine, std::move(features), exact);
  }

  std::shared_ptr<HostTarget> hostTarget(llvm::StringRef) const override {
    return host.hostTarget(host.levels().front());
  }

private:
  const TargetFamily &host;
};

} // namespace

std::unique_ptr<TargetFamily> makeCudaFamily(const TargetFamily &host) {
  return std::make_unique<CudaFamily>(host);
}

} // namespace weft
