//===- Trials.h - A verb run on one model after the other -------------------------------------===//
//
//   Trials trials("verify", verbFlags(options, "verify"), folder);
//   Trial trial = trials.run("small.onnx", {});
//   if (wanted.matches(trial.outcome)) …          // with trial.flags
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_REDUCE_TRIALS_H
#define WEFT_TOOLS_WEFT_REDUCE_TRIALS_H

#include "tools/weft/cli/Options.h"
#include "tools/weft/model/CompiledModel.h"
#include "tools/weft/reduce/Outcome.h"

#include <optional>
#include <set>

namespace weft::cli {

/// The flags of `weft reduce` that are the verb's, as words of a command line. Refuses one that the
/// verb does not have.
Result<std::vector<std::string>> verbFlags(const ParsedOptions &options, const std::string &verb);

struct Trial {
  Outcome outcome;
  std::vector<std::string> flags; ///< it ran with
};

class Trials {
public:
  /// Calls a verb: argv[1] is its name.
  using Entry = std::function<int(int argc, const char *const *argv)>;

  Trials(std::string verb, std::vector<std::string> flags, TemporaryFolder folder, Entry entry)
      : verb(std::move(verb)), flags(std::move(flags)), folder(std::move(folder)),
        entry(std::move(entry)) {}

  /// With all flags, as the user gave them.
  Trial asGiven(const std::string &model);
  /// With the flags that fit: inputs and symbols that the model lacks are not spoken of. `inputs`
  /// are the names that --constant may use; nothing when none may.
  Trial fitting(const std::string &model, const std::set<std::string> &inputs);

  /// The size that a flag gives a symbol, and giving another.
  std::optional<int64_t> dim(size_t flag) const;
  void setDim(size_t flag, int64_t size);
  size_t flagCount() const { return flags.size(); }

  /// The command as people would write it.
  std::string command(const std::string &model, const std::vector<std::string> &flags) const;

  std::string shell;  ///< a command that stands for the verb; its last argument is the model
  double timeout = 0; ///< seconds per run
  size_t count = 0;   ///< runs so far
  double lastSeconds = 0;

private:
  Trial run(const std::string &model, const std::function<void(Trial &)> &fit);
  int callVerb(const std::string &model, const std::vector<std::string> &flags) const;

  std::string verb;
  std::vector<std::string> flags;
  TemporaryFolder folder;
  Entry entry;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_REDUCE_TRIALS_H
