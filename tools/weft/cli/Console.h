//===- Console.h - How the tool speaks --------------------------------------------------------===//
//
// Results go to stdout, everything said about them to stderr:
//
//   Console console(options);
//   console.result("y  f32 [2, 3]\n");
//   return console.fail({ExitInputRefused, "input 'x' is missing", "add --input x=@FILE.npy"});
//
// With --json the caller gives one JSON document as the result; a failure is such a document too.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_CONSOLE_H
#define WEFT_TOOLS_WEFT_CLI_CONSOLE_H

#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Result.h"

namespace weft::cli {

class Console {
public:
  explicit Console(const ParsedOptions &options);

  /// What was asked for. Writes to stdout as it is.
  void result(std::string_view text);
  /// What happens meanwhile: a line on stderr, shown at this verbosity and above (-q is -1).
  void say(std::string_view line, int verbosity = 0);
  void warn(std::string_view text);
  /// Of one rank of several: from here on nothing but its failures, with its number, and nothing on stdout.
  void speakAsRank(int32_t rank);

  /// Prints the failure and returns its exit code.
  int fail(const Failure &failure);
  /// Prints why the command line was refused; returns ExitWrongUsage.
  int usageError(std::string_view error, std::string_view hint);
  /// Flushes stdout. Returns ExitOk, or says that the result could not be written.
  int finish();

  bool json() const { return jsonWanted; }
  int verbosity() const { return level; }
  /// Whether people can be shown more than ASCII: stdout's locale is UTF-8.
  bool unicode() const { return utf8; }
  /// `text` emphasised on stdout, where colour is on.
  std::string bold(std::string_view text) const;

private:
  std::string colored(std::string_view code, std::string_view text, bool on) const;

  bool jsonWanted, colorOut, colorErr, utf8;
  int level;
  bool isSilent = false;
  std::string speaker; ///< in front of failures
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_CONSOLE_H
