//===- Outcome.cpp ----------------------------------------------------------------------------===//

#include "tools/weft/reduce/Outcome.h"
#include "tools/weft/cli/Options.h"

#include <algorithm>
#include <cstring>

namespace weft::cli {

static const std::string kError = "error[";

Outcome outcomeOf(const ChildEnd &end) {
  Outcome outcome;
  outcome.exitCode = end.exitCode;
  outcome.signal = end.signal;
  outcome.text = end.said;
  outcome.kind = end.stopped                            ? Outcome::Stopped
                 : end.timedOut                         ? Outcome::TimedOut
                 : end.signal                           ? Outcome::Crash
                 : end.exitCode == ExitOk               ? Outcome::Fine
                 : end.exitCode == ExitComparisonFailed ? Outcome::Different
                 : end.exitCode == ExitInterrupted      ? Outcome::Stopped
                                                        : Outcome::Error;
  for (size_t at = end.said.find(kError); at != std::string::npos;
       at = end.said.find(kError, at + 1)) {
    size_t begin = at + kError.size(), length = end.said.find(']', begin) - begin;
    outcome.codes.push_back(end.said.substr(begin, length));
  }
  return outcome;
}

/// The last line that starts with "error".
static std::string lastError(const std::string &text) {
  std::string found;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    if (text.compare(at, 5, "error") == 0)
      found = text.substr(at, end - at);
    at = end + 1;
  }
  return found;
}

std::string Outcome::describe() const {
  switch (kind) {
  case Fine:
    return "no failure";
  case Error:
  case Different: {
    std::string line = lastError(text), exits = "exit " + std::to_string(exitCode);
    return exits + (line.empty() ? "" : ", " + line);
  }
  case Crash:
    return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  case TimedOut:
    return "no end in the time allowed";
  case Stopped:
    return "interrupted";
  }
  return "";
}

const char *Wanted::name() const {
  return kind == Outcome::Crash ? "crash" : kind == Outcome::Different ? "different" : "error";
}

Result<Wanted> Wanted::of(const std::string &choice, const Outcome &first) {
  Wanted wanted;
  wanted.kind = first.kind;
  wanted.exitCode = first.exitCode;
  wanted.signal = first.signal;
  size_t equals = choice.find('=');
  std::string kind = choice.substr(0, equals);
  if (equals != std::string::npos)
    wanted.text = choice.substr(equals + 1);
  else if (!first.codes.empty())
    wanted.code = first.codes.back();
  bool known = kind.empty() || kind == "different" || kind == "crash" || kind == "error";
  if (!known || (equals != std::string::npos && (kind != "error" || wanted.text.empty())))
    return Failure{ExitWrongUsage, "'--while " + choice + "' is not understood",
                   "write error, error='TEXT', different or crash", ""};
  if ((!kind.empty() && kind != wanted.name()) || !wanted.matches(first))
    return Failure{ExitInputRefused, "the model does not fail so: " + first.describe(),
                   "without --while, the failure that the first run shows is kept", ""};
  return wanted;
}

bool Wanted::matches(const Outcome &outcome) const {
  if (outcome.kind != kind)
    return false;
  if (kind == Outcome::Crash)
    return outcome.signal == signal;
  if (kind == Outcome::Different)
    return true;
  if (!text.empty())
    return outcome.text.find(text) != std::string::npos;
  bool sameCode = code.empty() ? outcome.codes.empty()
                               : std::find(outcome.codes.begin(), outcome.codes.end(), code) !=
                                     outcome.codes.end();
  return kind == Outcome::Error && outcome.exitCode == exitCode && sameCode;
}

} // namespace weft::cli
