//===- Partition.h - What options say of ranks ----------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_PARTITION_H
#define WEFT_COMPILER_DRIVER_PARTITION_H

#include "compiler/driver/Pipeline.h"
#include "compiler/model/ModuleImpl.h"
#include "passes/parallel/PlanSearch.h"
#include "weft/compiler.hpp"

namespace weft {

/// The meshes of the options, fewest ranks first, each with the axes of the others as axes of one rank; one that is empty where there is none.
/// Refuses two of the same number of ranks.
Result<std::vector<std::string>> meshesOf(const CompileOptions &options);
/// Refuses several meshes where one program is asked for.
Result<void> checkOneMesh(const CompileOptions &options);
/// The part of a pipeline's options that phase "partition" reads, for one of meshesOf.
PipelineOptions partitionOptions(const CompileOptions &options, const std::string &mesh);
/// The same with the mesh and placements that a plan says, which a program gets that is to be split. `found` says why, when
/// it was searched for or has a name.
mlir::FailureOr<PipelineOptions> partitionOptions(mlir::ModuleOp module,
                                                  const CompileOptions &options,
                                                  const std::string &mesh,
                                                  std::optional<PlanResult> &found);
/// Refuses a mesh for a program that has the phase behind it.
Result<void> checkUnsplit(const Module::Impl &program, const CompileOptions &options);
/// What the phase refused.
std::vector<weft::Diagnostic> cannotSplit(DiagnosticCollector &collector);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_PARTITION_H
