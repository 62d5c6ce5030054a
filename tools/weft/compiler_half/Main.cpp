//===- Main.cpp - Entry of libweft_tool.so ----------------------------------------------------------------===//

#include "tools/weft/compiler_half/CompilerCommands.h"

using namespace weft::cli;

/// argv[1] is the verb, as on the command line.
extern "C" __attribute__((visibility("default"))) int weft_tool_main(int argc, const char *const *argv) {
  std::string verb = argc > 1 ? argv[1] : "";
  ParsedOptions options = parse(verb, argc - 2, argv + 2);
  Console console(options);
  if (!options)
    return console.usageError(options.error(), options.hint());
  if (verb == "compile")
    return compileCommand(options, console);
  if (verb == "eval")
    return evalCommand(options, console);
  return console.fail({ExitInputRefused, "'weft " + verb + "' cannot do this yet", "", ""});
}

namespace weft::cli {

int refuse(Console &console, const std::vector<Diagnostic> &diagnostics, int exitCode) {
  auto text = [](const Diagnostic &d) { return d.where.empty() ? d.text : d.where + ": " + d.text; };
  for (size_t i = 0; i + 1 < diagnostics.size(); ++i)
    console.fail({exitCode, text(diagnostics[i]), diagnostics[i].hint, diagnostics[i].code});
  if (diagnostics.empty())
    return console.fail({ExitInternalError, "refused without a reason; this is a fault of Weft", "", ""});
  const Diagnostic &last = diagnostics.back();
  return console.fail({exitCode, text(last), last.hint, last.code});
}

} // namespace weft::cli
