// Programs over ranks: what each collective gives, what is counted, what is refused, and that they print as they are read.
#include "dialects/weft/Mesh.h"
#include "dialects/weft/ops/Collective.h"
#include "mlir/AsmParser/AsmParser.h"
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;
using Catch::Matchers::Contains;

namespace {

/// A function of one input and one output of these types over a mesh. `body` makes %y of %x.
std::string program(const std::string &mesh, const std::string &input, const std::string &output,
                    const std::string &body, const std::string &symbols = "n") {
  std::string ranks;
  for (const char *axis : {"dp", "tp"})
    if (mesh.find(axis) != std::string::npos)
      ranks += std::string(ranks.empty() && symbols.empty() ? "" : ", ") + "rank_" + axis;
  return "func.func @main(%x: !weft.tensor<" + input + ">) -> !weft.tensor<" + output +
         "> attributes {weft.mesh = #weft.mesh<" + mesh + ">, weft.symbols = #weft.symbols<" +
         symbols + ranks + ">} {\n" + body + "\n  return %y : !weft.tensor<" + output + ">\n}\n";
}

std::string type(const std::string &text) { return "!weft.tensor<" + text + ">"; }

/// The part of dimension `n` over so many ranks of `tp`.
std::string partOfN(int ranks) {
  SymExpr n = SymExpr::symbol(&context(), "n"), place = SymExpr::symbol(&context(), "rank_tp");
  return partSize(n, ranks, place).str();
}

/// Own rows of %x, of [n, 2].
std::string ownRows(int ranks) {
  SymExpr n = SymExpr::symbol(&context(), "n"), place = SymExpr::symbol(&context(), "rank_tp");
  return "  %own = weft.slice %x from [" + partBegin(n, ranks, place).str() + ", 0] size [" +
         partOfN(ranks) + ", 2] step [1, 1] : (" + type("[n, 2], f32") + ") -> " +
         type("[" + partOfN(ranks) + ", 2], f32") + "\n";
}

struct Outcome {
  std::vector<double> values;
  std::vector<Traffic> traffic;
};

/// What all ranks compute of an input with these elements; throws what refuses or fails.
Outcome evaluateOnAll(const std::string &text, llvm::ArrayRef<int64_t> dims,
                      const std::vector<double> &elements) {
  std::string error;
  auto module = parse(text, error);
  if (!module)
    throw std::runtime_error(error);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  RefTensor input(mlir::cast<SymTensorType>(function.getArgumentTypes()[0]).getElementType(), dims);
  for (size_t i = 0; i < elements.size(); ++i)
    input.set(i, input.kind == Scalar::Real ? Scalar::of(elements[i])
                                            : Scalar::of(int64_t(elements[i])));
  Outcome outcome;
  EvaluateOptions options;
  options.traffic = &outcome.traffic;
  auto results = evaluateFunction(function, {input}, options);
  if (!results)
    throw std::runtime_error(llvm::toString(results.takeError()));
  for (int64_t i = 0; i < results->front().size(); ++i)
    outcome.values.push_back(results->front().at(i).asReal());
  // The formulas say what was counted, on every rank.
  MeshAttr mesh = meshOf(function);
  for (int64_t rank = 0; rank < mesh.getRanks(); ++rank) {
    SymValues values = rankValues(mesh, rank);
    values[mlir::StringAttr::get(&context(), "n")] = dims.empty() ? 0 : dims[0];
    int64_t bytes = 0, messages = 0, countedBytes = 0, countedMessages = 0;
    function.walk([&](CollectiveOpInterface op) {
      auto loop = op->getParentOfType<LoopOp>();
      int64_t times = loop ? *loop.getTrips()[0].evaluate(values) : 1;
      bytes += times * *op.sentBytes().evaluate(values);
      messages += times * *op.sentMessages().evaluate(values);
    });
    for (const Traffic &axes : outcome.traffic) {
      countedBytes += axes.ranks[rank].bytes;
      countedMessages += axes.ranks[rank].messages;
    }
    CHECK(countedBytes == bytes);
    CHECK(countedMessages == messages);
  }
  return outcome;
}

std::vector<double> upTo(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(double(i));
  return values;
}

/// Adds the rank's place to each of three elements.
std::string plusPlace(const std::string &axis) {
  return "  %place = weft.dims_value [rank_" + axis + "] : " + type("[1], i64") +
         "\n  %p = weft.convert %place to f32 : (" + type("[1], i64") + ") -> " + type("[1], f32") +
         "\n  %e = weft.expand %p to [3] : (" + type("[1], f32") + ") -> " + type("[3], f32") +
         "\n  %own = weft.add %x, %e : (" + type("[3], f32") + ", " + type("[3], f32") + ") -> " +
         type("[3], f32") + "\n";
}

std::string onOwn(const std::string &op, const std::string &dims = "[3]") {
  return "  %y = weft." + op + " : (" + type("[3], f32") + ") -> " + type(dims + ", f32");
}

} // namespace

