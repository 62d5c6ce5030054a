//===- ranks_test.cpp - Programs over ranks, compiled and run by threads ------------------------------===//
//
// Every collective, on one to four ranks and at sizes that do not divide, gives on every rank the bits that the evaluator gives; so do the
// program's plan, and programs in which collectives stand between kernels, in branches and in loops.
//===------------------------------------------------------------------------------------------===//

#include "compiler/model/ModuleImpl.h"
#include "dialects/weft/Mesh.h"
#include "test/support/RankProgram.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

/// "n, 3" -> "!weft.tensor<[n, 3], f32>"
std::string tensor(const std::string &dims) { return "!weft.tensor<[" + dims + "], f32>"; }

std::string signature(const std::vector<std::string> &operands, const std::string &result) {
  std::string text;
  for (const std::string &dims : operands)
    text += (text.empty() ? "" : ", ") + tensor(dims);
  return " : (" + text + ") -> " + tensor(result) + "\n";
}

/// A line "%name = weft.op : types".
std::string line(const std::string &name, const std::string &op, const std::string &dims,
                 const std::string &result) {
  return "  %" + name + " = weft." + op + signature({dims}, result);
}

/// `body` makes %y of what differs between ranks: %own, which is %x and the place of the rank, also in %place.
std::string program(int ranks, const std::string &dims, const std::string &result,
                    const std::string &body) {
  return "func.func @main(%x: " + tensor(dims) + ") -> " + tensor(result) +
         " attributes {weft.mesh = #weft.mesh<tp = " + std::to_string(ranks) +
         ">, weft.symbols = #weft.symbols<n, rank_tp : \"rank_tp <= " + std::to_string(ranks - 1) +
         "\">} {\n"
         "  %i = weft.dims_value [rank_tp] : !weft.tensor<[], i64>\n"
         "  %place = weft.convert %i to f32 : (!weft.tensor<[], i64>) -> !weft.tensor<[], f32>\n" +
         line("e", "expand %place to [" + dims + "]", "", dims) + "  %own = weft.add %x, %e" +
         signature({dims, dims}, dims) + body + "  return %y : " + tensor(result) + "\n}";
}

std::string over(int ranks) { return " over<tp = " + std::to_string(ranks) + ">"; }

/// Expressions are written as the dialect writes them.
std::string partOf(const std::string &extent, int ranks, bool begin = false) {
  static std::shared_ptr<Module::Impl> impl = Module::Impl::create("parts");
  mlir::MLIRContext *context = impl->context.get();
  SymExpr whole = extent == "n" ? SymExpr::symbol(context, "n")
                                : SymExpr::constant(context, std::stoll(extent)),
          place = SymExpr::symbol(context, "rank_tp");
  return (begin ? partBegin(whole, ranks, place) : partSize(whole, ranks, place)).str();
}

/// %cut is the own part of %own, of [n, 3] or [3, n], along n.
std::string cut(int ranks, bool alongFirst) {
  std::string begin = partOf("n", ranks, true), size = partOf("n", ranks);
  std::string dims = alongFirst ? size + ", 3" : "3, " + size;
  return line("cut",
              "slice %own from [" + (alongFirst ? begin + ", 0" : "0, " + begin) + "] size [" +
                  dims + "] step [1, 1]",
              alongFirst ? "n, 3" : "3, n", dims);
}

void compare(RankProgram &program, int ranks, const std::vector<int64_t> &dims) {
  size_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  Values input = numbers(count);
  INFO("ranks " << ranks << ", " << dims[0] << " x " << dims[1]);
  std::vector<Traffic> sent, sentByPlan;
  std::optional<Values> expected = program.evaluate(dims, input, false, &sent),
                        planned = program.evaluate(dims, input, true, &sentByPlan);
  INFO(program.failure);
  REQUIRE(expected);
  CHECK(planned == expected);
  REQUIRE(sent.size() == sentByPlan.size());
  for (size_t i = 0; i < sent.size(); ++i)
    for (int rank = 0; rank < ranks; ++rank)
      CHECK(sent[i].ranks[rank].bytes == sentByPlan[i].ranks[rank].bytes);
  std::vector<Values> results = program.run(ranks, dims, input);
  INFO(program.failure);
  CHECK(program.failure.empty());
  for (const Values &result : results)
    CHECK(result == *expected);
}

} // namespace

/// On one to four ranks, with n at sizes that divide and that do not. `text` gets the number of ranks.
static void compareAll(const std::function<std::string(int)> &text, bool isFirst = true,
                       int64_t other = 3) {
  for (int ranks : {1, 2, 3, 4}) {
    RankProgram program(text(ranks));
    INFO(text(ranks) << "\n" << program.failure);
    REQUIRE(program.failure.empty());
    for (int64_t n : {0, 1, 5, 8})
      compare(program, ranks, {isFirst ? n : other, isFirst ? other : n});
  }
}

