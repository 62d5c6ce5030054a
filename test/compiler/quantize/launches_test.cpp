// What one program takes more than another, by the launches of a call of each.
#include "compiler/quantize/Launches.h"
#include <catch2/catch.hpp>

using namespace weft;

static Launches of(std::initializer_list<std::pair<const Launches::Key, Launches::Times>> times) {
  return {times};
}

static const Launches::Key kSame{"same", 4, 100, 10}, kFloats{"product_of_floats", 8, 100, 10},
    kBytes{"product_of_bytes", 8, 100, 10};

TEST_CASE("kernels that both launch take both the same, whatever was measured") {
  CHECK(secondsMore(of({{kSame, {3, 0.6}}}), of({{kSame, {3, 0.9}}})) == 0);
}

TEST_CASE("what one alone launches is what it takes more or less") {
  Launches base = of({{kSame, {1, 1}}, {kFloats, {2, 0.5}}});
  Launches other = of({{kSame, {1, 2}}, {kBytes, {2, 0.125}}});
  CHECK(secondsMore(base, other) == -0.375);
  CHECK(secondsMore(other, base) == 0.375);
}

TEST_CASE("a launch more takes what one takes in both") {
  CHECK(secondsMore(of({{kSame, {3, 0.75}}}), of({{kSame, {1, 0.25}}})) == Approx(-0.5));
}

TEST_CASE("one kernel on other sizes is another") {
  Launches::Key larger = kSame;
  std::get<1>(larger) = 8;
  CHECK(secondsMore(of({{kSame, {1, 0.25}}}), of({{larger, {1, 0.75}}})) == 0.5);
}
