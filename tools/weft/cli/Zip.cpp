//===- Zip.cpp --------------------------------------------------------------------------------===//
//
// PKWARE's APPNOTE 6.3, sections 4.3 and 4.5.3 (zip64), as far as stored members need it.
//===------------------------------------------------------------------------------------------===//
#include "tools/weft/cli/Zip.h"
#include "tools/weft/cli/Options.h"

#include <array>
#include <cstring>

namespace weft::cli {

namespace {

constexpr uint32_t kLocal = 0x04034B50, kCentral = 0x02014B50, kEnd = 0x06054B50;
constexpr uint32_t kEnd64 = 0x06064B50, kLocator64 = 0x07064B50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kLocatorSize = 20,
                 kEnd64Size = 56;
constexpr uint32_t kIn64 = 0xFFFFFFFF;
constexpr uint16_t kZip64Extra = 1;

uint64_t number(const uint8_t *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | at[i];
  return value;
}

void put(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    out += static_cast<char>(value >> (8 * i) & 0xFF);
}

/// Eight tables, eight bytes a step: an archive of weights is not slower to check than to read.
struct CrcTables {
  uint32_t table[8][256];
  constexpr CrcTables() : table() {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit)
        crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
      table[0][i] = crc;
    }
    for (int t = 1; t < 8; ++t)
      for (uint32_t i = 0; i < 256; ++i)
        table[t][i] = table[t - 1][i] >> 8 ^ table[0][table[t - 1][i] & 0xFF];
  }
};
constexpr CrcTables kCrc;

uint32_t crc32(uint32_t crc, const uint8_t *at, size_t size) {
  crc = ~crc;
  for (; size >= 8; size -= 8, at += 8) {
    uint32_t low = crc ^ static_cast<uint32_t>(number(at, 4));
    crc = kCrc.table[7][low & 0xFF] ^ kCrc.table[6][low >> 8 & 0xFF] ^
          kCrc.table[5][low >> 16 & 0xFF] ^ kCrc.table[4][low >> 24] ^ kCrc.table[3][at[4]] ^
          kCrc.table[2][at[5]] ^ kCrc.table[1][at[6]] ^ kCrc.table[0][at[7]];
  }
  for (; size; --size, ++at)
    crc = crc >> 8 ^ kCrc.table[0][(crc ^ *at) & 0xFF];
  return ~crc;
}

Failure damaged(const std::string &why) { return {ExitInputRefused, why, {}, "W0442"}; }

/// Walks the archive's directory.
class ZipReader {
public:
  ZipReader(const uint8_t *bytes, size_t size) : bytes(bytes), size(size) {}

  Result<std::vector<ZipMember>> run() {
    size_t end;
    if (!findEnd(&end))
      return damaged("the archive's directory is missing; the file is cut off or no archive");
    uint64_t count = number(bytes + end + 10, 2), at = number(bytes + end + 16, 4);
    if (!readEnd64(end, &count, &at) || at > end)
      return damaged("the archive's directory lies outside the file");
    std::vector<ZipMember> members;
    for (uint64_t i = 0; i < count; ++i) {
      Result<ZipMember> member = readMember(&at, end);
      if (!member)
        return member.failure();
      for (const ZipMember &other : members)
        if (other.name == member->name)
          return damaged("member '" + member->name + "' is there twice");
      members.push_back(std::move(*member));
      if (members.size() > 4096)
        return damaged("more than 4096 members");
    }
    return members;
  }

private:
  /// The end record is the last thing in the file, but for a comment.
  bool findEnd(size_t *end) const {
    for (size_t back = kEndSize; back <= size && back <= kEndSize + 0xFFFF; ++back)
      if (number(bytes + size - back, 4) == kEnd) {
        *end = size - back;
        return true;
      }
    return false;
  }

  /// Larger counts and positions, where the end record says that they are elsewhere.
  bool readEnd64(size_t end, uint64_t *count, uint64_t *at) const {
    if (*count != 0xFFFF && *at != kIn64)
      return true;
    if (end < kLocatorSize || number(bytes + end - kLocatorSize, 4) != kLocator64)
      return *at != kIn64;
    uint64_t record = number(bytes + end - kLocatorSize + 8, 8);
    if (size < kEnd64Size || record > size - kEnd64Size || number(bytes + record, 4) != kEnd64)
      return false;
    *count = number(bytes + record + 32, 8);
    *at = number(bytes + record + 48, 8);
    return true;
  }

