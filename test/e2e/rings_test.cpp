//===- rings_test.cpp - Attention over tokens that ranks have parts of ----------------------------------===//
//
// A layer of attention whose tokens are split gives what one rank gives, with every mask, on one to four ranks and at sizes that do not
// divide. Keys and values go around in blocks: what ranks send is that and the result.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/text/ImportText.h"
#include "compiler/model/ModuleImpl.h"
#include "dialects/weft/Mesh.h"
#include "test/support/RankProgram.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace weft;
using namespace weft::test;

namespace {

constexpr int kWidth = 8, kHeads = 2; ///< of 4 elements

/// A program of s tokens of kWidth elements.
class Layer {
public:
  explicit Layer(int ranks) : ranks(ranks) {}

  std::string text;
  int keyHeads = kHeads;
  std::string keys = "s"; ///< how many there are; fewer are the first tokens
  bool isGuarded = false;
  std::string element = "f32"; ///< in which the values are multiplied

  void op(const std::string &name, const std::string &what, const std::vector<std::string> &from,
          const std::string &to) {
    std::string types;
    for (const std::string &type : from)
      types += (types.empty() ? "" : ", ") + tensor(type);
    text += "  %" + name + " = weft." + what + " : (" + types + ") -> " + tensor(to) + "\n";
  }

  void fill(const std::string &name, const std::string &value, const std::string &element) {
    text += "  %" + name + " = weft.fill " + value + " : " + element + " -> " +
            tensor("|" + element) + "\n";
  }

  /// "s, 8|i64"; f32 is not written.
  static std::string tensor(const std::string &type) {
    size_t bar = type.find('|');
    std::string element = bar == std::string::npos ? "f32" : type.substr(bar + 1);
    return "!weft.tensor<[" + type.substr(0, bar) + "], " + element + ">";
  }

  /// Tokens through a matrix, as heads in front of tokens.
  void project(const std::string &name, int heads, int seed, const std::string &from,
               const std::string &tokens) {
    std::string width = std::to_string(heads * 4), count = std::to_string(heads), rows;
    for (int i = 0; i < kWidth; ++i) {
      rows += i ? ", [" : "[";
      for (int j = 0; j < heads * 4; ++j)
        rows += (j ? ", " : "") + std::to_string(((i * 29 + j * 17 + seed) % 23 - 11) / 16.0);
      rows += "]";
    }
    text += "  %w" + name + " = weft.constant dense<[" + rows + "]> : tensor<8x" + width +
            "xf32> -> " + tensor("8, " + width) + "\n";
    op("p" + name, "contract \"s e, e n -> s n\" %" + from + ", %w" + name + " accumulate f32",
       {tokens + ", 8", "8, " + width}, tokens + ", " + width);
    op("r" + name, "reshape %p" + name + " to [" + tokens + ", " + count + ", 4]",
       {tokens + ", " + width}, tokens + ", " + count + ", 4");
    op(name, "transpose %r" + name + " [1, 0, 2]", {tokens + ", " + count + ", 4"},
       count + ", " + tokens + ", 4");
  }

  /// A head of keys for several of queries.
  std::string repeated(const std::string &name) {
    if (keyHeads == kHeads)
      return name;
    op(name + "1", "reshape %" + name + " to [1, 1, " + keys + ", 4]", {"1, " + keys + ", 4"},
       "1, 1, " + keys + ", 4");
    op(name + "2", "expand %" + name + "1 to [1, 2, " + keys + ", 4]", {"1, 1, " + keys + ", 4"},
       "1, 2, " + keys + ", 4");
    op(name + "3", "reshape %" + name + "2 to [2, " + keys + ", 4]", {"1, 2, " + keys + ", 4"},
       "2, " + keys + ", 4");
    return name + "3";
  }

  void positions() {
    text += "  %i0 = weft.iota dim 0 : " + tensor("s|i64") + "\n";
    text += "  %j0 = weft.iota dim 0 : " + tensor(keys + "|i64") + "\n";
    op("i", "reshape %i0 to [s, 1]", {"s|i64"}, "s, 1|i64");
    op("j", "reshape %j0 to [1, " + keys + "]", {keys + "|i64"}, "1, " + keys + "|i64");
  }

