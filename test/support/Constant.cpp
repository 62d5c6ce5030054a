//===- Constant.cpp ---------------------------------------------------------------------------------===//

#include "test/support/Constant.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <random>

namespace weft::test {
namespace {

/// The bytes of an element.
std::string bytesOf(const std::string &element, unsigned numberBits, std::mt19937_64 &random) {
  float value = float(random() % 2048) / 1024 - 1;
  if (element == f4)
    value = std::vector<float>{0, .5, 1, 1.5, 2, 3, 4, 6}[random() % 8] * (random() % 2 ? 1 : -1);
  else if (element == powers)
    value = 1.0f / float(1 << random() % 4);
  char word[4];
  memcpy(word, &value, 4);
  if (element == "f32" || element[0] == '!')
    return {word, 4};
  if (element == "bf16")
    return {word + 2, 2};
  if (element == "f16") // 1 / 64 <= |x| < 2
    return {char(random() % 256), char((random() % 2 ? 0x80 : 0) | 0x24 | random() % 0x18)};
  if (element == "f8E4M3FN")
    return {char((random() % 2 ? 0x80 : 0) | random() % 0x38)};
  // An element of a buffer has whole bytes.
  return {element.back() == '4' ? char(random() % 16) : char(random() % (1u << numberBits))};
}

} // namespace

std::string Constant::type() const {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return "!weft.tensor<[" + text + "], " + element + ">";
}

std::string Constant::text(unsigned seed) const {
  return "weft.constant " + numbers(seed) + " -> " + type();
}

std::string Constant::bytes(unsigned seed) const {
  std::mt19937_64 random(seed);
  std::string bytes;
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  for (int64_t i = 0; i < count; ++i)
    bytes += bytesOf(element, numberBits, random);
  return bytes;
}

std::vector<uint16_t> Constant::halves(unsigned seed) const {
  std::string values = bytes(seed);
  std::vector<uint16_t> halves(values.size() / 2);
  memcpy(halves.data(), values.data(), values.size());
  return halves;
}

std::string Constant::numbers(unsigned seed) const {
  std::string shape;
  for (int64_t dim : dims)
    shape += std::to_string(dim) + "x";
  return "dense<\"0x" + llvm::toHex(bytes(seed)) + "\"> : tensor<" + shape +
         (element[0] == '!' ? "f32" : element) + ">";
}

} // namespace weft::test