  Result<ZipMember> readMember(uint64_t *at, size_t end) const {
    if (end - *at < kCentralSize || number(bytes + *at, 4) != kCentral)
      return damaged("the archive's directory is damaged");
    const uint8_t *row = bytes + *at;
    size_t nameSize = number(row + 28, 2), extraSize = number(row + 30, 2);
    size_t rowSize = kCentralSize + nameSize + extraSize + number(row + 32, 2);
    if (end - *at < rowSize)
      return damaged("the archive's directory is damaged");
    ZipMember member{std::string(reinterpret_cast<const char *>(row) + kCentralSize, nameSize), 0,
                     0};
    uint64_t stored = number(row + 20, 4), original = number(row + 24, 4),
             local = number(row + 42, 4);
    if (!readExtra(row + kCentralSize + nameSize, extraSize, &original, &stored, &local))
      return damaged("member '" + member.name + "': its sizes are damaged");
    *at += rowSize;
    if (number(row + 8, 2) & 1)
      return damaged("member '" + member.name + "' is encrypted");
    if (number(row + 10, 2) != 0)
      return Failure{ExitInputRefused,
                     "member '" + member.name + "' is compressed, which is not supported",
                     "write the file with numpy.savez instead of numpy.savez_compressed", "W0442"};
    if (stored != original || local > size || size - local < kLocalSize ||
        number(bytes + local, 4) != kLocal)
      return damaged("member '" + member.name + "' lies outside the file");
    uint64_t begin =
        local + kLocalSize + number(bytes + local + 26, 2) + number(bytes + local + 28, 2);
    if (begin > size || size - begin < stored)
      return damaged("member '" + member.name + "' lies outside the file");
    member.begin = begin;
    member.size = stored;
    if (crc32(0, bytes + begin, stored) != number(row + 16, 4))
      return damaged("member '" + member.name + "' is damaged: its checksum differs");
    return member;
  }

  /// Replaces what the row gives as 2^32 - 1, in this order.
  static bool readExtra(const uint8_t *at, size_t left, uint64_t *original, uint64_t *stored,
                        uint64_t *local) {
    while (left >= 4) {
      uint64_t tag = number(at, 2), length = number(at + 2, 2);
      if (length > left - 4)
        return false;
      const uint8_t *value = at + 4, *stop = value + length;
      if (tag == kZip64Extra)
        for (uint64_t *field : {original, stored, local})
          if (*field == kIn64) {
            if (stop - value < 8)
              return false;
            *field = number(value, 8);
            value += 8;
          }
      at = stop;
      left -= 4 + length;
    }
    return *original != kIn64 && *stored != kIn64 && *local != kIn64;
  }

  const uint8_t *bytes;
  size_t size;
};

/// The fields that local header and directory row share, from "version needed" on. Always zip64, as
/// numpy does.
std::string commonFields(uint32_t crc, size_t nameSize, size_t extraSize) {
  std::string out;
  put(out, 45, 2);
  put(out, 0, 2);    // flags
  put(out, 0, 2);    // stored
  put(out, 0, 2);    // 00:00
  put(out, 0x21, 2); // 1980-01-01: equal inputs give equal bytes
  put(out, crc, 4);
  put(out, kIn64, 4);
  put(out, kIn64, 4);
  put(out, nameSize, 2);
  put(out, extraSize, 2);
  return out;
}

} // namespace

Result<std::vector<ZipMember>> readZip(const uint8_t *bytes, size_t size) {
  return ZipReader(bytes, size).run();
}

void ZipWriter::add(std::string_view name, const std::vector<std::string_view> &content) {
  uint64_t size = 0;
  uint32_t crc = 0;
  for (std::string_view piece : content) {
    crc = crc32(crc, reinterpret_cast<const uint8_t *>(piece.data()), piece.size());
    size += piece.size();
  }
  std::string &header = headers.emplace_back();
  put(header, kLocal, 4);
  header += commonFields(crc, name.size(), 20);
  header += name;
  put(header, kZip64Extra, 2);
  put(header, 16, 2);
  put(header, size, 8);
  put(header, size, 8);

  put(directory, kCentral, 4);
  put(directory, 45, 2);
  directory += commonFields(crc, name.size(), 28);
  put(directory, 0, 2); // comment
  put(directory, 0, 2); // disk
  put(directory, 0, 2); // internal attributes
  put(directory, 0, 4); // external attributes
  put(directory, kIn64, 4);
  directory += name;
  put(directory, kZip64Extra, 2);
  put(directory, 24, 2);
  put(directory, size, 8);
  put(directory, size, 8);
  put(directory, position, 8);

  pieces.push_back(header);
  pieces.insert(pieces.end(), content.begin(), content.end());
  position += header.size() + size;
  ++count;
}

std::vector<std::string_view> ZipWriter::finish() {
  std::string &end = headers.emplace_back(directory);
  uint64_t record = position + directory.size();
  put(end, kEnd64, 4);
  put(end, kEnd64Size - 12, 8);
  put(end, 45, 2);
  put(end, 45, 2);
  put(end, 0, 8); // disks
  put(end, count, 8);
  put(end, count, 8);
  put(end, directory.size(), 8);
  put(end, position, 8);
  put(end, kLocator64, 4);
  put(end, 0, 4);
  put(end, record, 8);
  put(end, 1, 4);
  put(end, kEnd, 4);
  put(end, 0, 4); // disks
  put(end, 0xFFFF, 2);
  put(end, 0xFFFF, 2);
  put(end, kIn64, 4);
  put(end, kIn64, 4);
  put(end, 0, 2);
  pieces.push_back(end);
  return pieces;
}

} // namespace weft::cli