  void causal() {
    positions();
    op("see", "compare ge %i, %j", {"s, 1|i64", "1, " + keys + "|i64"}, "s, " + keys + "|i1");
  }

  /// The last two tokens and this one.
  void window() {
    causal();
    fill("two", "2", "i64");
    op("back", "sub %i, %j", {"s, 1|i64", "1, s|i64"}, "s, s|i64");
    op("near", "compare le %back, %two", {"s, s|i64", "|i64"}, "s, s|i1");
    text += "  %both = weft.and %see, %near : (" + tensor("s, s|i1") + ", " + tensor("s, s|i1") +
            ") -> " + tensor("s, s|i1") + "\n";
    seen = "both";
  }

  /// What is given decides which keys are seen: those whose first element is positive.
  void given() {
    op("first", "slice %x from [0, 0] size [" + keys + ", 1] step [1, 1]", {"s, 8"}, keys + ", 1");
    op("line", "reshape %first to [1, " + keys + "]", {keys + ", 1"}, "1, " + keys);
    fill("zero", "0.0", "f32");
    op("shown", "compare gt %line, %zero", {"1, " + keys, ""}, "1, " + keys + "|i1");
    op("see", "expand %shown to [s, " + keys + "]", {"1, " + keys + "|i1"}, "s, " + keys + "|i1");
  }

  std::string program(const std::function<void(Layer &)> &mask) {
    std::string scores = "2, s, " + keys, heads = "2, s, 4", keyed = "2, " + keys + ", 4";
    project("q", kHeads, 3, "x", "s");
    std::string from = "x";
    if (keys != "s") {
      op("some",
         "slice %x from [0, 0] size [" + keys +
             ", 8] step [1, 1] {weft.placement = #weft.placement<[sp, _]>}",
         {"s, 8"}, keys + ", 8");
      from = "some";
    }
    project("k", keyHeads, 5, from, keys);
    project("v", keyHeads, 8, from, keys);
    std::string k = repeated("k"), v = repeated("v");
    op("scores", "contract \"h i d, h j d -> h i j\" %q, %" + k + " accumulate f32", {heads, keyed},
       scores);
    std::string line = "scores";
    mask(*this);
    if (text.find("%see ") != std::string::npos) {
      op("seen", "expand %" + seen + " to [" + scores + "]", {"s, " + keys + "|i1"},
         scores + "|i1");
      fill("least", "0xFF800000", "f32");
      op("masked", "select %seen, %scores, %least", {scores + "|i1", scores, ""}, scores);
      line = "masked";
    }
    op("p", "softmax %" + line, {scores}, scores);
    std::string powers = "p";
    if (isGuarded) {
      op("nan", "is_nan %p", {scores}, scores + "|i1");
      fill("none", "0.0", "f32");
      op("kept", "select %nan, %none, %p", {scores + "|i1", "", scores}, scores);
      powers = "kept";
    }
    if (element != "f32") {
      op("less", "convert %" + powers + " to " + element, {scores}, scores + "|" + element);
      op("lessv", "convert %" + v + " to " + element, {keyed}, keyed + "|" + element);
      powers = "less", v = "lessv";
    }
    op("o", "contract \"h i j, h j d -> i h d\" %" + powers + ", %" + v + " accumulate f32",
       {scores + "|" + element, keyed + "|" + element}, "s, 2, 4");
    op("y", "reshape %o to [s, 8]", {"s, 2, 4"}, "s, 8");
    return "func.func @main(%x: " + tensor("s, 8") +
           " {weft.placement = #weft.placement<[sp, _]>}) -> " + tensor("s, 8") +
           " attributes {weft.split_over = #weft.mesh<sp = " + std::to_string(ranks) +
           ">, weft.symbols = #weft.symbols<s>} {\n" + text + "  return %y : " + tensor("s, 8") +
           "\n}";
  }

private:
  int ranks;
  std::string seen = "see";
};

/// The largest difference, as a share of the largest value; numbers and those that are none stand at the same places.
double distance(const Values &one, const Values &other) {
  if (one.size() != other.size())
    return INFINITY;
  double largest = 1e-30, most = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    if (std::isnan(one[i]) != std::isnan(other[i]))
      return INFINITY;
    if (!std::isnan(one[i])) {
      largest = std::max(largest, double(std::fabs(one[i])));
      most = std::max(most, double(std::fabs(one[i] - other[i])));
    }
  }
  return most / largest;
}

