//===- meshes_test.cpp - One artifact for several meshes ------------------------------------------------===//
//
// Whatever the number of ranks that opens it: results are the evaluator's, weights are stored once, a rank reads its share of them and nothing
// else, and memory is what the formulas say.
//===------------------------------------------------------------------------------------------===//

#include "compiler/model/ModuleImpl.h"
#include "dialects/weft/Mesh.h"
#include "test/support/Constant.h"
#include "test/support/RankProgram.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/mman.h>

using namespace weft;
using namespace weft::test;

namespace {

using Meshes = std::vector<std::string>;
constexpr int64_t kRows = 5;

/// Two products with a GELU between them; the second weight is cut along what it sums. The values between them may be those of heads, which are
/// never cut.
struct Pair {
  int64_t k, n; ///< of the first weight; the second is [n, k]
  int64_t heads;
  std::filesystem::path folder;
  std::optional<Module> model;
  std::string failure;
  uint64_t weightBytes = 0;

  Pair(int64_t k, int64_t n, bool transposed = false, int64_t heads = 1)
      : k(k), n(n), heads(heads) {
    char name[] = P_tmpdir "/weft-meshes-XXXXXX";
    folder = mkdtemp(name);
    std::string up = matrix(k, n, transposed), down = matrix(n, k, transposed), x = tensor("n", k),
                h = tensor("n", n), bytes = std::to_string(k * n * 4),
                parts = "!weft.tensor<[n, " + std::to_string(heads) + ", " +
                        std::to_string(n / heads) + "], f32>";
    std::string rule = transposed ? "m k, j k -> m j" : "m k, k j -> m j";
    std::ofstream(folder / "pair.mlir")
        << "weft.weight @up from \"pair.bin\" at 0 bytes " << bytes << " : " << up
        << "\nweft.weight @down from \"pair.bin\" at " << bytes << " bytes " << bytes << " : "
        << down << "\nfunc.func @main(%x: " << x << ") -> " << x
        << " attributes {weft.symbols = #weft.symbols<n>} {\n  %up = weft.constant @up -> " << up
        << "\n  %down = weft.constant @down -> " << down << "\n  %h = weft.contract \"" << rule
        << "\" %x, %up accumulate f32 : (" << x << ", " << up << ") -> " << h
        << "\n  %s = weft.reshape %h to [n, " << heads << ", " << n / heads << "] : (" << h
        << ") -> " << parts << "\n  %a = weft.activation gelu %s : (" << parts << ") -> " << parts
        << "\n  %g = weft.reshape %a to [n, " << n << "] : (" << parts << ") -> " << h
        << "\n  %y = weft.contract \"" << rule << "\" %g, %down accumulate f32 : (" << h << ", "
        << down << ") -> " << x << "\n  return %y : " << x << "\n}\n";
    std::ofstream weights(folder / "pair.bin", std::ios::binary);
    for (int64_t i = 0; i < 2 * k * n; ++i) {
      float value = float(i * 37 % 64 - 31) / 256;
      weights.write(reinterpret_cast<const char *>(&value), sizeof(value));
    }
    weights.close();
    if (Result<Module> imported = Compiler().importFile(folder / "pair.mlir"))
      model = *imported;
    placement = transposed ? "up=[tp, _]" : "up=[_, tp]";
  }
  ~Pair() { std::filesystem::remove_all(folder); }

  static std::string matrix(int64_t a, int64_t b, bool transposed) {
    return transposed ? tensor(std::to_string(b), a) : tensor(std::to_string(a), b);
  }
  static std::string tensor(const std::string &rows, int64_t columns) {
    return "!weft.tensor<[" + rows + ", " + std::to_string(columns) + "], f32>";
  }

  std::string path() const { return folder / "pair.weft"; }

  /// Compiles into path(); the reason when that is refused.
  std::string compile(const Meshes &meshes, const std::string &target = "host",
                      const std::string &weights = "") {
    CompileOptions options;
    options.outputPath = path();
    options.jobs = 1;
    options.target = target;
    options.mesh = meshes;
    options.numerics.weights = weights;
    if (!meshes.empty())
      options.placements = {placement};
    Result<Artifact> done = Compiler().compile(*model, options);
    weightBytes = done ? done->weightBytes : 0;
    return done ? "" : done.diagnostics()[0].text;
  }

