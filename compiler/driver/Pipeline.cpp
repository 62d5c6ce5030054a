//===- Pipeline.cpp -----------------------------------------------------------------------------===//

#include "compiler/driver/Pipeline.h"
#include "compiler/tuning/Tuning.h"
#include "dialects/plan/Plan.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/Passes.h"
#include "passes/parallel/Passes.h"
#include "passes/plan/Passes.h"
#include "passes/quant/Passes.h"
#include "targets/common/Registry.h"

using namespace mlir;

namespace weft {
namespace {

using Passes = std::vector<std::unique_ptr<Pass>>;

constexpr StringRef kPhases[] = {"import", "partition", "graph", "fuse", "plan"};

void addPartition(Passes &passes, const PipelineOptions &options) {
  PlaceOptions place;
  place.mesh = options.mesh;
  place.place = options.placements;
  passes.push_back(createRequireSizes()); // of whole tensors, whose formulas are short
  if (!options.mesh.empty() || !options.placements.empty())
    passes.push_back(createPlace(place));
  SplitFunctionsOptions split;
  split.rings = options.fuseComm == FuseComm::Auto     ? "priced"
                : options.fuseComm == FuseComm::Always ? "most"
                                                       : "whole";
  split.links = llvm::join(options.links, ";");
  split.sizes = options.planSizes;
  passes.push_back(createSplitFunctions(split));
  LimitExchangesOptions limit;
  limit.most = options.maxReshard;
  limit.sizes = options.planSizes;
  passes.push_back(createLimitExchanges(limit));
}

void addGraph(Passes &passes, const PipelineOptions &options) {
  passes.push_back(createCanonicalizerPass());
  passes.push_back(createCSEPass());
  passes.push_back(createFoldConstants(options.weight));
  passes.push_back(createConvolvePhases(options.weight));
  passes.push_back(createMoveQuantisations(options.weight));
  UnsignBytesOptions unsignBytes;
  unsignBytes.wanted = options.chooser->prefersUnsignedBytes();
  passes.push_back(createUnsignBytes(unsignBytes));
  UseIntegersOptions integers;
  integers.shorts = options.chooser->addsShortPairs();
  passes.push_back(createUseIntegers(options.weight, integers));
  passes.push_back(createStoreParameters(options.weight));
  passes.push_back(createFoldScales(options.weight));
  passes.push_back(createChannelsLast());
  passes.push_back(createCanonicalizerPass());
  passes.push_back(createCSEPass());
  if (!options.roundOperands.empty()) {
    RoundOperandsOptions round;
    round.element = options.roundOperands;
    round.keep = options.keepOperands;
    passes.push_back(createRoundOperands(round));
  }
  if (!options.narrowWeights.empty()) { // behind: weights of rounded products are narrow already
    NarrowWeightsOptions narrow;
    narrow.element = options.narrowWeights;
    passes.push_back(createNarrowWeights(narrow));
  }
  if (options.roundActivations)
    passes.push_back(createRoundActivations());
  passes.push_back(createFlattenProducts());
  passes.push_back(createFoldMoves());
  passes.push_back(createNestConcats());
  passes.push_back(createScatterRows());
  if (options.roundStorage) { // behind: what is moved is in its place
    RoundStorageOptions round;
    round.element = options.roundOperands;
    round.keep = options.keepOperands;
    passes.push_back(createRoundStorage(round));
  }
  passes.push_back(createCheckPositions({options.outside}, options.weight));
  if (options.inPlace) {
    GrowInPlaceOptions grow;
    grow.inputs = options.inPlaceInputs;
    passes.push_back(createGrowInPlace(grow));
  }
}

void addFuse(Passes &passes, const PipelineOptions &options) {
  passes.push_back(createDecomposeComposites(options.chooser));
  if (!options.chooser->isForDevice()) {
    TabulateBytesOptions tabulate;
    tabulate.atOnce = options.chooser->looksUpBytes();
    passes.push_back(createTabulateBytes(options.weight, tabulate));
  }
  FormKernelsOptions form;
  form.explain = options.explain;
  passes.push_back(createFormKernels(form, options.chooser));
  passes.push_back(createFuseRounding());
  passes.push_back(createBoundSums(options.weight));
  if (!options.chooser->isForDevice())
    passes.push_back(createBoundNumbers(options.weight));
  passes.push_back(createCollapseDims());
  if (options.chooser->multipliesBytePairs())
    passes.push_back(createBoundPairs(options.weight)); // behind: in the order that is summed
  if (options.chooser->isForDevice()) // whose threads count through all that they combine
    passes.push_back(createCollapseReductions());
}

void addPlan(Passes &passes, const PipelineOptions &options) {
  passes.push_back(createLowerToPlan(options.chooser));
  if (options.fuseComm != FuseComm::Never) {
    OverlapExchangesOptions overlap;
    overlap.byPrice = options.fuseComm == FuseComm::Auto;
    overlap.links = llvm::join(options.links, ";");
    overlap.sizes = options.planSizes;
    passes.push_back(createOverlapExchanges(overlap, options.chooser, options.records));
  }
  if (!options.chooser->isForDevice()) // whose launches follow each other without waiting
    passes.push_back(createFormRegions());
  passes.push_back(createReserveLate());
  passes.push_back(createPlaceMemory());
}

/// Where a pass stands in the nest of a pass manager for modules.
void add(OpPassManager &manager, std::unique_ptr<Pass> pass) {
  if (pass->getOpName() == func::FuncOp::getOperationName())
    manager.addNestedPass<func::FuncOp>(std::move(pass));
  else if (pass->getOpName() == plan::FuncOp::getOperationName())
    manager.addNestedPass<plan::FuncOp>(std::move(pass));
  else
    manager.addPass(std::move(pass));
}

struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("what is compiled for"),
                             llvm::cl::init("host")};
  Option<bool> explain{*this, "explain", llvm::cl::desc("kernels say why they are apart"),
                       llvm::cl::init(false)};
};

