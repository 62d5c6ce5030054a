// The table of options and its parser.
#include <catch2/catch.hpp>

#include <set>

#include "tools/weft/cli/Options.h"

using namespace weft::cli;

static ParsedOptions parseLine(const char *verb, std::vector<const char *> args) {
  return parse(verb, static_cast<int>(args.size()), args.data());
}

TEST_CASE("the table is consistent") {
  for (const VerbRow &verb : verbTable()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const OptionRow &row : optionTable()) {
      if (!(row.verbs & verb.bit))
        continue;
      INFO(verb.name << " --" << row.name);
      CHECK(names.insert(row.name).second);
      if (row.letter)
        CHECK(letters.insert(row.letter).second);
      CHECK_FALSE(row.help.empty());
    }
    for (const OptionRow &row : optionTable())
      if ((row.verbs & verb.bit) && !row.needs.empty())
        for (size_t begin = 0, end; begin <= row.needs.size(); begin = end + 1) {
          end = std::min(row.needs.find('|', begin), row.needs.size());
          CHECK(names.count(row.needs.substr(begin, end - begin)));
        }
    CHECK(names.count("json"));
    CHECK(names.count("help"));
  }
}

TEST_CASE("every way to write an option") {
  ParsedOptions o = parseLine("compile", {"m.onnx", "-o", "a.weft", "--target=x86:v3", "--dim",
                                          "a=1", "--dim=a=multiple-of(8)", "-vv", "-j4"});
  REQUIRE(o);
  CHECK(o.positional() == std::vector<std::string>{"m.onnx"});
  CHECK(o.value("output") == "a.weft");
  CHECK(o.value("target") == "x86:v3");
  CHECK(o.values("dim") == std::vector<std::string>{"a=1", "a=multiple-of(8)"});
  CHECK(o.verbosity() == 2);
  CHECK(o.number("jobs", 0) == 4);
  CHECK_FALSE(o.has("dump-ir"));
  CHECK(o.value("dump-ir", "none") == "none");
  CHECK(parseLine("run", {"-qo", "out.npz", "m.weft"}).value("output") == "out.npz");
  CHECK(parseLine("run", {"--", "--json"}).positional()[0] == "--json");
  CHECK(parseLine("run", {"-"}).positional()[0] == "-");
  // A value that may be left out is never the next word.
  ParsedOptions bisect = parseLine("verify", {"--bisect", "passes"});
  CHECK(bisect.has("bisect"));
  CHECK(bisect.value("bisect").empty());
  CHECK(bisect.positional() == std::vector<std::string>{"passes"});
  CHECK(parseLine("verify", {"m", "--bisect=passes"}).value("bisect") == "passes");
}

TEST_CASE("what is refused, and how") {
  auto error = [](const char *verb, std::vector<const char *> args) {
    return parseLine(verb, std::move(args)).error();
  };
  CHECK(error("run", {"m", "--jsno"}) == "unknown option '--jsno'; the closest is '--json'");
  CHECK(error("run", {"m", "--zzzzz"}) == "unknown option '--zzzzz'");
  CHECK(error("run", {"m", "--jobs", "2"}) ==
        "'weft run' has no option '--jobs'; it belongs to compile, tune and quantize");
  CHECK(error("run", {"m", "--json=1"}) == "option '--json' takes no value");
  CHECK(error("run", {"m", "--seed="}) == "'--seed' needs a value: N");
  CHECK(error("verify", {"m", "--bisect="}) == "'--bisect' needs a value: passes");
  CHECK(error("verify", {"m", "--bisect=kernels"}) ==
        "'--bisect' is 'kernels', but must be passes");
  CHECK(parseLine("inspect", {"m", "--why=/fc/MatMul"}).value("why") == "/fc/MatMul");
  CHECK(parseLine("inspect", {"m", "--why"}).has("why"));
  CHECK(error("inspect", {"m", "--why="}) == "'--why' needs a value: KERNEL");
  CHECK(error("run", {"m", "--seed", "-1"}) == "'--seed' is '-1', but must be a whole number");
  CHECK(error("compile", {"m", "--dim", "=3"}) == "'--dim' is '=3', but must be written SYM=VALUE");
  CHECK(error("compile", {"m", "-oa", "-ob"}) == "option '--output' is given twice");
  CHECK(error("compile", {}) == "'weft compile' needs MODEL");
  CHECK(parseLine("run", {"--zzzzz", "--help"}).has("help"));
}

TEST_CASE("the closest word is one that may have been meant") {
  std::vector<std::string_view> words = {"target", "output", "output-dir", "json"};
  CHECK(closest("taget", words) == "target");
  CHECK(closest("tagret", words) == "target");
  CHECK(closest("output-", words) == "output-dir");
  CHECK_FALSE(closest("xyz", words));
}

TEST_CASE("random command lines never crash the parser") {
  const char *pieces[] = {"--json", "--dim", "a=1",       "-",        "--",   "-v",    "-vvq",
                          "--seed", "=",     "--=",       "---",      "-o",   "x.npz", "--seed=9",
                          "-h",     "",      "--output=", "--expect", "\xFF", "-i@",   "--tol"};
  uint64_t random = 1;
  for (int line = 0; line < 20000; ++line) {
    std::vector<const char *> args;
    for (int i = 0; i < line % 8; ++i) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      args.push_back(pieces[(random >> 33) % (sizeof pieces / sizeof *pieces)]);
    }
    for (const VerbRow &verb : verbTable()) {
      ParsedOptions o = parse(verb.name, static_cast<int>(args.size()), args.data());
      if (o && !o.has("help"))
        REQUIRE((o.positional().size() >= verb.least && o.positional().size() <= verb.most));
    }
  }
}
