// Every candidate of every choice computes what the reference evaluator does, at sizes 0, 1 and such that fill no tile and no block; records
// are followed where they fit, and the same records give the same bytes.
#include "compiler/driver/Explain.h"
#include "compiler/import/text/ImportText.h"
#include "targets/common/Registry.h"
#include "test/support/ConvolutionProgram.h"
#include "test/targets/plain/PlainFamily.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace weft;
using namespace weft::test;

namespace {

/// Records in a file that goes with it.
struct RecordFile {
  std::string path;
  explicit RecordFile(const std::vector<TuningRecord> &records) {
    char name[] = P_tmpdir "/weft-records-XXXXXX";
    int descriptor = mkstemp(name);
    REQUIRE(descriptor >= 0);
    close(descriptor);
    path = name;
    std::ofstream(path) << printRecords(records);
  }
  ~RecordFile() { unlink(path.c_str()); }
};

Module moduleOf(const std::string &text) {
  Result<Module> module = importText("test.mlir", text);
  REQUIRE(module);
  return *module;
}

Explanation explained(const Module &module, const CompileOptions &options) {
  Result<Explanation> result = explain(module, options);
  std::string error = result ? "" : result.diagnostics().back().text;
  INFO(error);
  REQUIRE(result);
  return *result;
}

TuningRecord recordOf(const std::string &target, const std::string &kernel, const Picks &picks,
                      int64_t gain = 30) {
  return {hostProcessor(), target, kernel, picks, "-", 1, gain};
}

std::string bytesOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// Inputs, and what the evaluator makes of them.
struct Expected {
  Sizes sizes;
  std::vector<Tensor> inputs;
  std::vector<RefTensor> results;
};

/// Compiles with one pick after the other, and compares each with what is expected.
class Candidates {
public:
  Candidates(const Module &module, const std::vector<Expected> &all, double tolerance,
             const std::string &target)
      : module(module), all(all), tolerance(tolerance) {
    options.target = target;
  }

  /// What was tried: "contraction rows=7".
  std::set<std::string> run() {
    Explanation estimates = explained(module, options);
    for (const ExplainedKernel &kernel : estimates.kernels) {
      for (const std::string &schedule : kernel.chosen.schedules) {
        Picks picks{schedule, {}};
        bool isOther = schedule != kernel.chosen.schedules.front();
        if (isOther)
          check(estimates.target, kernel, picks, "weft_k_" + schedule + "_");
        RecordFile records({recordOf(estimates.target, kernel.chosen.kernel, picks)});
        CompileOptions following = options;
        following.tuningFiles = {records.path};
        Explanation others = explained(module, following);
        for (const Choice &choice : others.kernels[kernel.number - 1].chosen.choices)
          for (int64_t candidate : choice.candidates)
            if (candidate != choice.estimate) {
              picks.values = {{choice.name, candidate}};
              check(estimates.target, kernel, picks,
                    "_" + choice.name + std::to_string(candidate) + "_");
            }
      }
    }
    return tried;
  }

private:
  void check(const std::string &target, const ExplainedKernel &kernel, const Picks &picks,
             const std::string &symbol) {
    std::string what =
        picks.schedule + (picks.values.empty() ? "" : " ") + printPicks(picks.values);
    INFO(target << " " << what);
    RecordFile records({recordOf(target, kernel.chosen.kernel, picks)});
    CompileOptions following = options;
    following.tuningFiles = {records.path};
    test::Program program(module, following);
    INFO(program.error());
    REQUIRE(program.error().empty());
    CHECK(bytesOf(program.path).find(symbol) != std::string::npos);
    for (const Expected &each : all) {
      for (const auto &[name, value] : each.sizes)
        UNSCOPED_INFO(name << "=" << value);
      double difference = program.difference(each.inputs, each.results);
      INFO(program.error());
      CHECK(difference <= tolerance);
    }
    tried.insert(what);
  }

