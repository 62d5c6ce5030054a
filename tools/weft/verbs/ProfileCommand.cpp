//===- ProfileCommand.cpp - weft profile --------------------------------------------------------===//
//
// Calls the model several times with a trace and shows, for every kernel, the time of one call: the median over the rounds of each
// place where it is called, added up. Where ranks run the function, kernels are rank 0's, a second table says what every rank exchanges
// and waits for, and a third one how long rank 0's exchanges take, and what of that it computes. --trace writes the last round for Chrome's and Perfetto's viewers.
// What a device counts is said for the last round; times say little of one that does, so one round is enough then.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Commands.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/KeptApart.h"
#include "tools/weft/cli/LocalRanks.h"
#include "tools/weft/cli/Measurement.h"
#include "tools/weft/cli/RankParts.h"
#include "tools/weft/cli/RankedCall.h"
#include "tools/weft/cli/Table.h"
#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/cli/TimedCalls.h"
#include "tools/weft/cli/ToldCall.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/verbs/ExchangeTimes.h"
#include "tools/weft/verbs/ProfileCounters.h"
#include "tools/weft/verbs/ProfileTrace.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace weft::cli {

namespace {

constexpr int64_t kMostRounds = 1001;
constexpr double kBudgetSeconds = 2;
constexpr int64_t kWarmCalls = 2;
constexpr size_t kShownNode = 48;

double median(std::vector<double> samples) {
  auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

constexpr const char *kReals = "f32";

/// What one call spends in one kernel.
struct Row {
  KernelView kernel;
  std::string unit = kReals; ///< of its products
  int64_t calls = 0;
  double seconds = 0, flops = 0, bytes = 0;
  Counters counters; ///< of a device that counts
};

class Profile {
public:
  Profile(const ParsedOptions &options, Console &console, std::optional<MeasuredPeak> peak)
      : options(options), console(console), peak(std::move(peak)) {}
  ~Profile() { forget(context, outputs); }

  int run() {
    for (auto step : {&Profile::open, &Profile::measureAll, &Profile::writeTrace})
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
    collect();
    console.json() ? reportJson() : report();
    return console.finish();
  }

private:
  Result<Done> open() {
    if (Result<Done> done = checkRounds(options); !done)
      return done;
    Result<ToldCall> told = readCall(options, /*verify=*/false);
    if (!told)
      return told.failure();
    artifact = told->artifact;
    function = told->function;
    inputs = std::move(told->inputs);
    callInputs = std::move(told->callInputs);
    outputs.assign(function.outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
    threads = std::clamp<int64_t>(options.number("threads", 1), 0, 4096);
    return Done{};
  }

  static void note(void *user, const weft_trace_event_t *event) {
    static_cast<std::vector<weft_trace_event_t> *>(user)->push_back(*event);
  }

  /// One whose kernels are noted.
  Result<Context> createContext(weft_group_t *of, std::vector<weft_trace_event_t> &noted) const {
    Result<weft_context_options_t> wanted = contextOptions(options, static_cast<int32_t>(threads));
    if (!wanted)
      return wanted.failure();
    wanted->group = of;
    Result<Context> created = artifact.createContext(*wanted);
    weft_error_t error = WEFT_ERROR_INIT;
    if (created && weft_context_trace(created->get(), note, &noted, &error))
      return failureOf(error);
    return created;
  }

  //===-- Ranks ---------------------------------------------------------------------------------===//

  Result<Done> measureAll() {
    if (function.mesh.empty())
      return measure();
    LocalRanks ranks = localRanks(options, ranksOf(function));
    ranks.records = kProfiledCollectives;
    Result<Done> done = runLedRanks(
        ranks, [&](weft_group_t *own) { return lead(own); },
        [&](weft_group_t *own, weft_error_t *error) { return follow(own, error); });
    if (!done)
      return done;
    Result<std::vector<ExchangeRow>> found = exchangeRows(traces, kWarmCalls, rounds);
    if (!found)
      return found.failure();
    exchanges = std::move(*found);
    times = exchangeTimes(traces, kWarmCalls, rounds, options.value("link"));
    return Done{};
  }

  /// On rank 0.
  Result<Done> lead(weft_group_t *own) {
    group = own;
    Result<Done> done = measure();
    weft_error_t error = WEFT_ERROR_INIT;
    if (done && (tell(false, &error) || gatherTraces(own, events, traces, &error)))
      done = failureOf(error);
    forget(context, outputs); // they do not outlive the group
    group = nullptr;
    return done;
  }

  /// What another rank than 0 does.
  weft_status_t follow(weft_group_t *own, weft_error_t *error) const {
    std::vector<weft_trace_event_t> noted;
    std::vector<weft_tensor_t> results(function.outputs.size(), weft_tensor_t(WEFT_TENSOR_EMPTY));
    Result<Context> created = createContext(own, noted);
    if (!created)
      return toError(created.failure(), error);
    Result<CallInputs> parts = callInputsOfRank(function, inputs, weft_group_rank(own));
    if (!parts)
      return toError(parts.failure(), error);
    weft_status_t status = WEFT_OK;
    for (uint8_t goesOn = 1; !status;) {
      status = tellRanks(own, "profile", &goesOn, 1, error);
      if (status || !goesOn)
        break;
      noted.clear();
      status = weft_call_function(created->get(), function.index, parts->views.data(),
                                  static_cast<uint32_t>(parts->views.size()), results.data(),
                                  static_cast<uint32_t>(results.size()), error);
    }
    std::vector<RankTrace> none;
    if (!status)
      status = gatherTraces(own, noted, none, error);
    forget(*created, results);
    return status;
  }

  weft_status_t tell(bool isCall, weft_error_t *error) const {
    uint8_t goesOn = isCall;
    return group ? tellRanks(group, "profile", &goesOn, 1, error) : WEFT_OK;
  }

  static void forget(Context &context, std::vector<weft_tensor_t> &outputs) {
    for (weft_tensor_t &output : outputs)
      weft_tensor_release(context.get(), &output);
    context.reset();
  }

  /// Not more than ranks remember collectives of.
  int64_t mostRounds() const {
    int64_t each = group ? collectivesDone(group) / kWarmCalls : 0;
    return each ? std::clamp(kProfiledCollectives / 2 / each, kLeastRounds, kMostRounds)
                : kMostRounds;
  }

  //===-- Measuring -----------------------------------------------------------------------------===//

  /// Seconds of one call; `events` is what its kernels did.
  Result<double> timeCall() {
    weft_error_t error = WEFT_ERROR_INIT;
    if (tell(true, &error))
      return failureOf(error);
    events.clear();
    Result<double> seconds =
        timeCalls(guard, context.get(), function.index, callInputs.views, outputs);
    if (!seconds)
      return seconds;
    for (const weft_trace_event_t &event : events)
      if (event.kernel >= kernels.size())
        return Failure{
            ExitInputRefused, "the artifact calls a kernel that it does not list", {}, {}};
    return seconds;
  }

  Result<Done> measure() {
    Result<Context> created = createContext(group, events);
    if (!created)
      return created.failure();
    context = *created;
    kernels = Artifact::kernels(context);
    bool counts = !countersOf(context.get(), 0).empty();
    rounds = options.number("rounds", 1);
    for (int64_t warm = 0; warm < kWarmCalls && !counts; ++warm) {
      Result<double> seconds = timeCall();
      if (!seconds)
        return seconds.failure();
      int64_t byTime = static_cast<int64_t>(kBudgetSeconds / std::max(*seconds, 1e-6));
      rounds = options.number("rounds", std::clamp(byTime, kLeastRounds, kMostRounds));
    }
    if (!options.has("rounds"))
      rounds = std::min(rounds, mostRounds());
    for (int64_t round = 0; round < rounds; ++round) {
      std::vector<Counters> before = allCounters();
      Result<double> seconds = timeCall();
      if (!seconds)
        return seconds.failure();
      counters = allCounters();
      for (size_t i = 0; i < counters.size(); ++i)
        counters[i] = since(before[i], std::move(counters[i]));
      whole.push_back(*seconds);
      for (const weft_trace_event_t &event : events)
        *seconds -= secondsOf(event);
      between.push_back(std::max(*seconds, 0.0));
      noted.push_back(events);
    }
    return Done{};
  }

  std::vector<Counters> allCounters() const {
    std::vector<Counters> all;
    for (uint32_t i = 0; i < kernels.size(); ++i)
      all.push_back(countersOf(context.get(), i));
    return all;
  }

  static double secondsOf(const weft_trace_event_t &event) {
    return 1e-9 * static_cast<double>(event.end_ns - event.begin_ns);
  }

  /// The median of every place; of kernels that wait for pieces, which are called as pieces come, that of whole calls.
  void collectSeconds() {
    bool isSteady = std::all_of(noted.begin(), noted.end(),
                                [&](const auto &round) { return round.size() == events.size(); });
    std::map<std::pair<uint32_t, size_t>, std::vector<double>> samples;
    for (size_t round = 0; round < noted.size(); ++round)
      for (size_t i = 0; i < noted[round].size(); ++i) {
        std::vector<double> &of = samples[{noted[round][i].kernel, isSteady ? i : 0}];
        of.resize(noted.size());
        of[round] += secondsOf(noted[round][i]);
      }
    for (const auto &[place, of] : samples)
      rows[place.first].seconds += median(of);
  }

  void collect() {
    for (const KernelView &kernel : kernels)
      rows.push_back({kernel, unitOf(kernel.name)});
    for (size_t i = 0; i < counters.size() && i < rows.size(); ++i)
      rows[i].counters = counters[i];
    collectSeconds();
    for (const weft_trace_event_t &event : events) {
      Row &row = rows[event.kernel];
      ++row.calls;
      row.flops += static_cast<double>(std::max<int64_t>(event.flops, 0));
      row.bytes += static_cast<double>(std::max<int64_t>(event.bytes, 0));
    }
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](const Row &row) { return !row.calls; }),
               rows.end());
    std::sort(rows.begin(), rows.end(),
              [](const Row &a, const Row &b) { return a.seconds > b.seconds; });
  }