TEST_CASE("parts cover a dimension, the last ones smaller or empty") {
  SymExpr n = SymExpr::symbol(&context(), "n"), r = SymExpr::symbol(&context(), "r");
  for (int64_t ranks : {1, 2, 3, 4, 8})
    for (int64_t extent : {0, 1, 2, 3, 7, 8, 9, 31}) {
      int64_t at = 0;
      for (int64_t place = 0; place < ranks; ++place) {
        Part part = partOf(extent, ranks, place);
        CHECK(part.begin == std::min(at, extent));
        CHECK(part.size() <= (extent + ranks - 1) / ranks);
        at = part.end;
        SymValues values{{n.asSymbol(), extent}, {r.asSymbol(), place}};
        CHECK(*partBegin(n, ranks, r).evaluate(values) == part.begin);
        CHECK(*partSize(n, ranks, r).evaluate(values) == part.size());
      }
      CHECK(at == extent);
    }
}

TEST_CASE("a dimension that divides has parts that say nothing of ranks") {
  SymExpr n = SymExpr::symbol(&context(), "n"), r = SymExpr::symbol(&context(), "r");
  CHECK(partSize(n * 4, 4, r) == n);
  CHECK(partBegin(n * 4, 4, r) == n * r);
  CHECK(partSize(SymExpr::constant(&context(), 768), 2, r).isConstant(384));
}

TEST_CASE("groups are the ranks that differ along their axes alone") {
  std::string error;
  auto mesh = mlir::cast<MeshAttr>(mlir::parseAttribute("#weft.mesh<dp = 2, tp = 3>", &context()));
  auto over = [&](const char *text) {
    std::vector<std::vector<int64_t>> all;
    auto group = mlir::cast<MeshAttr>(mlir::parseAttribute(text, &context()));
    for (auto &members : groupsOf(mesh, group))
      all.emplace_back(members.begin(), members.end());
    return all;
  };
  using Groups = std::vector<std::vector<int64_t>>;
  CHECK(over("#weft.mesh<tp = 3>") == Groups{{0, 1, 2}, {3, 4, 5}});
  CHECK(over("#weft.mesh<dp = 2>") == Groups{{0, 3}, {1, 4}, {2, 5}});
  CHECK(over("#weft.mesh<dp = 2, tp = 3>") == Groups{{0, 1, 2, 3, 4, 5}});
  CHECK(over("#weft.mesh<tp = 3, dp = 2>") == Groups{{0, 3, 1, 4, 2, 5}});
}

TEST_CASE("all_reduce combines what ranks have, in the order of places") {
  auto run = [](const std::string &kind) {
    return evaluateOnAll(
        program("tp = 4", "[3], f32", "[3], f32",
                plusPlace("tp") + onOwn("all_reduce " + kind + " %own over<tp = 4>"), ""),
        {3}, {1, 2, 3});
  };
  CHECK(run("sum").values == std::vector<double>{10, 14, 18});
  CHECK(run("max").values == std::vector<double>{4, 5, 6});
  CHECK(run("min").values == std::vector<double>{1, 2, 3});
  CHECK(run("prod").values == std::vector<double>{24, 120, 360});
  std::vector<Traffic> traffic = run("sum").traffic;
  REQUIRE(traffic.size() == 1);
  CHECK(traffic[0].axes == "tp");
  CHECK(traffic[0].ranks[0].bytes == 4 * (2 + 3)); // two of three elements to others, own to three
  CHECK(traffic[0].ranks[3].bytes == 4 * 3);       // its part is empty
  CHECK(traffic[0].ranks[0].messages == 6);
}

