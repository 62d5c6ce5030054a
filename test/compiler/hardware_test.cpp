// What a description of hardware says, and how large sums get with the worst input.
#include "compiler/hardware/SumBound.h"
#include "compiler/import/readers/ReadError.h"
#include "targets/common/Registry.h"
#include "weft/hardware.hpp"
#include <catch2/catch.hpp>
#include <random>

using namespace weft;

namespace {

const std::string kSmall = R"({
  "schema": "weft.hardware/1", "name": "small", "about": "products of bytes", "price": "declared",
  "float_multiply_adds_per_second": 1e9, "floats": ["softmax"],
  "operators": [{"names": ["contract"],
    "operands": [{"elements": ["ui8"], "zero_points": "any", "scales_per": ["tensor", "row"]},
                 {"elements": ["i8"], "zero_points": [0], "scales": "power_of_two", "scales_per": ["column", "block of 32"], "constant": true}],
    "result": {"elements": ["f32"]},
    "sums": [{"products": 2, "bits": 16, "overflow": "saturates"}, {"bits": 32}],
    "summed_multiple_of": 4, "kept_multiple_of": 8, "groups": true, "requires": ["avx2"], "multiply_adds_per_second": 1e12}]})";

bool isOperator(llvm::StringRef name) { return name == "contract" || name == "softmax"; }

std::string errorOf(const std::string &what, const std::string &by) {
  std::string text = kSmall;
  size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  llvm::Expected<HardwareData> data =
      parseHardware(text.replace(at, what.size(), by), "h", isOperator);
  return data ? "" : llvm::toString(data.takeError());
}

} // namespace

TEST_CASE(
    "every description that comes with Weft is read, and asks for features that some target has") {
  std::vector<DataText> all = allHardware();
  REQUIRE(all.size() >= 6);
  std::set<std::string> features;
  for (const auto &target : allKernelTargets())
    for (const std::string &feature : target->features())
      features.insert(feature);
  for (const DataText &text : all) {
    INFO(text.name);
    Result<Hardware> hardware = findHardware(text.name);
    if (!hardware)
      FAIL(hardware.diagnostics()[0].text);
    CHECK(nameOf(*hardware) == text.name);
    for (const HardwareOperator &way : (*hardware)->operators)
      for (const std::string &feature : way.features)
        CHECK(features.count(feature));
  }
}

TEST_CASE("a description is read as it is written") {
  llvm::Expected<HardwareData> data = parseHardware(kSmall, "h", isOperator);
  REQUIRE(bool(data));
  const HardwareOperator &way = data->operators.at(0);
  CHECK(data->lists("contract"));
  CHECK_FALSE(data->lists("softmax"));
  CHECK(data->hasFloat("softmax"));
  CHECK_FALSE(data->hasFloat("contract"));
  CHECK_FALSE(way.operands[0].zeroPoints);
  CHECK(*way.operands[1].zeroPoints == std::vector<int64_t>{0});
  CHECK(way.operands[1].hasPowersOfTwo);
  CHECK(way.operands[1].isConstant);
  CHECK(way.operands[1].scalesPer[1] == ScaleUnit{ScaleUnit::Block, 32});
  CHECK(way.result.scalesPer == std::vector<ScaleUnit>{ScaleUnit{}});
  CHECK(way.sums[0].products == 2);
  CHECK(way.sums[0].isSaturating);
  CHECK(way.sums[1].bits == 32);
  CHECK(way.hasGroups);
  CHECK(way.multiplyAddsPerSecond == 1e12);
}