  /// The manifest lists the kernels of every unit but the most common.
  std::string unitOf(const std::string &kernel) const {
    if (peak)
      for (const auto &[unit, most] : peak->operations) {
        std::vector<std::string> kernels = artifact.listed(unit);
        if (std::find(kernels.begin(), kernels.end(), kernel) != kernels.end())
          return unit;
      }
    return kReals;
  }

  double mostOf(const Row &row) const { return peak->operations.at(row.unit); }

  static std::string number(const char *format, double value) {
    char text[40];
    snprintf(text, sizeof text, format, value);
    return text;
  }

  static std::string rate(double work, double seconds) {
    return work > 0 && seconds > 0 ? number("%.1f", work / seconds / 1e9) : "-";
  }

  /// Of what all workers together could do at most.
  double shareOf(double most, double work, double seconds) const {
    double workers = static_cast<double>(std::max<int64_t>(threads, 1));
    return seconds > 0 ? work / seconds / (most * workers) : 0;
  }

  std::vector<std::string> rateCells(const Row &row) const {
    std::vector<std::string> cells = {rate(row.flops, row.seconds), rate(row.bytes, row.seconds)};
    if (!peak)
      return cells;
    auto percent = [&](double most, double work) {
      return work > 0 ? number("%.1f %%", 100 * shareOf(most, work, row.seconds)) : "-";
    };
    return {cells[0], percent(mostOf(row), row.flops), cells[1], percent(peak->bytes, row.bytes)};
  }