TEST_CASE("all_reduce gives all ranks the same") {
  for (std::string kind : {"sum", "prod", "max", "min"})
    compareAll([&](int ranks) {
      return program(ranks, "n, 3", "n, 3",
                     line("y", "all_reduce " + kind + " %own" + over(ranks), "n, 3", "n, 3"));
    });
}

TEST_CASE("all_gather puts parts together along any dimension") {
  for (bool first : {true, false})
    compareAll(
        [&](int ranks) {
          std::string size = partOf("n", ranks), whole = first ? "n, 3" : "3, n",
                      own = first ? size + ", 3" : "3, " + size, dim = first ? "0" : "1";
          return program(
              ranks, whole, whole,
              cut(ranks, first) +
                  line("y", "all_gather %cut dim " + dim + " to [n]" + over(ranks), own, whole));
        },
        first);
}

TEST_CASE("reduce_scatter gives every rank its part of the sum along any dimension") {
  for (bool first : {true, false})
    compareAll(
        [&](int ranks) {
          std::string size = partOf("n", ranks), whole = first ? "n, 3" : "3, n",
                      own = first ? size + ", 3" : "3, " + size, dim = first ? "0" : "1";
          return program(
              ranks, whole, whole,
              line("s", "reduce_scatter sum %own dim " + dim + over(ranks), whole, own) +
                  line("y", "all_gather %s dim " + dim + " to [n]" + over(ranks), own, whole));
        },
        first);
}

TEST_CASE("all_to_all splits along one dimension and joins along another, both ways") {
  for (bool first : {true, false})
    compareAll(
        [&](int ranks) {
          std::string size = partOf("n", ranks), other = partOf("3", ranks),
                      whole = first ? "n, 3" : "3, n", own = first ? size + ", 3" : "3, " + size,
                      turned = first ? "n, " + other : other + ", n",
                      ways = first ? " split 1 join 0 to [n]" : " split 0 join 1 to [n]";
          return program(ranks, whole, whole,
                         cut(ranks, first) +
                             line("t", "all_to_all %cut" + ways + over(ranks), own, turned) +
                             line("y",
                                  std::string("all_gather %t dim ") + (first ? "1" : "0") +
                                      " to [3]" + over(ranks),
                                  turned, whole));
        },
        first);
}

TEST_CASE("broadcast gives what one rank has") {
  compareAll([&](int ranks) {
    return program(ranks, "n, 3", "n, 3",
                   line("y", "broadcast %own from " + std::to_string(ranks - 1) + over(ranks),
                        "n, 3", "n, 3"));
  });
}

/// What the rank before sends, times the own place: the sum over ranks tells who got what.
TEST_CASE("permute gives what another rank has, also where ranks have other sizes") {
  compareAll([&](int ranks) {
    return program(ranks, "n, 3", "n, 3",
                   line("p", "permute %own by 1" + over(ranks), "n, 3", "n, 3") +
                       "  %w = weft.mul %p, %e" + signature({"n, 3", "n, 3"}, "n, 3") +
                       line("y", "all_reduce sum %w" + over(ranks), "n, 3", "n, 3"));
  });
  compareAll([&](int ranks) {
    auto impl = Module::Impl::create("parts");
    mlir::MLIRContext *context = impl->context.get();
    auto group = MeshAttr::get(context, {mlir::StringAttr::get(context, "tp")}, {ranks});
    SymExpr size = partSize(SymExpr::symbol(context, "n"), ranks, placeIn(group));
    std::string own = partOf("n", ranks) + ", 3",
                before =
                    atPlace(size, group, SymExpr::mod(placeIn(group) - 1, ranks)).str() + ", 3";
    return program(ranks, "n, 3", "3",
                   cut(ranks, true) + line("p", "permute %cut by 1" + over(ranks), own, before) +
                       line("s", "reduce sum %p [0]", before, "3") +
                       line("f", "expand %place to [3]", "", "3") + "  %w = weft.mul %s, %f" +
                       signature({"3", "3"}, "3") +
                       line("y", "all_reduce sum %w" + over(ranks), "3", "3"));
  });
}

