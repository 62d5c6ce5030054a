//===- NumpyFormats.cpp - .npy files, and archives of them --------------------------------------===//
//
// Archives are split by their directory and written anew, with or without zip64 records, with right checksums and positions.
//===------------------------------------------------------------------------------------------===//
#include "test/fuzz/Formats.h"

#include <algorithm>

namespace weft::fuzz {
namespace {

enum Kind : unsigned {
  Version = 0x200,
  Header,
  Data,
  File,
  Member,
  Name,
  Flags,
  Method,
  Zip64,
  Comment
};

Field numberField(unsigned kind, uint64_t number) {
  Field field;
  field.form = Field::Number;
  field.kind = kind;
  field.number = number;
  return field;
}

Field textField(unsigned kind, std::string_view text) {
  Field field;
  field.form = Field::Text;
  field.kind = kind;
  field.text = text;
  return field;
}

//===-- .npy ------------------------------------------------------------------------------------===//

class NpyFormat : public Format {
public:
  std::optional<Field> split(std::string_view bytes) const override {
    if (bytes.size() < 12 || bytes.substr(0, 6) != "\x93NUMPY")
      return std::nullopt;
    size_t begin = bytes[6] == 1 ? 10 : 12, size = fixedNumber(bytes.substr(8, begin - 8));
    if (size > bytes.size() - begin)
      return std::nullopt;
    std::optional<Field> header = jsonFormat().split(bytes.substr(begin, size));
    if (!header)
      return std::nullopt;
    header->kind = Header;
    Field root;
    root.kind = File;
    root.parts = {numberField(Version, fixedNumber(bytes.substr(6, 2))), std::move(*header),
                  textField(Data, bytes.substr(begin + size))};
    return root;
  }