  Values evaluate(const Values &input) {
    mlir::ModuleOp operations = *model->get().module;
    mlir::FunctionOpInterface function = *operations.getOps<mlir::FunctionOpInterface>().begin();
    RefTensor tensor(mlir::cast<SymTensorType>(function.getArgumentTypes()[0]).getElementType(),
                     llvm::SmallVector<int64_t, 4>{kRows, k});
    for (size_t i = 0; i < input.size(); ++i)
      tensor.set(i, Scalar::of(double(input[i])));
    EvaluateOptions options;
    options.weight = [&](llvm::StringRef name) { return model->get().weightBytes(name); };
    auto results = evaluateFunction(function, {tensor}, options);
    REQUIRE(bool(results));
    Values values;
    for (int64_t i = 0; i < results->front().size(); ++i)
      values.push_back(results->front().at(i).real);
    return values;
  }

  std::string placement;
};

struct Range {
  uint64_t begin, end; ///< bytes of the weights
};

/// A module of its own for every rank, whose weights but for `share` nobody may read.
class RanksModule {
public:
  RanksModule(const std::string &path, uint32_t ranks) {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.ranks = ranks;
    weft_error_t error = WEFT_ERROR_INIT;
    if (weft_module_open(&env, path.c_str(), &module, &error))
      FAIL(error.message);
    // The file's mapping that is neither its begin nor code, and large enough.
    weft_module_info_t info = {sizeof info};
    weft_module_info(module, &info);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long begin, end, offset;
      char access[5];
      if (line.find(path) != std::string::npos &&
          sscanf(line.c_str(), "%lx-%lx %4s %lx", &begin, &end, access, &offset) == 4 &&
          std::string(access) == "r--p" && offset > 0 && end - begin >= info.weight_bytes &&
          !isKnown(begin))
        weights = reinterpret_cast<char *>(begin), bytes = info.weight_bytes;
    }
    known()[reinterpret_cast<unsigned long>(weights)] = bytes;
  }
  ~RanksModule() {
    if (weights)
      known().erase(reinterpret_cast<unsigned long>(weights));
    weft_module_release(module);
  }

  void lockAllBut(const std::vector<Range> &share) {
    constexpr uint64_t kPage = 4096;
    uint64_t pages = (bytes + kPage - 1) / kPage;
    for (uint64_t page = 0; page < pages; ++page) {
      bool isOwn = false;
      for (const Range &range : share)
        isOwn |= range.begin < (page + 1) * kPage && range.end > page * kPage;
      if (!isOwn)
        REQUIRE(mprotect(weights + page * kPage, kPage, PROT_NONE) == 0);
      locked += !isOwn;
    }
  }

  weft_module_t *module = nullptr;
  uint64_t bytes = 0, locked = 0;

private:
  /// Begins and sizes of what other modules have, which are several mappings once a part is locked.
  static std::map<unsigned long, uint64_t> &known() {
    static std::map<unsigned long, uint64_t> sizes;
    return sizes;
  }
  static bool isKnown(unsigned long address) {
    auto behind = known().upper_bound(address);
    return behind != known().begin() &&
           address - std::prev(behind)->first < std::prev(behind)->second;
  }
  char *weights = nullptr;
};

/// What rank `rank` of `ranks` has: panels of the first weight, and of each panel of the second its rows.
std::vector<Range> shareOf(const Pair &pair, uint64_t rank, uint64_t ranks, uint64_t columns) {
  Part part = partOf(pair.heads, ranks, rank);
  if (part.size() == 0)
    return {};
  uint64_t whole = pair.k * pair.n * 4, panel = pair.n * columns * 4, heads = pair.heads;
  std::vector<Range> share = {{part.begin * whole / heads, part.end * whole / heads}};
  for (uint64_t begin = whole; begin < 2 * whole; begin += panel)
    share.push_back({begin + part.begin * panel / heads, begin + part.end * panel / heads});
  return share;
}

/// A formula of the file, for a rank.
int64_t valueOf(const Pair &pair, const char *formula, int32_t rank) {
  mlir::MLIRContext *context = pair.model->get().module->getContext();
  SymExpr expr = llvm::cantFail(parseSymExpr(context, formula));
  return *expr.evaluate({{mlir::StringAttr::get(context, "rank_tp"), rank}});
}

int64_t numberIn(const char *text) { return std::stoll(text); }

void compare(const Values &got, const Values &expected, double tolerance = 1e-5) {
  REQUIRE(got.size() == expected.size());
  double worst = 0, scale = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::abs(double(got[i]) - double(expected[i])));
    scale = std::max(scale, std::abs(double(expected[i])));
  }
  CHECK(worst <= tolerance * scale);
}

