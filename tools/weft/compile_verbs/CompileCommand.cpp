//===- CompileCommand.cpp - weft compile ------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/FormulaBound.h"
#include "tools/weft/cli/Inputs.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/KeptApart.h"
#include "tools/weft/cli/Unfinished.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/model/ModelImport.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kSummaryWidth = 72;

class Compile {
public:
  Compile(const ParsedOptions &options, Console &console)
      : options(options), console(console), model(options.positional()[0]) {}

  int run() {
    if (Result<Done> done = readOptions(); !done)
      return console.fail(done.failure());
    int exitCode = ExitOk;
    std::optional<Module> module = importModel(options, console, exitCode, facts);
    if (!module)
      return exitCode;
    if (options.has("stop-after"))
      return printProgram(*module);
    if (Result<Done> done = keepInputs(); !done)
      return console.fail(done.failure());
    compile.onPhase("import", model, elapsed());
    InterruptGuard guard(nullptr);
    Unfinished partial(unfinishedPath(compile.outputPath));
    weft::Result<weft::Artifact> artifact = compiler.compile(*module, compile);
    if (!artifact)
      return refuse(console, artifact.diagnostics());
    warn(console, artifact.diagnostics());
    if (Result<Done> done = writePlan(*artifact); !done)
      return console.fail(done.failure());
    console.json() ? reportJson(*artifact) : report(*artifact);
    return console.finish();
  }

private:
  Result<Done> readOptions() {
    compile = readCompileOptions(options);
    if (Result<Done> ranks = readRanks(options, compile); !ranks)
      return ranks;
    if (options.has("plan-out") && compile.mesh.size() > 1)
      return Failure{ExitWrongUsage, "'--plan-out' writes the plan of one mesh", "name one mesh",
                     ""};
    compile.fuseComm = readFuseComm(options);
    readEmbedding();
    compile.outputPath =
        options.value("output", compile.embedding ? "." : fileBeside(model, ".weft"));
    compile.tuningFiles = options.values("tuning");
    compile.tunedFor = options.value("tuned-for");
    compile.dumpDirectory = options.value("dump-ir");
    compile.temporariesDirectory = options.value("save-temps");
    compile.cancelled = interrupted;
    for (const char *folder : {"dump-ir", "save-temps"})
      if (options.has(folder) && options.value(folder).empty())
        return Failure{ExitWrongUsage, std::string("'--") + folder + "' names no folder", "", ""};
    compile.maxMemory = parseSize(options.value("max-memory")).value_or(0);
    if (options.has("max-memory") && compile.maxMemory == 0)
      return Failure{ExitWrongUsage, "'--max-memory' must be more than 0", "", ""};
    Result<std::vector<std::string>> given = readFacts(options);
    if (!given)
      return given.failure();
    facts = *given;
    compile.onPhase = [this](const std::string &phase, const std::string &summary, double time) {
      if (summary.empty() && console.verbosity() < 1)
        return;
      console.say(phaseLine(phase, summary, time));
    };
    return Done{};
  }

  /// What is read stays. An embedding's files have names of their own.
  Result<Done> keepInputs() const {
    std::vector<NamedPath> read{{"", model}}, written;
    for (const std::string &path : compile.tuningFiles)
      read.push_back({"--tuning", path});
    if (!compile.embedding)
      written.push_back({"-o", compile.outputPath});
    if (options.has("plan-out"))
      written.push_back({"--plan-out", options.value("plan-out")});
    return checkKeptApart(read, written);
  }

  void readEmbedding() {
    if (!options.has("emit"))
      return;
    std::string emit = options.value("emit");
    compile.embedding.emplace();
    compile.embedding->object = emit != "header";
    compile.embedding->header = emit != "object";
    compile.embedding->weightsInFile = options.value("weights-in") == "file";
  }

  Result<Done> writePlan(const weft::Artifact &artifact) {
    std::string path = options.value("plan-out");
    if (path.empty())
      return Done{};
    std::ofstream file(path, std::ios::binary);
    file << artifact.plan;
    file.close();
    if (!file)
      return Failure{ExitInputRefused, "cannot write '" + path + "'", "", ""};
    return Done{};
  }

