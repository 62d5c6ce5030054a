//===- QuantizeCommand.cpp - weft quantize ----------------------------------------------------===//
//
// Finds what integers may compute of a model and writes that, as an artifact or as a program in text.
//===------------------------------------------------------------------------------------------===//

#include "compiler/machine/MachineData.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/KeptApart.h"
#include "tools/weft/cli/Table.h"
#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/model/CompiledModel.h"
#include "tools/weft/model/ModelImport.h"
#include "tools/weft/quantize/CallFiles.h"
#include "tools/weft/quantize/GeneratedCalls.h"
#include "tools/weft/quantize/PriceFile.h"
#include "tools/weft/quantize/Report.h"
#include "tools/weft/quantize/ScoreCommand.h"
#include "tools/weft/quantize/SearchName.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <sys/stat.h>

namespace weft::cli {
namespace {

constexpr long kRoundedColumn = 2;     ///< of the report, where a layer has blocks
constexpr size_t kGeneratedCalls = 10; ///< of each size, without calls to calibrate with

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

class Quantize {
public:
  Quantize(const ParsedOptions &options, Console &console) : options(options), console(console) {}

  int run() {
    if (Result<Done> done = readOptions(); !done)
      return console.fail(done.failure());
    int exitCode = ExitOk;
    // A search calls the model as it is, and compares with it.
    std::optional<Module> module =
        importModel(options, console, exitCode, facts, options.has("apply"));
    if (!module)
      return exitCode;
    if (Result<Done> done = keepInputs(); !done)
      return console.fail(done.failure());
    if (options.has("apply"))
      return apply(*module);
    InterruptGuard guard(nullptr);
    Result<TemporaryFolder> folder = TemporaryFolder::create();
    if (!folder)
      return console.fail(folder.failure());
    request.folder = folder->path();
    if (Result<Done> done = prepareCalls(*module); !done)
      return console.fail(done.failure());
    for (const std::string &path : options.values("compare")) {
      weft::Result<Module> peer = Compiler().importFile(path);
      if (!peer)
        return refuse(console, peer.diagnostics());
      request.peers.push_back({path, *peer});
    }
    weft::Result<Quantization> found = Compiler().quantize(*module, request);
    // Also when it was interrupted: what was timed is not timed again.
    if (Result<Done> done = prices.store(); !done)
      return console.fail(done.failure());
    if (!found)
      return refuse(console, found.diagnostics());
    if (!found->isReached)
      return console.fail({ExitComparisonFailed, outOfReach(*found), "", "W0322"});
    if (options.has("report"))
      if (Result<Done> done =
              files.addText(options.value("report"),
                            htmlReport(options.positional()[0], circumstances(*found), *found));
          !done)
        return console.fail(done.failure());
    if (!found->strategyWeights.empty() && options.has("strategy"))
      if (Result<Done> done =
              files.addText(strategyWeights(options.value("strategy")), found->strategyWeights);
          !done)
        return console.fail(done.failure());
    if (int code = writeAll(*module, found->module, found->strategy))
      return code;
    console.json() ? reportJson(*found) : report(*found);
    return console.finish();
  }

private:
  /// What a strategy says, without a search.
  int apply(const Module &module) {
    weft::Result<Module> program = applyStrategy(module, options.value("strategy"));
    if (!program)
      return refuse(console, program.diagnostics());
    std::ifstream file(options.value("strategy"));
    std::string strategy{std::istreambuf_iterator<char>(file), {}};
    if (int code = writeAll(module, *program, strategy))
      return code;
    if (console.json())
      console.result(JsonWriter("weft.quantize/1").list("paths", outputs).finish());
    else
      for (const std::string &output : outputs)
        console.say(output);
    return console.finish();
  }

