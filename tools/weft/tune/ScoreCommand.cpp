//===- ScoreCommand.cpp -------------------------------------------------------------------------===//

#include "tools/weft/tune/ScoreCommand.h"
#include "tools/weft/cli/Child.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/trials/Message.h"

#include <csignal>
#include <sstream>
#include <unistd.h>

namespace weft::cli {
namespace {

/// Without what is blank at its ends; lines that are blank do not count.
std::string lastLineOf(const std::string &text) {
  constexpr const char *kBlank = " \t\r";
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (size_t begin = line.find_first_not_of(kBlank); begin != std::string::npos)
      last = line.substr(begin, line.find_last_not_of(kBlank) + 1 - begin);
  return last;
}

} // namespace

Scored ScoreCommand::failure(const std::string &what) const {
  return {"'--score " + command + "' " + what, 0, 0};
}

void ScoreCommand::becomeShell(const std::string &artifact, const std::string &inputs,
                               int out) const {
  std::signal(SIGPIPE, SIG_DFL);
  dup2(out, 1);
  execl("/bin/sh", "sh", "-c", (command + " \"$@\"").c_str(), "sh", artifact.c_str(),
        inputs.c_str(), nullptr);
  _exit(127);
}

Scored ScoreCommand::run(const std::string &artifact, const std::string &inputs,
                         double seconds) const {
  ChildEnd end = runChild([&](int out) -> int { becomeShell(artifact, inputs, out); }, seconds,
                          folder.path(), interrupted);
  std::string last = lastLineOf(end.said),
              with = last.empty() ? "" : ", with '" + asLine(last) + "'";
  if (end.timedOut)
    return failure("takes more than " + printSeconds(seconds));
  if (end.signal)
    return failure("was killed by signal " + std::to_string(end.signal) + with);
  if (end.exitCode)
    return failure("ended with exit code " + std::to_string(end.exitCode) + with);
  std::string printed = lastLineOf(end.report);
  std::optional<double> score = parseReal(printed);
  if (!score || *score <= 0)
    return failure("printed '" + asLine(printed) + "', which is no number above 0");
  return {"", *score, end.seconds};
}

} // namespace weft::cli