  static std::string nodesOf(const Row &row) {
    if (row.kernel.nodes.empty())
      return "";
    std::string text = row.kernel.nodes[0];
    if (text.size() > kShownNode)
      text = "…" + text.substr(text.size() - kShownNode);
    size_t more = row.kernel.nodes.size() - 1;
    return more ? text + " +" + std::to_string(more) : text;
  }

  /// Units that no kernel of the model has are left out.
  std::string peakText() const {
    std::string text;
    for (const auto &[unit, most] : peak->operations)
      if (unit == kReals || std::any_of(rows.begin(), rows.end(), [&, name = unit](const Row &row) {
            return row.unit == name;
          }))
        text +=
            number("%.1f G", most / 1e9) + (unit == kReals ? "FLOP/s, " : "OP/s by " + unit + ", ");
    return text + number("%.1f GB/s from memory", peak->bytes / 1e9);
  }

  void report() {
    std::string line;
    for (const auto &[name, value] : inputs.symbols)
      line += name + "=" + std::to_string(value) + " ";
    double rest = median(between), total = rest;
    for (const Row &row : rows)
      total += row.seconds;
    console.say(line + "threads=" + std::to_string(threads) + ": " + printSeconds(median(whole)) +
                " a call, median of " + std::to_string(rounds) + " rounds");
    if (peak)
      console.say("peak of a thread: " + peakText());
    Table table;
    table.header = {"share", "time", "calls", "GFLOP/s", "GB/s", "kernel", "nodes"};
    if (peak)
      table.header = {"share", "time",      "calls",  "GFLOP/s", "of peak",
                      "GB/s",  "of memory", "kernel", "nodes"};
    auto share = [&](double seconds) { return number("%.1f %%", 100 * seconds / total); };
    auto add = [&](double seconds, const std::string &calls, const std::vector<std::string> &rates,
                   const std::string &name, const std::string &nodes) {
      std::vector<std::string> cells = {share(seconds), printSeconds(seconds), calls};
      cells.insert(cells.end(), rates.begin(), rates.end());
      cells.insert(cells.end(), {name, nodes});
      table.rows.push_back(std::move(cells));
    };
    for (const Row &row : rows)
      add(row.seconds, std::to_string(row.calls), rateCells(row), row.kernel.name, nodesOf(row));
    add(rest, "", std::vector<std::string>(peak ? 4 : 2), "(between kernels)", "");
    console.result(table.text());
    for (const Row &row : rows)
      if (!row.counters.empty())
        console.result("\n" + row.kernel.name + "  " + nodesOf(row) + "\n" +
                       counterLines(row.counters));
    if (!exchanges.empty())
      console.result("\n" + exchangeTable(exchanges).text() + "\n" +
                     exchangeTimesTable(times).text());
  }