TEST_CASE("groups along axes of a mesh: each axis alone, and places in the order in which axes are "
          "named") {
  std::string text =
      R"(func.func @main(%x: !weft.tensor<[n, 3], f32>) -> !weft.tensor<[4, n, 3], f32>
    attributes {weft.mesh = #weft.mesh<dp = 2, tp = 2>, weft.symbols = #weft.symbols<n, rank_dp, rank_tp : "rank_dp <= 1", "rank_tp <= 1">} {
  %i = weft.dims_value [10*rank_dp + rank_tp] : !weft.tensor<[], i64>
  %place = weft.convert %i to f32 : (!weft.tensor<[], i64>) -> !weft.tensor<[], f32>
  %e = weft.expand %place to [n, 3] : (!weft.tensor<[], f32>) -> !weft.tensor<[n, 3], f32>
  %own = weft.add %x, %e : (!weft.tensor<[n, 3], f32>, !weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
  %t = weft.permute %own by 1 over<tp = 2> : (!weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
  %d = weft.all_reduce max %t over<dp = 2> : (!weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
  %s = weft.sub %own, %d : (!weft.tensor<[n, 3], f32>, !weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
  %one = weft.reshape %s to [1, n, 3] : (!weft.tensor<[n, 3], f32>) -> !weft.tensor<[1, n, 3], f32>
  %y = weft.all_gather %one dim 0 to [4] over<tp = 2, dp = 2> : (!weft.tensor<[1, n, 3], f32>) -> !weft.tensor<[4, n, 3], f32>
  return %y : !weft.tensor<[4, n, 3], f32>
})";
  RankProgram program(text);
  INFO(program.failure);
  REQUIRE(program.failure.empty());
  for (int64_t n : {0, 1, 5})
    compare(program, 4, {n, 3});
}

TEST_CASE("collectives in branches and loops that all ranks enter alike") {
  std::string text = R"(func.func @main(%x: !weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
    attributes {weft.mesh = #weft.mesh<tp = 3>, weft.symbols = #weft.symbols<n, rank_tp bound i : "rank_tp <= 2", "i <= 4">} {
  %p = weft.dims_value [rank_tp] : !weft.tensor<[], i64>
  %place = weft.convert %p to f32 : (!weft.tensor<[], i64>) -> !weft.tensor<[], f32>
  %e = weft.expand %place to [n, 3] : (!weft.tensor<[], f32>) -> !weft.tensor<[n, 3], f32>
  %sum = weft.loop "i" trips [4] (%x) : (!weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32> {
  ^bb0(%now: !weft.tensor<[n, 3], f32>):
    %own = weft.add %now, %e : (!weft.tensor<[n, 3], f32>, !weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
    %next = weft.all_reduce sum %own over<tp = 3> : (!weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
    weft.yield %next : !weft.tensor<[n, 3], f32>
  }
  %size = weft.dims_value [n] : !weft.tensor<[], i64>
  %four = weft.fill 4 : i64 -> !weft.tensor<[], i64>
  %c = weft.compare lt %size, %four : (!weft.tensor<[], i64>, !weft.tensor<[], i64>) -> !weft.tensor<[], i1>
  %y = weft.if %c : (!weft.tensor<[], i1>) -> !weft.tensor<[n, 3], f32> {
    %own = weft.add %sum, %e : (!weft.tensor<[n, 3], f32>, !weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
    %all = weft.broadcast %own from 2 over<tp = 3> : (!weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
    weft.yield %all : !weft.tensor<[n, 3], f32>
  } else {
    %less = weft.neg %sum : (!weft.tensor<[n, 3], f32>) -> !weft.tensor<[n, 3], f32>
    weft.yield %less : !weft.tensor<[n, 3], f32>
  }
  return %y : !weft.tensor<[n, 3], f32>
})";
  RankProgram program(text);
  INFO(program.failure);
  REQUIRE(program.failure.empty());
  for (int64_t n : {0, 1, 5})
    compare(program, 3, {n, 3});
}

/// %x through an element type, combined there.
static std::string combinedAs(const std::string &element, const std::string &kind) {
  std::string wide = tensor("n, 3"), narrow = "!weft.tensor<[n, 3], " + element + ">";
  return program(2, "n, 3", "n, 3",
                 "  %a = weft.convert %own to " + element + " : (" + wide + ") -> " + narrow +
                     "\n  %b = weft.all_reduce " + kind + " %a" + over(2) + " : (" + narrow +
                     ") -> " + narrow + "\n  %y = weft.convert %b to f32 : (" + narrow + ") -> " +
                     wide + "\n");
}

TEST_CASE("numbers of every type are combined") {
  for (std::string element : {"f64", "f16", "bf16", "i64", "i32", "i16", "i8"})
    for (std::string kind : {"sum", "max"}) {
      RankProgram program(combinedAs(element, kind));
      INFO(element << " " << kind << ": " << program.failure);
      REQUIRE(program.failure.empty());
      compare(program, 2, {5, 3});
    }
  for (std::string kind : {"and", "or", "max"}) {
    RankProgram program(combinedAs("i1", kind));
    INFO(kind << ": " << program.failure);
    REQUIRE(program.failure.empty());
    compare(program, 2, {5, 3});
  }
}

TEST_CASE("what the runtime cannot combine is refused when compiling") {
  CHECK(RankProgram(combinedAs("i32", "and")).failure ==
        "'weft.all_reduce' op cannot combine 'i32' in this way in compiled programs");
}