  /// What needs the model's signature, or a folder.
  Result<Done> prepareCalls(const Module &module) {
    if (options.has("score")) {
      std::string outputsFolder = request.folder + "/outputs";
      if (mkdir(outputsFolder.c_str(), 0777) != 0)
        return Failure{ExitMachineLacks, outputsFolder + ": the folder cannot be made", "", ""};
      request.score = scoreOf(options.value("score"), outputsFolder);
    }
    if (!options.has("at") && !request.withoutRanges)
      return Done{};
    Result<mlir::FunctionOpInterface> function = findFunction(module, "");
    if (!function)
      return function.failure();
    Result<Signature> signature = modelSignature(*function);
    if (!signature)
      return signature.failure();
    Result<std::vector<SymbolValues>> sizes = readAt(options, *signature);
    if (!sizes)
      return sizes.failure();
    std::vector<std::string> assumed;
    auto generate = [&](size_t each, Calls &into) -> Result<Done> {
      Result<GeneratedCalls> made = generatedCalls(*signature, *sizes, each);
      if (!made)
        return made.failure();
      into = made->calls;
      assumed = made->assumed;
      return Done{};
    };
    if (options.has("at"))
      if (Result<Done> done = generate(1, request.timed); !done)
        return done;
    if (request.withoutRanges)
      if (Result<Done> done = generate(kGeneratedCalls, request.calibration); !done)
        return done;
    sayAssumed(console, assumed, "--at");
    return Done{};
  }

  Result<Done> readOptions() {
    request.compile.kernelCode = std::make_shared<KernelCode>(); // what is tried is written, too
    request.compile.target = options.value("target", request.compile.target);
    request.compile.jobs = unsigned(std::min<int64_t>(options.number("jobs", 0), 1024));
    if (request.compile.target.find(',') != std::string::npos)
      return Failure{ExitWrongUsage, "a model is quantised for one target at a time", "", ""};
    int64_t threads = options.number("threads", 1);
    if (threads < 1 || threads > 4096)
      return Failure{ExitWrongUsage, "'--threads' must be from 1 to 4096", "", ""};
    request.threads = unsigned(threads);
    if (options.has("time")) {
      std::optional<double> seconds = parseDuration(options.value("time"));
      if (!seconds || *seconds <= 0)
        return Failure{ExitWrongUsage, "'--time " + options.value("time") + "' is no time",
                       "write 60s, 5m or 1h", ""};
      request.seconds = *seconds;
    }
    request.keepF32 = options.values("keep-f32");
    if (options.has("hardware")) {
      weft::Result<Hardware> hardware = findHardware(options.value("hardware"));
      if (!hardware)
        return failureOf(hardware.diagnostics());
      request.hardware = *hardware;
    }
    if (options.has("machine")) {
      weft::Result<Machine> machine = findMachine(options.value("machine"));
      if (!machine)
        return failureOf(machine.diagnostics());
      request.machine = *machine;
      request.compile.target = options.value("target", targetOf(*machine));
    }
    if (options.has("search")) {
      Result<QuantizeSearch> search = parseSearch(options.value("search"));
      if (!search)
        return search.failure();
      request.search = *search;
    }
    request.mask = options.value("mask");
    request.cache = options.value("cache");
    facts = options.values("assume");
    request.cancelled = interrupted;
    request.onProgress = [this](const std::string &phase, size_t done, size_t of) {
      progress(phase, done, of);
    };
    for (auto step : {&Quantize::readApply, &Quantize::readOutputs, &Quantize::readBudgets,
                      &Quantize::readCalls, &Quantize::readPrices, &Quantize::openOutputs})
      if (Result<Done> done = (this->*step)(); !done)
        return done;
    return Done{};
  }

  /// A strategy says all: what a search would need does not go with it.
  Result<Done> readApply() {
    if (options.has("apply"))
      for (const char *name :
           {"calibration", "evaluate", "budget", "keep-f32", "mask", "prices", "time", "at",
            "score", "report", "compare", "hardware", "search", "machine"})
        if (options.has(name))
          return Failure{ExitWrongUsage,
                         "'--apply' and '--" + std::string(name) + "' exclude each other",
                         "a strategy says what each layer becomes, and nothing is measured", ""};
    return Done{};
  }

