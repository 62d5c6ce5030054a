//===- overlap_test.cpp - Ranks compute while an exchange goes on ---------------------------------------===//
//
// Products that send or receive their own rows give the bits of those that wait: on two to eight ranks, at sizes that divide and that do not, and
// whatever comes late.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/text/ImportText.h"
#include "runtime/src/group/layout.h"
#include "runtime/src/group/shared_memory.h"
#include "test/support/Constant.h"
#include "test/support/RankProgram.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <thread>

using namespace weft;
using namespace weft::test;

namespace {

std::string tensor(const std::string &dims) { return "!weft.tensor<[" + dims + "], f32>"; }

/// A program of tokens of `width` elements, whose products have names.
class Tokens {
public:
  /// `element`: of weights, f32, integers in blocks of 32, "computed", f32 that the program computes, or "bytes", by which rows of bytes are multiplied.
  explicit Tokens(int width, std::string element = "f32")
      : width(width), element(std::move(element)) {}

  std::string all(int elements) const { return tensor("b, s, " + std::to_string(elements)); }

  void line(const std::string &name, const std::string &what, const std::vector<std::string> &types,
            const std::string &result, const std::string &location = "") {
    std::string given;
    for (const std::string &type : types)
      given += (given.empty() ? "" : ", ") + type;
    text += "  %" + name + " = weft." + what + " : (" + given + ") -> " + result + location + "\n";
  }

  /// %name is %from times a weight, and the node's name, too.
  void multiply(const std::string &name, const std::string &from, int in, int out) {
    if (element == "bytes")
      return multiplyBytes(name, from, in, out);
    bool isStored = element == "f32", isComputed = element == "computed";
    Constant weight{"f32", {in, out}}, stored{isComputed ? "f32" : element, {in, out}},
        scale{"f32", {in / 32, out}};
    text += "  %" + name + (isStored ? "_weight = " : "_stored = ") +
            stored.text(unsigned(out + name.size())) + "\n";
    if (isComputed)
      line(name + "_weight", "neg %" + name + "_stored", {weight.type()}, weight.type());
    else if (!isStored)
      text += "  %" + name + "_scale = " + scale.text(2) + "\n  %" + name +
              "_weight = weft.dequantize_blocks %" + name + "_stored, %" + name +
              "_scale axis 0 block 32 : (" + stored.type() + ", " + scale.type() + ") -> " +
              weight.type() + "\n";
    auto rows = [](int elements) { return tensor("b*s, " + std::to_string(elements)); };
    line(name + "_in", "reshape %" + from + " to [b*s, " + std::to_string(in) + "]", {all(in)},
         rows(in));
    line(name + "_out",
         "contract \"m k, k n -> m n\" %" + name + "_in, %" + name + "_weight accumulate f32",
         {rows(in), weight.type()}, rows(out));
    line(name, "reshape %" + name + "_out to [b, s, " + std::to_string(out) + "]", {rows(out)},
         all(out), " loc(\"" + name + "\")");
  }

  /// The same; %from is rounded to bytes of at most 64.
  void multiplyBytes(const std::string &name, const std::string &from, int in, int out) {
    Constant weight{"i8", {in, out}};
    auto rows = [](int elements, const char *type) {
      return "!weft.tensor<[b*s, " + std::to_string(elements) + "], " + type + ">";
    };
    std::string scale = tensor(""), zero = "!weft.tensor<[], ui8>",
                all = "!weft.tensor<[b, s, " + std::to_string(in) + "], ui8>";
    text += "  %" + name + "_scale = weft.fill 0.25 : f32 -> " + scale + "\n";
    text += "  %" + name + "_zero = weft.fill 0 : ui8 -> " + zero + "\n";
    text += "  %" + name + "_weight = " + weight.text(unsigned(out + name.size())) + "\n";
    line(name + "_bytes", "quantize %" + from + ", %" + name + "_scale, %" + name + "_zero",
         {this->all(in), scale, zero}, all);
    line(name + "_in", "reshape %" + name + "_bytes to [b*s, " + std::to_string(in) + "]", {all},
         rows(in, "ui8"));
    line(name + "_sums",
         "contract \"m k, k n -> m n\" %" + name + "_in, %" + name + "_weight accumulate i32",
         {rows(in, "ui8"), weight.type()}, rows(out, "i32"));
    line(name + "_real", "convert %" + name + "_sums to f32", {rows(out, "i32")}, rows(out, "f32"));
    line(name + "_out", "mul %" + name + "_real, %" + name + "_scale", {rows(out, "f32"), scale},
         rows(out, "f32"));
    line(name, "reshape %" + name + "_out to [b, s, " + std::to_string(out) + "]",
         {rows(out, "f32")}, this->all(out), " loc(\"" + name + "\")");
  }