  void reportJson() {
    JsonWriter json("weft.profile/1");
    json.field("artifact", options.positional()[0]).field("function", function.signature.function);
    json.field("rounds", rounds).field("threads", threads).object("symbols");
    for (const auto &[name, value] : inputs.symbols)
      json.field(name, value);
    json.end().field("median_seconds", median(whole));
    if (peak)
      json.field("peak_flops", peak->operations.at(kReals)).field("peak_bytes", peak->bytes);
    json.array("kernels");
    for (const Row &row : rows) {
      json.object()
          .field("name", row.kernel.name)
          .field("calls", row.calls)
          .field("seconds", row.seconds)
          .field("flops", row.flops)
          .field("bytes_moved", row.bytes);
      if (peak)
        json.field("unit", row.unit)
            .field("unit_peak", mostOf(row))
            .field("share_of_peak", shareOf(mostOf(row), row.flops, row.seconds))
            .field("share_of_memory", shareOf(peak->bytes, row.bytes, row.seconds));
      if (!row.counters.empty())
        addCounters(json, row.counters);
      json.list("nodes", row.kernel.nodes).end();
    }
    json.end();
    if (!exchanges.empty())
      addExchanges(json, exchanges);
    if (!times.empty())
      addExchangeTimes(json, times);
    console.result(json.finish());
  }

  Result<Done> writeTrace() {
    if (!options.has("trace"))
      return Done{};
    std::string text = traces.empty() ? traceText(kernels, events)
                                      : traceText(kernels, traces, kWarmCalls + rounds);
    if (Result<Done> done =
            checkKeptApart(readByCall(options, {"input"}), {{"--trace", options.value("trace")}});
        !done)
      return done;
    OutputFiles files;
    if (Result<Done> done = files.addText(options.value("trace"), text); !done)
      return done;
    return files.commit();
  }

  const ParsedOptions &options;
  Console &console;
  const std::optional<MeasuredPeak> peak;
  InterruptGuard guard{nullptr};
  Artifact artifact;
  FunctionView function;
  Inputs inputs;
  CallInputs callInputs;
  std::vector<weft_tensor_t> outputs;
  Context context;
  weft_group_t *group = nullptr; ///< where ranks run the function together
  std::vector<RankTrace> traces;
  std::vector<ExchangeRow> exchanges;
  std::vector<ExchangeTime> times;
  int64_t threads = 1, rounds = kLeastRounds;
  std::vector<weft_trace_event_t> events;             ///< of the latest call
  std::vector<std::vector<weft_trace_event_t>> noted; ///< of every round
  std::vector<double> whole, between; ///< seconds of the calls, and of them outside kernels
  std::vector<KernelView> kernels;    ///< of the variant that runs
  std::vector<Counters> counters;     ///< of the latest round, by kernel
  std::vector<Row> rows;              ///< slowest first
};

} // namespace

int profileCommand(const ParsedOptions &options, Console &console,
                   std::optional<MeasuredPeak> peak) {
  return Profile(options, console, std::move(peak)).run();
}

} // namespace weft::cli