  Result<Done> readPrices() {
    if (!options.has("prices"))
      return Done{};
    if (options.has("machine"))
      return Failure{ExitWrongUsage, "'--machine' and '--prices' exclude each other",
                     "for a machine that is not here nothing is timed", ""};
    if (Result<Done> done = prices.open(options.value("prices")); !done)
      return done;
    request.prices = prices.text();
    request.onPrice = [this](const std::string &line) { prices.add(line); };
    return Done{};
  }

  Result<Done> readOutputs() {
    outputs = options.values("output");
    if (outputs.empty())
      outputs = {fileBeside(options.positional()[0], "-quantized.weft")};
    std::set<std::string> known;
    for (const std::string &output : outputs) {
      if (endsWith(output, ".onnx") && !endsWith(options.positional()[0], ".onnx"))
        return Failure{ExitWrongUsage, "'" + output + "' can only be written of a .onnx file",
                       "-o FILE.weft writes an artifact, -o FILE.mlir a program", ""};
      if (endsWith(output, ".onnx"))
        request.onnxFile = options.positional()[0];
      else if (!endsWith(output, ".weft") && !endsWith(output, ".mlir"))
        return Failure{ExitWrongUsage, "'" + output + "' is neither a .weft, .mlir nor .onnx file",
                       "-o FILE.weft writes an artifact, -o FILE.mlir a program", ""};
      if (!known.insert(output).second)
        return Failure{ExitWrongUsage, "'-o " + output + "' is given twice", "", ""};
    }
    return Done{};
  }

  /// Finds out whether all can be written before minutes are spent.
  Result<Done> openOutputs() {
    for (const char *name : {"strategy", "report"})
      if (options.has(name) && !options.has("apply")) {
        OutputFiles trial;
        if (Result<Done> done = trial.addText(options.value(name), ""); !done)
          return done;
      }
    for (const std::string &output : outputs) {
      Result<std::string> made = files.addFolderFor(output);
      if (!made)
        return made.failure();
      partials.push_back(*made);
    }
    return Done{};
  }

  /// What is read stays, and all that is written has a file of its own.
  Result<Done> keepInputs() const {
    std::vector<NamedPath> read{{"", options.positional()[0]}}, written;
    auto add = [&](const char *option, std::vector<NamedPath> &list) {
      for (const std::string &path : options.values(option))
        list.push_back({"--" + std::string(option), path});
    };
    for (const char *option : {"calibration", "evaluate", "compare", "hardware", "machine"})
      add(option, read);
    for (const std::string &output : outputs)
      written.push_back({"-o", output});
    add("strategy", options.has("apply") ? read : written);
    if (!options.has("apply") && options.has("strategy"))
      written.push_back({"--strategy", strategyWeights(options.value("strategy"))});
    for (const char *option : {"report", "prices"})
      add(option, written);
    return checkKeptApart(read, written);
  }

  Result<Done> readBudgets() {
    for (const std::string &text : options.values("budget")) {
      Result<QuantizeBudget> budget = parseBudget(text);
      if (!budget)
        return budget.failure();
      if (budget->metric == QuantizeBudget::Score && !options.has("score"))
        return Failure{ExitWrongUsage, "'--budget " + text + "' needs a program that measures it",
                       "name one with --score", ""};
      request.budgets.push_back(*budget);
    }
    return Done{};
  }

  Result<Done> readCalls() {
    if (options.has("apply"))
      return Done{};
    std::string path = options.value("calibration");
    if (path.empty())
      return Failure{ExitWrongUsage, "'weft quantize' needs calls to look at",
                     "name a folder of .npz files with --calibration", ""};
    request.withoutRanges = path == "none";
    if (request.withoutRanges && !request.onnxFile.empty())
      return Failure{ExitWrongUsage,
                     "'--calibration none' finds no ranges, which all layers of a .onnx file need",
                     "name a folder of .npz files, or one", ""};
    Result<Calls> calls = request.withoutRanges ? Calls() : readCallFiles(path, "--calibration");
    if (!calls)
      return calls.failure();
    request.calibration = *calls;
    if (!options.has("evaluate"))
      return Done{};
    calls = readCallFiles(options.value("evaluate"), "--evaluate");
    if (!calls)
      return calls.failure();
    request.evaluation = *calls;
    return Done{};
  }

