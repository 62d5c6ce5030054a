//===- TuneCommand.cpp - weft tune ------------------------------------------------------------===//
//
// Measures what a model's kernels let be chosen, and keeps what is faster as records in a file. Records of the same kernels that were
// measured alike are replaced, others stay.
//===------------------------------------------------------------------------------------------===//

#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/Table.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/model/ModelImport.h"
#include "tools/weft/tune/RankTrials.h"
#include "tools/weft/tune/RemoteTrials.h"
#include "tools/weft/tune/ScoredTrials.h"
#include "tools/weft/tune/TuneSearch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/stat.h>

namespace weft::cli {
namespace {

constexpr size_t kMostSizes = 16;
constexpr double kMostSilence = 24 * 3600;

std::string percentText(double percent) {
  char text[40];
  snprintf(text, sizeof text, "%+.1f %%", percent);
  return text;
}

/// What a trial of one choice of a kernel ended with.
struct ChoiceRow {
  const TunedKernel *kernel;
  std::string choice, picked, gain, rejected;
};

class Tune {
public:
  Tune(const ParsedOptions &options, Console &console) : options(options), console(console) {}

  int run() {
    for (auto step :
         {&Tune::readOptions, &Tune::readRankOptions, &Tune::readEarlier, &Tune::findPlace})
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
    int exitCode = ExitOk;
    std::optional<Module> module = importModel(options, console, exitCode, facts);
    if (!module)
      return exitCode;
    if (Result<Done> done = findRanks(*module); !done)
      return console.fail(done.failure());
    TuneSearch search(*module, compile, request, *trials, console);
    if (Result<Done> done = search.run(); !done)
      return console.fail(done.failure());
    if (Result<Done> done = store(search); !done)
      return console.fail(done.failure());
    console.json() ? reportJson(search) : report(search);
    int written = console.finish();
    for (const std::string &fault : search.faults())
      written = console.fail({ExitComparisonFailed, fault + "; this is a fault of Weft", "", ""});
    return written;
  }

private:
  Result<Done> readOptions() {
    compile = readCompileOptions(options);
    if (compile.target.find(',') != std::string::npos)
      return Failure{ExitWrongUsage, "kernels are tuned for one target at a time",
                     "write --target once for each and the same -o", ""};
    output = options.value("output", fileBeside(options.positional()[0], ".tuning"));
    std::optional<double> budget = parseDuration(options.value("budget", "60s"));
    if (!budget || *budget <= 0)
      return Failure{ExitWrongUsage, "'--budget " + options.value("budget") + "' is no time",
                     "write 60s, 5m or 1h", ""};
    request.budget = *budget;
    request.threads = options.number("threads", 1);
    if (request.threads < 1 || request.threads > 4096)
      return Failure{ExitWrongUsage, "'--threads' must be from 1 to 4096", "", ""};
    Result<InputRequest> inputs = readInputRequest(options, /*readDims=*/false);
    if (!inputs)
      return inputs.failure();
    request.inputs = *inputs;
    facts = options.values("assume");
    Result<std::vector<SymbolValues>> sizes = readSizeLists(options, kMostSizes);
    if (!sizes)
      return sizes.failure();
    request.sizes = *sizes;
    return Done{};
  }

  /// What is said of ranks, as `compile` reads it, and what does not go with them.
  Result<Done> readRankOptions() {
    if (Result<Done> done = readRanks(options, compile); !done)
      return done;
    compile.fuseComm = readFuseComm(options);
    if (asksForRanks(options) && options.has("remote"))
      return remoteRanks();
    if (Result<Done> done = checkLink(options); !done)
      return done;
    std::optional<double> patience = parseDuration(options.value("timeout", "30s"));
    if (!patience || *patience <= 0 || *patience > kMostSilence)
      return Failure{ExitWrongUsage, "'--timeout' must be more than 0 and at most 24h", "", ""};
    silence = *patience;
    return Done{};
  }

  static Failure remoteRanks() {
    return {ExitWrongUsage, "ranks are timed on this machine, not on a remote",
            "run 'weft tune' there, without --remote", ""};
  }

  /// What the file has; and whether it can be written, before minutes are spent.
  Result<Done> readEarlier() {
    struct stat found;
    if (stat(output.c_str(), &found) == 0) {
      llvm::Expected<std::vector<TuningRecord>> records = readRecords(output);
      if (!records)
        return Failure{ExitInputRefused, llvm::toString(records.takeError()), "", "W0307"};
      earlier = std::move(*records);
    }
    OutputFiles trial;
    return trial.addText(output, "");
  }