TEST_CASE("along two axes, and one after the other, sums are those of all ranks") {
  std::string both = "all_reduce sum %own over<dp = 2, tp = 2>";
  CHECK(evaluateOnAll(
            program("dp = 2, tp = 2", "[3], f32", "[3], f32", plusPlace("dp") + onOwn(both), ""),
            {3}, {0, 1, 2})
            .values == std::vector<double>{2, 6, 10});
  std::string nested = "  %z = weft.all_reduce sum %own over<tp = 2> : (" + type("[3], f32") +
                       ") -> " + type("[3], f32") +
                       "\n  %y = weft.all_reduce sum %z over<dp = 2> : (" + type("[3], f32") +
                       ") -> " + type("[3], f32");
  Outcome outcome =
      evaluateOnAll(program("dp = 2, tp = 2", "[3], f32", "[3], f32", plusPlace("dp") + nested, ""),
                    {3}, {0, 1, 2});
  CHECK(outcome.values == std::vector<double>{2, 6, 10});
  REQUIRE(outcome.traffic.size() == 2);
  CHECK(outcome.traffic[1].axes == "dp");
}

TEST_CASE("slices by rank and all_gather give the whole again, at any size") {
  for (int ranks : {1, 2, 3, 4, 8})
    for (int64_t n : {0, 1, 3, 7, 8, 17}) {
      std::string tp = std::to_string(ranks);
      std::string text = program(
          "tp = " + tp, "[n, 2], f32", "[n, 2], f32",
          ownRows(ranks) + "  %y = weft.all_gather %own dim 0 to [n] over<tp = " + tp + "> : (" +
              type("[" + partOfN(ranks) + ", 2], f32") + ") -> " + type("[n, 2], f32"));
      INFO(text);
      CHECK(evaluateOnAll(text, {n, 2}, upTo(2 * n)).values == upTo(2 * n));
    }
}

TEST_CASE("reduce_scatter and all_gather are all_reduce") {
  for (int64_t n : {1, 3, 8, 9}) {
    std::string part = type("[" + partOfN(4) + ", 2], f32"), whole = type("[n, 2], f32");
    std::string text = program(
        "tp = 4", "[n, 2], f32", "[n, 2], f32",
        "  %s = weft.reduce_scatter sum %x dim 0 over<tp = 4> : (" + whole + ") -> " + part +
            "\n  %y = weft.all_gather %s dim 0 to [n] over<tp = 4> : (" + part + ") -> " + whole);
    std::vector<double> expected = upTo(2 * n);
    for (double &value : expected)
      value *= 4;
    CHECK(evaluateOnAll(text, {n, 2}, upTo(2 * n)).values == expected);
  }
}

TEST_CASE("all_to_all moves the split from rows to columns") {
  for (int64_t n : {1, 4, 7}) {
    std::string rows = type("[" + partOfN(2) + ", 2], f32"), columns = type("[n, 1], f32");
    std::string text = program(
        "tp = 2", "[n, 2], f32", "[n, 2], f32",
        ownRows(2) + "  %c = weft.all_to_all %own split 1 join 0 to [n] over<tp = 2> : (" + rows +
            ") -> " + columns + "\n  %y = weft.all_gather %c dim 1 to [2] over<tp = 2> : (" +
            columns + ") -> " + type("[n, 2], f32"));
    CHECK(evaluateOnAll(text, {n, 2}, upTo(2 * n)).values == upTo(2 * n));
  }
}

TEST_CASE("broadcast gives all what one has") {
  CHECK(evaluateOnAll(program("tp = 3", "[3], f32", "[3], f32",
                              plusPlace("tp") + onOwn("broadcast %own from 2 over<tp = 3>"), ""),
                      {3}, {0, 1, 2})
            .values == std::vector<double>{2, 3, 4});
}

TEST_CASE("permute goes around, and parts keep the size of where they came from") {
  std::string own = partOfN(3), from;
  {
    SymExpr place = SymExpr::symbol(&context(), "rank_tp"), n = SymExpr::symbol(&context(), "n");
    from = partSize(n, 3, SymExpr::mod(place - 1, 3)).str();
  }
  for (int64_t n : {1, 4, 7}) {
    std::string text =
        program("tp = 3", "[n, 2], f32", "[n, 2], f32",
                ownRows(3) + "  %1 = weft.permute %own by 1 over<tp = 3> : (" +
                    type("[" + own + ", 2], f32") + ") -> " + type("[" + from + ", 2], f32") +
                    "\n  %2 = weft.permute %1 by 2 over<tp = 3> : (" +
                    type("[" + from + ", 2], f32") + ") -> " + type("[" + own + ", 2], f32") +
                    "\n  %y = weft.all_gather %2 dim 0 to [n] over<tp = 3> : (" +
                    type("[" + own + ", 2], f32") + ") -> " + type("[n, 2], f32"));
    INFO(text);
    CHECK(evaluateOnAll(text, {n, 2}, upTo(2 * n)).values == upTo(2 * n));
  }
}

