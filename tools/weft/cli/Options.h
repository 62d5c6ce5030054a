//===- Options.h - The command line: one table, one parser ------------------------------------===//
//
// Both halves of the tool read the same table, options.def:
//
//   ParsedOptions options = parse("run", argc - 2, argv + 2);        // what follows the verb
//   if (!options) return Console(options).usageError(options.error(), options.hint());
//   for (const std::string &dim : options.values("dim")) …
//
// Asking for an option that the verb does not have is a programmer's mistake (assert).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_OPTIONS_H
#define WEFT_TOOLS_WEFT_CLI_OPTIONS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

/// What the process exits with. Documented in docs/cli.md; never renumbered.
enum ExitCode : int {
  ExitOk = 0,
  ExitInputRefused = 1,     ///< bad model, tensor or artifact
  ExitWrongUsage = 2,       ///< the command line itself
  ExitComparisonFailed = 3, ///< --expect, verify
  ExitMachineLacks = 4,     ///< CPU feature, library, memory
  ExitRanksFailed = 5,      ///< a rank of the group ended, came too late or did something else
  ExitInternalError = 70,
  ExitInterrupted = 130
};

/// Which half of the tool runs a verb.
enum class Half { Thin, Compiler, Either };

struct VerbRow {
  std::string_view name;
  Half half;
  std::string_view operands;
  unsigned least, most; ///< how many operands are allowed
  std::string_view summary;
  uint32_t bit; ///< in OptionRow::verbs
};

struct OptionRow {
  uint32_t verbs;
  std::string_view name; ///< without the dashes
  char letter;           ///< 0 when there is no short form
  std::string_view argument;
  bool many;
  std::string_view needs;
  std::string_view group;
  std::string_view help;
};

/// The rows of options.def in their order.
const std::vector<VerbRow> &verbTable();
const std::vector<OptionRow> &optionTable();

/// Null when there is no such verb.
const VerbRow *findVerb(std::string_view name);
/// Whether a verb takes an option, by its long name.
bool hasOption(const VerbRow &verb, std::string_view option);

/// A command line after the verb. Converts to false when it was refused; then error() says why.
class ParsedOptions {
public:
  explicit operator bool() const { return complaint.empty(); }
  const std::string &error() const { return complaint; }
  /// What to do about the error; may be empty.
  const std::string &hint() const { return advice; }

  const VerbRow &verb() const { return *verbRow; }
  bool has(std::string_view option) const { return !values(option).empty(); }
  /// The value given, or `fallback`.
  std::string value(std::string_view option, std::string_view fallback = {}) const;
  /// All values in the order given; a switch has one empty value per time it was written.
  const std::vector<std::string> &values(std::string_view option) const;
  /// The value of an option whose argument is N.
  int64_t number(std::string_view option, int64_t fallback) const;
  const std::vector<std::string> &positional() const { return operands; }

  bool json() const { return has("json"); }
  /// -1 quiet, 0, 1 for -v, 2 for -vv.
  int verbosity() const;

private:
  friend class Parser;
  const VerbRow *verbRow = nullptr;
  std::map<std::string, std::vector<std::string>, std::less<>> given;
  std::vector<std::string> operands;
  std::string complaint, advice;
};

/// Parses what follows `verb`, which must exist. With --help the rest of the line is not judged.
ParsedOptions parse(std::string_view verb, int argc, const char *const *argv);

/// The screen that explains a verb: at most 40 lines of 100 columns.
std::string verbHelp(const VerbRow &verb);
/// The one about plans over ranks.
std::string plansHelp();
/// The screen of `weft help`.
std::string overview();

/// The word of `words` that is most like `word`, when one is alike enough to be meant.
std::optional<std::string_view> closest(std::string_view word,
                                        const std::vector<std::string_view> &words);

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_OPTIONS_H