/// One target and no records.
std::shared_ptr<const KernelChooser> chooserFor(const std::string &name) {
  llvm::Expected<std::vector<FoundTarget>> targets = findTargets(name);
  if (!targets)
    llvm::report_fatal_error(targets.takeError(), /*gen_crash_diag=*/false);
  return std::make_shared<TunedTarget>(targets->front().kernels, Tuning());
}

} // namespace

ArrayRef<StringRef> phases() { return kPhases; }

StringRef phaseOf(ModuleOp module) {
  if (plan::isPlan(module))
    return "plan";
  bool hasKernels = module.walk([](KernelOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return hasKernels ? "fuse" : "import";
}

std::vector<std::unique_ptr<Pass>> passesOf(StringRef phase, const PipelineOptions &options) {
  Passes passes;
  if (phase == "partition")
    addPartition(passes, options);
  else if (phase == "graph")
    addGraph(passes, options);
  else if (phase == "fuse")
    addFuse(passes, options);
  else if (phase == "plan")
    addPlan(passes, options);
  return passes;
}

LogicalResult runPass(ModuleOp module, std::unique_ptr<Pass> pass, bool verifies) {
  PassManager manager(module.getContext());
  manager.enableVerifier(verifies);
  add(manager, std::move(pass));
  return manager.run(module);
}

void registerPipelines() {
  for (StringRef phase : phases().drop_front())
    PassPipelineRegistration<TextOptions>(
        ("weft-" + phase).str(), ("all passes of phase '" + phase + "'").str(),
        [phase](OpPassManager &manager, const TextOptions &text) {
          PipelineOptions options;
          options.explain = text.explain;
          if (phase != "partition")
            options.chooser = chooserFor(text.target);
          for (std::unique_ptr<Pass> &pass : passesOf(phase, options))
            add(manager, std::move(pass));
        });
}

} // namespace weft
