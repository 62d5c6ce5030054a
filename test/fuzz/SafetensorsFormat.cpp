//===- SafetensorsFormat.cpp - A length, a header of JSON, data ---------------------------------===//
#include "test/fuzz/Formats.h"

namespace weft::fuzz {
namespace {

class SafetensorsFormat : public Format {
  std::optional<Field> split(std::string_view bytes) const override {
    if (bytes.empty() || bytes[0] == '{') // an index of shards
      return jsonFormat().split(bytes);
    if (bytes.size() < 8 || fixedNumber(bytes.substr(0, 8)) > bytes.size() - 8)
      return std::nullopt;
    size_t size = fixedNumber(bytes.substr(0, 8));
    std::optional<Field> header = jsonFormat().split(bytes.substr(8, size));
    if (!header)
      return std::nullopt;
    Field root, data;
    root.separator = "file"; // of a kind that is no separator of JSON
    data.form = Field::Text;
    data.kind = 'd';
    data.text = bytes.substr(8 + size);
    header->kind = 'h';
    root.parts = {std::move(*header), std::move(data)};
    return root;
  }

  Written join(const Field &root) const override {
    if (root.separator != "file")
      return jsonFormat().join(root);
    Written file;
    file.derived.push_back({0, 8});
    std::string data;
    for (const Field &part : root.parts)
      writeFlat(part, part.kind == 'h' ? file.bytes : data);
    file.bytes = fixedBytes(file.bytes.size(), 8) + file.bytes + data;
    return file;
  }
};

} // namespace

const Format &safetensorsFormat() {
  static const SafetensorsFormat format;
  return format;
}

} // namespace weft::fuzz