TEST_CASE("what is no description is refused in one line") {
  CHECK(errorOf("weft.hardware/1", "weft.hardware/9") == "h: 'schema' must be \"weft.hardware/1\"");
  CHECK(errorOf("\"name\": \"small\",", "") == "h: 'name' is missing, but must be a string");
  CHECK(errorOf("\"price\": \"declared\"", "\"price\": \"guess\"") ==
        "h: 'price' must be \"measure\" or \"declared\", but is \"guess\"");
  CHECK(errorOf("\"float_multiply_adds_per_second\": 1e9,", "") ==
        "h: 'float_multiply_adds_per_second' is missing, but must be a number");
  CHECK(errorOf("\"multiply_adds_per_second\": 1e12", "\"multiply_adds_per_second\": 0") ==
        "h: 'operators' 1: 'multiply_adds_per_second' must be above 0");
  CHECK(errorOf("[\"softmax\"]", "[\"softmin\"]") == "h: 'floats': there is no operator 'softmin'");
  CHECK(errorOf("[\"softmax\"]", "true") == "h: 'floats' must be \"all\" or a list of operators");
  CHECK(errorOf("[\"contract\"]", "[\"matmul\"]") ==
        "h: 'operators' 1: there is no operator 'matmul'");
  CHECK(errorOf("[\"ui8\"]", "[\"u8\"]") ==
        "h: 'operators' 1: operand 1: there are no elements 'u8', but i4, ui4, i8, ui8, i16, ui16, "
        "i32, f16, bf16, f32");
  CHECK(
      errorOf("\"zero_points\": \"any\"", "\"zero_points\": \"none\"") ==
      "h: 'operators' 1: operand 1: 'zero_points' must be \"any\" or a list of whole numbers, but "
      "is \"none\"");
  CHECK(errorOf("\"power_of_two\"", "\"powers\"") ==
        "h: 'operators' 1: operand 2: 'scales' must be \"free\" or \"power_of_two\", but is "
        "\"powers\"");
  CHECK(errorOf("block of 32", "block of 0") ==
        "h: 'operators' 1: operand 2: nothing has a scale per 'block of 0', but tensor, row, "
        "column, or block of 32");
  CHECK(errorOf("\"result\": {\"elements\": [\"f32\"]},", "") ==
        "h: 'operators' 1: 'result' is missing, but must be an object with fields");
  CHECK(errorOf("{\"elements\": [\"f32\"]}", "{}") ==
        "h: 'operators' 1: 'result': 'elements' must be a list of at least one and at most 256");
  CHECK(errorOf("\"bits\": 16", "\"bits\": 4") ==
        "h: 'operators' 1: 'sums' 1: 'bits' must be a whole number from 8 to 64, but is 4");
  CHECK(errorOf("{\"bits\": 32}", "{\"bits\": 32, \"products\": 8}") ==
        "h: 'operators' 1: 'sums' must end with the one of all products, which alone has no "
        "'products'");
  CHECK(errorOf("\"kept_multiple_of\": 8", "\"kept_multiple_of\": 0.5") ==
        "h: 'operators' 1: 'kept_multiple_of' must be a whole number from 1 to 65536, but is 0.5");
  CHECK(errorOf("\"requires\": [\"avx2\"]", "\"needs\": [\"avx2\"]") ==
        "h: 'operators' 1: 'needs' is no field of an operator");
  CHECK(errorOf("\"constant\": true", "\"constant\": \"yes\"") ==
        "h: 'operators' 1: operand 2: 'constant' must be true or false, but is \"yes\"");
}

namespace {

/// A sum of products of bytes by the instruction that saturates pairs in 16 bits.
int64_t sumOfPairs(const std::vector<int64_t> &weights, const std::vector<int64_t> &read) {
  int64_t sum = 0;
  for (size_t i = 0; i < weights.size(); i += 2) {
    int64_t pair =
        weights[i] * read[i] + (i + 1 < weights.size() ? weights[i + 1] * read[i + 1] : 0);
    sum += std::clamp<int64_t>(pair, INT16_MIN, INT16_MAX);
  }
  return sum;
}

/// What makes the sum the farthest from 0 on one side.
std::vector<int64_t> worstInput(const std::vector<int64_t> &weights, bool isMost) {
  std::vector<int64_t> read;
  for (int64_t weight : weights)
    read.push_back((weight > 0) == isMost ? 255 : 0);
  return read;
}

int64_t exactSum(const std::vector<int64_t> &weights, const std::vector<int64_t> &read) {
  int64_t sum = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    sum += weights[i] * read[i];
  return sum;
}

} // namespace

TEST_CASE("weights that are proven narrow are exact with the worst input in whatever order, and "
          "others are not in some order") {
  std::mt19937 random(7);
  size_t proven = 0, refuted = 0;
  for (int trial = 0; trial < 500; ++trial) {
    int64_t largest = 40 + int64_t(random() % 60);
    std::vector<int64_t> weights(1 + random() % 9);
    for (int64_t &weight : weights)
      weight = int64_t(random() % uint64_t(2 * largest + 1)) - largest;
    bool isNarrow = worstSum({weights}, 0, 255, /*products=*/2).fits(16);
    // Neighbours that make the largest pair stand together when the weights are sorted, from either end.
    bool isExact = true;
    std::vector<int64_t> sorted = weights;
    std::sort(sorted.begin(), sorted.end());
    for (bool isReversed : {false, true}) {
      if (isReversed)
        std::reverse(sorted.begin(), sorted.end());
      for (bool isMost : {false, true}) {
        std::vector<int64_t> read = worstInput(sorted, isMost);
        isExact &= sumOfPairs(sorted, read) == exactSum(sorted, read);
      }
    }
    CHECK(isExact == isNarrow);
    (isNarrow ? proven : refuted) += 1;
    WorstSum all = worstSum({weights}, 0, 255, /*products=*/0);
    CHECK(all.most == exactSum(weights, worstInput(weights, true)));
    CHECK(all.least == exactSum(weights, worstInput(weights, false)));
  }
  CHECK(proven > 50);
  CHECK(refuted > 50);
}

TEST_CASE("sums fit a width when the farthest does") {
  CHECK(WorstSum{-32768, 32767}.fits(16));
  CHECK_FALSE(WorstSum{-32769, 0}.fits(16));
  CHECK_FALSE(WorstSum{0, 32768}.fits(16));
  CHECK(WorstSum{-5, 3}.farthest() == -5);
  CHECK(worstSum({{127, 127}, {1}}, -128, 127, 0).least == 2 * 127 * -128);
}
