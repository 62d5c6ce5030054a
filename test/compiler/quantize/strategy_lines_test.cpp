// Lines of strategies: what is written is read, and what decides no layer is refused with its line.
#include "compiler/quantize/StrategyLines.h"
#include <catch2/catch.hpp>

using namespace weft;

static const std::string kStatic =
    "weft-strategy 1 | 00003 | /first/MatMul | 8b1d33a0c2f4e596 | static scale=0.0122999996 zero=5 "
    "| 0.8: 1.5 0.75";
static const std::string kPlain = "weft-strategy 1 | 00001 | b | 0123456789abcdef | f32 | -";

static std::vector<StrategyLine> linesOf(const std::string &text) {
  llvm::Expected<std::vector<StrategyLine>> lines = parseStrategy(text, "s");
  std::string error = lines ? "" : llvm::toString(lines.takeError());
  INFO(error);
  REQUIRE(error.empty());
  return std::move(*lines);
}

static std::string refusal(const std::string &text) {
  llvm::Expected<std::vector<StrategyLine>> lines = parseStrategy(text, "s");
  return lines ? "" : llvm::toString(lines.takeError());
}

/// kStatic with one of its fields replaced.
static std::string with(const std::string &field, const std::string &by) {
  std::string line = kStatic;
  return line.replace(line.find(field), field.size(), by);
}

TEST_CASE("numbers that a person wrote are read however they are written") {
  for (std::string scale : {"0.0008", "8e-4", "0.00080"})
    CHECK(linesOf(with("0.0122999996", scale))[0].scale == 0.0008f);
}