  /// One line per phase, when it has ended.
  void progress(const std::string &phase, size_t done, size_t of) {
    if (phase != last || done < lastDone) {
      last = phase;
      begin = Clock::now();
    }
    lastDone = done;
    if (done != of)
      return;
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    console.say("  " + phase + std::string(12 - std::min<size_t>(phase.size(), 11), ' ') +
                std::to_string(of) + "  " + printed("%.1f s", seconds));
  }

  std::string outOfReach(const Quantization &found) const {
    return "no choice keeps all budgets: the nearest takes " + printed("%.2fx", found.latency) +
           " of the time in f32" + secondsOf(found) + " and " + printBytes(double(found.bytes)) +
           " with " + accuracyLine(found.measured) +
           (found.caches ? "; caches of " + request.cache + " alone: " + accuracyLine(*found.caches)
                         : "");
  }

  /// All outputs or none. 0, or the exit code of what was printed.
  int writeAll(const Module &model, const Module &program, const std::string &strategy) {
    if (options.has("strategy") && !options.has("apply"))
      if (Result<Done> done = files.addText(options.value("strategy"), strategy); !done)
        return console.fail(done.failure());
    for (const std::string &partial : partials) {
      weft::Result<void> done = write(model, program, strategy, partial);
      if (!done)
        return refuse(console, done.diagnostics());
    }
    if (Result<Done> done = files.commit(); !done)
      return console.fail(done.failure());
    return 0;
  }

  weft::Result<void> write(const Module &model, const Module &program, const std::string &strategy,
                           const std::string &output) {
    if (endsWith(output, ".onnx"))
      return writeOnnx(model, strategy, options.positional()[0], output);
    if (endsWith(output, ".mlir"))
      return writeProgramText(program, output);
    CompileOptions compile = request.compile;
    compile.outputPath = output;
    compile.cancelled = interrupted;
    weft::Result<weft::Artifact> artifact = Compiler().compile(program, compile);
    return artifact ? weft::Result<void>() : artifact.diagnostics();
  }

