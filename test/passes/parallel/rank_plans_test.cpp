// Prices of small programs by hand, plans with names, and plans that are found.
#include "RankPrograms.h"
#include "mlir/Parser/Parser.h"
#include "passes/parallel/Layers.h"
#include "passes/parallel/PlanSearch.h"
#include "passes/parallel/PlanSpace.h"
#include "passes/parallel/SplitFunctions.h"
#include <catch2/catch.hpp>
#include <chrono>

using namespace weft;
using namespace weft::test;
using namespace mlir;

namespace {

MLIRContext &context() {
  static auto *context = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    made->loadDialect<WeftDialect, SymDialect, func::FuncDialect>();
    return made;
  }();
  return *context;
}

OwningOpRef<ModuleOp> parse(const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
  REQUIRE(module);
  return module;
}

func::FuncOp mainOf(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

/// Two products with an activation between them.
std::string mlp(int64_t hidden, int64_t inner) {
  Program p;
  std::string h = std::to_string(hidden), f = std::to_string(inner), wide = "[n, " + f + "]",
              all = "[n, " + h + "]", up = "[" + h + ", " + f + "]",
              down = "[" + f + ", " + h + "]", x = p.input("x", all),
              made = p.contract("m k, k j -> m j", {x, all}, {p.weight("up", up), up}, wide),
              active = p.op("activation gelu", {{made, wide}}, "", wide);
  return p.text(p.contract("m k, k j -> m j", {active, wide}, {p.weight("down", down), down}, all),
                all, "n");
}

/// Every token goes through all experts; a gate says how much of each counts.
std::string experts() {
  Program p;
  std::string x = p.input("x", "[n, 512]"), up = p.weight("up", "[8, 512, 1024]"),
              down = p.weight("down", "[8, 1024, 512]"), router = p.weight("router", "[512, 8]"),
              scores =
                  p.contract("n k, k e -> n e", {x, "[n, 512]"}, {router, "[512, 8]"}, "[n, 8]"),
              gate = p.op("softmax", {{scores, "[n, 8]"}}, "", "[n, 8]"),
              made = p.contract("n k, e k j -> n e j", {x, "[n, 512]"}, {up, "[8, 512, 1024]"},
                                "[n, 8, 1024]"),
              active = p.op("activation gelu", {{made, "[n, 8, 1024]"}}, "", "[n, 8, 1024]"),
              given = p.contract("n e j, e j k -> n e k", {active, "[n, 8, 1024]"},
                                 {down, "[8, 1024, 512]"}, "[n, 8, 512]");
  return p.text(
      p.contract("n e k, n e -> n k", {given, "[n, 8, 512]"}, {gate, "[n, 8]"}, "[n, 512]"),
      "[n, 512]", "n");
}

std::string convolutions() {
  Program p;
  std::string x = p.input("x", "[b, 64, 32, 32]"), image = "[b, 64, 32, 32]",
              kernel = "[64, 64, 3, 3]",
              form =
                  "strides [1, 1] dilations [1, 1] low [1, 1] high [1, 1] groups 1 accumulate f32";
  for (const char *name : {"first", "second", "third"})
    x = p.op("activation relu",
             {{p.op("conv", {{x, image}, {p.weight(name, kernel), kernel}}, form, image), image}},
             "", image);
  return p.text(x, image, "b");
}

PlanResult planFor(ModuleOp module, PlanRequest request) {
  FailureOr<PlanResult> plan = choosePlan(module, request);
  REQUIRE(succeeded(plan));
  return *plan;
}

PlanResult planFor(const std::string &text, PlanRequest request) {
  return planFor(*parse(text), std::move(request));
}

std::string refusalOf(const std::string &text, PlanRequest request) {
  OwningOpRef<ModuleOp> module = parse(text);
  std::string error;
  ScopedDiagnosticHandler handler(&context(), [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  return succeeded(choosePlan(*module, request)) ? "none" : error;
}

std::string placementsOf(const PlanResult &plan) {
  std::string text;
  for (const std::string &placement : plan.plan.placements)
    text += placement + "\n";
  return text;
}

/// Of a plan's program: its price before the search, split by hand.
Price priceByHand(const std::string &text, const PlanResult &plan,
                  std::map<std::string, int64_t> sizes) {
  PlanRequest request;
  request.mesh = plan.plan.mesh;
  request.placements = plan.plan.placements;
  request.sizes = std::move(sizes);
  request.plan = "auto";
  return planFor(text, request).price;
}

/// What ranks wait for the last of them, at every exchange.
constexpr double meeting = 20000;

} // namespace

TEST_CASE("A price is work, bytes of constants, and what is sent, by hand") {
  std::string text = mlp(256, 1024);
  OwningOpRef<ModuleOp> module = parse(text);
  func::FuncOp whole = mainOf(*module);
  SymValues sizes = *guessSizes(whole, {{"n", 16}});
  Price price = priceOf(whole, sizes, Links());
  double points = 16. * 256 * 1024, weight = 256. * 1024 * 4, x = 16 * 256 * 4,
         wide = 16 * 1024 * 4;
  // Two operations for a point of a product, and for a byte; what is computed point by point is not moved. Weights come beside that, but for a quarter
  // of the shorter time.
  double computing = (2 * points + 2 * (x + wide)) / 128, reading = weight / 16;
  double gelu = price.kernels - 2 * (computing + reading / 4);
  CHECK(gelu > 0);
  CHECK(gelu < 16 * 1024 * 64. / 128);
  CHECK(price.exchanges == 0);
  CHECK(price.weights == 2 * weight);
  CHECK(price.values == 2 * wide);

  PlanRequest request;
  request.mesh = "tp=2";
  request.plan = "tp";
  request.sizes = {{"n", 16}};
  request.links.others = {1000, 2};
  PlanResult plan = planFor(text, request);
  CHECK(placementsOf(plan) == "up=[_, tp]\n");
  CHECK(plan.price.weights == weight); // a half of each
  CHECK(plan.price.exchanges == meeting + 2 * 1000 + x / 2);
}

TEST_CASE("Sizes are given, or guessed within facts") {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @main(%x: !weft.tensor<[b, s, t], f32> {weft.name = "x"}) -> !weft.tensor<[b, s, t], f32>
        attributes {weft.symbols = #weft.symbols<b, s, t : "s <= 64", "t >= 200", "mod(t, 3) == 0">} {
      return %x : !weft.tensor<[b, s, t], f32>
    })");
  auto valueOf = [&](const SymValues &values, const char *name) {
    return values.lookup(StringAttr::get(&context(), name));
  };
  SymValues values = *guessSizes(mainOf(*module), {{"b", 7}});
  CHECK(valueOf(values, "b") == 7);
  CHECK(valueOf(values, "s") == 64);
  CHECK(valueOf(values, "t") >= 200);
  CHECK(valueOf(*guessSizes(mainOf(*module), {}), "b") == 1);
  std::string error;
  ScopedDiagnosticHandler handler(&context(), [&](Diagnostic &diagnostic) {
    error = diagnostic.str();
    return success();
  });
  CHECK(failed(guessSizes(mainOf(*module), {{"s", 65}})));
  CHECK(error == "sizes to choose a plan at contradict 's <= 64'");
}

TEST_CASE("Equal layers are priced once, and their weights are placed alike") {
  std::string text = transformer({12, 256, 4, 1024});
  OwningOpRef<ModuleOp> module = parse(text);
  OwningOpRef<func::FuncOp> copy = mainOf(*module).clone();
  Layers layers(*copy);
  std::map<unsigned, unsigned> members;
  for (ConstantOp constant : copy->getOps<ConstantOp>())
    ++members[layers.kindOf(constant.getResult())];
  for (auto [kind, count] : members)
    CHECK(count >= 12);
  SymValues sizes = *guessSizes(*copy, {});
  Price all = priceOf(*copy, sizes, Links());
  auto products = [&] {
    auto list = copy->getOps<ContractOp>();
    return std::distance(list.begin(), list.end());
  };
  CHECK(products() == 12 * 8);
  layers.keepThree();
  CHECK(products() < 5 * 8); // three layers, and parts before and behind
  Price few = priceOf(*copy, sizes, Links());
  CHECK(few.kernels == Approx(all.kernels));
  CHECK(few.weights == Approx(all.weights));
}

TEST_CASE("Column and row pairs are found, and no named plan costs less") {
  std::string text = transformer({2, 768, 12, 3072});
  PlanRequest request;
  request.ranks = 2;
  PlanResult plan = planFor(text, request);
  INFO(plan.summary() + "\n" + placementsOf(plan));
  CHECK(plan.plan.mesh == "tp=2");
  OwningOpRef<ModuleOp> module = parse(text);
  for (const PlanResult::Named &named : plan.named)
    CHECK(plan.price.time() <= named.price.time() * (1 + 1e-9));
  CHECK(plan.price.weights < 0.51 * 2 * (4 * 768 * 768 + 2 * 768 * 3072) * 4.0);
  request.plan = "tp";
  PlanResult pairs = planFor(text, request);
  CHECK(placementsOf(pairs).find("layer.0.up=[_, tp]\n") != std::string::npos);
  CHECK(placementsOf(pairs).find("down") == std::string::npos);
  CHECK(placementsOf(pairs).find("out") == std::string::npos);
}

TEST_CASE("No named plan is cheaper than the one that is found") {
  for (const std::string &text :
       {mlp(512, 2048), transformer({1, 512, 8, 2048}), experts(), convolutions()})
    for (int64_t batch : {1, 8}) {
      int64_t ranks = batch == 1 ? 4 : 2;
      PlanRequest request;
      request.ranks = ranks;
      OwningOpRef<ModuleOp> module = parse(text);
      StringAttr first = symbolsOf(mainOf(*module)).getNames()[0];
      request.sizes[first.str()] = batch;
      PlanResult plan = planFor(*module, request);
      CHECK(plan.named.size() >= 6);
      for (const char *name : {"tp", "sp", "dp", "fsdp", "2d", "3d"}) {
        request.plan = name;
        INFO(name << " on " << ranks << " ranks: " << plan.summary());
        CHECK(plan.price.time() <= planFor(*module, request).price.time() * (1 + 1e-9));
      }
    }
}

TEST_CASE("No named plan is cheaper for BERT-base, on two, four and eight ranks") {
  OwningOpRef<ModuleOp> module = parse(transformer({12, 768, 12, 3072}));
  for (int64_t ranks : {2, 4, 8}) {
    PlanRequest request;
    request.ranks = ranks;
    PlanResult plan = planFor(*module, request);
    for (const char *name : {"tp", "sp", "dp", "fsdp", "2d", "3d"}) {
      request.plan = name;
      INFO(name << " on " << ranks << " ranks: " << plan.summary());
      CHECK(plan.price.time() <= planFor(*module, request).price.time() * (1 + 1e-9));
    }
  }
}

TEST_CASE("The same program gives the same plan, which costs what it says when it is given") {
  std::string text = transformer({4, 256, 4, 1024});
  PlanRequest request;
  request.ranks = 4;
  PlanResult plan = planFor(text, request), again = planFor(text, request);
  CHECK(plan.plan.str() == again.plan.str());
  CHECK(plan.summary() == again.summary());
  CHECK(priceByHand(text, plan, {}).time() <= plan.price.time() * (1 + 1e-9));
  llvm::Expected<RankPlan> read =
      readRankPlan(&context(), "# why\n\n" + plan.plan.str(), "plan.txt");
  REQUIRE(bool(read));
  CHECK(read->str() == plan.plan.str());
}

TEST_CASE("What is placed stays, and the rest follows") {
  PlanRequest request;
  request.mesh = "tp=2";
  request.placements = {"up=[tp, _]"};
  PlanResult plan = planFor(mlp(512, 2048), request);
  CHECK(plan.plan.placements.back() == "up=[tp, _]");
  CHECK(placementsOf(plan).find("up=[_, tp]") == std::string::npos);
}

TEST_CASE("A limit of memory is kept, or refused with the least that was found") {
  std::string text = mlp(512, 2048);
  double weights = 2 * 512 * 2048 * 4;
  PlanRequest request;
  request.ranks = 4;
  request.sizes = {{"n", 64}};
  request.memoryLimit = weights / 2;
  CHECK(planFor(text, request).price.memory() <= request.memoryLimit);
  request.memoryLimit = 1000;
  CHECK(refusalOf(text, request)
            .find("no plan does with 1000 B by one rank: the least that was found is ") == 0);
}

TEST_CASE("Ranks read parts of weights that they gather, and exchange nothing else") {
  std::string text = mlp(512, 2048);
  double weights = 2 * 512 * 2048 * 4;
  PlanRequest request;
  request.ranks = 4;
  request.sizes = {{"n", 64}};
  request.plan = "fsdp";
  request.links.others = {0, 1}; // a nanosecond for a byte
  PlanResult plan = planFor(text, request);
  CHECK(plan.plan.mesh == "dp=4");
  CHECK(placementsOf(plan).find("up=[_, dp*]\n") != std::string::npos);
  CHECK(placementsOf(plan).find("down=[_, dp*]\n") != std::string::npos);
  CHECK(plan.price.weights == weights / 4);
  double results = 16 * 512 * 4; // which the caller gets whole
  CHECK(plan.price.exchanges == 3 * (meeting + weights / 4 + results));
}

TEST_CASE("What is gathered is looked for where memory is short, and not else") {
  std::string text = mlp(512, 2048);
  PlanRequest request;
  request.mesh = "dp=4";
  request.placements = {"x=[dp, _]"};
  request.sizes = {{"n", 4096}};
  request.links.others = {1e9, 1e-3}; // slow: whoever can leaves ranks alone
  CHECK(placementsOf(planFor(text, request)).find('*') == std::string::npos);
  PlanResult whole = planFor(text, request);
  request.memoryLimit = whole.price.memory() - 512 * 2048;
  PlanResult parts = planFor(text, request);
  CHECK(parts.price.memory() <= request.memoryLimit);
  CHECK(placementsOf(parts).find("dp*") != std::string::npos);
}

TEST_CASE("Plans that make no sense are refused") {
  auto refusal = [](auto set) {
    PlanRequest request;
    set(request);
    return refusalOf(mlp(64, 128), request);
  };
  CHECK(refusal([](PlanRequest &) {}) == "plan 'auto' needs a number of ranks, or a mesh");
  CHECK(refusal([](PlanRequest &r) { r.ranks = 2, r.plan = "pp"; }) ==
        "there is no plan 'pp': there are auto, tp, sp, dp, fsdp, 2d, 3d and files");
  CHECK(refusal([](PlanRequest &r) { r.mesh = "tp=2", r.plan = "2d"; }) ==
        "plan '2d' is for meshes of 2 axes, but 'tp=2' has 1");
  CHECK(refusal([](PlanRequest &r) { r.mesh = "tp=2", r.ranks = 3; }) ==
        "mesh 'tp=2' has 2 ranks, not 3");
  CHECK(refusal([](PlanRequest &r) { r.mesh = "tp"; }) ==
        "mesh 'tp': 'tp' is no axis with its size, such as tp=2");
  CHECK(refusal([](PlanRequest &r) { r.ranks = 2, r.sizes["z"] = 1; }) ==
        "the program has no size 'z'");
}

TEST_CASE("A file of a plan says which line is wrong") {
  auto errorOf = [](const char *text) {
    return llvm::toString(readRankPlan(&context(), text, "p").takeError());
  };
  CHECK(errorOf("mesh tp=2\nplaces x=[tp]\n") == "p:2: 'places' is neither 'mesh' nor 'place'");
  CHECK(errorOf("# none\n") == "p: has no mesh");
  CHECK(errorOf("place x=[tp]\n") == "p:1: a placement before the mesh");
  CHECK(errorOf("mesh tp=2\n\nplace x=[dp]") == "p:3: mesh 'tp=2' has no axis 'dp'");
  CHECK(errorOf("mesh tp=2\nplace x") == "p:2: 'x' is no name with a placement, such as w=[tp, _]");
  CHECK(errorOf("mesh tp=2\nmesh dp=2") == "p:2: a second mesh");
  CHECK(errorOf("mesh tp=2,tp=2") == "p:1: mesh 'tp=2,tp=2': axis 'tp' is there twice");
}

TEST_CASE("Links are read") {
  Links links;
  REQUIRE(!readLink("2GB/s,20us", links));
  REQUIRE(!readLink("dp=500MB/s, 1ms", links));
  CHECK(links.others.latency == 20000);
  CHECK(links.others.bytesPerNanosecond == 2);
  CHECK(links.axes["dp"].latency == 1e6);
  CHECK(links.axes["dp"].bytesPerNanosecond == 0.5);
  for (const char *text : {"", "2GB/s", "2,20us", "-2GB/s,20us", "=2GB/s,20us", "0GB/s,1us"})
    CHECK(llvm::toString(readLink(text, links)).find("is no bandwidth with a latency") !=
          std::string::npos);
}

TEST_CASE("A hundred layers are planned for eight ranks in seconds") {
  OwningOpRef<ModuleOp> module = parse(transformer({100, 768, 12, 3072}));
  auto begin = std::chrono::steady_clock::now();
  PlanRequest request;
  request.ranks = 8;
  PlanResult plan = planFor(*module, request);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  INFO(plan.summary());
  CHECK(seconds < 30); // 10 on a machine that does nothing else
  CHECK(plan.plan.placements.size() >= 100);
}
