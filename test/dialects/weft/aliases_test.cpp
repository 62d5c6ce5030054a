// Results that lie in the memory of an argument: what the dialect refuses, by the rules of
// Aliases.td, and what passes read.
#include "dialects/weft/Aliases.h"
#include "test/dialects/weft/Helpers.h"
#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::test;

namespace {

/// Text of a program that extends a buffer in place; each part can be replaced by one that is
/// wrong.
struct Program {
  std::string symbols = "b, p, s, room : \"p + s <= room\"";
  std::string buffer = "!weft.tensor<[b, room, 8], f32>", view = "#weft.dims<[b, p, 8]>";
  std::string result = "!weft.tensor<[b, room, 8], f32>";
  std::string aliases = "#weft.aliases<argument 1 seen [b, p + s, 8]>";
  std::string begin = "from [0, 0, 0] size [b, p, 8] step [1, 1, 1]", restOf = "%k";
  std::string rest = "from [0, p + s, 0] size [b, room - p - s, 8] step [1, 1, 1]";
  std::string concat = "%0, %x, %1 dim 1 {weft.in_place}", returned = "%2";

  std::string text() const {
    std::string past = "!weft.tensor<[b, p, 8], f32>", x = "!weft.tensor<[b, s, 8], f32>",
                more = "!weft.tensor<[b, room - p - s, 8], f32>";
    return "func.func @main(%x: " + x + ", %k: " + buffer + " {weft.view = " + view +
           "}, %o: " + buffer + ") -> (" + result + " {weft.aliases = " + aliases +
           "}) attributes {weft.symbols = #weft.symbols<" + symbols + ">} {\n" +
           "  %0 = weft.slice %k " + begin + " : (" + buffer + ") -> " + past + "\n" +
           "  %1 = weft.slice " + restOf + " " + rest + " : (" + buffer + ") -> " + more + "\n" +
           "  %2 = weft.concat " + concat + " : (" + past + ", " + x + ", " + more + ") -> " +
           buffer + "\n  return " + returned + " : " + result + "\n}\n";
  }
  std::string refusal() const {
    std::string error;
    parse(text(), error);
    return error;
  }
  /// With one part replaced.
  Program with(std::string Program::*part, std::string by) const {
    Program changed = *this;
    changed.*part = std::move(by);
    return changed;
  }
};

} // namespace

TEST_CASE("a program in place prints as it was read, and says what is written where") {
  std::string error;
  auto module = parse(Program().text(), error);
  REQUIRE(error == "");
  std::string once, again;
  llvm::raw_string_ostream(once) << *module;
  llvm::raw_string_ostream(again) << *parse(once, error);
  CHECK(once == again);
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  auto write = inPlaceWrite(function.front().getTerminator()->getOperand(0));
  REQUIRE(write);
  CHECK(write->buffer == function.getArgument(1));
  CHECK(write->part == function.getArgument(0));
  CHECK(write->dim == 1);
  CHECK(write->start.str() == "p");
  CHECK(roomDim(mlir::cast<SymTensorType>(write->buffer.getType()),
                function.getArgAttrOfType<DimsAttr>(1, kViewAttr)) == std::optional(1u));
}

TEST_CASE("callers see less than the buffer has in one dimension, where a stride says how much") {
  // aliases (R1)
  std::string why = "argument 1 has no room for more than callers see of it";
  Program program;
  CHECK(program.with(&Program::view, "#weft.dims<[b, room, 8]>").refusal() == why);
  CHECK(program.with(&Program::view, "#weft.dims<[b, p]>").refusal() == why);
  CHECK(program.with(&Program::view, "#weft.dims<[p, room, 8]>").refusal() == why);
  CHECK(program.with(&Program::view, "#weft.dims<[b, p, s]>").refusal() == why);
  CHECK(program.with(&Program::view, "1 : i64").refusal() == why);
  program.buffer = program.result = "!weft.tensor<[b, 2*room, 8], f32>";
  CHECK(program.refusal() == why);
}

