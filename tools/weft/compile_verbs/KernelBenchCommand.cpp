//===- KernelBenchCommand.cpp - weft bench --kernels ------------------------------------------===//
//
// Products of matrices at sizes of transformers, one row each: how fast, and how much of what this machine can do in the same run.
//===------------------------------------------------------------------------------------------===//

#include "tools/weft/cli/Interrupt.h"
#include "tools/weft/cli/Json.h"
#include "tools/weft/cli/Measurement.h"
#include "tools/weft/cli/Table.h"
#include "tools/weft/cli/Values.h"
#include "tools/weft/compile_verbs/CompilerCommands.h"
#include "tools/weft/compile_verbs/KernelBench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::cli {
namespace {

constexpr int64_t kRounds = 15;
constexpr size_t kMostSizes = 64;
constexpr int64_t kMostElements = int64_t(1) << 27; ///< of one operand

/// Projections and feed-forward products of encoders, square matrices, and one row at a time.
constexpr ProductSize kSizes[] = {
    {128, 384, 384},   {128, 384, 1536}, {128, 1536, 384},  {128, 768, 768},    {128, 768, 3072},
    {128, 3072, 768},  {512, 384, 384},  {512, 384, 1536},  {512, 1536, 384},   {512, 768, 768},
    {512, 768, 3072},  {512, 3072, 768}, {1024, 768, 3072}, {1024, 1024, 1024}, {2048, 2048, 2048},
    {128, 4096, 4096}, {1, 384, 384},    {1, 768, 768},     {1, 768, 3072},     {1, 3072, 768},
    {1, 4096, 4096}};

class KernelBenchCommand {
public:
  KernelBenchCommand(const ParsedOptions &options, Console &console)
      : options(options), console(console) {}

  int run() {
    InterruptGuard guard(nullptr);
    for (auto step : {&KernelBenchCommand::readOptions, &KernelBenchCommand::measure})
      if (Result<Done> done = (this->*step)(); !done)
        return console.fail(done.failure());
    format == "json" ? reportJson() : report();
    return console.finish();
  }

private:
  Result<Done> readOptions() {
    if (!options.positional().empty())
      return Failure{ExitWrongUsage, "'--kernels' measures no artifact",
                     "leave out '" + options.positional()[0] + "'", ""};
    for (const char *name : {"dim", "input", "seed", "function", "threads", "spin-us", "max-memory",
                             "link", "fuse-comm"})
      if (options.has(name))
        return Failure{ExitWrongUsage,
                       "'--" + std::string(name) + "' is for artifacts, not for '--kernels'", "",
                       ""};
    Result<std::string> asked = readFormat(options);
    if (!asked)
      return asked.failure();
    format = *asked;
    if (Result<Done> done = checkRounds(options); !done)
      return done;
    rounds = options.number("rounds", kRounds);
    return readSizes(options.value("kernels"));
  }

  /// "all" or MxKxN, separated by commas.
  Result<Done> readSizes(const std::string &text) {
    if (text == "all") {
      sizes.assign(std::begin(kSizes), std::end(kSizes));
      return Done{};
    }
    std::string rest = text + ",";
    for (size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1)) {
      std::string list = rest.substr(0, comma);
      std::replace(list.begin(), list.end(), 'x', ',');
      std::optional<std::vector<int64_t>> numbers = parseIntegers(list);
      if (!numbers || numbers->size() != 3 ||
          *std::min_element(numbers->begin(), numbers->end()) < 1)
        return Failure{ExitWrongUsage, "'--kernels " + text + "' must be all, or sizes as MxKxN",
                       "write --kernels 128x768x3072,1x768x768", ""};
      sizes.push_back({(*numbers)[0], (*numbers)[1], (*numbers)[2]});
      const ProductSize &size = sizes.back();
      for (auto [a, b] :
           {std::pair(size.m, size.k), std::pair(size.k, size.n), std::pair(size.m, size.n)})
        if (a > kMostElements / b)
          return Failure{ExitWrongUsage,
                         "'--kernels " + text + "': a matrix has more than " +
                             std::to_string(kMostElements) + " elements",
                         "", ""};
    }
    if (sizes.size() > kMostSizes)
      return Failure{ExitWrongUsage, "more than " + std::to_string(kMostSizes) + " sizes", "", ""};
    return Done{};
  }

