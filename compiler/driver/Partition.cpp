//===- Partition.cpp - weft::Compiler::partition --------------------------------------------------===//

#include "compiler/driver/Partition.h"
#include "compiler/model/Facts.h"
#include "passes/parallel/NamedPlans.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace weft {

static bool choosesPlan(const CompileOptions &options) {
  return !options.plan.empty() || options.ranks > 0 ||
         (!options.mesh.empty() && options.placements.empty());
}

PipelineOptions partitionOptions(const CompileOptions &options) {
  PipelineOptions pipeline;
  pipeline.mesh = options.mesh;
  pipeline.placements = options.placements;
  pipeline.maxReshard = options.maxReshard;
  for (const auto &[name, value] : options.planSizes)
    pipeline.planSizes.push_back(name + "=" + std::to_string(value));
  return pipeline;
}

/// A plan without a name is a file.
static bool isFile(StringRef plan) {
  return !plan.empty() && plan != "auto" && !llvm::is_contained(planNames(), plan) &&
         llvm::sys::fs::exists(plan);
}

static llvm::Expected<RankPlan> readPlanFile(MLIRContext *context, const CompileOptions &options) {
  auto file = llvm::MemoryBuffer::getFile(options.plan, /*IsText=*/true);
  if (std::error_code why = file.getError())
    return llvm::createStringError(options.plan + ": " + why.message());
  llvm::Expected<RankPlan> plan = readRankPlan(context, (*file)->getBuffer(), options.plan);
  if (!plan)
    return plan;
  if (!options.mesh.empty() && options.mesh != plan->mesh)
    return llvm::createStringError(options.plan + ": is for mesh '" + plan->mesh + "', not '" +
                                   options.mesh + "'");
  int64_t ranks = llvm::cantFail(parseMesh(context, plan->mesh)).getRanks();
  if (options.ranks > 0 && options.ranks != ranks)
    return llvm::createStringError(options.plan + ": is for " + Twine(ranks) + " ranks, not " +
                                   Twine(options.ranks));
  llvm::append_range(plan->placements, options.placements);
  return plan;
}

FailureOr<PipelineOptions> partitionOptions(ModuleOp module, const CompileOptions &options,
                                            std::optional<PlanResult> &found) {
  PipelineOptions pipeline = partitionOptions(options);
  if (!choosesPlan(options))
    return pipeline;
  auto refuse = [&](llvm::Error error) -> LogicalResult {
    return emitError(UnknownLoc::get(module.getContext())) << llvm::toString(std::move(error));
  };
  if (isFile(options.plan)) {
    llvm::Expected<RankPlan> plan = readPlanFile(module.getContext(), options);
    if (!plan)
      return refuse(plan.takeError());
    pipeline.mesh = plan->mesh;
    pipeline.placements = plan->placements;
    return pipeline;
  }
  PlanRequest request;
  request.ranks = options.ranks;
  request.mesh = options.mesh;
  request.placements = options.placements;
  request.plan = options.plan.empty() ? "auto" : options.plan;
  request.sizes = options.planSizes;
  request.memoryLimit = double(options.maxMemory);
  for (const std::string &link : options.links)
    if (llvm::Error error = readLink(link, request.links))
      return refuse(std::move(error));
  FailureOr<PlanResult> plan = choosePlan(module, request);
  if (failed(plan))
    return failure();
  pipeline.mesh = plan->plan.mesh;
  pipeline.placements = plan->plan.placements;
  found = std::move(*plan);
  return pipeline;
}

std::vector<weft::Diagnostic> cannotSplit(DiagnosticCollector &collector) {
  std::vector<weft::Diagnostic> list = collector.take();
  for (weft::Diagnostic &each : list)
    each.code = "W0315";
  return list;
}

Result<void> checkUnsplit(const Module::Impl &program, const CompileOptions &options) {
  StringRef phase = phaseOf(*program.module);
  if ((options.mesh.empty() && !choosesPlan(options)) || phase == "import")
    return {};
  return weft::Diagnostic{weft::Diagnostic::Error, "W0315", "",
                          "a program behind phase '" + phase.str() + "' cannot be split any more",
                          "split what '--stop-after import' prints"};
}

Result<Module> Compiler::partition(const Module &module, const CompileOptions &options) {
  if (Result<void> done = checkUnsplit(module.get(), options); !done)
    return done.diagnostics();
  std::shared_ptr<Module::Impl> split = module.get().clone();
  DiagnosticCollector collector(split->context.get(), "W0300");
  if (Result<void> done = applyFacts(*split->module, options.facts); !done)
    return done.diagnostics();
  std::optional<PlanResult> found;
  FailureOr<PipelineOptions> pipeline = partitionOptions(*split->module, options, found);
  if (failed(pipeline))
    return cannotSplit(collector);
  for (std::unique_ptr<Pass> &pass : passesOf("partition", *pipeline))
    if (failed(runPass(*split->module, std::move(pass))))
      return cannotSplit(collector);
  return Module(split);
}

} // namespace weft
