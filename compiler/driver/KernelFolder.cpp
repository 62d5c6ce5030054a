//===- KernelFolder.cpp -----------------------------------------------------------------------===//
//
//   "weft-kernel 1\n"  a hash of all behind it  key  entry  code  kind  unit  threads  bytes of a block  whether it is counted
//
// Numbers have 8 bytes, and so has the length before each text.
//===------------------------------------------------------------------------------------------===//

#include "compiler/driver/KernelFolder.h"
#include "targets/common/KernelBuild.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstdlib>

using namespace llvm;

namespace weft {
namespace {

constexpr StringLiteral kFormat = "weft-kernel 1\n";

class Text {
public:
  void add(uint64_t number) {
    char bytes[8];
    support::endian::write64le(bytes, number);
    text.append(bytes, sizeof bytes);
  }
  void add(StringRef string) {
    add(string.size());
    text += string;
  }
  std::string text;
};

class Reader {
public:
  explicit Reader(StringRef rest) : rest(rest) {}
  uint64_t number() {
    StringRef bytes = take(8);
    return bytes.empty() ? 0 : support::endian::read64le(bytes.data());
  }
  StringRef string() { return take(number()); }
  bool isAtEnd() const { return whole && rest.empty(); }

private:
  StringRef take(uint64_t size) {
    whole &= size <= rest.size();
    StringRef taken = whole ? rest.take_front(size) : StringRef();
    rest = rest.drop_front(taken.size());
    return taken;
  }
  StringRef rest;
  bool whole = true;
};

std::string textOf(StringRef key, const KernelImage &image) {
  Text content;
  content.add(key);
  content.add(image.entry);
  content.add(image.bytes);
  for (uint64_t number : {uint64_t(image.kind), uint64_t(image.unit), uint64_t(image.threads),
                          uint64_t(image.blockBytes), uint64_t(image.isCounted)})
    content.add(number);
  Text file;
  file.text = kFormat;
  file.add(xxh3_64bits(content.text));
  return file.text + content.text;
}

std::optional<KernelImage> imageOf(StringRef key, StringRef text) {
  if (!text.consume_front(kFormat) || text.size() < 8)
    return std::nullopt;
  uint64_t hash = support::endian::read64le(text.data());
  text = text.drop_front(8);
  if (xxh3_64bits(text) != hash)
    return std::nullopt;
  Reader content(text);
  if (content.string() != key)
    return std::nullopt;
  KernelImage image;
  image.entry = content.string();
  image.bytes = content.string();
  image.kind = KernelImage::Kind(content.number());
  image.unit = Unit(content.number());
  image.threads = int64_t(content.number());
  image.blockBytes = int64_t(content.number());
  image.isCounted = content.number() != 0;
  image.isKept = true;
  return content.isAtEnd() ? std::optional(std::move(image)) : std::nullopt;
}

} // namespace

const KernelFolder *KernelFolder::given() {
  static const char *const path = secure_getenv("WEFT_KERNELS");
  static const KernelFolder folder(path ? path : "");
  return path && *path ? &folder : nullptr;
}

/// Few files in each folder.
std::string KernelFolder::fileOf(StringRef key) const {
  SHA256 hash;
  hash.update(kernelBuild());
  hash.update(StringRef("\0", 1));
  hash.update(key);
  std::string name = toHex(hash.final(), true);
  SmallString<256> file(path);
  sys::path::append(file, name.substr(0, 2), name.substr(2));
  return std::string(file);
}

std::optional<KernelImage> KernelFolder::find(StringRef key) const {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(fileOf(key));
  return file ? imageOf(key, (*file)->getBuffer()) : std::nullopt;
}

void KernelFolder::keep(StringRef key, const KernelImage &image) const {
  std::string file = fileOf(key);
  SmallString<256> beside;
  int descriptor = -1;
  if (sys::fs::create_directories(sys::path::parent_path(file)) ||
      sys::fs::createUniqueFile(file + "-%%%%%%%%", descriptor, beside))
    return;
  raw_fd_ostream stream(descriptor, true);
  stream << textOf(key, image);
  stream.close();
  bool isWhole = !stream.has_error();
  stream.clear_error();
  if (!isWhole || sys::fs::rename(beside, file))
    sys::fs::remove(beside);
}

} // namespace weft
