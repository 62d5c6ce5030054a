//===- CheckCommand.cpp - weft check ----------------------------------------------------------===//
//
// Imports the model and plans its kernels; no code is generated. What is not supported is listed at
// once, equal reasons together.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/Onnx.h"
#include "tools/weft/cli/FormulaBound.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/model/ModelImport.h"
#include "weft/hardware.hpp"

#include <algorithm>

namespace weft::cli {
namespace {

constexpr const char *kUnsupported = "W0207";

/// Findings of one kind.
struct Group {
  std::string domain, operation; ///< of ONNX operators; else empty
  int64_t opset = 0;
  uint64_t count = 0;
  std::string reason; ///< empty when the operator as a whole is missing
  std::string code, hint;
  std::vector<std::string> places; ///< the first few
};

/// Equal texts at several places become one group.
std::vector<Group> groupDiagnostics(const std::vector<Diagnostic> &diagnostics) {
  std::vector<Group> groups;
  for (const Diagnostic &each : diagnostics) {
    if (each.severity != Diagnostic::Error)
      continue;
    auto same = std::find_if(groups.begin(), groups.end(), [&](const Group &group) {
      return group.reason == each.text && group.code == each.code;
    });
    if (same == groups.end()) {
      groups.push_back({"", "", 0, 0, each.text, each.code, each.hint, {}});
      same = groups.end() - 1;
    }
    ++same->count;
    if (!each.where.empty() && same->places.size() < 3)
      same->places.push_back(each.where);
  }
  return groups;
}

/// The nodes of an ONNX file that were refused; nothing when that is not what went wrong.
std::vector<Group> groupNodes(const std::string &path, const ImportOptions &import,
                              const std::vector<Diagnostic> &why) {
  std::vector<Group> groups;
  if (std::none_of(why.begin(), why.end(),
                   [](const Diagnostic &each) { return each.code == kUnsupported; }))
    return groups;
  auto refused = checkOnnx(path, {{}, import.constants, import.operators, import.limits, {}});
  if (!refused)
    return groups;
  for (const UnsupportedGroup &each : *refused)
    groups.push_back({each.domain, each.op, each.opset, each.count, each.reason, kUnsupported,
                      each.reason.empty() ? operatorHint(each.domain, each.op) : "",
                      each.firstNodes});
  return groups;
}

std::string operatorName(const Group &group) {
  return group.domain.empty() ? group.operation : group.domain + ":" + group.operation;
}

/// "RoiAlign (opset 16)", or the reason where there is one.
std::string describe(const Group &group) {
  if (group.operation.empty())
    return group.reason;
  std::string text = operatorName(group) + " (opset " + std::to_string(group.opset) + ")";
  return group.reason.empty() ? text + " is not supported" : text + ": " + group.reason;
}

class Check {
public:
  Check(const ParsedOptions &options, Console &console)
      : options(options), console(console), path(options.positional()[0]) {}

  int run() {
    Result<ImportOptions> import = readImportOptions(options);
    if (!import)
      return console.fail(import.failure());
    std::optional<Hardware> hardware;
    if (options.has("hardware")) {
      weft::Result<Hardware> found = findHardware(options.value("hardware"));
      if (!found)
        return refuse(console, found.diagnostics());
      hardware = *found;
    }
    Compiler compiler;
    weft::Result<Module> module = compiler.importFile(path, *import);
    if (!module)
      return unsupported(module.diagnostics(), groupNodes(path, *import, module.diagnostics()));
    warn(console, module.diagnostics());
    if (hardware)
      return checkWithHardware(*module, *hardware);
    CompileOptions compile;
    compile.target = options.value("target", compile.target);
    compile.numerics = readNumerics(options);
    weft::Result<Artifact> plan = compiler.check(*module, compile);
    if (!plan && exitCodeOf(plan.diagnostics()) != ExitInputRefused)
      return refuse(console, plan.diagnostics());
    return plan ? supported(*plan) : unsupported(plan.diagnostics(), {});
  }

private:
  /// Whether the program, as it is written, keeps to a description; whether Weft can compile it is another question.
  int checkWithHardware(const Module &module, const Hardware &hardware) {
    weft::Result<HardwareCheck> done = checkHardware(module, hardware, options.value("target"));
    if (!done)
      return refuse(console, done.diagnostics());
    std::string name = nameOf(hardware);
    console.json() ? reportHardwareJson(name, *done) : reportHardware(name, *done);
    int written = console.finish();
    if (written || done->findings.empty())
      return written;
    size_t count = done->findings.size();
    console.say("error[W0331]: " + path + ": " + std::to_string(count) +
                    (count == 1 ? " operation breaks" : " operations break") +
                    " the description '" + name + "'",
                -1);
    return ExitInputRefused;
  }

