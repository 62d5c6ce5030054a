//===- CompileCommand.cpp - weft compile ------------------------------------------------------------------------===//

#include "tools/weft/Json.h"
#include "tools/weft/Values.h"
#include "tools/weft/compiler_half/CompilerCommands.h"
#include <chrono>
#include <cstdio>

namespace weft::cli {
namespace {

/// MODEL with .weft for its extension; a folder's own name.
std::string defaultOutput(std::string model) {
  while (model.size() > 1 && model.back() == '/')
    model.pop_back();
  size_t slash = model.rfind('/'), dot = model.rfind('.');
  std::string name = model.substr(slash == std::string::npos ? 0 : slash + 1);
  if (dot != std::string::npos && (slash == std::string::npos || dot > slash + 1))
    name = model.substr(slash == std::string::npos ? 0 : slash + 1, dot - (slash == std::string::npos ? 0 : slash + 1));
  return name + ".weft";
}

std::string seconds(double value) {
  char text[32];
  snprintf(text, sizeof(text), "%.2f s", value);
  return text;
}

} // namespace

int compileCommand(const ParsedOptions &options, Console &console) {
  auto begin = std::chrono::steady_clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  CompileOptions compile;
  compile.target = options.value("target", "x86:host");
  compile.outputPath = options.value("output", defaultOutput(options.positional()[0]));
  compile.jobs = unsigned(options.number("jobs", 0));
  for (const char *later : {"stop-after", "dump-ir", "save-temps", "max-memory"})
    if (options.has(later))
      return console.fail({ExitWrongUsage, std::string("--") + later + " is not supported yet", "", ""});
  Result<std::vector<std::string>> facts = readFacts(options);
  if (!facts)
    return console.fail(facts.failure());
  compile.facts = *facts;
  compile.onPhase = [&](const std::string &phase, const std::string &summary, double time) {
    char line[512];
    snprintf(line, sizeof(line), "  %-9s %-72s %s", phase.c_str(), summary.c_str(), seconds(time).c_str());
    console.say(line);
  };
  Compiler compiler;
  weft::Result<Module> module = compiler.importFile(options.positional()[0]);
  if (!module)
    return refuse(console, module.diagnostics());
  compile.onPhase("import", options.positional()[0], elapsed());
  weft::Result<Artifact> artifact = compiler.compile(*module, compile);
  if (!artifact)
    return refuse(console, artifact.diagnostics());
  if (console.json()) {
    JsonWriter json("weft.compile/1");
    json.field("path", artifact->path).field("target", artifact->target).field("bytes", artifact->bytes);
    json.field("weight_bytes", artifact->weightBytes).field("code_bytes", artifact->codeBytes);
    json.field("kernels", artifact->kernels).field("peak", artifact->peak).field("seconds", elapsed());
    console.result(json.finish());
    return console.finish();
  }
  console.result(artifact->path + "  " + printBytes(double(artifact->bytes)) + " (weights " + printBytes(double(artifact->weightBytes)) +
                 ", code " + printBytes(double(artifact->codeBytes)) + ")  " + artifact->target + "  in " + seconds(elapsed()) + "\n");
  console.say("  next: weft run " + artifact->path + " · weft inspect " + artifact->path);
  return console.finish();
}

} // namespace weft::cli
