//===- Partition.h - What options say of ranks ----------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_PARTITION_H
#define WEFT_COMPILER_DRIVER_PARTITION_H

#include "compiler/driver/Pipeline.h"
#include "compiler/model/ModuleImpl.h"
#include "passes/parallel/PlanSearch.h"
#include "weft/compiler.hpp"

namespace weft {

/// The part of a pipeline's options that phase "partition" reads.
PipelineOptions partitionOptions(const CompileOptions &options);
/// The same with the mesh and placements that a plan says, which a program gets that is to be split. `found` says why, when
/// it was searched for or has a name.
mlir::FailureOr<PipelineOptions> partitionOptions(mlir::ModuleOp module,
                                                  const CompileOptions &options,
                                                  std::optional<PlanResult> &found);
/// Refuses a mesh for a program that has the phase behind it.
Result<void> checkUnsplit(const Module::Impl &program, const CompileOptions &options);
/// What the phase refused.
std::vector<weft::Diagnostic> cannotSplit(DiagnosticCollector &collector);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_PARTITION_H