  /// Where candidates run, and what for they are compiled.
  Result<Done> findPlace() {
    if (!options.has("remote"))
      return Done{}; // the model says it
    if (options.value("remote").find_first_not_of(" \t") == std::string::npos)
      return Failure{ExitWrongUsage, "--remote names no command", "such as --remote 'ssh board'",
                     ""};
    if (options.has("score") &&
        options.value("score").find_first_not_of(" \t") == std::string::npos)
      return Failure{ExitWrongUsage, "--score names no command",
                     "such as --score 'python3 count.py'", ""};
    Result<std::unique_ptr<RemoteTrials>> remote =
        RemoteTrials::connect(options.value("remote"), silence, console);
    if (!remote)
      return remote.failure();
    Result<std::string> target = (*remote)->targetFor(compile.target);
    if (!target)
      return target.failure();
    compile.target = *target;
    trials = std::move(*remote);
    console.say("  remote    " + trials->processor() + ", " + compile.target);
    return options.has("score") ? letScore(silence) : Done{};
  }

  /// Where the model is for several ranks, or shall be.
  Result<Done> findRanks(const Module &module) {
    Result<mlir::FunctionOpInterface> function = findFunction(module, "");
    bool isSplit = function && meshOf(*function);
    if (!asksForRanks(options) && !isSplit) {
      if (!trials)
        trials = trialsHere();
      return refuseWithoutRanks();
    }
    if (options.has("remote"))
      return remoteRanks();
    if (std::optional<Launch> launch = launchOf(options))
      return Failure{ExitWrongUsage,
                     "'weft tune' starts ranks of its own, but " + launch->launcher + " started " +
                         std::to_string(launch->world),
                     "start it alone", ""};
    trials = trialsOnRanks(localRanks(options, 0), options.value("link"), console);
    return Done{};
  }

  Result<Done> refuseWithoutRanks() const {
    for (const char *name : {"transport", "link", "fuse-comm", "at"})
      if (options.has(name))
        return Failure{ExitWrongUsage,
                       "'--" + std::string(name) + "' has no effect: the model is for one rank",
                       "say for how many it shall be: --ranks N, or --mesh", ""};
    if (options.has("timeout") && !options.has("remote"))
      return Failure{ExitWrongUsage, "'--timeout' has no effect without '--remote' or ranks",
                     "leave it out", ""};
    return Done{};
  }

  /// A command says what candidates cost, not the remote's clock.
  Result<Done> letScore(double patience) {
    Result<TemporaryFolder> folder = TemporaryFolder::create();
    if (!folder)
      return folder.failure();
    trials = std::make_unique<ScoredTrials>(
        std::move(trials), ScoreCommand(options.value("score"), *folder), *folder, patience);
    return Done{};
  }

  std::string printCost(double cost) const {
    return options.has("score") ? printScore(cost) : printSeconds(cost);
  }

  Result<Done> store(const TuneSearch &search) {
    std::string sizes;
    for (const std::string &size : search.sizes())
      sizes += (sizes.empty() ? "" : ", ") + size;
    std::vector<TuningRecord> records;
    for (const TuningRecord &record : earlier)
      if (!isMeasuredAgain(record, search, asField(sizes)))
        records.push_back(record);
    for (const TunedKernel &kernel : search.kernels()) {
      if (kernel.picks.empty())
        continue;
      Picks picks = kernel.picks;
      if (picks.schedule.empty())
        picks.schedule = kernel.schedule;
      records.push_back({trials->processor(), search.scope(), kernel.key, picks, asField(sizes),
                         request.threads, std::llround(kernel.gain * 10)});
      ++tuned;
    }
    OutputFiles files;
    if (Result<Done> done = files.addText(output, printRecords(records)); !done)
      return done;
    kept = records.size();
    return files.commit();
  }

  bool isMeasuredAgain(const TuningRecord &record, const TuneSearch &search,
                       const std::string &sizes) const {
    return record.processor == trials->processor() && record.target == search.scope() &&
           record.sizes == sizes && record.threads == request.threads &&
           std::any_of(search.kernels().begin(), search.kernels().end(),
                       [&](const TunedKernel &kernel) { return kernel.key == record.kernel; });
  }

  static std::vector<ChoiceRow> rowsOf(const TunedKernel &kernel) {
    std::vector<ChoiceRow> rows;
    for (const auto &[choice, estimate] : kernel.estimates) {
      ChoiceRow row{&kernel, choice, estimate, "", ""};
      if (auto picked = kernel.picks.values.find(choice); picked != kernel.picks.values.end())
        row.picked = std::to_string(picked->second);
      else if (choice == "schedule" && !kernel.picks.schedule.empty())
        row.picked = kernel.picks.schedule;
      if (row.picked != estimate)
        row.gain = percentText(kernel.gain);
      for (const TuneTrial &trial : kernel.trials)
        if (trial.choice == choice && trial.pick != row.picked)
          row.rejected +=
              (row.rejected.empty() ? "" : ", ") + trial.pick + " (" +
              (trial.is == TuneTrial::Wrong    ? "wrong"
               : trial.is == TuneTrial::Failed ? "failed"
                                               : percentText(trial.gain)) +
              (trial.is == TuneTrial::Faster && kernel.dropped ? ", not confirmed" : "") + ")";
      rows.push_back(row);
    }
    return rows;
  }

