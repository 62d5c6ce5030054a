//===- ScoreCommand.h - A program of the user's that says what a call costs ---------------------===//
//
//   ScoreCommand command("python count.py", 30);
//   Scored scored = command.run("model.weft", "inputs.npz", 4.0);   // runs: python count.py model.weft inputs.npz
//
// The last line that it prints is the score, a number above 0; less is better. What it says besides, how it crashes and when it hangs becomes
// one line.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TUNE_SCORECOMMAND_H
#define WEFT_TOOLS_WEFT_TUNE_SCORECOMMAND_H

#include "tools/weft/cli/TemporaryFolder.h"

namespace weft::cli {

struct Scored {
  std::string failed; ///< why there is no score; empty when there is one
  double score = 0, seconds = 0;
};

class ScoreCommand {
public:
  /// `folder`: where its temporary files lie.
  ScoreCommand(std::string command, TemporaryFolder folder)
      : command(std::move(command)), folder(std::move(folder)) {}
  /// For so many seconds at most.
  Scored run(const std::string &artifact, const std::string &inputs, double seconds) const;

private:
  Scored failure(const std::string &what) const;
  [[noreturn]] void becomeShell(const std::string &artifact, const std::string &inputs,
                                int out) const;

  const std::string command;
  const TemporaryFolder folder;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_TUNE_SCORECOMMAND_H