/// Does it on every rank, of which one has no group.
void onAll(int32_t ranks,
           const std::function<weft_status_t(weft_group_t *, int32_t rank, weft_error_t *)> &body) {
  weft_error_t error = WEFT_ERROR_INIT;
  if (ranks == 1) {
    weft_status_t status = body(nullptr, 0, &error);
    INFO(error.message);
    CHECK(status == WEFT_OK);
    return;
  }
  for (const std::string &failure : onRanks(ranks, [&](weft_group_t *group, weft_error_t *why) {
         return body(group, weft_group_rank(group), why);
       }))
    CHECK(failure == "");
}

/// What rank 0 of so many gets, as all do.
Values run(const Pair &pair, int32_t ranks, const Values &input) {
  weft_module_t *module = nullptr;
  weft_error_t error = WEFT_ERROR_INIT;
  REQUIRE(weft_module_open(nullptr, pair.path().c_str(), &module, &error) == WEFT_OK);
  std::vector<Values> results(ranks);
  onAll(ranks, [&](weft_group_t *group, int32_t rank, weft_error_t *why) {
    return callTwice(module, group, {kRows, pair.k}, input, results[rank], why);
  });
  weft_module_release(module);
  for (const Values &result : results)
    CHECK(result == results[0]);
  return results[0];
}

std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What an allocator that counts has given out.
struct Counter {
  int64_t held = 0;

  weft_env_t environment(uint32_t ranks) {
    weft_env_t env = {};
    env.struct_size = sizeof env;
    env.ranks = ranks;
    env.user = this;
    env.allocate = [](void *user, size_t bytes, size_t alignment) {
      static_cast<Counter *>(user)->held += int64_t(bytes);
      return aligned_alloc(std::max<size_t>(alignment, 64), (bytes + 63) / 64 * 64);
    };
    env.release = [](void *user, void *pointer, size_t bytes) {
      static_cast<Counter *>(user)->held -= int64_t(bytes);
      free(pointer);
    };
    return env;
  }
};

/// Checks what a rank reserves for a call against the formulas of the module for so many.
weft_status_t reserve(const Pair &pair, uint32_t ranks, weft_group_t *group, int64_t *surplus,
                      weft_error_t *error) {
  Counter counter;
  weft_module_t *module = nullptr, *described = nullptr;
  weft_context_t *context = nullptr;
  weft_context_options_t options = {sizeof options, 1, -1, 0, group};
  weft_env_t env = counter.environment(0), forRanks = counter.environment(ranks);
  weft_status_t status = weft_module_open(&forRanks, pair.path().c_str(), &described, error);
  if (!status)
    status = weft_module_open(&env, pair.path().c_str(), &module, error);
  if (!status)
    status = weft_context_create(module, &options, &context, error);
  int64_t symbols[] = {kRows, group ? weft_group_rank(group) : 0}, before = counter.held;
  weft_cost_t cost = {sizeof cost};
  if (!status)
    status = weft_query_cost(described, 0, symbols, &cost, error);
  if (!status)
    status = weft_reserve(context, 0, symbols, error);
  *surplus = counter.held - before - (cost.arena + 63) / 64 * 64 -
             (cost.scratch_per_worker + 63) / 64 * 64;
  weft_context_release(context);
  weft_module_release(module);
  weft_module_release(described);
  return counter.held ? WEFT_INVALID : status;
}

} // namespace

/// Every rank of so many: its share of the weights is what the formula says, and all that it needs.
static void readOwnShare(const Pair &pair, int32_t ranks, const Values &input,
                         const Values &expected) {
  int64_t ofHead = 2 * pair.k * pair.n * 4 / pair.heads;
  std::vector<std::unique_ptr<RanksModule>> modules;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    modules.push_back(std::make_unique<RanksModule>(pair.path(), ranks));
    modules.back()->lockAllBut(shareOf(pair, rank, ranks, 16));
    weft_function_info_t info = {sizeof info};
    REQUIRE(weft_function_info(modules.back()->module, 0, &info) == WEFT_OK);
    int64_t own = partOf(pair.heads, ranks, rank).size();
    CHECK(valueOf(pair, info.weights_read, rank) == own * ofHead);
    CHECK(int64_t(modules.back()->locked) * 4096 == (pair.heads - own) * ofHead);
  }
  std::vector<Values> results(ranks);
  onAll(ranks, [&](weft_group_t *group, int32_t rank, weft_error_t *error) {
    return callTwice(modules[rank]->module, group, {kRows, pair.k}, input, results[rank], error);
  });
  for (const Values &result : results)
    compare(result, expected);
}

