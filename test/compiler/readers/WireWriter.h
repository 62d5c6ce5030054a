//===- WireWriter.h - Writes protobuf messages for tests --------------------------------------===//
//
// The opposite of WireReader.h, without any checks, so that tests can write what no serialiser
// would.
//
//   WireWriter node;
//   node.text(4, "Add").text(1, "x");
//   graph.message(1, node);
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TEST_COMPILER_READERS_WIREWRITER_H
#define WEFT_TEST_COMPILER_READERS_WIREWRITER_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace weft {

class WireWriter {
public:
  std::string bytes;

  static std::string varint(uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7)
      out += static_cast<char>(value | 0x80);
    return out + static_cast<char>(value);
  }
  template <typename T> static std::string fixed(T value) {
    std::string out(sizeof(T), '\0');
    std::memcpy(out.data(), &value, sizeof(T));
    return out;
  }

  WireWriter &raw(const std::string &content) {
    bytes += content;
    return *this;
  }
  WireWriter &tag(unsigned field, unsigned wireType) { return raw(varint(field << 3 | wireType)); }
  WireWriter &integer(unsigned field, int64_t value) {
    return tag(field, 0).raw(varint(static_cast<uint64_t>(value)));
  }
  WireWriter &number(unsigned field, float value) { return tag(field, 5).raw(fixed(value)); }
  WireWriter &number(unsigned field, double value) { return tag(field, 1).raw(fixed(value)); }
  WireWriter &text(unsigned field, const std::string &content) {
    return tag(field, 2).raw(varint(content.size())).raw(content);
  }
  WireWriter &message(unsigned field, const WireWriter &inner) { return text(field, inner.bytes); }
  WireWriter &packed(unsigned field, const std::vector<int64_t> &values) {
    std::string content;
    for (int64_t value : values)
      content += varint(static_cast<uint64_t>(value));
    return text(field, content);
  }
  template <typename T> WireWriter &packedFixed(unsigned field, const std::vector<T> &values) {
    std::string content;
    for (T value : values)
      content += fixed(value);
    return text(field, content);
  }
};

/// TensorProto of raw data.
inline WireWriter rawTensor(const std::string &name, int type, const std::vector<int64_t> &dims,
                            const std::string &data) {
  return WireWriter().packed(1, dims).integer(2, type).text(8, name).text(9, data);
}

/// NodeProto without attributes.
inline WireWriter simpleNode(const std::string &op, const std::vector<std::string> &inputs,
                             const std::vector<std::string> &outputs, const std::string &name) {
  WireWriter node;
  for (const std::string &input : inputs)
    node.text(1, input);
  for (const std::string &output : outputs)
    node.text(2, output);
  return node.text(3, name).text(4, op);
}

/// AttributeProto of a kind, whose value the caller appends.
inline WireWriter attributeOf(const std::string &name, int kind) {
  return WireWriter().text(1, name).integer(20, kind);
}

inline WireWriter opsetOf(const std::string &domain, int64_t version) {
  return WireWriter().text(1, domain).integer(2, version);
}

/// ModelProto around a graph, fields in the order exporters write them, operator sets last.
inline WireWriter modelOf(const WireWriter &graph) {
  return WireWriter().integer(1, 8).text(2, "test").message(7, graph).message(8, opsetOf("", 17));
}

} // namespace weft

#endif // WEFT_TEST_COMPILER_READERS_WIREWRITER_H
