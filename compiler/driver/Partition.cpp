//===- Partition.cpp - weft::Compiler::partition --------------------------------------------------===//

#include "compiler/driver/Partition.h"
#include "compiler/model/Facts.h"
#include "passes/parallel/NamedPlans.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace weft {

namespace {

weft::Diagnostic refusal(const Twine &text, const std::string &hint = "") {
  return {weft::Diagnostic::Error, "W0315", "", text.str(), hint};
}

/// How many ranks a mesh has; 1 for what is none, which the phase refuses.
uint64_t ranksOf(StringRef mesh) {
  SmallVector<StringRef> pieces;
  mesh.split(pieces, ',');
  uint64_t ranks = 1;
  for (StringRef piece : pieces)
    if (uint64_t size = 1; !piece.split('=').second.getAsInteger(10, size))
      ranks = llvm::SaturatingMultiply(ranks, size);
  return ranks;
}

SmallVector<StringRef> axesOf(StringRef mesh) {
  SmallVector<StringRef> axes;
  mesh.split(axes, ',');
  for (StringRef &axis : axes)
    axis = axis.split('=').first;
  return axes;
}

} // namespace

Result<std::vector<std::string>> meshesOf(const CompileOptions &options) {
  std::vector<std::string> sorted = options.mesh;
  if (sorted.size() < 2)
    return sorted.empty() ? std::vector<std::string>{""} : sorted;
  llvm::stable_sort(
      sorted, [](const std::string &a, const std::string &b) { return ranksOf(a) < ranksOf(b); });
  std::vector<std::string> all = sorted;
  for (std::string &mesh : all)
    for (const std::string &other : sorted)
      for (StringRef axis : axesOf(other))
        if (!llvm::is_contained(axesOf(mesh), axis))
          mesh += ("," + axis + "=1").str();
  for (size_t i = 1; i < sorted.size(); ++i)
    if (ranksOf(sorted[i - 1]) == ranksOf(sorted[i]))
      return refusal("meshes '" + sorted[i - 1] + "' and '" + sorted[i] + "' have the same " +
                         "number of ranks, by which a file is opened",
                     "compile one file for each");
  return all;
}

Result<void> checkOneMesh(const CompileOptions &options) {
  if (options.mesh.size() < 2)
    return {};
  return refusal("several meshes are several programs, but one is asked for", "name one mesh");
}

/// Whether a plan says how to split over the mesh. Over one rank there is nothing to split.
static bool choosesPlan(const CompileOptions &options, StringRef mesh) {
  if (!mesh.empty() && ranksOf(mesh) == 1)
    return false;
  return !options.plan.empty() || options.ranks > 0 ||
         (!mesh.empty() && options.placements.empty());
}

PipelineOptions partitionOptions(const CompileOptions &options, const std::string &mesh) {
  PipelineOptions pipeline;
  pipeline.mesh = mesh;
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

static llvm::Expected<RankPlan> readPlanFile(MLIRContext *context, const CompileOptions &options,
                                             const std::string &mesh) {
  auto file = llvm::MemoryBuffer::getFile(options.plan, /*IsText=*/true);
  if (std::error_code why = file.getError())
    return llvm::createStringError(options.plan + ": " + why.message());
  llvm::Expected<RankPlan> plan = readRankPlan(context, (*file)->getBuffer(), options.plan);
  if (!plan)
    return plan;
  if (!mesh.empty() && mesh != plan->mesh)
    return llvm::createStringError(options.plan + ": is for mesh '" + plan->mesh + "', not '" +
                                   mesh + "'");
  int64_t ranks = llvm::cantFail(parseMesh(context, plan->mesh)).getRanks();
  if (options.ranks > 0 && options.ranks != ranks)
    return llvm::createStringError(options.plan + ": is for " + Twine(ranks) + " ranks, not " +
                                   Twine(options.ranks));
  llvm::append_range(plan->placements, options.placements);
  return plan;
}

FailureOr<PipelineOptions> partitionOptions(ModuleOp module, const CompileOptions &options,
                                            const std::string &mesh,
                                            std::optional<PlanResult> &found) {
  PipelineOptions pipeline = partitionOptions(options, mesh);
  if (!choosesPlan(options, mesh))
    return pipeline;
  auto refuse = [&](llvm::Error error) -> LogicalResult {
    return emitError(UnknownLoc::get(module.getContext())) << llvm::toString(std::move(error));
  };
  if (isFile(options.plan)) {
    llvm::Expected<RankPlan> plan = readPlanFile(module.getContext(), options, mesh);
    if (!plan)
      return refuse(plan.takeError());
    pipeline.mesh = plan->mesh;
    pipeline.placements = plan->placements;
    return pipeline;
  }
  PlanRequest request;
  request.ranks = options.ranks;
  request.mesh = mesh;
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
  if ((options.mesh.empty() && !choosesPlan(options, "")) || phase == "import")
    return {};
  return refusal("a program behind phase '" + phase + "' cannot be split any more",
                 "split what '--stop-after import' prints");
}

Result<Module> Compiler::partition(const Module &module, const CompileOptions &options) {
  if (Result<void> done = checkUnsplit(module.get(), options); !done)
    return done.diagnostics();
  if (Result<void> done = checkOneMesh(options); !done)
    return done.diagnostics();
  std::shared_ptr<Module::Impl> split = module.get().clone();
  DiagnosticCollector collector(split->context.get(), "W0300");
  if (Result<void> done = applyFacts(*split->module, options.facts); !done)
    return done.diagnostics();
  std::string mesh = options.mesh.empty() ? "" : options.mesh.front();
  std::optional<PlanResult> found;
  FailureOr<PipelineOptions> pipeline = partitionOptions(*split->module, options, mesh, found);
  if (failed(pipeline))
    return cannotSplit(collector);
  for (std::unique_ptr<Pass> &pass : passesOf("partition", *pipeline))
    if (failed(runPass(*split->module, std::move(pass))))
      return cannotSplit(collector);
  return Module(split);
}

} // namespace weft