  void report(const Quantization &found) {
    bool hasRounded = isAnyRounded(found);
    Table table{{"layer", "becomes", "equalised", "loss", "saves", "otherwise: loss, saves", "why"},
                {}};
    if (hasRounded)
      table.header.insert(table.header.begin() + kRoundedColumn, "rounded");
    size_t halves = 0, integers = 0;
    for (const QuantizedLayer &layer : found.layers) {
      halves += layer.form == "bf16";
      integers += layer.form != "f32" && layer.form != "bf16";
      table.rows.push_back({layer.name, formText(layer.form, layer.mostWeight),
                            layer.strength < 0 ? "-" : printed("%.1f", layer.strength),
                            printed("%.1e", layer.loss),
                            layer.seconds > 0 ? printSeconds(layer.seconds) : "-",
                            otherChoices(layer), layer.reason});
      if (hasRounded)
        table.rows.back().insert(table.rows.back().begin() + kRoundedColumn,
                                 layer.rounded.empty() ? "-" : layer.rounded);
    }
    if (console.verbosity() >= 0)
      console.result(table.text());
    console.say("  " + std::to_string(integers) + " of " + std::to_string(found.layers.size()) +
                " layers in integers" + (halves ? ", " + std::to_string(halves) + " in bf16" : "") +
                "; " + std::to_string(found.calibrated) +
                (found.calibrated == 1 ? " call calibrated, " : " calls calibrated, ") +
                std::to_string(found.evaluated) + " measured");
    if (found.search.kind != QuantizeSearch::Exact)
      console.say("  strategies by '--search " + printSearch(found.search) + "'");
    if (found.isTimeOver)
      console.say("  the time was over before all was measured: this is the best so far");
    if (request.withoutRanges)
      console.say("  calls were generated: accuracy says little of real ones, and what needs "
                  "ranges of activations was not looked for");
    if (found.isJudgedByCalibration)
      console.say(
          "  too few calls to keep any from calibration: accuracy is that of the calls that "
          "ranges come from");
    if (!std::isnan(found.measured.score))
      console.say("  score " + printed("%.6g", found.measured.score) + " (f32 " +
                  printed("%.6g", found.plainScore) + ")");
    for (const auto &[name, accuracy] : found.outputs)
      console.say("  " + name + ": " + accuracyLine(accuracy));
    if (found.caches)
      console.say("  caches of " + request.cache + " alone: " + accuracyLine(*found.caches));
    console.say("  promised: " + accuracyLine(found.simulated), 1);
    console.say("  time " + printed("%.2fx", found.latency) + " of f32" +
                (found.caches ? " with such caches (" : " (") + clockOf(found) + ")" +
                secondsOf(found) + "  size " + printBytes(double(found.bytes)) + " of " +
                printBytes(double(found.plainBytes)));
    if (request.machine && !request.machine->isMeasured)
      console.say("  nobody compared predictions for '" + nameOf(request.machine) +
                  "' with a clock");
    for (const QuantizedPoint &peer : found.peers)
      console.say("  " + peer.name + ": time " + printed("%.2fx", peer.latency) +
                  " of f32, cosine " + printed("%.5f", peer.cosine));
    for (const std::string &output : outputs)
      console.say(output);
  }

  std::vector<std::string> budgetTexts() const {
    std::vector<std::string> texts;
    for (const QuantizeBudget &budget : request.budgets)
      texts.push_back(printBudget(budget));
    return texts;
  }

  /// What a page has to say of a search to be read later.
  std::string circumstances(const Quantization &found) const {
    std::string text = found.target + " on " + found.processor + ", " +
                       std::to_string(request.threads) +
                       (request.threads == 1 ? " thread" : " threads");
    for (const std::string &budget : budgetTexts())
      text += ", " + budget;
    text += ", calls of " + options.value("calibration") + "; a call in f32 takes " +
            printSeconds(found.latency > 0 ? found.seconds / found.latency : 0);
    return text + "; weft " + weft_version();
  }

  /// Where a budget is in seconds.
  std::string secondsOf(const Quantization &found) const {
    bool isAsked =
        std::any_of(request.budgets.begin(), request.budgets.end(), [](const QuantizeBudget &each) {
          return each.metric == QuantizeBudget::Seconds;
        });
    return isAsked ? ", " + printSeconds(found.seconds) + " a call" : "";
  }

  std::string clockOf(const Quantization &found) const {
    switch (found.clock) {
    case Quantization::Declared:
      return "declared: by the rates of '" + nameOf(request.hardware) + "', nothing was timed";
    case Quantization::Predicted:
      return "predicted for '" + nameOf(request.machine) + "', nothing was timed";
    case Quantization::Timed:
      break;
    }
    return printed("%.2fx", found.predictedLatency) + " by prices";
  }

  static void writePoints(JsonWriter &json, const char *name,
                          const std::vector<QuantizedPoint> &points) {
    json.array(name);
    for (const QuantizedPoint &point : points) {
      json.object();
      if (!point.name.empty())
        json.field("name", point.name);
      json.field("latency", point.latency).field("cosine", point.cosine).end();
    }
    json.end();
  }

  static void writeChoices(JsonWriter &json, const QuantizedLayer &layer) {
    json.array("choices");
    for (const QuantizedChoice &choice : layer.choices) {
      json.object().field("form", choice.form);
      if (choice.strength >= 0)
        json.field("strength", choice.strength);
      json.field("loss", choice.loss).field("saved_seconds", choice.seconds);
      if (!choice.rounded.empty())
        json.field("rounded", choice.rounded);
      if (choice.mostWeight < QuantizedChoice().mostWeight)
        json.field("most_weight", choice.mostWeight);
      json.end();
    }
    json.end();
  }

