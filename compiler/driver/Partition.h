//===- Partition.h - What options say of ranks ----------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_PARTITION_H
#define WEFT_COMPILER_DRIVER_PARTITION_H

#include "compiler/driver/Pipeline.h"
#include "compiler/model/ModuleImpl.h"
#include "weft/compiler.hpp"

namespace weft {

/// The part of a pipeline's options that phase "partition" reads.
PipelineOptions partitionOptions(const CompileOptions &options);
/// Refuses a mesh for a program that has the phase behind it.
Result<void> checkUnsplit(const Module::Impl &program, const CompileOptions &options);
/// What the phase refused.
std::vector<weft::Diagnostic> cannotSplit(DiagnosticCollector &collector);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_PARTITION_H