  std::string phaseLine(const std::string &phase, std::string summary, double time) const {
    const std::string peak = "peak = ";
    if (size_t at = summary.find(peak); at != std::string::npos)
      summary = summary.substr(0, at) + showFormula("peak", summary.substr(at + peak.size()), "B",
                                                    {console.unicode(), console.verbosity() > 0});
    // Columns count characters, not bytes of UTF-8.
    size_t shown = size_t(
        std::count_if(summary.begin(), summary.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    summary.resize(summary.size() + (shown < kSummaryWidth ? kSummaryWidth - shown : 0), ' ');
    char start[32], end[32];
    snprintf(start, sizeof start, "  %-9s ", phase.c_str());
    snprintf(end, sizeof end, " %.2f s", time);
    return start + summary + end;
  }

  int printProgram(const Module &module) {
    weft::Result<std::string> text =
        compiler.programAfter(options.value("stop-after"), module, compile);
    if (!text)
      return refuse(console, text.diagnostics());
    if (console.json())
      console.result(JsonWriter("weft.program/1")
                         .field("model", model)
                         .field("phase", options.value("stop-after"))
                         .field("text", *text)
                         .finish());
    else
      console.result(*text);
    return console.finish();
  }

  void report(const weft::Artifact &artifact) {
    char time[32];
    snprintf(time, sizeof time, "%.2f s", elapsed());
    if (console.verbosity() >= 0)
      console.result(artifact.path + "  " + printBytes(double(artifact.bytes)) + " (weights " +
                     printBytes(double(artifact.weightBytes)) + ", code " +
                     printBytes(double(artifact.codeBytes)) + ")  " + artifact.target + "  in " +
                     time + "\n");
    for (const char *folder : {"dump-ir", "save-temps"})
      if (options.has(folder))
        console.say("  " + std::string(folder) + ": " + options.value(folder));
    if (compile.embedding)
      return;
    console.say("  next: " + (runsHere(artifact.path) ? "weft run " + artifact.path + " · " : "") +
                "weft inspect " + artifact.path);
  }

  /// Whether there is a target among the file's that this machine has.
  static bool runsHere(const std::string &path) {
    Result<cli::Artifact> described = cli::Artifact::describe(path);
    std::vector<VariantView> variants;
    if (described)
      variants = described->variants();
    return std::any_of(variants.begin(), variants.end(),
                       [](const VariantView &variant) { return variant.missing.empty(); });
  }

  void reportJson(const weft::Artifact &artifact) {
    JsonWriter json("weft.compile/1");
    json.field("path", artifact.path).field("target", artifact.target);
    json.field("bytes", artifact.bytes).field("weight_bytes", artifact.weightBytes);
    json.field("code_bytes", artifact.codeBytes).field("kernels", artifact.kernels);
    json.field("tuned_kernels", artifact.tunedKernels);
    if (!artifact.plan.empty())
      json.field("plan", artifact.plan);
    json.field("peak", artifact.peak).list("facts", facts).field("seconds", elapsed());
    console.result(json.finish());
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }

  const ParsedOptions &options;
  Console &console;
  const std::string model;
  const Clock::time_point begin = Clock::now();
  Compiler compiler;
  std::vector<std::string> facts;
  CompileOptions compile;
};

} // namespace

void readInPlace(const ParsedOptions &options, CompileOptions &compile) {
  compile.inPlace = options.has("in-place");
  std::string names = options.value("in-place");
  for (size_t begin = 0, end; begin < names.size(); begin = end + 1) {
    end = std::min(names.find(',', begin), names.size());
    compile.inPlaceInputs.push_back(names.substr(begin, end - begin));
  }
}

bool asksForRanks(const ParsedOptions &options) {
  return options.has("mesh") || options.has("ranks") || options.has("plan");
}

Result<Done> readRanks(const ParsedOptions &options, CompileOptions &compile) {
  compile.mesh = options.values("mesh");
  compile.placements = options.values("place");
  compile.plan = options.value("plan");
  compile.links = options.values("link");
  compile.ranks = options.number("ranks", 0);
  if (options.has("ranks") && compile.ranks == 0)
    return Failure{ExitWrongUsage, "'--ranks' must be more than 0", "", ""};
  if (hasOption(options.verb(), "max-reshard") && options.has("max-reshard")) {
    compile.maxReshard = parseSize(options.value("max-reshard")).value_or(0);
    if (compile.maxReshard == 0)
      return Failure{ExitWrongUsage, "'--max-reshard' must be more than 0", "", ""};
  }
  Result<SymbolValues> sizes = readSymbols(options, "at");
  if (!sizes)
    return sizes.failure();
  compile.planSizes.insert(sizes->begin(), sizes->end());
  return Done{};
}

FuseComm readFuseComm(const ParsedOptions &options) {
  std::string fuse = options.value("fuse-comm");
  return fuse == "never" ? FuseComm::Never : fuse == "always" ? FuseComm::Always : FuseComm::Auto;
}

Numerics readNumerics(const ParsedOptions &options) {
  std::string accuracy = options.value("accuracy"), compute = options.value("compute");
  size_t comma = compute.find(','); // behind it stands "storage"
  return {accuracy == "exact",      accuracy == "bytes",        options.value("weights"),
          compute.substr(0, comma), comma != std::string::npos, options.values("keep-f32")};
}

CompileOptions readCompileOptions(const ParsedOptions &options) {
  CompileOptions compile;
  compile.target = options.value("target", compile.target);
  compile.numerics = readNumerics(options);
  readInPlace(options, compile);
  std::string indices = options.value("indices");
  compile.indices = indices == "clamp"       ? Indices::Clamp
                    : indices == "unchecked" ? Indices::Unchecked
                                             : Indices::Check;
  compile.jobs = unsigned(std::min<int64_t>(options.number("jobs", 0), 1024));
  return compile;
}

int compileCommand(const ParsedOptions &options, Console &console) {
  return Compile(options, console).run();
}

} // namespace weft::cli