  /// %name is %from times a weight, and tokens stay apart.
  void project(const std::string &name, const std::string &from, unsigned seed) {
    Constant weight{"f32", {width, width}};
    text += "  %" + name + "_weight = " + weight.text(seed) + "\n";
    line(name,
         "contract \"b s k, k n -> b s n\" %" + from + ", %" + name + "_weight accumulate f32",
         {all(width), weight.type()}, all(width), " loc(\"" + name + "\")");
  }

  void add(const std::string &name, const std::string &a, const std::string &c, int elements) {
    line(name, "add %" + a + ", %" + c, {all(elements), all(elements)}, all(elements));
  }
  void magnitude(const std::string &name, const std::string &from, int elements) {
    line(name, "abs %" + from, {all(elements)}, all(elements));
  }

  std::string program(const std::string &result) const {
    return "func.func @main(%x: " + all(width) + " {weft.name = \"x\"}) -> (" + all(width) +
           " {weft.name = \"y\"}) attributes {weft.symbols = #weft.symbols<b, s>} {\n" + text +
           "  return %" + result + " : " + all(width) + "\n}";
  }

private:
  const int width;
  const std::string element;
  std::string text;
};

struct Program {
  std::string text;
  int width;
};

/// Column and row pair with what stands between and behind, of which the first product is `inner` wide.
Program pair(int width, int inner, const std::string &element = "f32") {
  Tokens t(width, element);
  t.magnitude("in", "x", width);
  t.multiply("up", "in", width, inner);
  t.magnitude("act", "up", inner);
  t.multiply("down", "act", inner, width);
  t.add("y", "down", "x", width);
  return {t.program("y"), width};
}

/// Three products of the same tokens.
Program shared(int width) {
  Tokens t(width);
  t.magnitude("in", "x", width);
  for (const char *name : {"up_q", "up_k", "up_v"})
    t.multiply(name, "in", width, width);
  t.add("qk", "up_q", "up_k", width);
  t.add("sum", "qk", "up_v", width);
  t.multiply("down", "sum", width, width);
  return {t.program("down"), width};
}

/// A pair whose result is taken where a token is not the largest of its line; another kernel finds out where.
Program masked(int width) {
  Tokens t(width);
  std::string all = t.all(width), mask = "!weft.tensor<[b, s, " + std::to_string(width) + "], i1>";
  t.magnitude("in", "x", width);
  t.line("most", "reduce max %x [2]", {all}, tensor("b, s"));
  t.line("column", "reshape %most to [b, s, 1]", {tensor("b, s")}, tensor("b, s, 1"));
  t.line("isLess", "compare lt %x, %column", {all, tensor("b, s, 1")}, mask);
  t.multiply("up", "in", width, 4 * width);
  t.multiply("down", "up", 4 * width, width);
  t.line("y", "select %isLess, %down, %x", {mask, all, all}, all);
  return {t.program("y"), width};
}

/// Attention of several heads over tokens that ranks have parts of.
Program ringOfHeads(int width, int heads) {
  Tokens t(width);
  std::string of = std::to_string(heads), size = std::to_string(width / heads),
              apart = tensor("b, s, " + of + ", " + size),
              heading = tensor("b, " + of + ", s, " + size), scores = tensor("b, " + of + ", s, s");
  for (const char *name : {"q", "k", "v"}) {
    std::string is = name;
    t.project("p" + is, "x", unsigned(is[0]));
    t.line("r" + is, "reshape %p" + is + " to [b, s, " + of + ", " + size + "]", {t.all(width)},
           apart);
    t.line(is, "transpose %r" + is + " [0, 2, 1, 3]", {apart}, heading);
  }
  t.line("scores", "contract \"b h i d, b h j d -> b h i j\" %q, %k accumulate f32",
         {heading, heading}, scores);
  t.line("p", "softmax %scores", {scores}, scores);
  t.line("o", "contract \"b h i j, b h j d -> b i h d\" %p, %v accumulate f32", {scores, heading},
         apart);
  t.line("y", "reshape %o to [b, s, " + std::to_string(width) + "]", {apart}, t.all(width));
  return {t.program("y"), width};
}

/// Attention over tokens that ranks have parts of.
Program ring(int width) {
  Tokens t(width);
  std::string all = t.all(width), scores = tensor("b, s, s");
  t.project("q", "x", 3);
  t.project("k", "x", 5);
  t.project("v", "x", 8);
  t.line("scores", "contract \"b i d, b j d -> b i j\" %q, %k accumulate f32", {all, all}, scores);
  t.line("p", "softmax %scores", {scores}, scores);
  t.line("y", "contract \"b i j, b j d -> b i d\" %p, %v accumulate f32", {scores, all}, all);
  return {t.program("y"), width};
}

CompileOptions ringOptions(int ranks, FuseComm fuse) {
  CompileOptions options;
  options.mesh = {"tp=" + std::to_string(ranks)};
  options.placements = {"x=[_, tp, _]", "y=[_, tp, _]"};
  options.fuseComm = fuse;
  return options;
}

CompileOptions optionsFor(int ranks, bool splitsTokens, FuseComm fuse) {
  CompileOptions options;
  options.mesh = {"tp=" + std::to_string(ranks)};
  options.placements = {"up*=[_, _, tp]"};
  if (splitsTokens)
    options.placements.insert(options.placements.end(), {"x=[_, tp, _]", "y=[_, tp, _]"});
  options.fuseComm = fuse;
  return options;
}

size_t countOf(const std::string &text, const std::string &what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

std::string planOf(const std::string &text, const CompileOptions &options) {
  Result<Module> model = importText("test.mlir", text);
  REQUIRE(model);
  Result<std::string> plan = Compiler().programAfter("plan", *model, options);
  REQUIRE(plan);
  return *plan;
}

const std::vector<std::pair<int64_t, int64_t>> sizes = {{1, 0},  {1, 1},  {1, 37}, {2, 96},
                                                        {3, 50}, {9, 17}, {1, 200}};

/// The bits of both ways, at all sizes.
void compareBits(const Program &program, int ranks, const CompileOptions &always,
                 const CompileOptions &never) {
  const auto &[text, width] = program;
  RankProgram fused(text, always), waiting(text, never);
  INFO(ranks << " ranks " << fused.failure << waiting.failure);
  REQUIRE((fused.failure + waiting.failure).empty());
  for (auto [b, s] : sizes) {
    INFO("b = " << b << ", s = " << s);
    Values input = numbers(size_t(b * s * width));
    std::vector<Values> got = fused.run(ranks, {b, s, width}, input),
                        want = waiting.run(ranks, {b, s, width}, input);
    INFO(fused.failure << waiting.failure);
    REQUIRE((fused.failure + waiting.failure).empty());
    for (int rank = 0; rank < ranks; ++rank)
      CHECK(memcmp(got[rank].data(), want[rank].data(), want[rank].size() * 4) == 0);
  }
}

/// On ranks that do not wait and on ranks that do. `overlaps`: as many steps, on every machine.
void compare(const Program &program, bool splitsTokens, std::optional<size_t> overlaps,
             const std::function<void(CompileOptions &)> &change = {}) {
  const auto &[text, width] = program;
  for (int ranks : {1, 2, 3, 4, 8}) {
    CompileOptions always = optionsFor(ranks, splitsTokens, FuseComm::Always),
                   never = optionsFor(ranks, splitsTokens, FuseComm::Never);
    for (CompileOptions *options : {&always, &never})
      if (change)
        change(*options);
    if (ranks == 1) { // there is nothing to exchange
      CHECK(planOf(text, always) == planOf(text, never));
      continue;
    }
    if (ranks == 2 && overlaps) {
      CHECK(countOf(planOf(text, always), "plan.overlap") == *overlaps);
      CHECK(countOf(planOf(text, never), "plan.overlap") == 0);
    }
    compareBits(program, ranks, always, never);
  }
}

} // namespace

TEST_CASE("tokens are gathered for a product, and sums of another are scattered, by rows",
          "[bits]") {
  compare(pair(64, 256), true, 2);
}

TEST_CASE("a sum that all ranks get is sent by rows", "[bits]") {
  compare(pair(64, 256), false, 1);
}

TEST_CASE("weights of several blocks, which few rows divide by blocks", "[bits]") {
  compare(pair(256, 2048), true, 2);
}

TEST_CASE("products share what is gathered", "[bits]") { compare(shared(128), true, 2); }

TEST_CASE("masks of rows, which have a byte for every element", "[bits]") {
  compare(masked(64), true, 2);
}

TEST_CASE("weights of 16 bits", "[bits]") {
  compare(pair(64, 256), true, 2, [](CompileOptions &o) { o.numerics.weights = "bf16"; });
}

TEST_CASE("weights of 4 bits in blocks, by rows that are rounded to bytes", "[bits]") {
  Program program = pair(64, 512, "i4");
  CompileOptions options = optionsFor(2, true, FuseComm::Always);
  options.numerics.roundActivations = true;
  options.target = "x86:v4+vnni"; // planned, not run
  std::string plan = planOf(program.text, options);
  CHECK(countOf(plan, "plan.overlap") == 2);
  CHECK(countOf(plan, "block_dots") > 0);
  compare(program, true, std::nullopt,
          [](CompileOptions &o) { o.numerics.roundActivations = true; });
}

TEST_CASE("weights of 4 bits that are several blocks", "[bits]") {
  compare(pair(512, 4096, "i4"), true, std::nullopt,
          [](CompileOptions &o) { o.numerics.roundActivations = true; });
}

TEST_CASE("rows and weights of bytes", "[bits]") {
  Program program = pair(64, 256, "bytes");
  compare(program, true, 2);
  compare(program, false, 1);
}

TEST_CASE("products of two values, by any rows", "[bits]") {
  compare(pair(64, 256, "computed"), true, 2);
  compare(pair(130, 96, "computed"), false, 1);
}

TEST_CASE("products of tiles, by any rows", "[bits]") {
  auto toHalves = [](CompileOptions &o) { o.numerics.compute = "bf16"; };
  for (auto [width, inner] : {std::pair(64, 256), {256, 2048}}) {
    Program program = pair(width, inner);
    CompileOptions options = optionsFor(2, true, FuseComm::Always);
    toHalves(options);
    options.target = "x86:v4+amx"; // planned, not run
    std::string plan = planOf(program.text, options);
    CHECK(countOf(plan, "plan.overlap") == 2);
    CHECK(countOf(plan, "tile_contraction") > 0);
    compare(program, true, std::nullopt, toHalves);
  }
}

namespace {

/// Nanoseconds that gathering, over a link that takes no time, and the product behind it are said to take.
double priceOfProduct(const Program &program, const std::string &target,
                      const std::function<void(CompileOptions &)> &change = {}) {
  CompileOptions options = optionsFor(2, true, FuseComm::Auto);
  options.target = target; // planned, not run
  options.links = {"1000GB/s,1ns"};
  options.planSizes = {{"b", 1}, {"s", 4096}};
  if (change)
    change(options);
  std::string plan = planOf(program.text, options), mark = "plan.prices = [";
  size_t at = plan.find(mark);
  REQUIRE(at != std::string::npos);
  return std::stod(plan.substr(at + mark.size()));
}

} // namespace

TEST_CASE("a product is priced by what multiplies", "[priced]") {
  Program program = pair(512, 4096);
  auto toHalves = [](CompileOptions &o) { o.numerics.compute = "bf16"; };
  double reals = priceOfProduct(program, "x86:v4"),
         halves = priceOfProduct(program, "x86:v4+bf16", toHalves),
         bytes = priceOfProduct(pair(512, 4096, "bytes"), "x86:v4+vnni");
  CHECK(priceOfProduct(program, "x86:v2") > 3 * reals);
  CHECK(priceOfProduct(program, "x86:v4+amx") < 0.7 * reals);
  // Rows and results are moved at one rate, whatever multiplies them.
  CHECK((halves > 0.5 * reals && halves < 0.6 * reals));
  CHECK((bytes > 0.25 * reals && bytes < 0.4 * reals));
  CHECK(priceOfProduct(program, "x86:v4+amx", toHalves) < 0.25 * reals);
}

TEST_CASE("blocks of keys and values travel while a ring attends to others", "[bits]") {
  Program program = ring(32);
  for (int ranks : {2, 3, 4, 8}) {
    CompileOptions always = ringOptions(ranks, FuseComm::Always),
                   never = ringOptions(ranks, FuseComm::Never);
    CHECK(countOf(planOf(program.text, always), "plan.await") == size_t(2 * (ranks - 1)));
    CHECK(countOf(planOf(program.text, never), "plan.await") == 0);
    compareBits(program, ranks, always, never);
  }
}

TEST_CASE("heads go around one share after the other", "[bits]") {
  Program program = ringOfHeads(32, 4);
  for (int ranks : {2, 3, 4, 8}) {
    CompileOptions always = ringOptions(ranks, FuseComm::Always),
                   never = ringOptions(ranks, FuseComm::Never);
    CHECK(countOf(planOf(program.text, always), "plan.await") == size_t(8 * (ranks - 1)));
    compareBits(program, ranks, always, never);
  }
}

TEST_CASE("heads go around in shares where a link is slow and keys are many", "[priced]") {
  Program program = ringOfHeads(32, 4);
  CompileOptions options = ringOptions(2, FuseComm::Auto);
  struct {
    const char *link;
    int64_t tokens;
    size_t sent;
  } cases[] = {{"20MB/s,5us", 8192, 8}, {"20MB/s,5us", 16, 2}, {"20GB/s,1us", 8192, 2}};
  for (const auto &[link, tokens, sent] : cases) {
    INFO(tokens << " tokens over " << link);
    options.links = {link};
    options.planSizes = {{"s", tokens}};
    Result<Module> model = importText("test.mlir", program.text);
    std::string split = *Compiler().programAfter("partition", *model, options);
    CHECK(countOf(split, "weft.permute") == sent);
    if (sent == 2)
      continue;
    // Only keys are projected before they leave; all of the own block is multiplied before the last values do.
    CHECK(countOf(split.substr(0, split.find("weft.permute")), "weft.contract") == 1);
    CHECK(countOf(split.substr(0, split.rfind("weft.permute")), "weft.contract") == 3 + 8);
  }
}

//===----------------------------------------------------------------------------------------------===//
// What comes late
//===----------------------------------------------------------------------------------------------===//

namespace {

/// Sometimes a little while.
void wait() {
  static std::atomic<unsigned> seed{0};
  thread_local std::mt19937 random(++seed);
  if (random() % 4 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
}

/// Makes what a rank will receive from others no numbers (integers of ones): whoever reads it before it is there gets such ones.
void spoil(weft_link_t *link, const weft_collective_t &c) {
  int32_t rank, world;
  weft_threads_transport.place(link, &rank, &world);
  int64_t bytes = weft_element_bits(c.element) / 8;
  if (c.send == c.receive)
    return;
  char *to = static_cast<char *>(c.receive);
  for (int32_t from = 0; from < world; ++from) {
    if (weft_combines(c) || (from == rank && c.is_placed))
      continue;
    weft_view_t view = weft_received(c, world, from, rank);
    for (int64_t block = 0; block < view.blocks; ++block)
      memset(to + (view.at + block * view.stride) * bytes, 0xff, size_t(view.run * bytes));
  }
  int64_t sums = weft_combines(c) ? weft_view_size(weft_sent(c, world, rank, rank)) : 0;
  memset(to, 0xff, size_t(sums * bytes));
}

/// Threads that begin and go on with collectives late, at random.
weft_transport_v1 lateTransport() {
  weft_transport_v1 table = weft_threads_transport;
  table.start = [](weft_link_t *link, weft_queue_t *queue, const weft_collective_t *collective,
                   uint64_t *ticket, weft_error_t *error) {
    wait();
    spoil(link, *collective);
    return weft_threads_transport.start(link, queue, collective, ticket, error);
  };
  table.progress = [](weft_link_t *link, uint64_t ticket, int64_t wait_us, int32_t *done,
                      weft_error_t *error) {
    wait();
    return weft_threads_transport.progress(link, ticket, wait_us, done, error);
  };
  return table;
}

} // namespace

static void compareLate(const Program &program, int ranks, const CompileOptions &always,
                        const CompileOptions &never, int turns) {
  const weft_transport_v1 late = lateTransport();
  const auto &[text, width] = program;
  RankProgram fused(text, always), waiting(text, never);
  REQUIRE((fused.failure + waiting.failure).empty());
  for (int turn = 0; turn < turns; ++turn) {
    int64_t s = 1 + turn * 31 % 190;
    Values input = numbers(size_t(s * width));
    // Memory of the first call holds what was there before: numbers of another program, or none.
    std::vector<Values> got = fused.run(ranks, {1, s, width}, input, &late),
                        want = waiting.run(ranks, {1, s, width}, input);
    INFO("s = " << s << " " << fused.failure << waiting.failure);
    REQUIRE(got == want);
  }
}

static void compareLate(std::initializer_list<int> numbersOfRanks, int turns) {
  for (int ranks : numbersOfRanks) {
    compareLate(pair(64, 256), ranks, optionsFor(ranks, true, FuseComm::Always),
                optionsFor(ranks, true, FuseComm::Never), turns);
    for (const Program &each : {ring(32), ringOfHeads(32, 4)})
      compareLate(each, ranks, ringOptions(ranks, FuseComm::Always),
                  ringOptions(ranks, FuseComm::Never), turns / 2);
  }
}

/// With weights of 16 bits, of 4 by rows that are rounded to bytes, and of bytes.
static void compareLateOfOthers(std::initializer_list<int> numbersOfRanks, int turns) {
  for (int ranks : numbersOfRanks)
    for (std::string element : {"bf16", "i4", "bytes"}) {
      CompileOptions options[] = {optionsFor(ranks, true, FuseComm::Always),
                                  optionsFor(ranks, true, FuseComm::Never)};
      for (CompileOptions &each : options) {
        each.numerics.weights = element == "bf16" ? element : "";
        each.numerics.roundActivations = element == "i4";
      }
      compareLate(pair(64, 256, element == "bf16" ? "f32" : element), ranks, options[0], options[1],
                  turns);
    }
}

TEST_CASE("nothing is read before it is there, whoever is late") { compareLate({2, 3}, 75); }

TEST_CASE("nothing is read before it is there, whatever weights are", "[bits]") {
  compareLateOfOthers({3}, 20);
}

// Sleeping for the most part.
TEST_CASE("nothing is read before it is there, a thousand times", "[.long]") {
  compareLate({2, 3, 4, 8}, 1000);
}

TEST_CASE("nothing is read before it is there, whatever weights are, a thousand times", "[.long]") {
  compareLateOfOthers({2, 3, 4, 8}, 1000);
}