TEST_CASE("ranks that give other results are an error") {
  std::string text = program("tp = 2", "[3], f32", "[3], f32",
                             plusPlace("tp") + onOwn("permute %own by 1 over<tp = 2>"), "");
  CHECK_THROWS_WITH(evaluateOnAll(text, {3}, {1, 2, 3}),
                    "output 'output0' differs between ranks 0 and 1: element 0 is 2.000000 and "
                    "1.000000");
}

namespace {

/// Ranks come to a sum in one branch of the condition %c, which `before` makes.
std::string sumInBranch(const std::string &before) {
  return program("tp = 2", "[3], f32", "[3], f32", before + R"(
  %y = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[3], f32> {
    %r = weft.all_reduce sum %x over<tp = 2> : (!weft.tensor<[3], f32>) -> !weft.tensor<[3], f32>
    weft.yield %r : !weft.tensor<[3], f32>
  } else {
    weft.yield %x : !weft.tensor<[3], f32>
  })",
                 "");
}

/// Whether the sum of a value is positive, as %c.
std::string isPositive(const std::string &value) {
  return "  %s = weft.reduce sum %" + value + " [0] : (" + type("[3], f32") + ") -> " +
         type("[], f32") + "\n  %zero = weft.constant dense<0.0> : tensor<f32> -> " +
         type("[], f32") + "\n  %c = weft.compare gt %s, %zero : (" + type("[], f32") + ", " +
         type("[], f32") + ") -> " + type("[], i1");
}

std::string given(const std::string &name, const std::string &op) {
  return "  %" + name + " = weft." + op + " over<tp = 2> : (" + type("[3], f32") + ") -> " +
         type("[3], f32") + "\n";
}

} // namespace

TEST_CASE("a collective is where all ranks of its group come to") {
  // mesh (R3)
  Refusal refusal = refusalOfText(sumInBranch(plusPlace("tp") + isPositive("own")));
  CHECK(refusal.error == "'weft.all_reduce' op may not be reached by all ranks along 'tp'");
  REQUIRE(refusal.notes.size() == 1);
  CHECK_THAT(refusal.notes[0], Contains("what decides here may differ between them"));
  CHECK(evaluateOnAll(sumInBranch(isPositive("x")), {3}, {1, 2, 3}).values ==
        std::vector<double>{2, 4, 6});
  for (const char *same : {"all_reduce max %own", "broadcast %own from 1"})
    CHECK(refusalOfText(sumInBranch(plusPlace("tp") + given("same", same) + isPositive("same")))
              .error == "");
  std::string turned = given("turned", "permute %own by 1");
  CHECK_THAT(refusalOfText(sumInBranch(plusPlace("tp") + turned + isPositive("turned"))).error,
             Contains("may not be reached by all ranks"));
}

TEST_CASE("a loop that ranks run for other numbers of turns has no collective") {
  auto loop = [](const std::string &trips) {
    std::string tensor = type("[3], f32");
    return "func.func @main(%x: " + tensor + ") -> " + tensor +
           " attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<rank_tp "
           "bound i>} {\n  %y = weft.loop \"i\" trips [" +
           trips + "] (%x) : (" + tensor + ") -> " + tensor + " {\n  ^bb0(%v: " + tensor +
           "):\n    %r = weft.all_reduce sum %v over<tp = 2> : (" + tensor + ") -> " + tensor +
           "\n    weft.yield %r : " + tensor + "\n  }\n  return %y : " + tensor + "\n}\n";
  };
  CHECK(evaluateOnAll(loop("2"), {3}, {1, 2, 3}).values == std::vector<double>{4, 8, 12});
  CHECK(refusalOfText(loop("rank_tp + 1")).error ==
        "'weft.all_reduce' op may not be reached by all ranks along 'tp'");
}

TEST_CASE("sizes that data decide are the same for all ranks of a collective") {
  // mesh (R4)
  auto sumOfFirst = [](const std::string &count) {
    return "func.func @main(%x: " + type("[3], f32") + ", %n: " + type("[], i64") + ") -> " +
           type("[], f32") +
           " attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<rank_tp "
           "bound u : \"u <= 3\">} {\n  %place = weft.dims_value [rank_tp] : " +
           type("[], i64") + "\n  weft.bind \"u\" " + count + " : " + type("[], i64") +
           "\n  %f = weft.slice %x from [0] size [u] step [1] : (" + type("[3], f32") + ") -> " +
           type("[u], f32") + "\n  %a = weft.all_reduce sum %f over<tp = 2> : (" +
           type("[u], f32") + ") -> " + type("[u], f32") + "\n  %y = weft.reduce sum %a [0] : (" +
           type("[u], f32") + ") -> " + type("[], f32") + "\n  return %y : " + type("[], f32") +
           "\n}\n";
  };
  CHECK(refusalOfText(sumOfFirst("%n")).error == "");
  CHECK(refusalOfText(sumOfFirst("%place")).error ==
        "'weft.all_reduce' op has an operand of size u, but data decide 'u', and ranks along 'tp' "
        "may have others");
}

