//===- Jobs.h - What is compiled at once -------------------------------------------------------------===//
//
//   std::vector<Job> jobs = kernels.jobs(variants, options);
//   jobs.insert(jobs.begin(), [&] { return compileHosts(); });
//   if (llvm::Error failure = runJobs(jobs, options)) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_JOBS_H
#define WEFT_COMPILER_DRIVER_JOBS_H

#include "weft/compiler.hpp"
#include "llvm/Support/Error.h"
#include <functional>
#include <vector>

namespace weft {

using Job = std::function<llvm::Error()>;

/// By as many threads as the options say; each takes the first that is left, so long ones stand in front. Answers with the failure of the
/// first job that has one. What is left when the options' caller cancels is not done.
llvm::Error runJobs(const std::vector<Job> &jobs, const CompileOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_JOBS_H
