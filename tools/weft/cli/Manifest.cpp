//===- Manifest.cpp ---------------------------------------------------------------------------===//

#include "tools/weft/cli/Manifest.h"

namespace weft::cli {

/// Takes a text in quotes from the front; false when there is none that ends.
static bool takeText(std::string_view &rest, std::string &text) {
  if (rest.empty() || rest[0] != '"')
    return false;
  for (size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '"') {
      rest.remove_prefix(at + 1);
      return true;
    }
    bool isEscaped =
        rest[at] == '\\' && at + 1 < rest.size() && (rest[at + 1] == '"' || rest[at + 1] == '\\');
    text += rest[at += isEscaped];
  }
  return false;
}

std::vector<std::string> manifestTexts(std::string_view manifest, std::string_view name) {
  // Inside a text, quotes have a backslash in front: what is found is a name.
  std::string key = "\"" + std::string(name) + "\":";
  size_t at = manifest.find(key);
  if (at == std::string_view::npos)
    return {};
  std::string_view rest = manifest.substr(at + key.size());
  bool isList = !rest.empty() && rest[0] == '[';
  rest.remove_prefix(isList);
  std::vector<std::string> texts;
  for (std::string text; takeText(rest, text); text.clear()) {
    texts.push_back(text);
    if (!isList || rest.empty() || rest[0] != ',')
      break;
    rest.remove_prefix(1);
  }
  return texts;
}

} // namespace weft::cli