TEST_CASE("programs over ranks print as they are read") {
  std::string error, once, twice;
  std::string text =
      program("dp = 2, tp = 4", "[n, 2], f32", "[n, 2], f32",
              ownRows(4) + "  %y = weft.all_gather %own dim 0 to [n] over<tp = 4> : (" +
                  type("[" + partOfN(4) + ", 2], f32") + ") -> " + type("[n, 2], f32"));
  for (std::string *to : {&once, &twice}) {
    auto module = parse(once.empty() ? text : once, error);
    INFO(error);
    REQUIRE(module);
    llvm::raw_string_ostream(*to) << *module;
  }
  CHECK(once == twice);
  CHECK_THAT(once, Contains("over<tp = 4>") && Contains("#weft.mesh<dp = 2, tp = 4>"));
}

TEST_CASE("what meshes and collectives refuse") {
  auto refused = [](const std::string &mesh, const std::string &op,
                    const std::string &input = "[3], f32", const std::string &output = "[3], f32") {
    std::string body = "  %y = weft." + op + " : (" + type(input) + ") -> " + type(output);
    return refusalOfText(program(mesh, input, output, body)).error;
  };
  CHECK(refused("tp = 2", "all_reduce sum %x over<tp = 2>") == "");
  // mesh (R1)
  CHECK(refused("tp = 2, tp = 2", "all_reduce sum %x over<tp = 2>") == "axis 'tp' is there twice");
  CHECK(refused("tp = 0", "all_reduce sum %x over<tp = 2>") == "axis 'tp' has 0 ranks");
  CHECK(refused("dp = 65536, tp = 2", "all_reduce sum %x over<tp = 2>") ==
        "a mesh has at most 65536 ranks");
  // mesh (R2)
  CHECK(refused("tp = 2", "all_reduce sum %x over<dp = 2>") ==
        "'weft.all_reduce' op is over axis 'dp', which #weft.mesh<tp = 2> does not have");
  CHECK(refused("tp = 2", "all_reduce sum %x over<tp = 4>") ==
        "'weft.all_reduce' op is over 4 ranks of axis 'tp', but #weft.mesh<tp = 2> has 2");
  CHECK_THAT(refusal("all_reduce sum %a over<tp = 2>", {"[3], f32"}, {"[3], f32"}),
             Contains("stands in a function without 'weft.mesh'"));
  // all_reduce (R1), reduce_scatter (R1)
  std::string part = "[" + partOfN(2) + "], f32";
  CHECK_THAT(refused("tp = 2", "all_reduce sum %x over<tp = 2>", part, part),
             Contains("needs operands of one size on all ranks of the group, but dimension 0 is "));
  CHECK(refused("tp = 2", "all_reduce and %x over<tp = 2>") ==
        "'weft.all_reduce' cannot combine 'f32' by 'and'");
  CHECK_THAT(refused("tp = 2", "all_reduce sum %x over<tp = 2>", "[3], i4", "[3], i4"),
             Contains("cannot send elements that share bytes"));
  CHECK_THAT(refused("tp = 2", "reduce_scatter sum %x dim 1 over<tp = 2>"),
             Contains("has no dimension 1 in"));
  // all_gather (R1)
  CHECK_THAT(refused("tp = 2", "all_gather %x dim 0 to [n] over<tp = 2>"),
             Contains("joins parts of n, which are ") && Contains("but dimension 0 is 3"));
  CHECK_THAT(refused("tp = 2", "all_gather %x dim 2 to [n] over<tp = 2>"),
             Contains("has no dimension 2 in"));
  // all_gather (R2)
  CHECK_THAT(refused("tp = 2", "all_gather %x dim 0 to [n, 2] over<tp = 2>"),
             Contains("needs one size that all ranks of the group have"));
  // all_to_all (R1)
  CHECK_THAT(refused("tp = 2", "all_to_all %x split 0 join 0 to [n] over<tp = 2>"),
             Contains("splits dimension 0 and joins dimension 0 of"));
  // all_to_all (R2)
  CHECK_THAT(refused("tp = 2", "all_to_all %x split 1 join 0 to [rank_tp] over<tp = 2>",
                     "[3, 2], f32", "[3, 1], f32"),
             Contains("needs one size that all ranks of the group have"));
  // broadcast (R1)
  CHECK(refused("tp = 2", "broadcast %x from 2 over<tp = 2>") ==
        "'weft.broadcast' has no place 2 among 2 ranks");
  // permute (R1)
  CHECK(refused("tp = 2", "permute %x by 2 over<tp = 2>") ==
        "'weft.permute' by 2 among 2 ranks is no step of a ring");
  CHECK_THAT(refusalOfText("func.func @main() attributes {weft.mesh = 3} { return }").error,
             Contains("is an attribute of a function and holds #weft.mesh<...>"));
  // mesh (R5)
  std::string wrong =
      program("tp = 4", "[3], f32", "[3], f32", onOwn("all_reduce sum %x over<tp = 4>"), "n");
  size_t end = wrong.find("rank_tp>") + 7;
  CHECK(refusalOfText(wrong.insert(end, " : \"rank_tp <= 2\"")).error ==
        "fact 'rank_tp <= 2' does not hold on rank 3 of #weft.mesh<tp = 4>");
}

