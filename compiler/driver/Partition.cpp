//===- Partition.cpp - weft::Compiler::partition --------------------------------------------------===//

#include "compiler/driver/Partition.h"
#include "compiler/model/Facts.h"

using namespace mlir;

namespace weft {

PipelineOptions partitionOptions(const CompileOptions &options) {
  PipelineOptions pipeline;
  pipeline.mesh = options.mesh;
  pipeline.placements = options.placements;
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
  if (options.mesh.empty() || phase == "import")
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
  for (std::unique_ptr<Pass> &pass : passesOf("partition", partitionOptions(options)))
    if (failed(runPass(*split->module, std::move(pass))))
      return cannotSplit(collector);
  return Module(split);
}

} // namespace weft
