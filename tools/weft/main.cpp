//===- main.cpp - The command 'weft' ----------------------------------------------------------===//
//
// Reads the command line with the table of options.def and calls the verb: here, or in the compiler
// half.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Commands.h"
#include "weft/artifact.h"
#include "weft/runtime.h"

#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/Launch.h"
#include "tools/weft/trials/Answer.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::cli {

namespace {

enum class FileKind { Missing, Artifact, Other };

/// Artifacts are ELF files; a damaged one still has its name.
FileKind kindOf(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return FileKind::Missing;
  char start[4] = {};
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ssize_t length = file >= 0 ? read(file, start, sizeof start) : 0;
  if (file >= 0)
    close(file);
  bool elf = length == 4 && memcmp(start,
                                   "\x7F"
                                   "ELF",
                                   4) == 0;
  bool named = path.size() > 5 && path.compare(path.size() - 5, 5, ".weft") == 0;
  return elf || (named && !S_ISDIR(info.st_mode)) ? FileKind::Artifact : FileKind::Other;
}

int unknownVerb(std::string_view word) {
  // No verb, no options: colour and JSON as nobody asked for.
  Console console{ParsedOptions()};
  bool isOption = word.substr(0, 1) == "-";
  std::vector<std::string_view> names = {"--help", "--version"};
  if (!isOption) {
    names.clear();
    for (const VerbRow &row : verbTable())
      names.push_back(row.name);
  }
  std::string text = (isOption ? "unknown option '" : "unknown verb '") + std::string(word) + "'";
  if (std::optional<std::string_view> like = closest(word, names))
    text += "; the closest is '" + std::string(*like) + "'";
  return console.usageError(text, "'weft help' lists the verbs");
}

/// A process that a launcher started as one rank of several speaks as such.
Result<Done> joinLaunch(const ParsedOptions &options, Console &console) {
  Result<std::optional<Launch>> launch = readLaunch(getenv);
  if (options.has("ranks")) {
    if (launch && *launch)
      console.say("--ranks starts local ranks: rank " + std::to_string((*launch)->rank) + " of " +
                  std::to_string((*launch)->world) + " that " + (*launch)->launcher +
                  " gives is not used");
    return Done{};
  }
  if (!launch)
    return launch.failure();
  if (*launch && (*launch)->rank != 0)
    console.speakAsRank((*launch)->rank);
  return Done{};
}

int callVerb(const VerbRow &verb, int argc, const char *const *argv) {
  ParsedOptions options = parse(verb.name, argc - 2, argv + 2);
  Console console(options);
  if (!options)
    return console.usageError(options.error(), options.hint());
  if (options.has("help")) {
    console.result(verbHelp(verb));
    return console.finish();
  }
  if (hasOption(verb, "emulator") && options.has("emulator"))
    return emulatedCommand(options, console, argc, argv);
  if (verb.name == "run" || verb.name == "bench")
    if (Result<Done> done = joinLaunch(options, console); !done)
      return console.fail(done.failure());
  if (verb.half == Half::Compiler)
    return compilerCommand(options, console, argc, argv);
  if (verb.name == "run")
    return runCommand(options, console);
  if (verb.name == "bench")
    return options.has("answer")        ? answerTrials(options, console)
           : options.has("collectives") ? collectiveBenchCommand(options, console)
           : options.has("kernels")     ? compilerCommand(options, console, argc, argv)
                                        : benchCommand(options, console);
  if (verb.name == "profile")
    return options.has("peak") ? compilerCommand(options, console, argc, argv)
                               : profileCommand(options, console);
  if (verb.name == "ranks")
    return ranksCommand(options, console);
  if (verb.name == "version")
    return versionCommand(options, console);
  if (verb.name == "help")
    return helpCommand(options, console);
  const std::string &path = options.positional()[0];
  switch (kindOf(path)) {
  case FileKind::Missing:
    return console.fail({ExitInputRefused, path + ": " + strerror(errno), {}, {}});
  case FileKind::Artifact:
    return inspectCommand(options, console);
  case FileKind::Other:
    return compilerCommand(options, console, argc, argv);
  }
  return ExitInternalError;
}

int weftMain(int argc, const char *const *argv) {
  if (argc < 2) {
    Console console{ParsedOptions()};
    console.say(overview(), -1);
    return console.usageError("a verb is missing", "weft compile model.onnx");
  }
  std::string_view word = argv[1];
  if (word == "--version")
    word = "version";
  else if (word == "--help" || word == "-h")
    word = "help";
  const VerbRow *verb = findVerb(word);
  return verb ? callVerb(*verb, argc, argv) : unknownVerb(word);
}

} // namespace

int versionCommand(const ParsedOptions &options, Console &console) {
  std::string format = std::to_string(WEFT_ABI_MAJOR) + "." + std::to_string(WEFT_ABI_MINOR);
  std::string compiler = findCompilerHalf();
  if (console.json()) {
    JsonWriter json("weft.version/1");
    json.field("version", weft_version()).field("format", format).field("compiler", compiler);
    console.result(json.finish());
    return console.finish();
  }
  console.result("weft " + std::string(weft_version()) + " (artifact format " + format + ")\n");
  console.say("compiler: " + (compiler.empty() ? "not installed" : compiler), 1);
  return console.finish();
}

int helpCommand(const ParsedOptions &options, Console &console) {
  if (options.positional().empty()) {
    console.result(overview());
    return console.finish();
  }
  if (options.positional()[0] == "plans") {
    console.result(plansHelp());
    return console.finish();
  }
  const VerbRow *verb = findVerb(options.positional()[0]);
  if (!verb)
    return unknownVerb(options.positional()[0]);
  console.result(verbHelp(*verb));
  return console.finish();
}

} // namespace weft::cli

int main(int argc, char **argv) { return weft::cli::weftMain(argc, argv); }
