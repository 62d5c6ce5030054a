//===- OutputFile.cpp -------------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft {

/// Bytes go to the file in pieces of this size: the system then keeps the file in large pages, from which weights are read faster.
constexpr size_t kPiece = 8 << 20;

static llvm::Error fail(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

std::string unfinishedPath(const std::string &path) {
  return path + ".tmp" + std::to_string(getpid());
}

static std::string descriptorPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// A file without a name in the folder of `path`, which can be given one; -1 where there are no such files.
static int openUnnamed(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int fd = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (fd >= 0 && ::access(descriptorPath(fd).c_str(), F_OK) != 0)
    ::close(std::exchange(fd, -1));
  return fd;
}

llvm::Error OutputFile::open(const std::string &path) {
  target = path;
  struct stat there;
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) // renaming would replace it
    return fail("cannot write '" + path + "': it is not a regular file");
  temporary = unfinishedPath(path);
  fd = openUnnamed(path);
  if (fd < 0) {
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    isNamed = fd >= 0;
  }
  return fd < 0 ? fail("cannot write '" + path + "': " + strerror(errno)) : llvm::Error::success();
}

OutputFile::~OutputFile() {
  if (fd >= 0)
    ::close(fd);
  if (isNamed)
    ::unlink(temporary.c_str());
}

llvm::Error OutputFile::write(llvm::StringRef bytes) {
  position += bytes.size();
  while (!bytes.empty()) {
    llvm::StringRef part = bytes.take_front(kPiece - gathered.size());
    gathered.append(part.data(), part.size());
    bytes = bytes.drop_front(part.size());
    if (gathered.size() == kPiece)
      if (llvm::Error error = flush())
        return error;
  }
  return llvm::Error::success();
}

llvm::Error OutputFile::overwrite(uint64_t at, llvm::StringRef bytes) {
  if (llvm::Error error = flush())
    return error;
  if (::pwrite(fd, bytes.data(), bytes.size(), at) != ssize_t(bytes.size()))
    return fail("cannot write '" + target + "': " + strerror(errno));
  return llvm::Error::success();
}

llvm::Error OutputFile::complete() {
  if (llvm::Error error = flush())
    return error;
  bool isWritten = ::fsync(fd) == 0;
  if (isNamed) // else it would be gone
    isWritten &= ::close(std::exchange(fd, -1)) == 0;
  return isWritten ? llvm::Error::success()
                   : fail("cannot write '" + target + "': " + strerror(errno));
}

llvm::Error OutputFile::commit() {
  if (fd >= 0)
    if (llvm::Error error = complete())
      return error;
  if (llvm::Error error = giveName())
    return error;
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    return fail("cannot write '" + target + "': " + strerror(errno));
  isNamed = false;
  return llvm::Error::success();
}

/// The temporary one: only a file with a name takes the place of another.
llvm::Error OutputFile::giveName() {
  if (!isNamed && ::linkat(AT_FDCWD, descriptorPath(fd).c_str(), AT_FDCWD, temporary.c_str(),
                           AT_SYMLINK_FOLLOW) != 0)
    return fail("cannot write '" + target + "': " + strerror(errno));
  isNamed = true;
  return llvm::Error::success();
}

llvm::Error OutputFile::flush() {
  for (llvm::StringRef bytes = gathered; !bytes.empty();) {
    ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return fail("cannot write '" + target + "': " + strerror(errno));
    bytes = bytes.drop_front(done);
  }
  gathered.clear();
  return llvm::Error::success();
}

} // namespace weft
