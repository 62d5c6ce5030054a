//===- Outcome.h - Whether two runs fail the same way -----------------------------------------===//
//
//   Result<Wanted> wanted = Wanted::of(options.value("while"), outcomeOf(firstRun));
//   if (wanted->matches(outcomeOf(run))) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_REDUCE_OUTCOME_H
#define WEFT_TOOLS_WEFT_REDUCE_OUTCOME_H

#include "tools/weft/cli/Child.h"
#include "tools/weft/cli/Result.h"

#include <vector>

namespace weft::cli {

/// What a verb made of a model, as far as its exit and its words tell.
struct Outcome {
  enum Kind { Fine, Error, Different, Crash, TimedOut, Stopped } kind = Fine;
  int exitCode = 0, signal = 0;
  std::vector<std::string> codes; ///< "W0207", of all errors it printed
  std::string text;               ///< all it printed on stderr

  /// "error W0207: model.onnx: …", in one line.
  std::string describe() const;
};

Outcome outcomeOf(const ChildEnd &end);

/// The failure that a smaller model must still show.
class Wanted {
public:
  /// `choice` is --while's value: error, error=TEXT, different, crash, or empty for whatever
  /// `first` shows. Refuses when `first` is no such failure.
  static Result<Wanted> of(const std::string &choice, const Outcome &first);

  bool matches(const Outcome &outcome) const;
  const char *name() const; ///< error, different, crash

private:
  Outcome::Kind kind = Outcome::Fine;
  int exitCode = 0, signal = 0;
  std::string code, text;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_REDUCE_OUTCOME_H