TEST_CASE(
    "a decision says everything by itself and is written as it is read, in the layers' order") {
  std::vector<StrategyLine> lines = linesOf(kStatic + "\n\n" + kPlain + "\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].layer == 1);
  CHECK(lines[0].form == StrategyLine::F32);
  const StrategyLine &line = lines[1];
  CHECK(line.layer == 3);
  CHECK(line.node == "/first/MatMul");
  CHECK(line.weight == "8b1d33a0c2f4e596");
  CHECK(line.form == StrategyLine::Static);
  CHECK(line.scale == 0.0123f);
  CHECK(line.zero == 5);
  CHECK(line.strength == 0.8);
  CHECK(line.factors == std::vector<float>{1.5f, 0.75f});
  CHECK(printStrategy(lines) == kPlain + "\n" + kStatic + "\n");
  CHECK(linesOf(with("static scale=0.0122999996 zero=5", "rows"))[0].form == StrategyLine::Rows);
  std::string wide = with("static scale=0.0122999996 zero=5", "rows16");
  CHECK(linesOf(wide)[0].form == StrategyLine::WideRows);
  CHECK(linesOf(wide)[0].factors.size() == 2);
  CHECK(printStrategy(linesOf(wide)) == wide + "\n");
  std::string blocks = with("static scale=0.0122999996 zero=5", "blocks4");
  CHECK(linesOf(blocks)[0].form == StrategyLine::Blocks);
  CHECK(printStrategy(linesOf(blocks)) == blocks + "\n");
  CHECK(linesOf(blocks)[0].rounded.empty());
  std::string rounded =
      with("static scale=0.0122999996 zero=5", "blocks4 rounded=51c02f9be7a6d384");
  CHECK(linesOf(rounded)[0].form == StrategyLine::Blocks);
  CHECK(linesOf(rounded)[0].rounded == "51c02f9be7a6d384");
  CHECK(printStrategy(linesOf(rounded)) == rounded + "\n");
  std::string byteBlocks =
      with("static scale=0.0122999996 zero=5", "blocks4x8 rounded=51c02f9be7a6d384");
  CHECK(linesOf(byteBlocks)[0].form == StrategyLine::ByteBlocks);
  CHECK(linesOf(byteBlocks)[0].factors.size() == 2);
  CHECK(printStrategy(linesOf(byteBlocks)) == byteBlocks + "\n");
  for (auto [name, form] : {std::pair("blocks5x8", StrategyLine::ByteBlocks5),
                            std::pair("blocks6x8", StrategyLine::ByteBlocks6)}) {
    std::string line = with("static scale=0.0122999996 zero=5", name);
    CHECK(linesOf(line)[0].form == form);
    CHECK(linesOf(line)[0].hasBlocks());
    CHECK(printStrategy(linesOf(line)) == line + "\n");
  }
  std::string half = with("static scale=0.0122999996 zero=5 | 0.8: 1.5 0.75", "bf16 | -");
  CHECK(linesOf(half)[0].form == StrategyLine::Half);
  CHECK(printStrategy(linesOf(half)) == half + "\n");
  std::string everywhere = kPlain;
  everywhere.replace(everywhere.find("f32"), 3, "everywhere scale=0.5 zero=5");
  CHECK(linesOf(everywhere)[0].form == StrategyLine::Everywhere);
  CHECK(linesOf(everywhere)[0].scale == 0.5f);
  CHECK(printStrategy(linesOf(everywhere)) == everywhere + "\n");
  std::string gives = everywhere;
  gives.replace(gives.find("zero=5"), 6,
                "zero=5 signed gives scale=0.25 zero=128 behind=2 gives scale=0.5 zero=0 behind=3");
  auto results = linesOf(gives)[0].results;
  REQUIRE(results.size() == 2);
  CHECK(results[0].scale == 0.25f);
  CHECK(results[0].zero == 128);
  CHECK(results[0].behind == 2);
  CHECK(results[1].behind == 3);
  CHECK(printStrategy(linesOf(gives)) == gives + "\n");
  std::string table = kPlain;
  table.replace(table.find("f32"), 3, "bytes");
  CHECK(linesOf(table)[0].form == StrategyLine::Bytes);
  CHECK(printStrategy(linesOf(table)) == table + "\n");
}

TEST_CASE("what decides no layer is refused with its line") {
  CHECK(refusal("scales 1") == "s: line 1: no decision: it does not begin with 'weft-strategy 1'");
  CHECK(refusal(with("strategy 1", "strategy 2")) ==
        "s: line 1: the decision is of version '2'; this Weft reads version 1");
  CHECK(refusal(kPlain + "\n" + kPlain) == "s: line 2: layer 1 is decided twice");
  CHECK(refusal(with("00003", "3")) == "s: line 1: '3' is no layer: 5 digits");
  CHECK(refusal(with("8b1d33a0c2f4e596", "8b1d")) ==
        "s: line 1: '8b1d' is no weight: 16 hexadecimal digits");
  CHECK(refusal(with("static", "dynamic")) ==
        "s: line 1: 'dynamic scale=0.0122999996 zero=5' is no form such as f32, rows or static "
        "scale=0.5 zero=3");
  CHECK(
      refusal(with("zero=5", "zero=256")) ==
      "s: line 1: 'static scale=0.0122999996 zero=256' is no form such as static scale=0.5 zero=3");
  const std::string form = "static scale=0.0122999996 zero=5";
  for (std::string result :
       {"gives scale=1 zero=1", "gives scale=1 zero=256 behind=1", "gives scale=1 zero=1 behind=9",
        "gives scale=0 zero=1 behind=1", "gives scale=1 zero=1 behind=1 signed",
        "gives scale=1 zero=1 behind=1 gives scale=1 zero=1 behind=1"})
    CHECK(refusal(with(form, form + " " + result)) != "");
  CHECK(refusal(with(form, "rows gives scale=1 zero=1 behind=1")) != "");
  CHECK(refusal(with(form, "blocks4 rounded=51c0")) ==
        "s: line 1: '51c0' is no rounding such as rounded=8b1d33a0c2f4e596");
  CHECK(refusal(with(form, "blocks4 scale=1")) ==
        "s: line 1: 'scale=1' is no rounding such as rounded=8b1d33a0c2f4e596");
  CHECK(refusal(with(form, "bf16")) ==
        "s: line 1: '0.8: 1.5 0.75' is no equalisation such as 0.8: 1.5 0.75");
  CHECK(refusal(with(form, "rows rounded=51c02f9be7a6d384")) ==
        "s: line 1: 'rows rounded=51c02f9be7a6d384' is no form such as f32, rows or static "
        "scale=0.5 zero=3");
  for (const char *number : {"0", "-1", "nan", "inf", "1e+99", "0x1"}) {
    INFO(number);
    CHECK(refusal(with("0.0122999996", number)) != "");
    CHECK(refusal(with("0.75", number)) != "");
  }
  CHECK(refusal(with("0.8: 1.5 0.75", "0.8:")) ==
        "s: line 1: '0.8:' is no equalisation such as 0.8: 1.5 0.75");
  CHECK(refusal(with("static scale=0.0122999996 zero=5", "f32")) ==
        "s: line 1: '0.8: 1.5 0.75' is no equalisation such as 0.8: 1.5 0.75");
  CHECK(refusal(with("static scale=0.0122999996 zero=5", "bytes")) ==
        "s: line 1: '0.8: 1.5 0.75' is no equalisation such as 0.8: 1.5 0.75");
}

TEST_CASE("bytes that are not the usual ones stand behind the form, in one order") {
  std::string all = with("zero=5", "zero=128 signed weight<=64 one_scale powers_of_two");
  std::vector<StrategyLine> lines = linesOf(all);
  CHECK(lines[0].rounding == ByteRounding{true, 64, true, true});
  CHECK(printStrategy(lines) == all + "\n");
  std::string rows = with("static scale=0.0122999996 zero=5", "rows weight<=64");
  CHECK(linesOf(rows)[0].rounding.mostWeight == 64);
  CHECK(printStrategy(linesOf(rows)) == rows + "\n");
  std::string wide = with("static scale=0.0122999996 zero=5", "rows16 weight<=119");
  CHECK(linesOf(wide)[0].rounding.mostWeight == 119);
  CHECK(printStrategy(linesOf(wide)) == wide + "\n");
  for (const char *words : {"one_scale signed", "weight<=0", "weight<=127", "weight<=1e1",
                            "signed signed", "unsigned"}) {
    INFO(words);
    CHECK(refusal(with("zero=5", std::string("zero=5 ") + words)).find("is no form such as") !=
          std::string::npos);
  }
  CHECK(refusal(with("static scale=0.0122999996 zero=5", "blocks4 signed")) != "");
}
