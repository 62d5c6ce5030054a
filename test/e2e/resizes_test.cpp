// Images with channels last at another resolution: pixels are found once for all their channels, and units hold several short lines.
// Compared with the reference evaluator over modes and scales, at sizes that fill neither vectors nor units.
#include "test/support/ConvolutionProgram.h"
#include <catch2/catch.hpp>

using namespace weft::test;

namespace {

/// [m, h, w, channels] to [m, rows, columns, channels], with a relu behind it.
std::string textOf(const std::string &mode, int64_t channels, const std::string &rows,
                   const std::string &columns, const std::string &scales,
                   const std::string &element = "f32") {
  std::string last = ", " + std::to_string(channels), dims = "[m, " + rows + ", " + columns + last;
  std::string x = "!weft.tensor<[m, h, w" + last + "], " + element + ">",
              y = "!weft.tensor<" + dims + "], " + element + ">";
  return "func.func @main(%x: " + x + ") -> " + y +
         " attributes {weft.symbols = #weft.symbols<m, h, w>} {\n  %y = weft.resize " + mode +
         " %x to " + dims + "] scales " + scales + " : (" + x + ") -> " + y +
         "\n  return %y : " + y + "\n}\n";
}

void agrees(const std::string &text, double most = 0) {
  for (const std::string &target : targetsToTry({"x86:host", "x86:v3", "x86:v2"})) {
    Program program(text, target);
    INFO(target << " " << text.substr(text.find("weft.resize ")));
    INFO(program.error());
    REQUIRE(program.error().empty());
    for (const Sizes &each : {sizes(1, 1, 1), sizes(2, 3, 5), sizes(1, 7, 150)}) {
      INFO("m=" << each.at("m") << " h=" << each.at("h") << " w=" << each.at("w"));
      double difference = program.difference(each, 1);
      INFO(program.error());
      CHECK(difference <= most);
    }
  }
}

const std::string kFirst = "[1.0, 2.0, 3.0, 1.0] coordinates asymmetric rounding floor",
                  kMiddle = "[1.0, 2.0, 3.0, 1.0] coordinates half_pixel rounding prefer_floor",
                  kUneven = "[1.0, 0.0, 0.0, 1.0] coordinates half_pixel rounding prefer_ceil",
                  kCorners = "[1.0, 2.0, 0.0, 1.0] coordinates align_corners rounding floor";

} // namespace

TEST_CASE("resize: elements that repeat, and the nearest at other scales") {
  agrees(textOf("nearest", 16, "2*h", "3*w", kFirst, "ui8"));
  agrees(textOf("nearest", 70, "2*h", "3*w", kMiddle, "i8"));
  agrees(textOf("nearest", 5, "2*h", "3*w", kFirst));
  agrees(textOf("nearest", 20, "11", "7", kUneven, "ui8"));
  agrees(textOf("nearest", 600, "2*h", "5", kCorners)); // lines that are units of their own
}

TEST_CASE("resize: weighted neighbours") {
  agrees(textOf("linear", 16, "2*h", "3*w", kMiddle), 1e-5);
  agrees(textOf("linear", 21, "11", "7", kUneven), 1e-5);
  agrees(textOf("cubic", 5, "2*h", "9", kCorners), 1e-5);
}
