//===- Console.cpp ----------------------------------------------------------------------------===//
#include "tools/weft/cli/Console.h"
#include "tools/weft/cli/Json.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace weft::cli {

static bool isSet(const char *variable) {
  const char *value = getenv(variable);
  return value && *value;
}

/// The first of the locale's variables that is set decides, as in setlocale.
static bool localeIsUtf8() {
  for (const char *variable : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (isSet(variable)) {
      std::string value = getenv(variable);
      return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos ||
             value.find("UTF8") != std::string::npos || value.find("utf-8") != std::string::npos;
    }
  return false;
}

static bool wantsColor(const std::string &when, int descriptor) {
  if (when != "auto")
    return when == "always";
  const char *terminal = getenv("TERM");
  return isatty(descriptor) && !isSet("NO_COLOR") && terminal && strcmp(terminal, "dumb") != 0;
}

Console::Console(const ParsedOptions &options)
    : jsonWanted(options.json()), colorOut(wantsColor(options.value("color", "auto"), 1)),
      colorErr(wantsColor(options.value("color", "auto"), 2)), utf8(localeIsUtf8()),
      level(options.verbosity()) {}

std::string Console::colored(std::string_view code, std::string_view text, bool on) const {
  if (!on)
    return std::string(text);
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::string Console::bold(std::string_view text) const { return colored("1", text, colorOut); }

void Console::result(std::string_view text) {
  if (!isSilent)
    fwrite(text.data(), 1, text.size(), stdout);
}

void Console::speakAsRank(int32_t rank) {
  isSilent = true;
  level = -1;
  speaker = "rank " + std::to_string(rank) + ": ";
}

void Console::say(std::string_view line, int verbosity) {
  if (level < verbosity)
    return;
  // Both streams often end on one terminal: keep what was printed first above.
  fflush(stdout);
  fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void Console::warn(std::string_view text) {
  say(colored("1;35", "warning:", colorErr) + " " + std::string(text));
}

int Console::fail(const Failure &failure) {
  if (jsonWanted) {
    JsonWriter document("weft.error/1");
    document.field("exit", failure.exitCode).field("code", failure.code);
    document.field("message", failure.message).field("hint", failure.hint);
    result(document.finish());
  }
  std::string code = failure.code.empty() ? "" : "[" + failure.code + "]";
  say(colored("1;31", "error" + code + ":", colorErr) + " " + speaker + failure.message, -1);
  if (!failure.hint.empty())
    say("  " + colored("1", "hint:", colorErr) + " " + failure.hint, -1);
  fflush(stdout);
  return failure.exitCode;
}

int Console::usageError(std::string_view error, std::string_view hint) {
  return fail({ExitWrongUsage, std::string(error), std::string(hint), {}});
}

int Console::finish() {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return ExitOk;
  say("error: the result cannot be written to stdout: " + std::string(strerror(errno)), -1);
  return ExitInputRefused;
}

} // namespace weft::cli