  Written join(const Field &root) const override {
    uint64_t version = 1;
    std::string header, data;
    for (const Field &part : root.parts)
      if (part.kind == Version)
        version = part.number;
      else
        writeFlat(part, part.kind == Header ? header : data);
    size_t width = (version & 0xFF) == 1 ? 2 : 4;
    Written file;
    file.derived.push_back({8, width});
    file.bytes =
        "\x93NUMPY" + fixedBytes(version, 2) + fixedBytes(header.size(), width) + header + data;
    return file;
  }
};

//===-- .npz ------------------------------------------------------------------------------------===//

constexpr uint32_t kLocal = 0x04034B50, kCentral = 0x02014B50, kEnd = 0x06054B50,
                   kEnd64 = 0x06064B50, kLocator64 = 0x07064B50, kIn64 = 0xFFFFFFFF;

uint32_t crc32(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

/// Numbers at positions of an archive; 0 where there are no bytes.
struct Archive {
  std::string_view bytes;
  uint64_t number(uint64_t at, size_t width) const {
    return at <= bytes.size() && width <= bytes.size() - at ? fixedNumber(bytes.substr(at, width))
                                                            : 0;
  }
  std::string_view part(uint64_t at, uint64_t size) const {
    return at <= bytes.size() ? bytes.substr(at, size) : std::string_view();
  }
};

/// One row of the directory while it is written.
struct Row {
  std::string name;
  uint64_t flags = 0, method = 0, crc = 0, size = 0, position = 0;
};

class NpzFormat : public Format {
public:
  std::optional<Field> split(std::string_view bytes) const override {
    Archive archive{bytes};
    size_t end = bytes.rfind("PK\x05\x06");
    if (end == std::string_view::npos)
      return npyFormat().split(bytes);
    Field root;
    root.separator = "archive"; // tells it from a single .npy file
    uint64_t at = archive.number(end + 16, 4);
    bool large = at == kIn64;
    if (large)
      at = archive.number(archive.number(end - 20 + 8, 8) + 48, 8);
    root.parts = {numberField(Zip64, large), textField(Comment, archive.part(end + 22, 0xFFFF))};
    while (archive.number(at, 4) == kCentral && root.parts.size() < 100) {
      root.parts.push_back(member(archive, at));
      at +=
          46 + archive.number(at + 28, 2) + archive.number(at + 30, 2) + archive.number(at + 32, 2);
    }
    return root;
  }

  Written join(const Field &root) const override {
    if (root.separator != "archive")
      return npyFormat().join(root);
    Written file;
    std::vector<Row> rows;
    bool large = false;
    std::string comment;
    for (const Field &part : root.parts) {
      if (part.kind == Zip64)
        large = part.number & 1;
      else if (part.kind == Comment)
        comment = part.text;
    }
    for (const Field &part : root.parts)
      if (part.kind == Member && rows.size() < 5000)
        rows.push_back(writeMember(part, large, file));
    writeDirectory(rows, large, comment, file);
    return file;
  }

private:
  static Field member(const Archive &archive, uint64_t row) {
    size_t nameSize = archive.number(row + 28, 2);
    uint64_t size = archive.number(row + 20, 4), local = archive.number(row + 42, 4);
    if (size == kIn64) { // as our writer and numpy do: original size, stored size, position
      size = archive.number(row + 46 + nameSize + 12, 8);
      local = local == kIn64 ? archive.number(row + 46 + nameSize + 20, 8) : local;
    }
    uint64_t begin = local + 30 + archive.number(local + 26, 2) + archive.number(local + 28, 2);
    std::string_view content = archive.part(begin, size);
    Field field, data = textField(Data, content);
    field.kind = Member;
    if (std::optional<Field> npy = npyFormat().split(content))
      data = std::move(*npy);
    field.parts = {textField(Name, archive.part(row + 46, nameSize)),
                   numberField(Flags, archive.number(row + 8, 2)),
                   numberField(Method, archive.number(row + 10, 2)), std::move(data)};
    return field;
  }

  /// Fields that the local header and the directory share.
  static void writeCommon(const Row &row, bool large, size_t extra, Written &file) {
    file.bytes += fixedBytes(45, 2) + fixedBytes(row.flags, 2) + fixedBytes(row.method, 2) +
                  fixedBytes(0x210000, 4);
    size_t at = file.bytes.size();
    for (size_t i = 0; i < 3; ++i)
      file.derived.push_back({at + 4 * i, 4});
    file.derived.push_back({at + 12, 2});
    file.derived.push_back({at + 14, 2});
    uint64_t size = large ? kIn64 : row.size;
    file.bytes += fixedBytes(row.crc, 4) + fixedBytes(size, 4) + fixedBytes(size, 4) +
                  fixedBytes(row.name.size(), 2) + fixedBytes(extra, 2);
  }

  static void writeExtra(const std::vector<uint64_t> &numbers, Written &file) {
    file.bytes += fixedBytes(1, 2) + fixedBytes(8 * numbers.size(), 2);
    for (uint64_t number : numbers) {
      file.derived.push_back({file.bytes.size(), 8});
      file.bytes += fixedBytes(number, 8);
    }
  }

  static Row writeMember(const Field &field, bool large, Written &file) {
    Row row;
    std::string content;
    for (const Field &part : field.parts)
      if (part.kind == Name)
        row.name = part.text.substr(0, 0xFFFF);
      else if (part.kind == Flags)
        row.flags = part.number;
      else if (part.kind == Method)
        row.method = part.number;
      else if (part.kind == File)
        content += npyFormat().join(part).bytes;
      else
        content += part.text;
    row.size = content.size();
    row.crc = crc32(content);
    row.position = file.bytes.size();
    file.bytes += fixedBytes(kLocal, 4);
    writeCommon(row, large, large ? 20 : 0, file);
    file.bytes += row.name;
    if (large)
      writeExtra({row.size, row.size}, file);
    file.bytes += content;
    return row;
  }

  static void writeDirectory(const std::vector<Row> &rows, bool large, const std::string &comment,
                             Written &file) {
    uint64_t begin = file.bytes.size();
    for (const Row &row : rows) {
      file.bytes += fixedBytes(kCentral, 4) + fixedBytes(45, 2);
      writeCommon(row, large, large ? 28 : 0, file);
      file.bytes += std::string(10, '\0');
      file.derived.push_back({file.bytes.size(), 4});
      file.bytes += fixedBytes(large ? kIn64 : row.position, 4) + row.name;
      if (large)
        writeExtra({row.size, row.size, row.position}, file);
    }
    uint64_t end = file.bytes.size();
    auto put = [&](uint64_t value, size_t width) {
      file.derived.push_back({file.bytes.size(), width});
      file.bytes += fixedBytes(value, width);
    };
    if (large) {
      file.bytes += fixedBytes(kEnd64, 4) + fixedBytes(44, 8) + fixedBytes(0x2D002D, 4) +
                    std::string(8, '\0');
      for (uint64_t value : {uint64_t(rows.size()), uint64_t(rows.size()), end - begin, begin})
        put(value, 8);
      file.bytes += fixedBytes(kLocator64, 4) + std::string(4, '\0');
      put(end, 8);
      file.bytes += fixedBytes(1, 4);
    }
    file.bytes += fixedBytes(kEnd, 4) + std::string(4, '\0');
    put(large ? 0xFFFF : rows.size(), 2);
    put(large ? 0xFFFF : rows.size(), 2);
    put(large ? kIn64 : end - begin, 4);
    put(large ? kIn64 : begin, 4);
    put(std::min<size_t>(comment.size(), 0xFFFF), 2);
    file.bytes += comment.substr(0, 0xFFFF);
  }
};

} // namespace

const Format &npyFormat() {
  static const NpyFormat format;
  return format;
}

const Format &npzFormat() {
  static const NpzFormat format;
  return format;
}

} // namespace weft::fuzz