/// What goes around.
struct Round {
  int64_t bytes = 2 * kWidth * 4; ///< of one token; 0: nobody counts
  int most = 8;                   ///< how often it is sent at most, where more is never seen
  int pieces = 1;                 ///< of a part, of
  int fewerThan = 9;              ///< ranks; more have one
  int shares = 2, carried = 2;    ///< of heads, and what goes around in them

  int piecesOf(int ranks) const { return ranks < fewerThan ? pieces : 1; }
};

/// What a rank sends when tokens go around, and when all get the result. The second of two pieces of queries, keys and values goes to the
/// mirrored rank first, with its positions, and of the result it comes back.
int64_t sentBy(int rank, int ranks, int64_t tokens, Round round) {
  int64_t pieces = round.piecesOf(ranks), piece = (tokens + ranks * pieces - 1) / (ranks * pieces),
          width = kWidth * 4, gathered = (ranks - 1) * partOf(tokens, ranks, rank).size() * width,
          mirrored =
              pieces == 2 && 2 * rank != ranks - 1 ? piece * (round.bytes + 2 * width + 8) : 0;
  return gathered + mirrored + std::min(ranks - 1, round.most) * piece * pieces * round.bytes;
}

Values tokens(int64_t count, bool areAllMasked = false) {
  Values values = numbers(count * kWidth);
  for (int64_t i = 0; i < count; ++i)
    if (areAllMasked || i < count / 2)
      values[i * kWidth] = -std::fabs(values[i * kWidth]);
  return values;
}

Values evaluate(const Module &program, const std::vector<int64_t> &dims, const Values &input,
                std::vector<Traffic> *sent = nullptr) {
  mlir::ModuleOp operations = *program.get().module;
  auto function = *operations.getOps<mlir::FunctionOpInterface>().begin();
  RefTensor tensor(mlir::cast<SymTensorType>(function.getArgumentTypes()[0]).getElementType(),
                   llvm::SmallVector<int64_t, 4>(dims.begin(), dims.end()));
  for (size_t i = 0; i < input.size(); ++i)
    tensor.set(i, Scalar::of(double(input[i])));
  EvaluateOptions options;
  options.traffic = sent;
  auto results = evaluateFunction(function, {tensor}, options);
  INFO((results ? std::string() : llvm::toString(results.takeError())));
  REQUIRE(bool(results));
  Values values;
  for (int64_t i = 0; i < results->front().size(); ++i)
    values.push_back(results->front().at(i).real);
  return values;
}

/// On all ranks, of the program as it is split: with `Always` heads go around in shares.
Values evaluateSplit(const std::string &text, const std::vector<int64_t> &dims, const Values &input,
                     std::vector<Traffic> &sent, FuseComm fuse) {
  CompileOptions options;
  options.fuseComm = fuse;
  Result<Module> model = importText("test.mlir", text);
  Result<std::string> split = model ? Compiler().programAfter("partition", *model, options)
                                    : Result<std::string>(model.diagnostics());
  Result<Module> read =
      split ? importText("split.mlir", *split) : Result<Module>(split.diagnostics());
  INFO((read ? "" : read.diagnostics()[0].text));
  REQUIRE(read);
  return evaluate(*read, dims, input, &sent);
}

