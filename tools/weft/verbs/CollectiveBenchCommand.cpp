//===- CollectiveBenchCommand.cpp - weft bench --collectives ----------------------------------===//
//
// Collectives between ranks on this machine: one row for each kind and size, checked first, then
// measured in turns. The result is in every rank's own memory; rank 0 looks at the clock.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Commands.h"
#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/LocalRanks.h"
#include "tools/weft/cli/Measurement.h"
#include "tools/weft/cli/RankedCall.h"
#include "tools/weft/cli/Table.h"
#include "tools/weft/cli/Values.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace weft::cli {

namespace {

constexpr int64_t kRounds = 21, kMostRanks = 64;
constexpr int64_t kLeastBytes = 1 << 10, kMostBytes = 8 << 20;
constexpr int64_t kMostCalls = 1000;
constexpr double kSampleSeconds = 1e-3;
constexpr weft_collective_kind_t kKinds[] = {WEFT_ALL_REDUCE, WEFT_ALL_GATHER, WEFT_REDUCE_SCATTER};
constexpr const char *kNames[] = {"all_reduce", "all_gather", "reduce_scatter"};

struct Row {
  size_t kind;   ///< in kKinds
  int64_t bytes; ///< of the whole tensor
  int64_t callsPerSample = 1;
  std::vector<double> samples;

  double median() const { return quantile(samples, 0.5); }
  /// Bytes that pass the slowest link per second, when every rank has one.
  double busBytes(int64_t ranks) const {
    double others = double(ranks - 1) / double(ranks);
    return double(bytes) * (kKinds[kind] == WEFT_ALL_REDUCE ? 2 * others : others) / median();
  }
};

/// What one rank has, in memory that the others read: whole numbers, so that sums are exact.
class RankMemory {
public:
  explicit RankMemory(weft_group_t *group)
      : group(group), rank(weft_group_rank(group)), world(weft_group_world(group)) {}

  weft_status_t prepare(weft_error_t *error) {
    void **peers = nullptr;
    weft_status_t status = weft_group_share(group, 2 * kMostBytes, &peers, error);
    if (status == WEFT_UNSUPPORTED) // a transport without such memory
      alone.resize(2 * kMostBytes / sizeof(float));
    else if (status)
      return status;
    send = status ? alone.data() : static_cast<float *>(peers[rank]);
    receive = send + kMostBytes / sizeof(float);
    for (size_t i = 0; i < kMostBytes / sizeof(float); ++i)
      send[i] = own(rank, i);
    return WEFT_OK;
  }

  weft_status_t call(const Row &row, weft_error_t *error) {
    weft_collective_t collective = {};
    collective.struct_size = sizeof collective;
    collective.kind = static_cast<uint16_t>(kKinds[row.kind]);
    collective.element = WEFT_F32;
    collective.combiner = WEFT_SUM;
    collective.node = "bench";
    collective.send = send;
    collective.receive = receive;
    collective.outer = collective.inner = 1;
    collective.first = row.bytes / int64_t(sizeof(float));
    return weft_group_collective(group, &collective, error);
  }

  /// Whether the result of the last call, which was for this row, is right.
  bool isRight(const Row &row) const {
    size_t count = size_t(row.bytes) / sizeof(float);
    size_t each = (count + size_t(world) - 1) / size_t(world);
    for (size_t i = 0; i < count; ++i)
      if (kKinds[row.kind] == WEFT_ALL_GATHER) {
        if (receive[i] != own(int32_t(i / each), i % each))
          return false;
      } else if (kKinds[row.kind] == WEFT_ALL_REDUCE || i / each == size_t(rank)) {
        size_t at = kKinds[row.kind] == WEFT_ALL_REDUCE ? i : i % each;
        float sum = float(world * (world + 1) / 2) + float(world) * float(i % 7);
        if (receive[at] != sum)
          return false;
      }
    return true;
  }

