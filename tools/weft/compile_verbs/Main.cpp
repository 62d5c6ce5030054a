//===- Main.cpp - Entry of libweft_tool.so, and how diagnostics are printed -------------------===//

#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/model/Limiting.h"
#include "tools/weft/model/ModelImport.h"

using namespace weft::cli;

/// argv[1] is the verb, as on the command line.
extern "C" __attribute__((visibility("default"))) int weft_tool_main(int argc,
                                                                     const char *const *argv) {
  std::string verb = argc > 1 ? argv[1] : "";
  ParsedOptions options = parse(verb, argc - 2, argv + 2);
  Console console(options);
  if (!options)
    return console.usageError(options.error(), options.hint());
  Result<GivenLimits> limits = readLimits(options);
  if (!limits)
    return console.fail(limits.failure());
  if (Result<Done> guarded = guardMemory(options, limits->memory); !guarded)
    return console.fail(guarded.failure());
  endWhenInterrupted();
  if (verb == "compile")
    return compileCommand(options, console);
  if (verb == "eval")
    return evalCommand(options, console);
  if (verb == "check")
    return checkCommand(options, console);
  if (verb == "verify")
    return verifyCommand(options, console);
  if (verb == "tune")
    return tuneCommand(options, console);
  if (verb == "targets")
    return targetsCommand(options, console);
  if (verb == "reduce")
    return reduceCommand(options, console);
  if (verb == "quantize")
    return quantizeCommand(options, console);
  if (verb == "bench")
    return kernelBenchCommand(options, console);
  if (verb == "profile")
    return profilePeakCommand(options, console);
  if (verb == "inspect")
    return inspectModelCommand(options, console);
  return console.fail(
      {ExitInternalError, "'weft " + verb + "' is not a verb of the compiler", "", ""});
}

namespace weft::cli {

std::string textOf(const Diagnostic &diagnostic) {
  if (diagnostic.text.find("'" + diagnostic.where + "'") != std::string::npos)
    return diagnostic.text; // it names its place by itself
  return diagnostic.where.empty() ? diagnostic.text : diagnostic.where + ": " + diagnostic.text;
}

int exitCodeOf(const std::vector<Diagnostic> &diagnostics) {
  const std::string code = diagnostics.empty() ? "" : diagnostics.back().code;
  if (code == "W0301" || code == "W0302" || code == "W0305" || code == "W0306" ||
      code == "W0309") // target, fact, phase, weights and compute are options
    return ExitWrongUsage;
  if (code == "W0399")
    return ExitInterrupted;
  return code.empty() || code.compare(0, 4, "W039") == 0 ? ExitInternalError : ExitInputRefused;
}

Failure failureOf(const std::vector<Diagnostic> &diagnostics) {
  if (diagnostics.empty())
    return {ExitInternalError, "refused without a reason; this is a fault of Weft", "", ""};
  const Diagnostic &last = diagnostics.back();
  int exitCode = exitCodeOf(diagnostics);
  return {exitCode, textOf(last), last.hint, exitCode == ExitInterrupted ? "" : last.code};
}

/// One weft.error document, whose fields are the last diagnostic's.
static void printJson(Console &console, const std::vector<Diagnostic> &diagnostics,
                      const Failure &failure) {
  JsonWriter json("weft.error/1");
  json.field("exit", failure.exitCode).field("code", failure.code);
  json.field("message", failure.message).field("hint", failure.hint).array("diagnostics");
  for (const Diagnostic &each : diagnostics)
    json.object()
        .field("code", each.code)
        .field("where", each.where)
        .field("text", each.text)
        .field("hint", each.hint)
        .end();
  console.result(json.end().finish());
}

int refuse(Console &console, const std::vector<Diagnostic> &all) {
  std::vector<Diagnostic> errors;
  for (const Diagnostic &each : all)
    if (each.severity == Diagnostic::Error)
      errors.push_back(each);
  warn(console, all);
  Failure last = failureOf(errors);
  if (!console.json() || errors.size() < 2) {
    for (size_t i = 0; i + 1 < errors.size(); ++i)
      console.fail({last.exitCode, textOf(errors[i]), errors[i].hint, errors[i].code});
    return console.fail(last);
  }
  printJson(console, errors, last);
  for (const Diagnostic &each : errors)
    console.say("error[" + each.code + "]: " + textOf(each), -1);
  int written = console.finish();
  return written ? written : last.exitCode;
}

void warn(Console &console, const std::vector<Diagnostic> &diagnostics) {
  for (const Diagnostic &each : diagnostics)
    if (each.severity == Diagnostic::Warning)
      console.warn(textOf(each));
    else if (each.severity == Diagnostic::Note)
      console.say("note: " + textOf(each) + (each.hint.empty() ? "" : "\n  hint: " + each.hint));
}

} // namespace weft::cli