/// Whole and in shares: the same numbers, and as many bytes.
void compare(const std::string &text, int ranks, int64_t count, Round round, const Values &input) {
  INFO("tokens " << count);
  std::vector<int64_t> dims{count, kWidth};
  std::vector<Traffic> sent[2];
  Values expected = evaluate(*importText("test.mlir", text), dims, input),
         whole = evaluateSplit(text, dims, input, sent[0], FuseComm::Never),
         shares = evaluateSplit(text, dims, input, sent[1], FuseComm::Always);
  CHECK(distance(whole, expected) < 1e-5);
  CHECK(distance(shares, whole) == 0);
  if (!round.bytes || ranks == 1)
    return;
  for (const std::vector<Traffic> &each : sent) {
    REQUIRE(each.size() == 1);
    for (int rank = 0; rank < ranks; ++rank)
      CHECK(each[0].ranks[rank].bytes == sentBy(rank, ranks, count, round));
  }
  for (int rank = 0; rank < ranks; ++rank)
    CHECK(sent[1][0].ranks[rank].messages - sent[0][0].ranks[rank].messages ==
          (round.shares - 1) * round.carried * std::min(ranks - 1, round.most));
}

/// The program by threads.
void run(const std::string &text, int ranks, int64_t count, const Values &input, double tolerance) {
  RankProgram program(text);
  INFO(program.failure);
  REQUIRE(program.failure.empty());
  std::vector<int64_t> dims{count, kWidth};
  Values expected = *program.evaluate(dims, input, false);
  std::vector<Values> results = program.run(ranks, dims, input);
  INFO(program.failure);
  CHECK(program.failure.empty());
  for (const Values &result : results) {
    CHECK(distance(result, expected) < tolerance);
    CHECK(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)) == 0);
  }
}

/// Compiled for `compiled` ranks.
void compareAll(const std::function<void(Layer &)> &mask, Round round = {},
                const std::function<void(Layer &)> &shape = {}, int compiled = 0,
                double tolerance = 1e-5) {
  for (int ranks : {1, 2, 3, 4}) {
    Layer layer(ranks);
    if (shape)
      shape(layer);
    std::string text = layer.program(mask);
    INFO(text);
    for (int64_t count : {1, 3, 8, 13})
      compare(text, ranks, count, round, tokens(count));
    for (int64_t count : {1, 7})
      if (ranks == compiled)
        run(text, ranks, count, tokens(count), tolerance);
  }
}

} // namespace

TEST_CASE("every token sees all others") {
  compareAll([](Layer &) {});
}

TEST_CASE("masks computed from positions: what came before, and the nearest of it") {
  compareAll([](Layer &layer) { layer.causal(); }, {2 * kWidth * 4, 8, 2}, {}, 3);
  // Of parts of one token or more, three tokens lie in three neighbouring parts. Halves pay on few ranks.
  compareAll([](Layer &layer) { layer.window(); }, {2 * kWidth * 4, 2, 2, 4});
}

TEST_CASE("masks that are given") {
  compareAll([](Layer &layer) { layer.given(); });
}

TEST_CASE("lines without any key are no numbers, or zeros where the model says so") {
  for (bool isGuarded : {false, true}) {
    Layer layer(3);
    layer.isGuarded = isGuarded;
    std::string text = layer.program([](Layer &layer) { layer.given(); });
    INFO(text);
    Values nothing(7 * kWidth, NAN), masked = tokens(7, /*areAllMasked=*/true);
    for (const Values &input : {masked, tokens(7), nothing})
      compare(text, 3, 7, Round(), input);
    run(text, 3, 7, masked, 1e-5);
  }
}

TEST_CASE("heads of keys that several heads of queries share travel once") {
  compareAll([](Layer &layer) { layer.causal(); }, {kWidth * 4, 8, 2, 9, 1},
             [](Layer &layer) { layer.keyHeads = 1; }, 2);
}

TEST_CASE("values are multiplied in half precision") {
  Layer layer(2);
  layer.element = "f16";
  std::string text = layer.program([](Layer &layer) { layer.causal(); });
  INFO(text);
  run(text, 2, 7, tokens(7), 2e-3);
}

/// A half of the tokens as keys; of one token it is none.
TEST_CASE("keys are others than queries, also none") {
  compareAll([](Layer &) {}, {0}, [](Layer &layer) { layer.keys = "floordiv(s, 2)"; }, 2);
}