TEST_CASE("ranks of every number read their share of weights that are stored once, in the memory "
          "that formulas say") {
  Pair pair(64, 256, /*transposed=*/true, /*heads=*/4);
  REQUIRE(pair.compile({}, "x86:v3") == "");
  uint64_t alone = pair.weightBytes;
  CHECK(alone == 2 * 64 * 256 * 4);
  REQUIRE(pair.compile({"tp=1", "tp=2", "tp=4"}, "x86:v3") == "");
  CHECK(pair.weightBytes == alone);
  Values input = numbers(kRows * 64), expected = pair.evaluate(input);
  for (int32_t ranks : {1, 2, 4}) {
    readOwnShare(pair, ranks, input, expected);
    std::vector<int64_t> surplus(ranks, -1);
    onAll(ranks, [&](weft_group_t *group, int32_t rank, weft_error_t *error) {
      return reserve(pair, ranks, group, &surplus[rank], error);
    });
    CHECK(surplus == std::vector<int64_t>(ranks, 0));
  }
}

TEST_CASE("ranks that have different numbers of heads, or none, read theirs of weights that are "
          "stored once") {
  for (auto [heads, meshes] :
       {std::pair{3, Meshes{"tp=1", "tp=2", "tp=4"}}, {12, {"tp=1", "tp=5", "tp=7"}}}) {
    Pair pair(64, heads * 64, /*transposed=*/true, heads);
    REQUIRE(pair.compile(meshes, "x86:v3") == "");
    CHECK(pair.weightBytes == 2 * 64 * 64 * 4 * uint64_t(heads));
    Values input = numbers(kRows * 64), expected = pair.evaluate(input);
    for (const std::string &mesh : meshes)
      readOwnShare(pair, std::stoi(mesh.substr(3)), input, expected);
  }
}

TEST_CASE(
    "what ranks have of different sizes is multiplied as on one rank, also where a last panel "
    "is not full") {
  Pair pair(24, 255); // halves of 128 and 127 columns, fourths of 64 and 63
  REQUIRE(pair.compile({"tp=1", "tp=2", "tp=4"}, "x86:v3") == "");
  CHECK(pair.weightBytes == (24 * 256 + 255 * 32) * 4);
  Values input = numbers(kRows * 24), expected = pair.evaluate(input);
  for (int32_t ranks : {1, 2, 4})
    compare(run(pair, ranks, input), expected);
}

TEST_CASE("parts of different sizes that end inside a panel are cut out of a whole by kernels") {
  Pair pair(24, 60, /*transposed=*/false, /*heads=*/3);
  REQUIRE(pair.compile({"tp=1", "tp=2"}, "x86:v3") == "");
  CHECK(pair.weightBytes == (24 * 64 + 60 * 32 + 24 * 60) * 4); // 'up' once more, in rows
  Values input = numbers(kRows * 24), expected = pair.evaluate(input);
  for (int32_t ranks : {1, 2})
    compare(run(pair, ranks, input), expected);
}

TEST_CASE("cuts inside a panel are stored by themselves") {
  Values input = numbers(kRows * 24);
  Pair uneven(24, 40);
  Values expected = uneven.evaluate(input);
  REQUIRE(uneven.compile({"tp=1", "tp=2"}, "x86:v3") == "");
  CHECK(uneven.weightBytes > 2 * 24 * 48 * 4); // the one-rank panels are padded to 48 columns
  for (int32_t ranks : {1, 2})
    compare(run(uneven, ranks, input), expected);
}

/// The product with the rank's half of the rows of a weight, with a scale for every 32 of them where `scale` is set, summed over ranks.
static std::string halfOfRows(const std::string &element, bool scale) {
  Constant weight{element, {256, 64}}, factors{"f32", {8, 64}}, half{element, {128, 64}},
      real{"f32", {128, 64}}, own{"f32", {4, 64}};
  auto slice = [](const char *name, const char *of, int rows, const Constant &from,
                  const Constant &to) {
    return std::string("  %") + name + " = weft.slice %" + of + " from [" + std::to_string(rows) +
           "*rank_tp, 0] size [" + std::to_string(rows) + ", 64] step [1, 1] : (" + from.type() +
           ") -> " + to.type() + "\n";
  };
  std::string x = "!weft.tensor<[m, 128], f32>", y = "!weft.tensor<[m, 64], f32>";
  std::string text = "func.func @main(%x: " + x + ") -> " + y +
                     " attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = "
                     "#weft.symbols<m, rank_tp : \"rank_tp <= 1\">} {\n  %w = " +
                     weight.text(1) + "\n" + slice("half", "w", 128, weight, half);
  if (scale)
    text += "  %s = " + factors.text(2) + "\n" + slice("own", "s", 4, factors, own) +
            "  %r = weft.dequantize_blocks %half, %own axis 0 block 32 : (" + half.type() + ", " +
            own.type() + ") -> " + real.type() + "\n";
  else
    text += "  %r = weft.convert %half to f32 : (" + half.type() + ") -> " + real.type() + "\n";
  return text + "  %a = weft.contract \"m k, k n -> m n\" %x, %r accumulate f32 : (" + x + ", " +
         real.type() + ") -> " + y + "\n  %y = weft.all_reduce sum %a over<tp = 2> : (" + y +
         ") -> " + y + "\n  return %y : " + y + "\n}";
}

