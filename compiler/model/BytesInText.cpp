//===- BytesInText.cpp ------------------------------------------------------------------------===//

#include "compiler/model/BytesInText.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace weft {

std::string keyOfBytes(StringRef name) {
  std::string key = "_";
  for (char c : name)
    if (isAlnum(c) || c == '_' || c == '.')
      key += c;
    else
      key += "$" + toHex(StringRef(&c, 1));
  return key;
}

std::optional<std::string> nameOfBytes(StringRef key) {
  std::string name;
  if (!key.consume_front("_"))
    return std::nullopt;
  while (!key.empty()) {
    std::string character = key.take_front().str();
    if (key.consume_front("$")) {
      if (key.size() < 2 || !tryGetFromHex(key.take_front(2), character))
        return std::nullopt;
      key = key.drop_front();
    }
    name += character;
    key = key.drop_front();
  }
  return name;
}

} // namespace weft
