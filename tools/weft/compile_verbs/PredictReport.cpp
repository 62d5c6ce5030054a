//===- PredictReport.cpp - weft inspect MODEL --machine -------------------------------------------===//
//
// How long a call takes on a machine that need not be here, kernel by kernel. The machine is one whose data Weft has, or a file.
//===------------------------------------------------------------------------------------------===//

#include "tools/weft/compile_verbs/PredictReport.h"
#include "compiler/driver/Predict.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/Table.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/model/ModelImport.h"
#include "weft/machine.hpp"

#include <algorithm>

namespace weft::cli {
namespace {

constexpr size_t kKernelsShown = 12, kShownNode = 48;

class PredictReport {
public:
  PredictReport(const ParsedOptions &options, Console &console, const PredictionRequest &request,
                const Prediction &prediction)
      : options(options), console(console), request(request), prediction(prediction) {}

  int run() {
    console.json() ? reportJson() : report();
    return console.finish();
  }

private:
  static std::string percent(double share) {
    char text[40];
    snprintf(text, sizeof text, "%.1f %%", 100 * share);
    return text;
  }

  static std::string nodesOf(const PredictedKernel &row) {
    if (row.nodes.empty())
      return "";
    std::string text = row.nodes[0];
    if (text.size() > kShownNode)
      text = "…" + text.substr(text.size() - kShownNode);
    return row.nodes.size() > 1 ? text + " +" + std::to_string(row.nodes.size() - 1) : text;
  }

  void report() {
    std::string path = options.positional()[0], sizes;
    for (const auto &[name, value] : request.sizes)
      sizes += name + "=" + std::to_string(value) + " ";
    console.result(console.bold(lastName(path)) + "  " + prediction.target + "  on " +
                   request.machine.name + "  " + sizes +
                   "threads=" + std::to_string(request.threads) + "\n");
    console.result("predicted  " + printSeconds(prediction.nanoseconds * 1e-9) + " a call\n");
    Table table{{"share", "time", "calls", "limit", "kernel", "nodes"}, {}};
    size_t shown = console.verbosity() > 0 ? prediction.kernels.size()
                                           : std::min(prediction.kernels.size(), kKernelsShown);
    for (const PredictedKernel &row : llvm::ArrayRef(prediction.kernels).take_front(shown))
      table.rows.push_back({percent(row.nanoseconds / prediction.nanoseconds),
                            printSeconds(row.nanoseconds * 1e-9), std::to_string(row.calls),
                            nameOf(row.limit).str(), row.symbol, nodesOf(row)});
    console.result(table.text());
    if (shown < prediction.kernels.size())
      console.result("and " + std::to_string(prediction.kernels.size() - shown) + " more (-v)\n");
    note(prediction.unknown, " whose sizes data decide: not in it");
    note(prediction.repeated, " in branches or loops that data decide about: counted once");
    if (!request.machine.isMeasured)
      console.say("nobody compared predictions for '" + request.machine.name + "' with a clock");
  }

  void note(unsigned calls, const std::string &what) {
    if (calls)
      console.say(std::to_string(calls) + (calls == 1 ? " call" : " calls") + what);
  }

  void reportJson() {
    JsonWriter json("weft.prediction/1");
    json.field("file", options.positional()[0]).field("function", prediction.function);
    json.field("target", prediction.target).object("machine").field("name", request.machine.name);
    json.field("about", request.machine.about).field("measured", request.machine.isMeasured);
    json.end().field("threads", request.threads).object("at");
    for (const auto &[name, value] : request.sizes)
      json.field(name, value);
    json.end().field("seconds", prediction.nanoseconds * 1e-9);
    json.field("unknown_calls", uint64_t(prediction.unknown));
    json.field("repeated_calls", uint64_t(prediction.repeated)).array("kernels");
    for (const PredictedKernel &row : prediction.kernels)
      json.object()
          .field("name", row.symbol)
          .field("schedule", row.schedule)
          .field("unit", row.unit)
          .field("loops", row.loops)
          .field("calls", uint64_t(row.calls))
          .field("multiply_adds", row.multiplyAdds)
          .field("operations", row.operations)
          .field("bytes", row.bytes)
          .field("seconds", row.nanoseconds * 1e-9)
          .field("limit", nameOf(row.limit).str())
          .list("nodes", row.nodes)
          .end();
    console.result(json.end().finish());
  }

  const ParsedOptions &options;
  Console &console;
  const PredictionRequest &request;
  const Prediction &prediction;
};

/// What the function's symbols are; every one needs a value.
Result<Done> checkSizes(const Module &module, const PredictionRequest &request) {
  auto function = findFunction(module, request.function);
  if (!function)
    return function.failure();
  Result<Signature> signature = modelSignature(*function);
  if (!signature)
    return signature.failure();
  std::string names;
  for (const SymbolSpec &symbol : signature->symbols)
    names += (names.empty() ? "the symbols are " : ", ") + symbol.name;
  for (const SymbolSpec &symbol : signature->symbols)
    if (!request.sizes.count(symbol.name))
      return Failure{ExitWrongUsage, "'--at' gives no value to symbol '" + symbol.name + "'", names,
                     ""};
  for (const auto &[name, value] : request.sizes)
    if (std::none_of(
            signature->symbols.begin(), signature->symbols.end(),
            [&, known = &name](const SymbolSpec &symbol) { return symbol.name == *known; }))
      return Failure{ExitWrongUsage, "'--at': there is no symbol '" + name + "'",
                     names.empty() ? "all sizes are fixed" : names, ""};
  return Done{};
}

} // namespace

int predictReport(const ParsedOptions &options, Console &console, const Module &module) {
  PredictionRequest request;
  weft::Result<Machine> machine = findMachine(options.value("machine"));
  if (!machine)
    return refuse(console, machine.diagnostics());
  request.machine = **machine;
  Result<SymbolValues> sizes = readSymbols(options, "at");
  if (!sizes)
    return console.fail(sizes.failure());
  request.sizes.insert(sizes->begin(), sizes->end());
  request.threads = std::max<int64_t>(options.number("threads", 1), 1);
  if (Result<Done> done = checkSizes(module, request); !done)
    return console.fail(done.failure());
  CompileOptions compile;
  compile.target = options.value("target", request.machine.target);
  compile.numerics = readNumerics(options);
  readInPlace(options, compile);
  compile.tuningFiles = options.values("tuning");
  compile.tunedFor = options.value("tuned-for");
  weft::Result<Prediction> prediction = predict(module, compile, request);
  if (!prediction)
    return refuse(console, prediction.diagnostics());
  return PredictReport(options, console, request, *prediction).run();
}

} // namespace weft::cli