TEST_CASE("a result in an argument's memory has its type, and is seen where that is") {
  // aliases (R2)
  auto why = [](int argument) {
    return "result 0 cannot lie in the memory of argument " + std::to_string(argument);
  };
  Program program;
  auto aliases = [&](const std::string &text) {
    return program.with(&Program::aliases, "#weft.aliases<" + text + ">");
  };
  CHECK(aliases("argument 7 seen [b, p + s, 8]").refusal().find("has room for 0 results") !=
        std::string::npos);
  CHECK(aliases("argument 1 seen [b, p + s]").refusal() == why(1));
  CHECK(aliases("argument 1 seen [b, room, p]").refusal() == why(1));
  CHECK(program.with(&Program::aliases, "1 : i64").refusal().find("has room for 0 results") !=
        std::string::npos);
  std::string error;
  parse("func.func private @main(" + program.buffer +
            " {weft.view = #weft.dims<[b, p, 8]>}) -> "
            "(!weft.tensor<[b, room, 4], f32> {weft.aliases = #weft.aliases<argument 0 seen [b, p "
            "+ s, "
            "4]>}) attributes {weft.symbols = #weft.symbols<" +
            program.symbols + ">}",
        error);
  CHECK(error == why(0));
}

TEST_CASE("an argument with room has one result in its memory") {
  // aliases (R3)
  std::string two = Program().text();
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = two.find(from, at)) != std::string::npos; at += to.size())
      two.replace(at, from.size(), to);
  };
  std::string result = Program().result + " {weft.aliases = " + Program().aliases + "}";
  replace("-> (" + result + ")", "-> (" + result + ", " + result + ")");
  replace("return %2 : " + Program().result,
          "return %2, %2 : " + Program().result + ", " + Program().result);
  std::string error;
  parse(two, error);
  CHECK(error == "argument 1 has room for 2 results, not for one");
}

TEST_CASE("what is returned is the argument with a part replaced") {
  // aliases (R4)
  Program program;
  std::string why = "result 0 lies in the memory of argument 1, but is stored elsewhere";
  CHECK(program.with(&Program::returned, "%k").refusal() == why);
  CHECK(program.with(&Program::returned, "%o").refusal() == why);
  CHECK(program.with(&Program::concat, "%0, %x, %1 dim 1").refusal() == why);
}

TEST_CASE("a concatenation in place is a beginning, a part, and the rest of one tensor") {
  // aliases (R5)
  Program program;
  std::string beginning =
      "writes in place, but does not begin with the beginning of a tensor of its "
      "type";
  std::string rest = "writes in place, but does not end with the rest of what it begins with";
  CHECK(program.with(&Program::begin, "from [0, s, 0] size [b, p, 8] step [1, 1, 1]").refusal() ==
        beginning);
  CHECK(program.with(&Program::begin, "from [0, 0, 0] size [b, p, 8] step [1, 2, 1]").refusal() ==
        beginning);
  CHECK(program.with(&Program::rest, "from [0, p, 0] size [b, room - p - s, 8] step [1, 1, 1]")
            .refusal() == rest);
  CHECK(program.with(&Program::restOf, "%o").refusal() == rest);
  std::string two = "!weft.tensor<[m, n], f32>", error;
  parse("func.func @main(%a: " + two +
            ") -> !weft.tensor<[2*m, n], f32> attributes {weft.symbols "
            "= #weft.symbols<m, n>} {\n  %0 = weft.concat %a, %a dim 0 {weft.in_place} : (" +
            two + ", " + two +
            ") -> !weft.tensor<[2*m, n], f32>\n  return %0 : !weft.tensor<[2*m, n], f32>\n}",
        error);
  CHECK(error == "'weft.in_place' marks a concatenation of three");
  error.clear();
  parse("func.func @main(%a: " + two + ") -> " + two +
            " attributes {weft.symbols = #weft.symbols<m, n>} {\n  %0 = weft.neg %a "
            "{weft.in_place} : (" +
            two + ") -> " + two + "\n  return %0 : " + two + "\n}",
        error);
  CHECK(error == "'weft.in_place' marks a concatenation of three");
}

TEST_CASE("what is seen is said in symbols of the signature") {
  // aliases (R6)
  Program program;
  std::string why = "symbol 'q' is not declared by 'weft.symbols' of the function";
  CHECK(program.with(&Program::view, "#weft.dims<[b, q, 8]>").refusal() == why);
  CHECK(program.with(&Program::aliases, "#weft.aliases<argument 1 seen [b, p + q, 8]>").refusal() ==
        why);
}
