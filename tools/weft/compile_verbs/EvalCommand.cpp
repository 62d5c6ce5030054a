//===- EvalCommand.cpp - weft eval ------------------------------------------------------------===//

#include "tools/weft/cli/Compare.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/KeptApart.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/model/Evaluation.h"
#include "tools/weft/model/ModelImport.h"

namespace weft::cli {
namespace {

class Eval {
public:
  Eval(const ParsedOptions &options, Console &console, Module module)
      : options(options), console(console), module(std::move(module)) {}

  int run() {
    for (auto step : {&Eval::prepare, &Eval::evaluate, &Eval::writeFiles})
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
    console.json() ? reportJson() : report();
    return console.finish();
  }

private:
  Result<Done> prepare() {
    Result<mlir::FunctionOpInterface> found = findFunction(module, options.value("function"));
    if (!found)
      return found.failure();
    function = *found;
    Result<Signature> read = modelSignature(function);
    if (!read)
      return read.failure();
    signature = *read;
    Result<InputRequest> request = readInputRequest(options);
    if (!request)
      return request.failure();
    Result<Inputs> prepared = prepareInputs(signature, *request);
    if (!prepared)
      return prepared.failure();
    inputs = std::move(*prepared);
    sayAssumed(console, inputs.assumed);
    return Done{};
  }

  Result<Done> evaluate() {
    Result<std::vector<NamedTensor>> results =
        evaluateModel(module, function, inputs, {}, &traffic);
    if (!results)
      return results.failure();
    outputs = std::move(*results);
    return Done{};
  }

  Result<Done> writeFiles() {
    InterruptGuard guard(nullptr);
    std::string folder = options.value("output-dir");
    OutputFiles files;
    Result<Done> done = Done{};
    if (options.has("output-dir"))
      done = files.makeFolder(folder);
    for (const NamedTensor &output : outputs) {
      paths.push_back(folder + "/" + names.take(output.name));
      if (done && options.has("output-dir"))
        done = files.addNpy(paths.back(), output.tensor);
    }
    if (done && options.has("output"))
      done = files.addNpz(options.value("output"), outputs);
    if (done)
      done = checkKeptApart(readByCall(options, {"input"}), writtenAnswers(options, paths));
    if (interrupted())
      return Failure{ExitInterrupted, "interrupted", "", ""};
    return done ? files.commit() : done;
  }

  void report() {
    if (console.verbosity() < 0)
      return;
    size_t nameWidth = 0, shapeWidth = 0;
    std::vector<std::string> shapes;
    for (const NamedTensor &output : outputs) {
      shapes.push_back(weft_element_name(output.tensor.element()) +
                       printDims(output.tensor.dims()));
      nameWidth = std::max(nameWidth, output.name.size());
      shapeWidth = std::max(shapeWidth, shapes.back().size());
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::string name = outputs[i].name, &shape = shapes[i];
      name.resize(nameWidth, ' ');
      shape.resize(shapeWidth, ' ');
      console.result((i ? "         " : "outputs  ") + name + "  " + shape + "  " +
                     printSummary(summarize(outputs[i].tensor)) + "\n");
    }
    reportTraffic();
    if (options.has("output-dir"))
      console.say("wrote " + std::to_string(outputs.size()) + " files to " +
                  options.value("output-dir"));
    for (const std::string &note : names.notes())
      if (options.has("output-dir"))
        console.say("output " + note);
    if (options.has("output"))
      console.say("wrote " + options.value("output"));
  }

  /// A line per group of axes, with the rank that sends most.
  void reportTraffic() {
    for (size_t i = 0; i < traffic.size(); ++i) {
      auto most =
          llvm::max_element(traffic[i].ranks, [](Sent a, Sent b) { return a.bytes < b.bytes; });
      int64_t bytes = 0;
      for (Sent each : traffic[i].ranks)
        bytes += each.bytes;
      console.result((i ? "         over " : "sent     over ") + traffic[i].axes + ": " +
                     std::to_string(most->bytes) + " B in " + std::to_string(most->messages) +
                     (most->messages == 1 ? " message" : " messages") + " by rank " +
                     std::to_string(most - traffic[i].ranks.begin()) + ", " +
                     std::to_string(bytes) + " B by all " +
                     std::to_string(traffic[i].ranks.size()) + "\n");
    }
  }

  void reportTrafficJson(JsonWriter &json) {
    if (traffic.empty())
      return;
    json.array("sent");
    for (const Traffic &each : traffic) {
      json.object().field("axes", each.axes).array("ranks");
      for (Sent sent : each.ranks)
        json.object().field("bytes", sent.bytes).field("messages", sent.messages).end();
      json.end().end();
    }
    json.end();
  }

  void reportJson() {
    JsonWriter json("weft.eval/1");
    json.field("model", options.positional()[0]).field("function", signature.function);
    json.field("seed", options.number("seed", 1)).object("symbols");
    for (const auto &[name, value] : inputs.symbols)
      json.field(name, value);
    json.end().array("outputs");
    for (size_t i = 0; i < outputs.size(); ++i) {
      const HostTensor &tensor = outputs[i].tensor;
      Summary s = summarize(tensor);
      json.object().field("name", outputs[i].name);
      json.field("element", weft_element_name(tensor.element())).list("dims", tensor.dims());
      json.field("min", s.min).field("mean", s.mean).field("max", s.max).field("nan", s.nans);
      if (options.has("output-dir"))
        json.field("file", paths[i]);
      json.end();
    }
    json.end();
    reportTrafficJson(json);
    console.result(json.finish());
  }

  const ParsedOptions &options;
  Console &console;
  Module module;
  mlir::FunctionOpInterface function;
  Signature signature;
  Inputs inputs;
  std::vector<NamedTensor> outputs;
  std::vector<Traffic> traffic;
  FileNames names;
  std::vector<std::string> paths;
};

} // namespace

int evalCommand(const ParsedOptions &options, Console &console) {
  int exitCode = ExitOk;
  std::optional<Module> module = importModel(options, console, exitCode);
  if (!module)
    return exitCode;
  CompileOptions ranks;
  if (Result<Done> done = readRanks(options, ranks); !done)
    return console.fail(done.failure());
  if (!asksForRanks(options))
    return Eval(options, console, *module).run();
  weft::Result<Module> split = Compiler().partition(*module, ranks);
  return split ? Eval(options, console, *split).run() : refuse(console, split.diagnostics());
}

} // namespace weft::cli
