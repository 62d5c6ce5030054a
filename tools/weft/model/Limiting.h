//===- Limiting.h - --limit, and the end of a process that has no memory left -----------------===//
//
//   Result<GivenLimits> limits = readLimits(options);
//   if (Result<Done> done = guardMemory(options, *limits); !done) return console.fail(…);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_MODEL_LIMITING_H
#define WEFT_TOOLS_WEFT_MODEL_LIMITING_H

#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Result.h"
#include "weft/compiler.hpp"

namespace weft::cli {

/// `--limit nodes=N,nesting=N,tensor-bytes=SIZE,memory=SIZE`, in one flag or several; the last of a
/// name counts.
struct GivenLimits {
  Limits import;
  /// Bytes of this process: heap, stacks of threads and written pages, but no mapped files. 0 for no
  /// limit, which is the default: what a model needs depends on the model, weights are mapped, and a
  /// share of the machine's memory would refuse with swap what works with it. Who serves strangers
  /// knows how much one of them may have.
  int64_t memory = 0;
};
Result<GivenLimits> readLimits(const ParsedOptions &options);

/// From here on a process that has no memory left says so in one line and ends, with nothing
/// half-written: exit code 1 where it asked for more than the limit, 4 where the machine has no more.
Result<Done> guardMemory(const ParsedOptions &options, int64_t limit);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_MODEL_LIMITING_H
