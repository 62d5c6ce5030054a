//===- OnnxFormat.cpp - Protobuf messages of ONNX -----------------------------------------------===//
//
// A table says what the fields of a message hold, so that names take the place of names and sizes of sizes. What it lacks is kept as it is.
//===------------------------------------------------------------------------------------------===//
#include "test/fuzz/Formats.h"

namespace weft::fuzz {
namespace {

constexpr unsigned kDeepest = 60;

/// What fields hold. Messages come first.
enum Kind : unsigned {
  Model = 0x300,
  Graph,
  Node,
  Attribute,
  Tensor,
  SparseTensor,
  ValueInfo,
  Type,
  TensorType,
  Shape,
  Dim,
  Wrapped, ///< sequence and optional types
  MapType,
  Function,
  Opset,
  Entry,
  LastMessage = Entry,
  ValueName,
  OperatorName,
  AttributeName,
  Domain,
  SymbolName,
  AnyText,
  RawData,
  Size,
  Version,
  ElementType,
  AttributeKind,
  Integer,
  Real,
  Integers, ///< packed varints
  Sizes,
  Reals,   ///< packed, 4 bytes each
  Doubles, ///< packed, 8 bytes each
  Unknown
};

struct Row {
  Kind message;
  unsigned number;
  Kind kind;
};

const Row kRows[] = {{Model, 1, Version},
                     {Model, 2, AnyText},
                     {Model, 3, AnyText},
                     {Model, 7, Graph},
                     {Model, 8, Opset},
                     {Model, 14, Entry},
                     {Model, 25, Function},
                     {Opset, 1, Domain},
                     {Opset, 2, Version},
                     {Graph, 1, Node},
                     {Graph, 2, AnyText},
                     {Graph, 5, Tensor},
                     {Graph, 11, ValueInfo},
                     {Graph, 12, ValueInfo},
                     {Graph, 13, ValueInfo},
                     {Graph, 15, SparseTensor},
                     {Node, 1, ValueName},
                     {Node, 2, ValueName},
                     {Node, 3, AnyText},
                     {Node, 4, OperatorName},
                     {Node, 5, Attribute},
                     {Node, 7, Domain},
                     {Node, 8, AnyText},
                     {Attribute, 1, AttributeName},
                     {Attribute, 2, Real},
                     {Attribute, 3, Integer},
                     {Attribute, 4, AnyText},
                     {Attribute, 5, Tensor},
                     {Attribute, 6, Graph},
                     {Attribute, 7, Reals},
                     {Attribute, 8, Integers},
                     {Attribute, 9, AnyText},
                     {Attribute, 10, Tensor},
                     {Attribute, 11, Graph},
                     {Attribute, 14, Type},
                     {Attribute, 15, Type},
                     {Attribute, 20, AttributeKind},
                     {Attribute, 21, AttributeName},
                     {Attribute, 22, SparseTensor},
                     {Attribute, 23, SparseTensor},
                     {Tensor, 1, Sizes},
                     {Tensor, 2, ElementType},
                     {Tensor, 4, Reals},
                     {Tensor, 5, Integers},
                     {Tensor, 6, AnyText},
                     {Tensor, 7, Integers},
                     {Tensor, 8, ValueName},
                     {Tensor, 9, RawData},
                     {Tensor, 10, Doubles},
                     {Tensor, 11, Integers},
                     {Tensor, 13, Entry},
                     {Tensor, 14, Integer},
                     {SparseTensor, 1, Tensor},
                     {SparseTensor, 2, Tensor},
                     {SparseTensor, 3, Sizes},
                     {ValueInfo, 1, ValueName},
                     {ValueInfo, 2, Type},
                     {Type, 1, TensorType},
                     {Type, 4, Wrapped},
                     {Type, 5, MapType},
                     {Type, 8, TensorType},
                     {Type, 9, Wrapped},
                     {TensorType, 1, ElementType},
                     {TensorType, 2, Shape},
                     {Shape, 1, Dim},
                     {Dim, 1, Size},
                     {Dim, 2, SymbolName},
                     {Wrapped, 1, Type},
                     {MapType, 1, ElementType},
                     {MapType, 2, Type},
                     {Function, 1, OperatorName},
                     {Function, 4, ValueName},
                     {Function, 5, ValueName},
                     {Function, 6, AttributeName},
                     {Function, 7, Node},
                     {Function, 9, Opset},
                     {Function, 10, Domain},
                     {Function, 11, Attribute},
                     {Function, 12, ValueInfo},
                     {Entry, 1, AnyText},
                     {Entry, 2, AnyText}};

Kind kindOf(unsigned message, uint64_t number) {
  for (const Row &row : kRows)
    if (row.message == message && row.number == number)
      return row.kind;
  return Unknown;
}

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

bool readVarint(std::string_view bytes, size_t &at, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
    auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= uint64_t(byte & 0x7F) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

/// One field; its head is its key, whose low bits tell how the content is written.
class Splitter {
public:
  static bool message(std::string_view bytes, Field &into, unsigned depth) {
    for (size_t at = 0; at < bytes.size();) {
      Field field;
      if (depth > kDeepest || !next(bytes, at, into.kind, field, depth))
        return false;
      into.parts.push_back(std::move(field));
    }
    return true;
  }

private:
  static bool next(std::string_view bytes, size_t &at, unsigned message, Field &field,
                   unsigned depth) {
    size_t start = at;
    uint64_t key, size;
    if (!readVarint(bytes, at, key))
      return false;
    field.head = bytes.substr(start, at - start);
    field.kind = kindOf(message, key >> 3);
    switch (key & 7) {
    case 0:
      field.form = Field::Number;
      field.kind = field.kind == Sizes ? Size : field.kind == Integers ? Integer : field.kind;
      return readVarint(bytes, at, field.number);
    case 1:
    case 5:
      size = (key & 7) == 1 ? 8 : 4;
      field.kind = Real;
      break;
    case 2:
      if (!readVarint(bytes, at, size))
        return false;
      break;
    default:
      return false;
    }
    if (size > bytes.size() - at)
      return false;
    std::string_view content = bytes.substr(at, size);
    at += size;
    return fill(content, field, depth);
  }

  static bool fill(std::string_view content, Field &field, unsigned depth) {
    if (field.kind <= LastMessage)
      return Splitter::message(content, field, depth + 1);
    if (field.kind == Integers || field.kind == Sizes)
      return numbers(content, field);
    if (field.kind == Reals || field.kind == Doubles)
      return pieces(content, field.kind == Reals ? 4 : 8, field);
    field.form = Field::Text;
    field.text = content;
    return true;
  }

  static bool numbers(std::string_view content, Field &field) {
    for (size_t at = 0; at < content.size();) {
      Field number;
      number.form = Field::Number;
      number.kind = field.kind == Sizes ? Size : Integer;
      if (!readVarint(content, at, number.number))
        return false;
      field.parts.push_back(std::move(number));
    }
    return true;
  }

  static bool pieces(std::string_view content, size_t size, Field &field) {
    for (size_t at = 0; at < content.size(); at += size) {
      Field piece;
      piece.form = Field::Text;
      piece.kind = field.kind + 0x100;
      piece.text = content.substr(at, size);
      field.parts.push_back(std::move(piece));
    }
    return true;
  }
};

class OnnxFormat : public Format {
public:
  std::optional<Field> split(std::string_view bytes) const override {
    Field root;
    root.kind = Model;
    if (bytes.size() > (1 << 20) || !Splitter::message(bytes, root, 0))
      return std::nullopt;
    return root;
  }

  Written join(const Field &root) const override {
    Written file;
    write(root, file);
    return file;
  }

private:
  static void write(const Field &field, Written &file) {
    if (field.form == Field::Number) {
      file.bytes += field.head + varint(field.number);
      return;
    }
    bool counted = !field.head.empty() && (field.head[0] & 7) == 2;
    Written content;
    content.bytes = field.text;
    for (const Field &part : field.parts)
      write(part, content);
    file.bytes += field.head;
    if (counted) {
      file.derived.push_back({file.bytes.size(), 1});
      file.bytes += varint(content.bytes.size());
    }
    for (auto [at, size] : content.derived)
      file.derived.push_back({file.bytes.size() + at, size});
    file.bytes += content.bytes;
  }
};

} // namespace

const Format &onnxFormat() {
  static const OnnxFormat format;
  return format;
}

} // namespace weft::fuzz