  Result<Done> measure() {
    Result<TemporaryFolder> folder = TemporaryFolder::create();
    if (!folder)
      return folder.failure();
    CompileOptions compile;
    compile.target = options.value("target", compile.target);
    compile.numerics.compute = options.value("compute");
    Result<ProductBench> created = ProductBench::create(sizes, compile, *folder);
    if (!created)
      return created.failure();
    bench.emplace(std::move(*created));
    console.say(bench->target() + ", one thread: checked, warm, interleaved, " +
                std::to_string(rounds) + " rounds");
    for (int64_t round = 0; round < rounds; ++round)
      if (Result<Done> done = bench->sample(); !done)
        return done;
    return Done{};
  }

  static std::string number(const char *form, double value) {
    char text[40];
    snprintf(text, sizeof text, form, value);
    return text;
  }

  /// Of the rows that reading limits, or of the others; 0 when there is none.
  double mean(bool isRead, int *count) const {
    double sum = 0;
    *count = 0;
    for (const ProductBench::Row &row : bench->rows())
      if (row.size.isRead() == isRead) {
        sum += std::log(row.share());
        ++*count;
      }
    return *count ? std::exp(sum / *count) : 0;
  }

  void report() {
    Table table;
    table.header = {"m", "k", "n", "unit", "median", "GFLOP/s", "GB/s", "peak", "of peak", "error"};
    for (const ProductBench::Row &row : bench->rows()) {
      const char *unit = row.size.isRead() ? "%.1f GB/s" : "%.1f GFLOP/s";
      double seconds = row.median();
      table.rows.push_back(
          {std::to_string(row.size.m), std::to_string(row.size.k), std::to_string(row.size.n),
           row.unit, printSeconds(seconds), number("%.1f", row.size.flops() / seconds / 1e9),
           number("%.1f", row.weightBytes() / seconds / 1e9), number(unit, row.peak() / 1e9),
           number("%.1f %%", 100 * row.share()), number("%.1e", row.error)});
    }
    console.result(format == "md"    ? table.markdown()
                   : format == "csv" ? table.csv()
                                     : table.text());
    for (bool isRead : {false, true}) {
      int count = 0;
      double share = mean(isRead, &count);
      if (count)
        console.say("geometric mean of " + std::to_string(count) +
                    (isRead ? " with few rows: " : " with many rows: ") +
                    number("%.1f %%", 100 * share) +
                    (isRead ? " of what reading the weight allows" : " of the multiply-add peak"));
    }
  }

  void reportJson() {
    int many = 0, few = 0;
    double multiply = mean(false, &many), read = mean(true, &few);
    JsonWriter json("weft.bench_kernels/1");
    json.field("target", bench->target()).field("threads", 1).field("rounds", rounds);
    json.field("mean_share_of_multiply_peak", multiply).field("mean_share_of_read_peak", read);
    json.array("rows");
    for (const ProductBench::Row &row : bench->rows()) {
      double seconds = row.median();
      json.object().field("m", row.size.m).field("k", row.size.k).field("n", row.size.n);
      json.field("unit", row.unit);
      json.field("median_seconds", seconds).field("flops_per_second", row.size.flops() / seconds);
      json.field("weight_bytes_per_second", row.weightBytes() / seconds);
      json.field("limit", row.size.isRead() ? "read" : "multiply").field("peak", row.peak());
      json.field("share", row.share()).field("error", row.error).end();
    }
    json.end();
    console.result(json.finish());
  }

  const ParsedOptions &options;
  Console &console;
  std::string format;
  int64_t rounds = kRounds;
  std::vector<ProductSize> sizes;
  std::optional<ProductBench> bench;
};

} // namespace

int kernelBenchCommand(const ParsedOptions &options, Console &console) {
  return KernelBenchCommand(options, console).run();
}

} // namespace weft::cli