TEST_CASE("rows of narrow weights lie in the panels of all, for few rows and for many") {
  for (auto [element, scale] :
       {std::pair{"bf16", false}, {"f16", false}, {"i8", true}, {"i4", true}}) {
    RankProgram program(halfOfRows(element, scale));
    INFO(element << " " << program.failure);
    REQUIRE(program.failure.empty());
    weft_module_info_t info = {sizeof info};
    REQUIRE(weft_module_info(program.module, &info) == WEFT_OK);
    uint64_t bits = element == std::string("i4") ? 4 : element == std::string("i8") ? 8 : 16;
    CHECK(info.weight_bytes == 256 * 64 * bits / 8 + (scale ? 8 * 64 * 4 : 0));
    weft_function_info_t function = {sizeof function};
    REQUIRE(weft_function_info(program.module, 0, &function) == WEFT_OK);
    CHECK(uint64_t(numberIn(function.weights_read)) * 2 == info.weight_bytes);
    for (int64_t rows : {1, 5, 120}) {
      Values input = numbers(rows * 128);
      std::optional<Values> expected = program.evaluate({rows, 128}, input, false);
      REQUIRE(expected);
      for (const Values &result : program.run(2, {rows, 128}, input))
        compare(result, *expected);
    }
  }
}

/// The product with a rank's two blocks or one of three of 32 columns, with a scale for every 32 rows where `scale` is set; then the product with
/// as many rows of bf16, summed over ranks.
static std::string blocksOfThree(const std::string &element, bool scale) {
  std::string own = "64 - 32*rank_tp";
  auto type = [](const std::string &rows, const std::string &columns, const std::string &of) {
    return "!weft.tensor<[" + rows + ", " + columns + "], " + of + ">";
  };
  auto part = [](const char *name, const char *of, const std::string &where,
                 const std::string &types) {
    return std::string("  %") + name + " = weft.slice %" + of + " from " + where +
           " step [1, 1] : " + types + "\n";
  };
  auto product = [](const char *name, const std::string &operands, const std::string &types) {
    return std::string("  %") + name + " = weft.contract \"m k, k n -> m n\" " + operands +
           " accumulate f32 : " + types + "\n";
  };
  std::string up = type("96", own, element), upReal = type("96", own, "f32"),
              down = type(own, "96", "bf16"), downReal = type(own, "96", "f32"),
              x = type("m", "96", "f32"), h = type("m", own, "f32"), scales = type("3", own, "f32");
  std::string text =
      "func.func @main(%x: " + x + ") -> " + x +
      " attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<m, rank_tp : "
      "\"rank_tp <= 1\">} {\n  %u = " +
      Constant{element, {96, 96}}.text(1) + "\n  %d = " + Constant{"bf16", {96, 96}}.text(2) +
      "\n  %s = " + Constant{"f32", {3, 96}}.text(3) + "\n" +
      part("v", "u", "[0, 64*rank_tp] size [96, " + own + "]",
           "(" + type("96", "96", element) + ") -> " + up) +
      part("e", "d", "[64*rank_tp, 0] size [" + own + ", 96]",
           "(" + type("96", "96", "bf16") + ") -> " + down);
  if (scale)
    text += part("t", "s", "[0, 64*rank_tp] size [3, " + own + "]",
                 "(" + type("3", "96", "f32") + ") -> " + scales) +
            "  %p = weft.dequantize_blocks %v, %t axis 0 block 32 : (" + up + ", " + scales +
            ") -> " + upReal + "\n";
  else
    text += "  %p = weft.convert %v to f32 : (" + up + ") -> " + upReal + "\n";
  return text + "  %q = weft.convert %e to f32 : (" + down + ") -> " + downReal + "\n" +
         product("h", "%x, %p", "(" + x + ", " + upReal + ") -> " + h) +
         product("a", "%h, %q", "(" + h + ", " + downReal + ") -> " + x) +
         "  %y = weft.all_reduce sum %a over<tp = 2> : (" + x + ") -> " + x +
         "\n  return %y : " + x + "\n}";
}

