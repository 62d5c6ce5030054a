//===- MappedFile.cpp - A read-only mapping of a file -----------------------------------------===//

#include "compiler/import/readers/MappedFile.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

using namespace llvm;

namespace weft {

/// O_NONBLOCK keeps a named pipe from blocking; it means nothing for regular files.
static constexpr int openFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

static Error cannotOpen(const Twine &place, int code) {
  return systemError(place + ": cannot be opened: " + StringRef(std::strerror(code)).lower(), code);
}

Expected<std::shared_ptr<MappedFile>> MappedFile::mapDescriptor(int descriptor, StringRef path) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0)
    return cannotOpen(path, errno);
  if (!S_ISREG(status.st_mode))
    return readError(path + ": is not a regular file");
  auto length = static_cast<uint64_t>(status.st_size);
  if (length == 0)
    return std::shared_ptr<MappedFile>(new MappedFile(path, nullptr, 0, false));
  void *data = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED)
    return readError(path + ": cannot be mapped: " + StringRef(std::strerror(errno)).lower());
  return std::shared_ptr<MappedFile>(
      new MappedFile(path, static_cast<const char *>(data), length, true));
}

Expected<std::shared_ptr<MappedFile>> MappedFile::open(StringRef path) {
  int descriptor = ::open(path.str().c_str(), openFlags);
  if (descriptor < 0)
    return cannotOpen(path, errno);
  auto file = mapDescriptor(descriptor, path);
  ::close(descriptor);
  return file;
}

/// Whether the text alone can be a path inside a directory.
static Error checkRelative(StringRef relativePath) {
  auto wrong = [&](const char *why) { return readError(quotedText(relativePath) + why); };
  if (relativePath.empty() || relativePath.contains('\0'))
    return wrong(" is not a file name");
  if (relativePath.starts_with("/"))
    return wrong(" is an absolute path, but must lie in the model's directory");
  SmallVector<StringRef> components;
  relativePath.split(components, '/');
  for (StringRef component : components)
    if (component == "..")
      return wrong(" contains '..', which could leave the model's directory");
  return Error::success();
}

static Error leavesDirectory(StringRef relativePath) {
  return readError(quotedText(relativePath) +
                   " is a symbolic link that leaves the model's directory; "
                   "hint: copy the file itself there");
}

/// openat2 with RESOLVE_BENEATH: the kernel itself keeps the walk inside. -1 with errno ENOSYS
/// where it is missing.
static int openBeneath(int directory, const std::string &relativePath) {
#if defined(SYS_openat2) && defined(RESOLVE_BENEATH)
  struct open_how how = {};
  how.flags = openFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(
      ::syscall(SYS_openat2, directory, relativePath.c_str(), &how, sizeof(how)));
#else
  errno = ENOSYS;
  return -1;
#endif
}

/// For kernels without openat2: compares the resolved paths. Someone who swaps links meanwhile can
/// defeat this.
static int openResolved(const std::string &directory, const std::string &relativePath) {
  char *root = ::realpath(directory.c_str(), nullptr);
  char *target = ::realpath((directory + "/" + relativePath).c_str(), nullptr);
  int descriptor = -1;
  if (root && target) {
    StringRef inside(target);
    bool beneath =
        inside.consume_front(root) && (StringRef(root) == "/" || inside.starts_with("/"));
    if (beneath)
      descriptor = ::open(target, openFlags | O_NOFOLLOW);
    else
      errno = EXDEV;
  }
  int code = errno;
  std::free(root);
  std::free(target);
  errno = code;
  return descriptor;
}

Expected<std::shared_ptr<MappedFile>> MappedFile::openInside(StringRef directory,
                                                             StringRef relativePath) {
  if (Error error = checkRelative(relativePath))
    return std::move(error);
  std::string root = directory.empty() ? "." : directory.str();
  int rootDescriptor = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (rootDescriptor < 0)
    return cannotOpen(root, errno);
  int descriptor = openBeneath(rootDescriptor, relativePath.str());
  // Sandboxes that do not know the call answer EPERM; a real EPERM comes back from the second
  // attempt.
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
    descriptor = openResolved(root, relativePath.str());
  int code = errno;
  ::close(rootDescriptor);
  if (descriptor < 0)
    return code == EXDEV ? leavesDirectory(relativePath)
                         : cannotOpen(quotedText(relativePath), code);
  SmallString<128> path(directory);
  sys::path::append(path, relativePath);
  auto file = mapDescriptor(descriptor, path);
  ::close(descriptor);
  return file;
}

Expected<std::shared_ptr<MappedFile>> MappedFile::openEntry(StringRef directory, StringRef name) {
  if (name.contains('/') || name.contains('\0') || name.empty() || name == "..")
    return openInside(directory, name);
  SmallString<128> path(directory);
  sys::path::append(path, name);
  int descriptor = ::open(path.c_str(), openFlags);
  if (descriptor < 0)
    return cannotOpen(quotedText(name), errno);
  auto file = mapDescriptor(descriptor, path);
  ::close(descriptor);
  return file;
}

std::shared_ptr<MappedFile> MappedFile::view(StringRef name, ArrayRef<char> bytes,
                                             std::shared_ptr<const void> owner) {
  std::shared_ptr<MappedFile> file(new MappedFile(name, bytes.data(), bytes.size(), false));
  file->fromMemory = true;
  file->owner = std::move(owner);
  return file;
}

MappedFile::~MappedFile() {
  if (mapped)
    ::munmap(const_cast<char *>(data), length);
}

StringRef MappedFile::pathFrom(StringRef directory) const {
  StringRef path = name;
  return path.consume_front(directory) ? path.ltrim('/') : path;
}

bool MappedFile::contains(ArrayRef<char> range) const {
  std::less_equal<const char *> notAfter;
  return notAfter(data, range.data()) && notAfter(range.data() + range.size(), data + length);
}

void MappedFile::releasePages(ArrayRef<char> range) const {
  if (!mapped || range.empty() || !contains(range))
    return;
  auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  uintptr_t begin = (reinterpret_cast<uintptr_t>(range.begin()) + page - 1) / page * page;
  uintptr_t end = reinterpret_cast<uintptr_t>(range.end()) / page * page;
  // The last page of the file belongs to the range that reaches the end, though no further page
  // follows it.
  if (range.end() == data + length)
    end = (reinterpret_cast<uintptr_t>(range.end()) + page - 1) / page * page;
  if (begin < end)
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

} // namespace weft