  static void writeAccuracy(JsonWriter &json, const Accuracy &accuracy) {
    json.field("cosine", accuracy.cosine).field("worst_cosine", accuracy.worstCosine);
    json.field("sqnr", accuracy.sqnr); // null where nothing differs
    json.field("top1", accuracy.top1).field("kl", accuracy.kl);
    if (!std::isnan(accuracy.score))
      json.field("score", accuracy.score);
  }

  void reportJson(const Quantization &found) {
    JsonWriter json("weft.quantize/1");
    json.field("model", options.positional()[0]).list("paths", outputs);
    json.field("target", found.target).field("processor", found.processor);
    json.field("threads", uint64_t(request.threads)).list("budgets", budgetTexts());
    json.field("search", printSearch(found.search));
    json.field("latency", found.latency).field("seconds", found.seconds);
    json.field("predicted_latency", found.predictedLatency).field("bytes", found.bytes);
    if (!std::isnan(found.plainScore))
      json.field("f32_score", found.plainScore);
    json.field("f32_bytes", found.plainBytes).field("calibrated", uint64_t(found.calibrated));
    json.field("evaluated", uint64_t(found.evaluated)).field("time_over", found.isTimeOver);
    json.field("generated_calls", request.withoutRanges);
    json.field("judged_by_calibration", found.isJudgedByCalibration);
    json.field("declared_prices", found.clock == Quantization::Declared);
    if (request.machine)
      json.object("machine")
          .field("name", request.machine->name)
          .field("about", request.machine->about)
          .field("measured", request.machine->isMeasured)
          .end();
    if (request.hardware)
      json.field("hardware", nameOf(request.hardware));
    writeAccuracy(json, found.measured);
    if (found.caches) {
      json.object("cache").field("element", request.cache);
      writeAccuracy(json, *found.caches);
      json.end();
    }
    json.field("predicted_cosine", found.predictedCosine);
    json.field("promised_cosine", found.simulated.cosine).array("outputs");
    for (const auto &[name, accuracy] : found.outputs) {
      json.object().field("name", name);
      writeAccuracy(json, accuracy);
      json.end();
    }
    json.end().array("layers");
    for (const QuantizedLayer &layer : found.layers) {
      json.object().field("name", layer.name).field("form", layer.form);
      if (layer.strength >= 0)
        json.field("strength", layer.strength);
      if (!layer.rounded.empty())
        json.field("rounded", layer.rounded);
      if (layer.mostWeight < QuantizedChoice().mostWeight)
        json.field("most_weight", layer.mostWeight);
      json.field("loss", layer.loss).field("saved_seconds", layer.seconds);
      if (!layer.reason.empty())
        json.field("reason", layer.reason);
      json.field("least", layer.least).field("most", layer.most).field("range", layer.range);
      if (!layer.rangeBy.empty())
        json.field("range_by", layer.rangeBy);
      writeChoices(json, layer);
      json.end();
    }
    json.end();
    writePoints(json, "front", found.front);
    writePoints(json, "tried", found.tried);
    writePoints(json, "peers", found.peers);
    console.result(json.finish());
  }

  using Clock = std::chrono::steady_clock;
  const ParsedOptions &options;
  Console &console;
  QuantizeOptions request;
  std::vector<std::string> facts, outputs;
  std::vector<std::string> partials; ///< by output where it is written at first
  OutputFiles files;
  PriceFile prices;
  std::string last; ///< phase
  size_t lastDone = 0;
  Clock::time_point begin = Clock::now();
};

} // namespace

int quantizeCommand(const ParsedOptions &options, Console &console) {
  return Quantize(options, console).run();
}

} // namespace weft::cli