  const Module &module;
  const std::vector<Expected> &all;
  double tolerance;
  CompileOptions options;
  std::set<std::string> tried;
};

std::string tensor(const std::string &dims, const std::string &element = "f32") {
  return "!weft.tensor<[" + dims + "], " + element + ">";
}

/// Rows times a weight, and a bias.
std::string productText(int64_t k, int64_t n) {
  std::string ks = std::to_string(k), ns = std::to_string(n);
  std::string x = tensor("m, " + ks), w = tensor(ks + ", " + ns), y = tensor("m, " + ns),
              bias = tensor(ns);
  return "func.func @main(%x: " + x + ", %bias: " + bias + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant " +
         filterText({k, n}) + " -> " + w +
         "\n  %0 = weft.contract \"m k, k n -> m n\" %x, %w accumulate f32 : (" + x + ", " + w +
         ") -> " + y + "\n  %1 = weft.add %0, %bias : (" + y + ", " + bias + ") -> " + y +
         "\n  return %1 : " + y + "\n}\n";
}

std::string integerText(int64_t k, int64_t n) {
  std::string ks = std::to_string(k), ns = std::to_string(n);
  std::string x = tensor("m, " + ks, "ui8"), w = tensor(ks + ", " + ns, "i8"),
              y = tensor("m, " + ns, "i32");
  return "func.func @main(%x: " + x + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m>} {\n  %w = weft.constant " +
         bytesText({k, n}, "i8") + " -> " + w +
         "\n  %0 = weft.contract \"m k, k n -> m n\" %x, %w accumulate i32 : (" + x + ", " + w +
         ") -> " + y + "\n  return %0 : " + y + "\n}\n";
}

const std::vector<Sizes> kRows = {{{"m", 0}}, {{"m", 1}}, {{"m", 8}}, {{"m", 15}}, {{"m", 43}}};
const std::vector<Sizes> kImages = {sizes(1, 0, 3), sizes(1, 1, 1), sizes(2, 7, 9),
                                    sizes(1, 19, 23)};
const std::vector<std::string> kTargets = {"x86:host", "x86:v3", "x86:v2"};

/// On every target that runs here; what was tried on the first.
std::set<std::string> tryAll(const std::string &text, const std::vector<Sizes> &all,
                             double tolerance = 1e-5,
                             const std::vector<std::string> &targets = kTargets) {
  Module module = moduleOf(text);
  test::Program evaluator(module);
  std::vector<Expected> expected;
  for (const Sizes &sizes : all) {
    std::vector<Tensor> inputs = evaluator.generate(sizes, 1);
    expected.push_back({sizes, inputs, evaluator.evaluate(inputs)});
  }
  std::set<std::string> first;
  for (const std::string &target : targets)
    if (isSupported(target)) {
      std::set<std::string> tried = Candidates(module, expected, tolerance, target).run();
      CHECK(!tried.empty());
      if (first.empty())
        first = tried;
    }
  return first;
}

bool hasChoice(const std::set<std::string> &tried, const std::string &start) {
  auto found = tried.lower_bound(start);
  return found != tried.end() && found->compare(0, start.size(), start) == 0;
}

} // namespace

TEST_CASE("candidates: products with a weight, also by the schedule for any product") {
  std::set<std::string> tried = tryAll(productText(256, 1100), kRows);
  CHECK(hasChoice(tried, "contraction rows="));
  CHECK(hasChoice(tried, "contraction block="));
  CHECK(tried.count("product"));
  CHECK(hasChoice(tried, "product tiles="));
}

TEST_CASE("candidates: rows that lie 4 KiB apart") {
  CHECK(hasChoice(tryAll(productText(1024, 40), kRows), "contraction rows="));
}

TEST_CASE("candidates: products of bytes") {
  std::set<std::string> tried = tryAll(integerText(300, 1500), kRows, 0);
  CHECK(hasChoice(tried, "integer_contraction rows="));
  CHECK(hasChoice(tried, "integer_contraction block="));
}

TEST_CASE("candidates: products by tiles") {
  std::vector<Sizes> all = kRows;
  all.push_back({{"m", 97}});
  std::set<std::string> tried = tryAll(integerText(1100, 40), all, 0, {"plain:v4+amx"});
  CHECK(hasChoice(tried, "integer_tile_contraction chunk="));
  CHECK(hasChoice(tried, "integer_tile_contraction block="));
  CHECK(hasChoice(tried, "integer_contraction"));
}

