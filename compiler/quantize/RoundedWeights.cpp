//===- RoundedWeights.cpp ---------------------------------------------------------------------===//

#include "compiler/quantize/RoundedWeights.h"
#include "compiler/import/readers/ReadError.h"
#include "compiler/import/readers/Safetensors.h"
#include "compiler/quantize/StrategyLines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace weft {
namespace {

constexpr const char *kNumbers = "numbers", *kScales = "scales", *kZeros = "zeros";
constexpr size_t kParts = 3;         ///< tensors of a layer
constexpr size_t kHeaderAlign = 8;   ///< of the bytes behind the header
constexpr size_t kNumbersInByte = 2; ///< of 4 bits

/// Tensors side by side.
class Writer {
public:
  template <typename T> void add(int64_t layer, const char *part, const std::vector<T> &elements) {
    bool isFloat = std::is_same_v<T, float>;
    size_t begin = data.size();
    data.append(reinterpret_cast<const char *>(elements.data()), elements.size() * sizeof(T));
    header[layerText(layer) + "." + part] = {{"dtype", isFloat ? "F32" : "U8"},
                                             {"shape", {elements.size()}},
                                             {"data_offsets", {begin, data.size()}}};
  }

  std::string finish() const {
    std::string text = header.dump();
    text.resize(alignTo(text.size(), kHeaderAlign), ' ');
    char size[sizeof(uint64_t)];
    support::endian::write64le(size, text.size());
    return std::string(size, sizeof size) + text + data;
  }

private:
  nlohmann::json header = nlohmann::json::object();
  std::string data;
};

Error wrong(const MappedFile &file, const Twine &why) {
  return readError(file.path() + ": " + why);
}

template <typename T> std::vector<T> elementsOf(const CheckpointTensor &tensor) {
  std::vector<T> elements(tensor.bytes.size() / sizeof(T));
  if (!elements.empty())
    memcpy(elements.data(), tensor.bytes.data(), elements.size() * sizeof(T));
  return elements;
}

/// "00003.scales"; the layer, or nothing.
std::optional<int64_t> layerOf(StringRef name, StringRef part) {
  int64_t layer = 0;
  if (!name.consume_back(part) || !name.consume_back(".") || name.getAsInteger(10, layer) ||
      layer < 0 || layer >= int64_t(kMostStrategyLayers) || layerText(layer) != name)
    return std::nullopt;
  return layer;
}

/// Success where numbers, scales and zero points are of the same blocks.
Error checkSizes(const MappedFile &file, int64_t layer, const PackedBlocks &weight) {
  size_t blocks = weight.scales.size(), numbers = blocks * size_t(kWeightBlock);
  bool areHalves = weight.numbers.size() == numbers / kNumbersInByte &&
                   weight.zeros.size() == (blocks + 1) / kNumbersInByte,
       areBytes = weight.numbers.size() == numbers && weight.zeros.size() == blocks;
  if (blocks == 0 || !(areHalves || areBytes))
    return wrong(file, "numbers, scales and zeros of layer " + Twine(layer) +
                           " are not those of the same blocks");
  if (!all_of(weight.scales, [](float s) { return s > 0 && std::isfinite(s); }))
    return wrong(file, "layer " + Twine(layer) + " has a scale that is not above 0");
  return Error::success();
}

} // namespace

std::string writeRounded(const RoundedWeights &weights) {
  Writer writer;
  for (const auto &[layer, weight] : weights) {
    writer.add(layer, kNumbers, weight->numbers);
    writer.add(layer, kScales, weight->scales);
    writer.add(layer, kZeros, weight->zeros);
  }
  return writer.finish();
}

Expected<RoundedWeights> readRounded(std::shared_ptr<MappedFile> file) {
  SafetensorsLimits limits;
  limits.tensors = kParts * kMostStrategyLayers;
  Expected<std::vector<CheckpointTensor>> tensors = readSafetensors(file, limits);
  if (!tensors)
    return tensors.takeError();
  std::map<int64_t, PackedBlocks> read;
  for (const CheckpointTensor &tensor : *tensors) {
    bool isBytes = tensor.type == SafetensorsType::U8;
    if (auto layer = layerOf(tensor.name, kNumbers); layer && isBytes)
      read[*layer].numbers = elementsOf<int8_t>(tensor);
    else if (auto zeros = layerOf(tensor.name, kZeros); zeros && isBytes)
      read[*zeros].zeros = elementsOf<int8_t>(tensor);
    else if (auto scales = layerOf(tensor.name, kScales);
             scales && tensor.type == SafetensorsType::F32)
      read[*scales].scales = elementsOf<float>(tensor);
    else
      return wrong(*file, quotedText(tensor.name) + " is no part of a rounded weight");
  }
  RoundedWeights weights;
  for (auto &[layer, weight] : read) {
    if (Error error = checkSizes(*file, layer, weight))
      return std::move(error);
    weights[layer] = std::make_shared<const PackedBlocks>(std::move(weight));
  }
  return std::move(weights);
}

} // namespace weft