  void report(const TuneSearch &search) {
    Table table{{"share", "kernel", "choice", "estimated", "picked", "gain", "rejected"}, {}};
    unsigned untried = 0;
    for (const TunedKernel &kernel : search.kernels()) {
      untried += kernel.untried;
      char share[32];
      snprintf(share, sizeof share, "%.1f %%", 100 * kernel.share);
      for (const ChoiceRow &row : rowsOf(kernel))
        table.rows.push_back({kernel.isExchange ? "" : share, kernel.name, row.choice,
                              kernel.estimates.at(row.choice), row.picked, row.gain, row.rejected});
    }
    if (!table.rows.empty() && console.verbosity() >= 0)
      console.result(table.text());
    for (size_t size = 0; size < search.whole().size(); ++size)
      console.say("  " + (search.sizes()[size] == "-" ? "" : search.sizes()[size] + ": ") +
                  printCost(search.whole()[size].estimated) + " -> " +
                  printCost(search.whole()[size].tuned) +
                  (options.has("score") ? " of a call's score" : " a call"));
    if (untried)
      console.say("  the budget left " + std::to_string(untried) + " alternatives untried");
    console.say(output + "  " + std::to_string(kept) + (kept == 1 ? " record, " : " records, ") +
                std::to_string(tuned) + " of this run");
    std::string elsewhere = options.has("remote") ? " -t " + compile.target + " --tuned-for '" +
                                                        trials->processor() + "'"
                                                  : "";
    console.say("  next: weft compile " + options.positional()[0] + elsewhere + rankOptions() +
                " --tuning " + output);
  }

  /// Those that say which program was tuned.
  std::string rankOptions() const {
    std::string text;
    for (const char *name : {"mesh", "place", "ranks", "plan", "at", "link", "fuse-comm"})
      for (const std::string &value : options.values(name))
        text += " --" + std::string(name) + " " + shellWord(value);
    return text;
  }

  void reportJson(const TuneSearch &search) {
    JsonWriter json("weft.tune/1");
    json.field("path", output)
        .field("processor", trials->processor())
        .field("target", search.scope());
    json.field("records", kept).field("tuned", tuned).field("threads", request.threads);
    json.array("sizes");
    for (size_t size = 0; size < search.sizes().size(); ++size) {
      json.object().field("size", search.sizes()[size]);
      if (size < search.whole().size())
        json.field(options.has("score") ? "estimated_score" : "estimated_seconds",
                   search.whole()[size].estimated)
            .field(options.has("score") ? "tuned_score" : "tuned_seconds",
                   search.whole()[size].tuned);
      json.end();
    }
    json.end().array("kernels");
    for (const TunedKernel &kernel : search.kernels()) {
      json.object().field("name", kernel.name).field("kernel", kernel.key);
      if (kernel.isExchange)
        json.field("exchange", true);
      json.field("share", kernel.share)
          .field("untried", kernel.untried)
          .list("nodes", kernel.nodes);
      if (!kernel.picks.empty())
        json.field("gain_percent", kernel.gain);
      json.field("confirmed", !kernel.dropped).array("choices");
      for (const ChoiceRow &row : rowsOf(kernel))
        json.object()
            .field("choice", row.choice)
            .field("estimated", kernel.estimates.at(row.choice))
            .field("picked", row.picked)
            .end();
      json.end().array("trials");
      for (const TuneTrial &trial : kernel.trials)
        json.object()
            .field("choice", trial.choice)
            .field("pick", trial.pick)
            .field("percent", trial.gain)
            .field("verdict", trial.is == TuneTrial::Wrong    ? "wrong"
                              : trial.is == TuneTrial::Failed ? "failed"
                              : trial.is == TuneTrial::Faster ? "faster"
                                                              : "not faster")
            .end();
      json.end().end();
    }
    json.end();
    console.result(json.finish());
  }

  const ParsedOptions &options;
  Console &console;
  CompileOptions compile;
  TuneRequest request;
  double silence = 0; ///< seconds that a remote may say nothing
  std::unique_ptr<Trials> trials;
  std::vector<std::string> facts;
  std::string output;
  std::vector<TuningRecord> earlier; ///< of the file
  size_t kept = 0, tuned = 0;
};

} // namespace

int tuneCommand(const ParsedOptions &options, Console &console) {
  return Tune(options, console).run();
}

} // namespace weft::cli