TEST_CASE("placements are of what they are said of, along axes that there are") {
  auto refused = [](const std::string &placement, const std::string &element = "f32",
                    const std::string &function = "weft.split_over = #weft.mesh<tp = 2>") {
    return refusalOfText("func.func @main(%x: " + type("[n, 4], " + element) +
                         " {weft.placement = " + placement + "}) attributes {" + function +
                         ", weft.symbols = #weft.symbols<n>} { return }")
        .error;
  };
  for (const char *right : {"[tp, _]", "[_, tp]", "[_, _]"})
    CHECK(refused("#weft.placement<" + std::string(right) + ">") == "");
  // placement (R1)
  CHECK(refused("#weft.placement<[tp]>") ==
        "placement [tp] has 1 dimensions, but the value is '!weft.tensor<[n, 4], f32>'");
  // placement (R2)
  CHECK(refused("#weft.placement<[tp, tp]>") == "placement [tp, tp] has axis 'tp' twice");
  CHECK(refused("#weft.placement<[dp, _]>") ==
        "placement [dp, _] has axis 'dp', which the function is not split over");
  // placement (R3)
  CHECK(refused("#weft.placement<[_, _]>", "f32",
                "weft.split_over = #weft.mesh<tp = 2>, weft.mesh = #weft.mesh<tp = 2>") ==
        "a function with 'weft.mesh' is not split once more");
  CHECK(refused("3") == "'weft.placement' is of a tensor and holds #weft.placement<...>");
  CHECK(refused("#weft.placement<[_, _]>", "f32", "weft.split_over = 1") ==
        "'weft.split_over' is an attribute of a function and holds #weft.mesh<...>");
  // placement (R4)
  CHECK(refused("#weft.placement<[tp*, _]>") ==
        "placement [tp*, _] gathers what is no weight of whole bytes");
}

TEST_CASE("a part belongs to a whole") {
  auto refused = [](const std::string &type, const std::string &said) {
    return refusalOfText(
               "func.func @main(%x: !weft.tensor<" + type +
               "> {weft.placement = #weft.placement<[tp, _]>, " + said +
               "}) attributes {weft.mesh = #weft.mesh<tp = 2>, weft.symbols = #weft.symbols<n, "
               "rank_tp>} { return }")
        .error;
  };
  std::string whole = "weft.whole = !weft.tensor<[2*n, 4], f32>";
  CHECK(refused("[n, 4], f32", whole) == "");
  // placement (R5)
  CHECK(refused("[n, 4], f16", whole) ==
        "'weft.whole' is of a part with a placement, and holds the type of the whole, which "
        "'!weft.tensor<[n, 4], f16>' is no part of");
  CHECK(refused("[n, 2], f32", whole) ==
        "dimension 1 of '!weft.tensor<[n, 2], f32>' is not split, and another one than that of the "
        "whole, '!weft.tensor<[2*n, 4], f32>'");
  // placement (R6)
  CHECK(refused("[n, 4], i4", "weft.whole = !weft.tensor<[2*n, 4], i4>") ==
        "ranks cannot have parts of '!weft.tensor<[n, 4], i4>', which grows in place or shares "
        "bytes");
}
