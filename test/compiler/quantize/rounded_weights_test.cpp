// Numbers beside a strategy: what is written is read, and what fits no blocks is refused.
#include "compiler/quantize/RoundedWeights.h"
#include "test/compiler/readers/SampleFiles.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace weft;

/// Of three blocks.
static PackedBlocks sampleWeight() {
  PackedBlocks weight{std::vector<int8_t>(48), {0.5f, 0.25f, 1e-3f}, {0x21, 0x03}};
  for (size_t i = 0; i < 48; ++i)
    weight.numbers[i] = int8_t(i * 5);
  return weight;
}

static llvm::Expected<RoundedWeights> readBytes(const std::string &bytes) {
  return readRounded(MappedFile::view("r", {bytes.data(), bytes.size()}));
}

static std::string refusal(const std::string &bytes) {
  llvm::Expected<RoundedWeights> weights = readBytes(bytes);
  return weights ? "" : llvm::toString(weights.takeError());
}

static std::string written(const PackedBlocks &weight) {
  return writeRounded({{3, std::make_shared<const PackedBlocks>(weight)}});
}

TEST_CASE("numbers are read as they were written, layers in order") {
  auto weight = std::make_shared<const PackedBlocks>(sampleWeight());
  std::string bytes = writeRounded({{70000, weight}, {3, weight}});
  llvm::Expected<RoundedWeights> read = readBytes(bytes);
  REQUIRE(bool(read));
  REQUIRE(read->size() == 2);
  CHECK(read->at(3)->numbers == weight->numbers);
  CHECK(read->at(70000)->scales == weight->scales);
  CHECK(read->at(70000)->zeros == weight->zeros);
  CHECK(writeRounded(*read) == bytes);
  CHECK(readBytes(writeRounded({}))->empty());
}

TEST_CASE("sizes that do not fit each other and scales that are none are refused") {
  const std::string apart =
      "r: numbers, scales and zeros of layer 3 are not those of the same blocks";
  for (auto spoil :
       {+[](PackedBlocks &w) { w.numbers.pop_back(); },
        +[](PackedBlocks &w) { w.zeros.push_back(0); },
        +[](PackedBlocks &w) { w.scales.push_back(1); }, +[](PackedBlocks &w) { w = {}; }}) {
    PackedBlocks weight = sampleWeight();
    spoil(weight);
    CHECK(refusal(written(weight)) == apart);
  }
  for (float scale : {0.0f, -1.0f, NAN, INFINITY}) {
    PackedBlocks weight = sampleWeight();
    weight.scales[1] = scale;
    CHECK(refusal(written(weight)) == "r: layer 3 has a scale that is not above 0");
  }
}

TEST_CASE("tensors that are no part of a rounded weight are refused") {
  std::string bytes = written(sampleWeight());
  auto with = [&](const std::string &text, const std::string &by) {
    std::string changed = bytes;
    return changed.replace(changed.find(text), text.size(), by);
  };
  CHECK(refusal(with("00003.scales", "00003.scalez")) ==
        "r: '00003.scalez' is no part of a rounded weight");
  CHECK(refusal(with("00003.zeros", "0000x.zeros")) ==
        "r: '0000x.zeros' is no part of a rounded weight");
  CHECK(refusal(with("F32", "I32")) == "r: '00003.scales' is no part of a rounded weight");
  CHECK(refusal(bytes.substr(0, bytes.size() - 1)) != "");
  CHECK(refusal("") != "");
  CHECK(refusal(sampleSafetensors()) == "r: 'a' is no part of a rounded weight");
}