TEST_CASE("narrow weights of which ranks have different sizes lie in the panels of all") {
  for (auto [element, scale] :
       {std::pair{"bf16", false}, {"f16", false}, {"i8", true}, {"i4", true}}) {
    RankProgram program(blocksOfThree(element, scale));
    INFO(element << " " << program.failure);
    REQUIRE(program.failure.empty());
    weft_module_info_t info = {sizeof info};
    REQUIRE(weft_module_info(program.module, &info) == WEFT_OK);
    uint64_t bits = element == std::string("i4") ? 4 : element == std::string("i8") ? 8 : 16;
    CHECK(info.weight_bytes == 96 * 96 * (bits + 16) / 8 + (scale ? 3 * 96 * 4 : 0));
    for (int64_t rows : {1, 5, 120}) {
      Values input = numbers(rows * 96);
      std::optional<Values> expected = program.evaluate({rows, 96}, input, false),
                            asPlan = program.evaluate({rows, 96}, input, true);
      INFO(program.failure);
      REQUIRE((expected && asPlan));
      compare(*asPlan, *expected);
      for (const Values &result : program.run(2, {rows, 96}, input))
        compare(result, *expected);
    }
  }
}

TEST_CASE("the size of the group picks, for the best target that runs here") {
  Pair pair(16, 64);
  REQUIRE(pair.compile({"dp=2,tp=2", "tp=2"}, "x86:v2,v3") == "");
  Values input = numbers(kRows * 16), expected = pair.evaluate(input);
  for (int32_t ranks : {2, 4})
    compare(run(pair, ranks, input), expected);
  weft_module_t *module = nullptr;
  weft_error_t error = WEFT_ERROR_INIT;
  REQUIRE(weft_module_open(nullptr, pair.path().c_str(), &module, &error) == WEFT_OK);
  std::vector<std::pair<std::string, uint32_t>> variants;
  weft_variant_info_t info = {sizeof info};
  for (uint32_t i = 0; weft_variant_info(module, i, &info) == WEFT_OK; ++i)
    variants.push_back({info.target, info.ranks});
  CHECK(variants == std::vector<std::pair<std::string, uint32_t>>{
                        {"x86:v3", 2}, {"x86:v3", 4}, {"x86:v2", 2}, {"x86:v2", 4}});
  Values result;
  CHECK(callTwice(module, nullptr, {kRows, 16}, input, result, &error) == WEFT_INVALID);
  CHECK(error.message == pair.path() + " is for 2, 4 ranks, but the context has no group");
  auto call = [&](weft_group_t *group, weft_error_t *why) {
    Values own;
    return callTwice(module, group, {kRows, 16}, input, own, why);
  };
  for (const std::string &failure : onRanks(3, call))
    CHECK(failure == "W0433 " + pair.path() + " is for 2, 4 ranks, but the group has 3");
  weft_module_release(module);
}

TEST_CASE(
    "the same meshes give the same bytes, in whatever order, and what is no file is refused") {
  Pair pair(16, 64);
  REQUIRE(pair.compile({"tp=1", "tp=2"}) == "");
  std::string first = contents(pair.path());
  REQUIRE(pair.compile({"tp=2", "tp=1"}) == "");
  CHECK(first == contents(pair.path()));
  CHECK(pair.compile({"tp=2", "tp=4", "dp=2,tp=1"}) ==
        "meshes 'tp=2' and 'dp=2,tp=1' have the same number of ranks, by which a file is opened");
  Meshes many;
  for (int ranks = 1; ranks <= 9; ++ranks)
    many.push_back("tp=" + std::to_string(ranks));
  CHECK(pair.compile(many, "x86:v2,v3") ==
        "2 targets for 9 meshes are more than the 16 variants of a file");
  CompileOptions options;
  options.mesh = {"tp=2", "tp=4"};
  options.placements = {pair.placement};
  Result<std::string> text = Compiler().programAfter("partition", *pair.model, options);
  REQUIRE(!text);
  CHECK(text.diagnostics()[0].text == "several meshes are several programs, but one is asked for");
}