  /// Gives all ranks the number that rank 0 has, or the sum of all.
  weft_status_t agree(int64_t *number, weft_error_t *error) {
    return tellRanks(group, "bench", number, sizeof *number, error);
  }
  weft_status_t add(int64_t *number, weft_error_t *error) {
    weft_collective_t collective = {};
    collective.struct_size = sizeof collective;
    collective.kind = WEFT_ALL_REDUCE;
    collective.element = WEFT_I64;
    collective.combiner = WEFT_SUM;
    collective.send = collective.receive = number;
    collective.outer = collective.first = collective.inner = 1;
    return weft_group_collective(group, &collective, error);
  }

private:
  static float own(int32_t rank, size_t index) { return float(rank + 1) + float(index % 7); }

  weft_group_t *group;
  int32_t rank, world;
  float *send = nullptr, *receive = nullptr;
  std::vector<float> alone;
};

class CollectiveBench {
public:
  CollectiveBench(const ParsedOptions &options, Console &console)
      : options(options), console(console) {}

  int run() {
    if (Result<Done> done = readOptions(); !done)
      return console.fail(done.failure());
    console.say(std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs, " + std::to_string(ranks) +
                " ranks over " + transport + (link.empty() ? "" : " with links of " + link) +
                ", f32: checked, warm, interleaved, " + std::to_string(rounds) + " rounds");
    auto body = [this](weft_group_t *group, weft_error_t *error) { return measure(group, error); };
    if (Result<Done> done = runLocalRanks(localRanks(options, ranks), body); !done)
      return console.fail(done.failure());
    if (!wrong.empty())
      return console.fail({ExitComparisonFailed, wrong + ": a result is wrong", "", ""});
    if (isElsewhere)
      return ExitOk;
    for (Row &row : rows)
      std::sort(row.samples.begin(), row.samples.end());
    format == "json" ? reportJson() : report();
    return console.finish();
  }

private:
  Result<Done> readOptions() {
    if (!options.positional().empty())
      return Failure{ExitWrongUsage, "'--collectives' measures no artifact",
                     "leave out '" + options.positional()[0] + "'", ""};
    for (const char *name : {"kernels", "dim", "input", "seed", "function", "threads", "spin-us",
                             "max-memory", "target", "fuse-comm"})
      if (options.has(name))
        return Failure{ExitWrongUsage, "'--" + std::string(name) + "' is not for '--collectives'",
                       "", ""};
    Result<std::string> asked = readFormat(options);
    if (!asked)
      return asked.failure();
    format = *asked;
    if (Result<Done> done = checkRounds(options); !done)
      return done;
    rounds = options.number("rounds", kRounds);
    std::optional<Launch> launch = launchOf(options);
    ranks = launch ? launch->world : options.number("ranks", 2);
    isElsewhere = launch && launch->rank != 0;
    if (launch)
      if (Result<Done> done = checkLaunched(options, *launch); !done)
        return done;
    if (ranks < 2 || ranks > kMostRanks)
      return Failure{ExitWrongUsage, "'--ranks' must be 2 to " + std::to_string(kMostRanks), "",
                     ""};
    if (Result<Done> done = checkLink(options); !done)
      return done;
    if (options.has("link"))
      link = options.value("link");
    transport = localRanks(options, ranks).transport;
    if (transport == "mpi" && !launch)
      return Failure{ExitWrongUsage, "the transport 'mpi' is for ranks that mpirun started",
                     "mpirun -n " + std::to_string(ranks) + " weft bench --collectives", ""};
    for (size_t kind = 0; kind < std::size(kKinds); ++kind)
      for (int64_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 2)
        rows.push_back({kind, bytes, 1, {}});
    return Done{};
  }

