//===- BenchCommand.cpp - weft bench ----------------------------------------------------------===//
//
// Every combination of --dim and --threads is one row. Rows are warmed up, then measured in turns
// (interleaved), so that a disturbance of the machine meets all of them. A sample is the mean of as
// many calls as take a millisecond. Where ranks run the function, rank 0 measures and tells the
// others what to call. With --fuse-comm every combination is measured in both forms of the steps in which ranks compute while an exchange goes on, and
// what the waiting form spends in these exchanges says how much of it the other one hides.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Artifact.h"
#include "tools/weft/cli/Commands.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/LocalRanks.h"
#include "tools/weft/cli/Measurement.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/RankedCall.h"
#include "tools/weft/cli/Table.h"
#include "tools/weft/cli/TimedCalls.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/verbs/ExchangeTimes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>

namespace weft::cli {

namespace {

constexpr int64_t kMostRounds = 101;
constexpr double kSampleSeconds = 1e-3, kBudgetSeconds = 3, kWarmSeconds = 0.02;
constexpr size_t kMostRows = 256;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Row {
  SymbolValues dims;
  int64_t threads;
  bool isApart; ///< exchanges are done before and behind kernels
  Inputs inputs;
  CallInputs callInputs;
  std::vector<weft_tensor_t> outputs;
  Context context;
  std::optional<weft_cost_t> cost;
  int64_t callsPerSample = 1;
  std::vector<double> samples;
  double exchangeSeconds = 0; ///< of a call that is apart, in exchanges that could be fused

  double median() const { return quantile(samples, 0.5); }
  /// Half the interquartile range over the median.
  double spread() const {
    return (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / median();
  }
};

/// What rank 0 tells the others: call this row so often. Never: it was the last.
struct Order {
  int64_t row, count;
};

class Bench {
public:
  Bench(const ParsedOptions &options, Console &console) : options(options), console(console) {}
  ~Bench() { forgetContexts(rows); }

  int run() {
    for (auto step : {&Bench::open, &Bench::plan, &Bench::prepare, &Bench::measureAll})
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
    if (!isElsewhere)
      report();
    return console.finish();
  }

private:
  Result<Done> open() {
    Result<std::string> asked = readFormat(options);
    if (!asked)
      return asked.failure();
    format = *asked;
    if (Result<Done> done = checkRounds(options); !done)
      return done;
    if (options.positional().empty())
      return Failure{ExitWrongUsage,
                     "'weft bench' needs ARTIFACT, --kernels or --collectives",
                     "usage: weft bench [ARTIFACT] [options]",
                     {}};
    Result<Artifact> opened = Artifact::open(options.positional()[0], false,
                                             options.value("target"), ranksAsked(options));
    if (!opened)
      return opened.failure();
    artifact = *opened;
    Result<FunctionView> found = artifact.function(options.value("function"));
    if (!found)
      return found.failure();
    function = *found;
    for (const char *option : {"transport", "timeout", "flight", "link", "fuse-comm"})
      if (function.mesh.empty() && options.has(option))
        return Failure{ExitWrongUsage,
                       "'--" + std::string(option) + "' has no effect: function '" +
                           function.signature.function + "' is for one rank",
                       "leave it out",
                       {}};
    if (Result<Done> done = readForms(); !done)
      return done;
    return checkRanks(function, options);
  }

  /// Which forms of fused steps are measured.
  Result<Done> readForms() {
    comparesForms = options.has("fuse-comm");
    if (!comparesForms)
      return Done{};
    if (artifact.listed("fused_exchanges").empty())
      return Failure{ExitWrongUsage,
                     "'--fuse-comm' has no effect: " + options.positional()[0] +
                         " computes beside no exchange",
                     "compile it with --fuse-comm always",
                     {}};
    std::string text = options.value("fuse-comm");
    forms.clear();
    for (size_t begin = 0; begin <= text.size();) {
      size_t end = std::min(text.find(',', begin), text.size());
      std::string form = text.substr(begin, end - begin);
      bool isApart = form == "never";
      if ((!isApart && form != "always") ||
          std::find(forms.begin(), forms.end(), isApart) != forms.end())
        return Failure{
            ExitWrongUsage, "'--fuse-comm " + text + "' must be never, always or both", {}, {}};
      forms.push_back(isApart);
      begin = end + 1;
    }
    return Done{};
  }

  /// The combinations, first symbol slowest, threads fastest.
  Result<Done> plan() {
    Result<std::vector<SymbolValues>> sizes = readSizeLists(options, kMostRows);
    if (!sizes)
      return sizes.failure();
    std::optional<std::vector<int64_t>> threads = parseIntegers(options.value("threads", "1"));
    if (!threads || *std::min_element(threads->begin(), threads->end()) < 1)
      return Failure{ExitWrongUsage,
                     "'--threads " + options.value("threads") + "' must be whole numbers >= 1: 1,2",
                     {},
                     {}};
    if (sizes->size() * threads->size() * forms.size() > kMostRows)
      return Failure{
          ExitWrongUsage, "more than " + std::to_string(kMostRows) + " combinations", {}, {}};
    for (const SymbolValues &size : *sizes)
      for (int64_t count : *threads)
        for (bool isApart : forms)
          rows.push_back({size, count, isApart, {}, {}, {}, {}, {}, 1, {}});
    return Done{};
  }

  Result<Done> prepare() {
    Result<InputRequest> request = readInputRequest(options, false);
    if (!request)
      return request.failure();
    for (Row &row : rows) {
      request->dims = row.dims;
      Result<Inputs> inputs = prepareInputs(wholeSignature(function), *request);
      if (!inputs)
        return inputs.failure();
      row.inputs = std::move(*inputs);
      Result<CallInputs> roomy = callInputsOfRank(function, row.inputs, 0);
      if (!roomy)
        return roomy.failure();
      row.callInputs = std::move(*roomy);
      row.outputs.assign(function.outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
      if (Result<weft_cost_t> cost = artifact.cost(function, row.inputs.symbols))
        row.cost = *cost;
    }
    sayAssumed(console, rows[0].inputs.assumed);
    return Done{};
  }

  //===-- Ranks ---------------------------------------------------------------------------------===//

  Result<Done> measureAll() {
    if (function.mesh.empty())
      return measureAlone();
    auto lead = [&](weft_group_t *own) -> Result<Done> {
      group = own;
      Result<Done> done = measureAlone();
      weft_error_t error = WEFT_ERROR_INIT;
      return done && tell({0, 0}, &error) ? failureOf(error) : done;
    };
    LocalRanks ranks = localRanks(options, ranksOf(function));
    isElsewhere = ranks.isElsewhere();
    ranks.records = comparesForms ? kProfiledCollectives : ranks.records;
    transport = ranks.transport;
    return runLedRanks(ranks, lead,
                       [&](weft_group_t *own, weft_error_t *error) { return follow(own, error); });
  }

  /// On this rank, which tells the others.
  Result<Done> measureAlone() {
    Result<Done> done = createContexts(rows, group);
    if (done)
      done = warmUp();
    if (done)
      done = measure();
    if (done && comparesForms)
      done = timeExchanges();
    if (group)
      forgetContexts(rows); // they do not outlive the group, also where a step failed
    return done;
  }

  /// The same on all ranks, in the same order.
  Result<Done> createContexts(std::vector<Row> &wanting, weft_group_t *of) const {
    std::map<std::pair<int64_t, bool>, Context> contexts;
    for (Row &row : wanting) {
      Context &context = contexts[{row.threads, row.isApart}];
      Result<weft_context_options_t> wanted =
          contextOptions(options, static_cast<int32_t>(std::min<int64_t>(row.threads, 4096)));
      if (!wanted)
        return wanted.failure();
      wanted->group = of;
      wanted->exchanges_apart = row.isApart;
      if (!context) {
        Result<Context> created = artifact.createContext(*wanted);
        if (!created)
          return created.failure();
        context = *created;
      }
      row.context = context;
    }
    return Done{};
  }

  static void forgetContexts(std::vector<Row> &of) {
    for (Row &row : of) {
      for (weft_tensor_t &output : row.outputs)
        weft_tensor_release(row.context.get(), &output);
      row.context.reset();
    }
  }

  weft_status_t tell(Order order, weft_error_t *error) {
    return tellRanks(group, "bench", &order, sizeof order, error);
  }

  /// What another rank than 0 does, with rows of its own: ranks may be threads.
  weft_status_t follow(weft_group_t *own, weft_error_t *error) const {
    std::vector<Row> mine = rows;
    for (Row &row : mine) {
      Result<CallInputs> parts = callInputsOfRank(function, row.inputs, weft_group_rank(own));
      if (!parts)
        return toError(parts.failure(), error);
      row.callInputs = std::move(*parts);
    }
    if (Result<Done> done = createContexts(mine, own); !done)
      return toError(done.failure(), error);
    weft_status_t status = WEFT_OK;
    for (Order order; !status;) {
      status = tellRanks(own, "bench", &order, sizeof order, error);
      if (status || !order.count)
        break;
      Row &row = mine[size_t(order.row)];
      for (int64_t i = 0; i < order.count && !status; ++i)
        status = weft_call_function(row.context.get(), function.index, row.callInputs.views.data(),
                                    static_cast<uint32_t>(row.callInputs.views.size()),
                                    row.outputs.data(), static_cast<uint32_t>(row.outputs.size()),
                                    error);
    }
    forgetContexts(mine);
    return status;
  }

  /// Seconds of `count` calls together.
  Result<double> timeRow(Row &row, int64_t count) {
    weft_error_t error = WEFT_ERROR_INIT;
    if (group && tell({&row - rows.data(), count}, &error))
      return failureOf(error);
    return timeCalls(guard, row.context.get(), function.index, row.callInputs.views, row.outputs,
                     count);
  }

  //===-- Measuring -----------------------------------------------------------------------------===//

  /// The first calls grow the arena and touch pages; then the calls per sample are set.
  Result<Done> warmUp() {
    for (Row &row : rows) {
      double begin = now(), fastest = 0;
      for (int call = 0; call < 2 || now() - begin < kWarmSeconds; ++call) {
        Result<double> seconds = timeRow(row, 1);
        if (!seconds)
          return seconds.failure();
        fastest = call == 0 ? *seconds : std::min(fastest, *seconds);
      }
      row.callsPerSample = static_cast<int64_t>(
          std::max(1.0, std::min(1e5, kSampleSeconds / std::max(fastest, 1e-9))));
      roundSeconds += fastest * static_cast<double>(row.callsPerSample);
    }
    int64_t byTime = static_cast<int64_t>(kBudgetSeconds / std::max(roundSeconds, 1e-6));
    rounds = options.number("rounds", std::max(kLeastRounds, std::min(kMostRounds, byTime)));
    return Done{};
  }

  Result<Done> measure() {
    double load = 0;
    if (getloadavg(&load, 1) != 1)
      load = 0;
    char line[160];
    snprintf(line, sizeof line, "%ld CPUs, load %.1f: %swarm, interleaved, %lld rounds%s",
             sysconf(_SC_NPROCESSORS_ONLN), load, ranksText().c_str(),
             static_cast<long long>(rounds), group ? "; work and memory are rank 0's" : "");
    console.say(line);
    for (int64_t round = 0; round < rounds; ++round)
      for (Row &row : rows) {
        Result<double> seconds = timeRow(row, row.callsPerSample);
        if (!seconds)
          return seconds.failure();
        row.samples.push_back(*seconds / static_cast<double>(row.callsPerSample));
      }
    for (Row &row : rows)
      std::sort(row.samples.begin(), row.samples.end());
    return Done{};
  }

  /// What rows that are apart spend in exchanges that others hide.
  Result<Done> timeExchanges() {
    for (Row &row : rows) {
      std::vector<double> calls;
      for (int64_t call = 0; call < kLeastRounds && row.isApart; ++call) {
        auto since = static_cast<uint64_t>(1e9 * now());
        Result<double> seconds = timeRow(row, 1);
        if (!seconds)
          return seconds.failure();
        calls.push_back(secondsOfWhole(group, since));
      }
      std::sort(calls.begin(), calls.end());
      row.exchangeSeconds = row.isApart ? quantile(calls, 0.5) : 0;
    }
    return Done{};
  }

  /// The part of the exchanges' time that a fused row hides, where its other form was measured and the exchanges take any.
  std::optional<double> hiddenBy(const Row &fused) const {
    for (const Row &apart : rows)
      if (!fused.isApart && apart.isApart && apart.threads == fused.threads &&
          apart.dims == fused.dims && apart.exchangeSeconds > 0) {
        double product = apart.median() - apart.exchangeSeconds;
        return 1 - (fused.median() - product) / apart.exchangeSeconds;
      }
    return std::nullopt;
  }

  std::string ranksText() const {
    std::string link = options.has("link") ? " with links of " + options.value("link") : "";
    return group ? std::to_string(ranksOf(function)) + " ranks over " + transport + link + ", "
                 : "";
  }

  std::vector<std::string> shownSymbols() const {
    std::vector<std::string> names;
    for (const SymbolSpec &symbol : function.signature.symbols)
      if (rows[0].inputs.symbols.count(symbol.name))
        names.push_back(symbol.name);
    return names;
  }

  void report() {
    if (format == "json")
      return reportJson();
    bool exact = format == "csv";
    Table table;
    std::vector<std::string> symbols = shownSymbols();
    table.header = symbols;
    if (comparesForms)
      table.header.push_back("fuse-comm");
    for (const char *name : {"threads", "median", "min", "p95", "spread", "GFLOP/s", "memory"})
      table.header.push_back(
          exact && name != std::string("threads") ? std::string(name) + unitOf(name) : name);
    if (comparesForms)
      table.header.push_back("E");
    for (const Row &row : rows)
      table.rows.push_back(cells(row, symbols, exact));
    console.result(format == "md" ? table.markdown() : exact ? table.csv() : table.text());
    for (const Row &row : rows)
      if (row.spread() > 0.1) {
        console.warn("some rows spread by more than 10 %: another load on the machine?");
        break;
      }
  }

  static std::string unitOf(const std::string &column) {
    return column == "memory"                          ? "_bytes"
           : column == "spread" || column == "GFLOP/s" ? ""
                                                       : "_seconds";
  }

  static std::string plain(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    return text;
  }

  /// `exact` for programs: plain numbers in basic units.
  std::vector<std::string> cells(const Row &row, const std::vector<std::string> &symbols,
                                 bool exact) const {
    std::vector<std::string> out;
    for (const std::string &symbol : symbols)
      out.push_back(std::to_string(row.inputs.symbols.at(symbol)));
    if (comparesForms)
      out.push_back(row.isApart ? "never" : "always");
    out.push_back(std::to_string(row.threads));
    for (double seconds : {row.median(), row.samples.front(), quantile(row.samples, 0.95)})
      out.push_back(exact ? plain(seconds) : printSeconds(seconds));
    char spread[32];
    snprintf(spread, sizeof spread, "%.1f %%", 100 * row.spread());
    out.push_back(exact ? plain(row.spread()) : spread);
    bool work = row.cost && row.cost->flops > 0;
    double rate = work ? static_cast<double>(row.cost->flops) / row.median() / 1e9 : 0;
    out.push_back(work ? exact ? plain(rate) : printRate(rate) : exact ? "" : "-");
    int64_t memory = row.cost ? memoryOf(row) : 0;
    out.push_back(!row.cost ? ""
                  : exact   ? std::to_string(memory)
                            : printBytes(static_cast<double>(memory)));
    if (std::optional<double> hidden = hiddenBy(row); comparesForms)
      out.push_back(!hidden ? exact ? "" : "-" : exact ? plain(*hidden) : printRate(*hidden));
    return out;
  }

  static std::string printRate(double rate) {
    char text[32];
    snprintf(text, sizeof text, rate < 10 ? "%.2f" : rate < 100 ? "%.1f" : "%.0f", rate);
    return text;
  }

  static int64_t memoryOf(const Row &row) {
    return row.cost->arena + row.threads * row.cost->scratch_per_worker;
  }

  void reportJson() {
    JsonWriter json("weft.bench/1");
    json.field("artifact", options.positional()[0]).field("function", function.signature.function);
    json.field("ranks", ranksOf(function));
    if (options.has("link"))
      json.field("link", options.value("link"));
    json.field("rounds", rounds).field("cpus", static_cast<int64_t>(sysconf(_SC_NPROCESSORS_ONLN)));
    json.array("rows");
    for (const Row &row : rows) {
      json.object().object("symbols");
      for (const auto &[name, value] : row.inputs.symbols)
        json.field(name, value);
      json.end().field("threads", row.threads).field("median_seconds", row.median());
      json.field("min_seconds", row.samples.front());
      json.field("p95_seconds", quantile(row.samples, 0.95)).field("spread", row.spread());
      json.field("calls_per_sample", row.callsPerSample);
      if (comparesForms)
        json.field("fuse_comm", row.isApart ? "never" : "always");
      if (row.exchangeSeconds > 0)
        json.field("exchange_seconds", row.exchangeSeconds);
      if (std::optional<double> hidden = hiddenBy(row))
        json.field("efficiency", *hidden);
      if (row.cost)
        json.field("flops", row.cost->flops)
            .field("bytes_moved", row.cost->bytes_moved)
            .field("memory_bytes", memoryOf(row));
      json.list("samples_seconds", row.samples).end();
    }
    console.result(json.finish());
  }

  const ParsedOptions &options;
  Console &console;
  InterruptGuard guard{nullptr};
  Artifact artifact;
  FunctionView function;
  std::string format;
  std::vector<Row> rows;
  bool comparesForms = false;
  std::vector<bool> forms = {false}; ///< whether exchanges are apart, for each row of a combination
  weft_group_t *group = nullptr;     ///< where ranks run the function together
  std::string transport;             ///< of the group
  bool isElsewhere = false;          ///< another process is rank 0, and reports
  int64_t rounds = kLeastRounds;
  double roundSeconds = 0;
};

} // namespace

int benchCommand(const ParsedOptions &options, Console &console) {
  return Bench(options, console).run();
}

} // namespace weft::cli
