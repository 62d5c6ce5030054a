//===- ProfileTrace.h - One call for Chrome's and Perfetto's viewers --------------------------------===//
#ifndef WEFT_TOOLS_WEFT_VERBS_PROFILETRACE_H
#define WEFT_TOOLS_WEFT_VERBS_PROFILETRACE_H

#include "tools/weft/cli/Artifact.h"
#include "tools/weft/verbs/RankProfile.h"

namespace weft::cli {

/// Of one rank: a document in the format that chrome://tracing and ui.perfetto.dev read.
std::string traceText(const std::vector<KernelView> &kernels,
                      const std::vector<weft_trace_event_t> &events);
/// Of all ranks: each is a process, with kernels and collectives of the last one of `calls` calls.
std::string traceText(const std::vector<KernelView> &kernels, const std::vector<RankTrace> &ranks,
                      int64_t calls);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_VERBS_PROFILETRACE_H