  /// On every rank; rank 0 alone writes what others read later, or this process does.
  weft_status_t measure(weft_group_t *group, weft_error_t *error) {
    bool isFirst = weft_group_rank(group) == 0;
    RankMemory memory(group);
    if (weft_status_t status = memory.prepare(error))
      return status;
    std::vector<int64_t> calls;
    for (size_t i = 0; i < rows.size(); ++i) {
      calls.push_back(1);
      if (weft_status_t status = prepare(memory, isFirst, i, &calls[i], error))
        return status;
    }
    for (int64_t round = 0; round < rounds; ++round)
      for (size_t i = 0; i < rows.size(); ++i) {
        double seconds;
        if (weft_status_t status = timeCalls(memory, rows[i], calls[i], &seconds, error))
          return status;
        if (isFirst)
          rows[i].samples.push_back(seconds / double(calls[i]));
        if (isFirst && interrupted()) {
          weft_group_abort(group);
          return WEFT_CANCELLED;
        }
      }
    return WEFT_OK;
  }

  /// Checks a row and finds how many calls make a sample.
  weft_status_t prepare(RankMemory &memory, bool isFirst, size_t index, int64_t *calls,
                        weft_error_t *error) {
    const Row &row = rows[index];
    if (weft_status_t status = memory.call(row, error))
      return status;
    int64_t isWrong = !memory.isRight(row);
    if (weft_status_t status = memory.add(&isWrong, error))
      return status;
    if (isFirst && isWrong)
      wrong = std::string(kNames[row.kind]) + " of " + printBytes(double(row.bytes));
    double seconds;
    if (weft_status_t status = timeCalls(memory, row, 3, &seconds, error))
      return status;
    *calls = int64_t(std::clamp(kSampleSeconds * 3 / seconds, 1.0, double(kMostCalls)));
    return memory.agree(calls, error);
  }

  /// Seconds of `count` calls together, after one by which the ranks come together.
  static weft_status_t timeCalls(RankMemory &memory, const Row &row, int64_t count,
                                 double *outSeconds, weft_error_t *error) {
    using Clock = std::chrono::steady_clock;
    weft_status_t status = memory.call(row, error);
    Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < count && !status; ++i)
      status = memory.call(row, error);
    *outSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return status;
  }

  static std::string number(const char *form, double value) {
    char text[40];
    snprintf(text, sizeof text, form, value);
    return text;
  }

  void report() {
    bool exact = format == "csv";
    Table table;
    table.header =
        exact ? std::vector<std::string>{"collective", "bytes", "median_seconds", "min_seconds",
                                         "bus_bytes_per_second"}
              : std::vector<std::string>{"collective", "size", "median us", "min us", "bus GB/s"};
    for (const Row &row : rows) {
      double bus = row.busBytes(ranks), scale = exact ? 1 : 1e6;
      const char *form = exact ? "%.6g" : "%.1f";
      table.rows.push_back(
          {kNames[row.kind], exact ? std::to_string(row.bytes) : printBytes(double(row.bytes)),
           number(form, row.median() * scale), number(form, row.samples.front() * scale),
           exact ? number(form, bus) : number("%.2f", bus / 1e9)});
    }
    console.result(format == "md" ? table.markdown() : exact ? table.csv() : table.text());
  }

  void reportJson() {
    JsonWriter json("weft.bench_collectives/1");
    json.field("transport", transport).field("ranks", ranks).field("rounds", rounds);
    if (!link.empty())
      json.field("link", link);
    json.array("rows");
    for (const Row &row : rows) {
      json.object().field("collective", kNames[row.kind]).field("bytes", row.bytes);
      json.field("median_seconds", row.median()).field("min_seconds", row.samples.front());
      json.field("bus_bytes_per_second", row.busBytes(ranks));
      json.list("samples_seconds", row.samples).end();
    }
    console.result(json.end().finish());
  }

  const ParsedOptions &options;
  Console &console;
  std::string format, transport, link, wrong;
  int64_t rounds = kRounds, ranks = 2;
  bool isElsewhere = false; ///< another process is rank 0, and reports
  std::vector<Row> rows;
};

} // namespace

int collectiveBenchCommand(const ParsedOptions &options, Console &console) {
  return CollectiveBench(options, console).run();
}

} // namespace weft::cli