TEST_CASE("candidates: attention") {
  std::string q = tensor("b, 2, s, 24"), k = tensor("b, 2, t, 24"), line = tensor("b, 2, s, t");
  std::string text =
      "func.func @main(%q: " + q + ", %k: " + k + ", %v: " + k + ") -> " + q +
      " attributes {weft.symbols = #weft.symbols<b, s, t>} {\n"
      "  %0 = weft.contract \"b h s d, b h t d -> b h s t\" %q, %k accumulate f32 : (" +
      q + ", " + k + ") -> " + line + "\n  %1 = weft.softmax %0 : (" + line + ") -> " + line +
      "\n  %2 = weft.contract \"b h s t, b h t d -> b h s d\" %1, %v accumulate f32 : (" + line +
      ", " + k + ") -> " + q + "\n  return %2 : " + q + "\n}\n";
  std::vector<Sizes> all = {{{"b", 1}, {"s", 0}, {"t", 5}},
                            {{"b", 1}, {"s", 1}, {"t", 1}},
                            {{"b", 2}, {"s", 31}, {"t", 45}},
                            {{"b", 1}, {"s", 3}, {"t", 0}},
                            {{"b", 1}, {"s", 15}, {"t", 257}}};
  CHECK(hasChoice(tryAll(text, all), "attention rows="));
}

TEST_CASE("candidates: convolutions with tiles of results, and without") {
  Convolution c{72, 32, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}};
  std::set<std::string> tried = tryAll(textOf(c), kImages, 1e-4);
  CHECK(hasChoice(tried, "winograd block="));
  CHECK(tried.count("convolution"));
  CHECK(hasChoice(tried, "convolution rows="));
  CHECK(hasChoice(tried, "convolution pixels="));
}

TEST_CASE("candidates: convolutions in groups and with strides") {
  Convolution c{6, 24, 2, {{3, 2, 1, 1, 1}, {3, 2, 1, 1, 1}}};
  CHECK(hasChoice(tryAll(textOf(c), kImages), "convolution rows="));
}

TEST_CASE("candidates: convolutions with channels last") {
  // So many filters that the sizes of blocks differ with small tiles, too.
  Convolution c{16, 640, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}};
  c.channelsLast = true;
  std::set<std::string> tried = tryAll(textOf(c), kImages, 1e-4);
  CHECK(hasChoice(tried, "winograd_last block="));
  CHECK(tried.count("window_convolution"));
  for (const char *choice : {"rows=", "block=", "lines="})
    CHECK(hasChoice(tried, std::string("window_convolution ") + choice));
}

TEST_CASE("candidates: convolutions of bytes with channels last") {
  Convolution c{64, 72, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}};
  c.channelsLast = true, c.element = "ui8", c.filterElement = "i8";
  // Where the host has tiles, these take such windows, and nothing else may.
  std::set<std::string> tried = tryAll(textOf(c), kImages, 0, {"x86:v4+vnni", "x86:v3", "x86:v2"});
  CHECK(hasChoice(tried, "winograd_bytes block="));
  CHECK(tried.count("window_convolution"));
}