  void reportHardware(const std::string &name, const HardwareCheck &done) {
    for (const HardwareFinding &each : done.findings)
      console.result("  " + each.where + ": " + each.operation + ": " + each.reason + "\n");
    if (done.findings.empty())
      console.result(
          path + ": keeps to '" + name + "'; " + std::to_string(done.integers) +
          (done.integers == 1 ? " operation" : " operations") + " in integers, " +
          std::to_string(done.floats) + " in floats" +
          (done.narrowSums > 0
               ? "; narrow sums cannot overflow for any input (tested with the worst one)"
               : "") +
          "\n");
  }

  void reportHardwareJson(const std::string &name, const HardwareCheck &done) {
    JsonWriter json("weft.hardware-check/1");
    json.field("model", path).field("hardware", name).field("keeps", done.findings.empty());
    json.field("integers", uint64_t(done.integers))
        .field("floats", uint64_t(done.floats))
        .field("narrow_sums", uint64_t(done.narrowSums));
    json.array("findings");
    for (const HardwareFinding &each : done.findings)
      json.object()
          .field("where", each.where)
          .field("operation", each.operation)
          .field("reason", each.reason)
          .end();
    console.result(json.end().finish());
  }

  int supported(const Artifact &plan) {
    if (console.json()) {
      JsonWriter json("weft.check/1");
      json.field("model", path).field("supported", true).field("target", plan.target);
      json.field("kernels", plan.kernels).field("peak", plan.peak).array("unsupported").end();
      console.result(json.finish());
      return console.finish();
    }
    console.result(
        path + ": can be compiled for " + plan.target + "; " + std::to_string(plan.kernels) +
        (plan.kernels == 1 ? " kernel" : " kernels") + ", " +
        showFormula("peak", plan.peak, "B", {console.unicode(), console.verbosity() > 0}) + "\n");
    return console.finish();
  }

  int unsupported(const std::vector<Diagnostic> &diagnostics, std::vector<Group> groups) {
    bool nodes = !groups.empty();
    if (!nodes)
      groups = groupDiagnostics(diagnostics);
    // A file that cannot be read at all is not a model with unsupported parts.
    if (!nodes && groups.size() < 2 && (groups.empty() || groups[0].count < 2) && !console.json())
      return refuse(console, diagnostics);
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group &a, const Group &b) { return a.count > b.count; });
    uint64_t count = 0;
    for (const Group &group : groups)
      count += group.count;
    std::string code = groups.empty() ? "W0300" : groups[0].code;
    console.json() ? reportJson(groups) : report(groups);
    int written = console.finish();
    std::string what = nodes ? (count == 1 ? " node is" : " nodes are")
                             : (count == 1 ? " finding is" : " findings are");
    console.say("error[" + code + "]: " + path + ": " + std::to_string(count) + what +
                    " not supported",
                -1);
    return written ? written : exitCodeOf(diagnostics);
  }

  void report(const std::vector<Group> &groups) {
    for (const Group &group : groups) {
      std::string count = std::to_string(group.count);
      console.result(std::string(6 - std::min<size_t>(6, count.size()), ' ') + count + " x  " +
                     describe(group) + "\n");
      if (!group.places.empty())
        console.result("           " + std::string(group.count > 1 ? "first: " : "at: ") +
                       group.places[0] + "\n");
      if (!group.hint.empty())
        console.result("           hint: " + group.hint + "\n");
    }
  }

  void reportJson(const std::vector<Group> &groups) {
    JsonWriter json("weft.check/1");
    json.field("model", path).field("supported", false).array("unsupported");
    for (const Group &group : groups)
      json.object()
          .field("domain", group.domain)
          .field("operator", group.operation)
          .field("opset", group.opset)
          .field("count", group.count)
          .field("code", group.code)
          .field("reason", describe(group))
          .field("hint", group.hint)
          .list("first", group.places)
          .end();
    console.result(json.end().finish());
  }

  const ParsedOptions &options;
  Console &console;
  const std::string path;
};

} // namespace

int checkCommand(const ParsedOptions &options, Console &console) {
  return Check(options, console).run();
}

} // namespace weft::cli
