//===- FileStore.cpp --------------------------------------------------------------------------===//

#include "tools/weft/trials/FileStore.h"
#include "tools/weft/cli/Options.h"
#include "weft/sha256.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::cli {
namespace {

class OpenFile {
public:
  explicit OpenFile(const std::string &path) : file(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  ~OpenFile() {
    if (file >= 0)
      close(file);
  }
  /// Nothing when there is less.
  std::optional<std::string> read(uint64_t place, size_t bytes) const {
    std::string content(bytes, '\0');
    size_t done = 0;
    while (done < bytes) {
      ssize_t length =
          pread(file, content.data() + done, bytes - done, static_cast<off_t>(place + done));
      if (length < 0 && errno == EINTR)
        continue;
      if (length <= 0)
        return std::nullopt;
      done += static_cast<size_t>(length);
    }
    return content;
  }
  std::optional<uint64_t> size() const {
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
      return std::nullopt;
    return static_cast<uint64_t>(info.st_size);
  }

private:
  int file;
};

std::string digestOf(std::string_view bytes) {
  uint8_t digest[kDigestBytes];
  weft_sha256(bytes.data(), bytes.size(), digest);
  return {reinterpret_cast<char *>(digest), sizeof digest};
}

std::string hexadecimal(std::string_view digest) {
  std::string text;
  for (unsigned char byte : digest)
    for (unsigned nibble : {unsigned(byte) >> 4, unsigned(byte) & 15})
      text += "0123456789abcdef"[nibble];
  return text;
}

Failure systemFailure(const std::string &path) {
  return {ExitMachineLacks, path + ": " + strerror(errno), "", ""};
}

} // namespace

size_t Pieces::sizeOf(size_t piece) const {
  return static_cast<size_t>(
      std::min<uint64_t>(kPieceBytes, bytes - uint64_t(piece) * kPieceBytes));
}

Result<Pieces> piecesOf(const std::string &path) {
  OpenFile file(path);
  std::optional<uint64_t> size = file.size();
  if (!size)
    return systemFailure(path);
  if (*size > kMostFileBytes)
    return Failure{ExitMachineLacks, path + ": is too large to be sent", "", ""};
  Pieces pieces;
  pieces.bytes = *size;
  weft_sha256_t whole;
  weft_sha256_init(&whole);
  for (size_t piece = 0; piece < pieces.count(); ++piece) {
    std::optional<std::string> content =
        file.read(uint64_t(piece) * kPieceBytes, pieces.sizeOf(piece));
    if (!content)
      return systemFailure(path);
    pieces.digests += digestOf(*content);
    weft_sha256_update(&whole, content->data(), content->size());
  }
  uint8_t digest[kDigestBytes];
  weft_sha256_final(&whole, digest);
  pieces.hash = hexadecimal({reinterpret_cast<char *>(digest), sizeof digest});
  return pieces;
}

Result<std::string> readPiece(const std::string &path, const Pieces &pieces, size_t piece) {
  std::optional<std::string> content =
      OpenFile(path).read(uint64_t(piece) * kPieceBytes, pieces.sizeOf(piece));
  if (!content)
    return systemFailure(path);
  return *content;
}

FileStore::~FileStore() { close(); }

void FileStore::close() {
  if (file >= 0)
    ::close(file);
  file = -1;
}

Result<std::string> FileStore::begin(const Pieces &pieces) {
  close();
  coming = pieces;
  complaint.clear();
  if (pieces.bytes > kMostFileBytes || pieces.digests.size() != pieces.count() * kDigestBytes)
    return Failure{ExitInputRefused, "the digests are not those of so many bytes", "", ""};
  Kept &kept = files[pieces.hash];
  if (!kept.path.empty())
    unlink(kept.path.c_str());
  kept = {folder.path() + "/" + std::to_string(++made), {}};
  file = open(kept.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(pieces.bytes)) != 0) {
    Failure failure = systemFailure(kept.path);
    close();
    drop(pieces.hash);
    return failure;
  }
  std::string lacks(pieces.count(), '1');
  for (size_t piece = 0; piece < pieces.count(); ++piece)
    if (fill(piece, pieces.digests.substr(piece * kDigestBytes, kDigestBytes)))
      lacks[piece] = '0';
  return lacks;
}

/// Whether another file has such a piece: end() checks what it read.
bool FileStore::fill(size_t piece, const std::string &digest) {
  for (const auto &[hash, kept] : files) {
    auto place = kept.places.find(digest);
    if (place == kept.places.end())
      continue;
    std::optional<std::string> content =
        OpenFile(kept.path).read(uint64_t(place->second) * kPieceBytes, coming.sizeOf(piece));
    if (!content)
      continue;
    put(piece, *content);
    return true;
  }
  return false;
}

void FileStore::put(size_t piece, std::string_view bytes) {
  if (file < 0 || piece >= coming.count() || bytes.size() != coming.sizeOf(piece)) {
    complaint = "a piece is not of the file";
    return;
  }
  auto place = static_cast<off_t>(uint64_t(piece) * kPieceBytes);
  while (!bytes.empty()) {
    ssize_t done = pwrite(file, bytes.data(), bytes.size(), place);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      complaint = folder.path() + ": " + strerror(errno);
      return;
    }
    place += done;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
}

Result<Done> FileStore::end() {
  close();
  Kept &kept = files[coming.hash];
  Result<Pieces> got =
      complaint.empty() ? piecesOf(kept.path) : Failure{ExitMachineLacks, complaint, "", ""};
  if (got && (got->hash != coming.hash || got->digests != coming.digests))
    got = Failure{ExitInputRefused, "what came has not the hash that was said", "", ""};
  if (!got) {
    drop(coming.hash);
    return got.failure();
  }
  for (size_t piece = 0; piece < coming.count(); ++piece)
    kept.places.emplace(coming.digests.substr(piece * kDigestBytes, kDigestBytes), piece);
  return Done{};
}

std::optional<std::string> FileStore::pathOf(const std::string &hash) const {
  auto found = files.find(hash);
  return found == files.end() || (isOpen() && hash == coming.hash)
             ? std::nullopt
             : std::optional<std::string>(found->second.path);
}

void FileStore::drop(const std::string &hash) {
  auto found = files.find(hash);
  if (found == files.end())
    return;
  unlink(found->second.path.c_str());
  files.erase(found);
}

} // namespace weft::cli