TEST_CASE("exact targets are offered exact schedules only") {
  Convolution c{24, 40, 1, {{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}};
  CompileOptions options = test::exactly("x86:v3");
  for (const ExplainedKernel &kernel : explained(moduleOf(textOf(c)), options).kernels)
    CHECK(kernel.chosen.schedules == std::vector<std::string>{"convolution"});
}

TEST_CASE("records are followed where they fit, and the same records give the same bytes") {
  Module module = moduleOf(productText(64, 96));
  CompileOptions options;
  options.target = "x86:v3";
  Explanation estimates = explained(module, options);
  REQUIRE(estimates.kernels.size() == 1);
  const std::string key = estimates.kernels[0].chosen.kernel, target = estimates.target;
  CHECK(key == explained(module, options).kernels[0].chosen.kernel);
  const std::string plain = bytesOf(test::Program(module, options).path);
  auto bytesWith = [&](const std::vector<TuningRecord> &records) {
    RecordFile file(records);
    CompileOptions following = options;
    following.tuningFiles = {file.path};
    test::Program program(module, following);
    INFO(program.error());
    REQUIRE(program.error().empty());
    return bytesOf(program.path);
  };
  TuningRecord four = recordOf(target, key, {"contraction", {{"rows", 4}}}, 30),
               three = recordOf(target, key, {"contraction", {{"rows", 3}}}, 40);

  // The larger gain wins, in whatever order and file they are.
  std::string tuned = bytesWith({four, three});
  CHECK(tuned.find("weft_k_contraction_rows3_") != std::string::npos);
  CHECK(tuned == bytesWith({three, four}));
  CHECK(tuned == bytesWith({three}));
  CHECK(tuned != plain);

  // What does not fit is as if it were not there; the next best record is looked at.
  CHECK(bytesWith({}) == plain);
  for (const Picks &picks :
       {Picks{"contraction", {{"rows", 5}}}, Picks{"contraction", {{"none", 3}}},
        Picks{"winograd", {}}, Picks{"loop", {}}, Picks{"contraction", {{"rows", 6}}}}) {
    TuningRecord record = recordOf(target, key, picks, 50);
    INFO(record.text());
    CHECK(bytesWith({record}) == plain);
  }
  CHECK(bytesWith({recordOf(target, key, {"contraction", {{"rows", 5}}}, 50), four})
            .find("weft_k_contraction_rows4_") != std::string::npos);
  for (TuningRecord record :
       {recordOf("x86:v2", key, four.picks), recordOf(target, "0000000000000000", four.picks)})
    CHECK(bytesWith({record}) == plain);

  // Another processor's records are used when they are asked for.
  TuningRecord foreign = four;
  foreign.processor = "Some CPU (1/2)";
  CHECK(bytesWith({foreign}) == plain);
  RecordFile file({foreign});
  options.tuningFiles = {file.path};
  options.tunedFor = foreign.processor;
  test::Program program(module, options);
  CHECK(bytesOf(program.path).find("weft_k_contraction_rows4_") != std::string::npos);
  Explanation why = explained(module, options);
  REQUIRE(why.kernels[0].chosen.record);
  CHECK(*why.kernels[0].chosen.record == foreign);
  CHECK(why.kernels[0].chosen.kernel == key);
}

TEST_CASE("records of exchanges are followed where they fit") {
  const OverlapOffer offer{"0123456789abcdef", {false, 6}, /*mayBeApart=*/true, {6, 2, 4, 8}};
  auto found = [&](const std::vector<TuningRecord> &records, const OverlapOffer &of) {
    RecordFile file(records);
    llvm::Expected<Tuning> tuning = Tuning::read({file.path}, "");
    REQUIRE(bool(tuning));
    const TuningRecord *record = tuning->find(of, "x86:v3");
    return record ? record->picks.schedule + " " + printPicks(record->picks.values) : "estimate";
  };
  auto of = [&](const Picks &picks, int64_t gain) {
    TuningRecord record = recordOf("x86:v3", offer.key, picks, gain);
    CHECK(llvm::cantFail(parseRecords(record.text(), "text"))[0] == record);
    return record;
  };
  TuningRecord four = of({"together", {{"pieces", 4}}}, 30), whole = of({"together", {}}, 20),
               apart = of({"apart", {}}, 40);
  CHECK(found({four, whole}, offer) == "together pieces=4");
  CHECK(found({whole}, offer) == "together ");
  CHECK(found({four, apart}, offer) == "estimate"); // the best one picks it
  CHECK(*wayOf(whole.picks, offer) == OverlapWay{true, 6});

  // What is not offered is as if it were not there.
  for (const Picks &picks : {Picks{"together", {{"pieces", 5}}}, Picks{"together", {{"rows", 4}}},
                             Picks{"apart", {{"pieces", 4}}}, Picks{"contraction", {}}}) {
    CHECK_FALSE(wayOf(picks, offer));
    CHECK(found({of(picks, 50), four}, offer) == "together pieces=4");
  }
  OverlapOffer other = offer;
  other.key = "fedcba9876543210";
  CHECK(found({four}, other) == "estimate");
  // Always together: only the number is chosen. Around a ring there is none.
  const OverlapOffer always{offer.key, {true, 4}, /*mayBeApart=*/false, {4, 2, 8}},
      ring{offer.key, {false, 0}, /*mayBeApart=*/true, {}};
  CHECK(found({apart, four}, always) == "estimate");
  CHECK(found({apart, of({"together", {{"pieces", 8}}}, 10)}, always) == "together pieces=8");
  CHECK(found({four, whole}, ring) == "together ");
}
