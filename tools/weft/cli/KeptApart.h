//===- KeptApart.h - What is read is not replaced, and nothing is written twice ---------------===//
//
//   std::vector<NamedPath> read{{"", "m.onnx"}, {"--calibration", "calls"}}, written{{"-o", "m.weft"}};
//   if (Result<Done> done = checkKeptApart(read, written); !done)
//     return console.fail(done.failure());        // "'-o m.onnx' would replace what is read"
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_KEPTAPART_H
#define WEFT_TOOLS_WEFT_CLI_KEPTAPART_H

#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Result.h"

#include <vector>

namespace weft::cli {

/// A path of the command line, behind its option.
struct NamedPath {
  std::string option, path;
};

/// Of a folder calls and the files of checkpoints are read. So are files that this process has mapped, as weights beside a model.
Result<Done> checkKeptApart(const std::vector<NamedPath> &read,
                            const std::vector<NamedPath> &written);

/// Of a verb that calls a model: that, and the files behind '@' in these options.
std::vector<NamedPath> readByCall(const ParsedOptions &options,
                                  const std::vector<const char *> &given);

/// The file of --output, and those in the folder of --output-dir.
std::vector<NamedPath> writtenAnswers(const ParsedOptions &options,
                                      const std::vector<std::string> &inFolder);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_KEPTAPART_H
