//===- TensorFile.cpp -------------------------------------------------------------------------===//
#include "tools/weft/cli/TensorFile.h"
#include "tools/weft/cli/Zip.h"
#include "weft/npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::cli {

namespace {

constexpr size_t kAlignment = 64;

Failure systemFailure(const std::string &path, const std::string &what) {
  return {ExitInputRefused, path + ": " + what + ": " + strerror(errno), {}, {}};
}

Failure withPath(Failure failure, const std::string &path) {
  failure.message = path + ": " + failure.message;
  return failure;
}

/// A tensor over the bytes where they are aligned and row-major, else a copy. Boolean bytes other than 0 and 1
/// are made 1.
Result<HostTensor> readNpy(uint8_t *bytes, size_t size, const std::shared_ptr<void> &owner) {
  weft_npy_t npy{};
  weft_error_t error = WEFT_ERROR_INIT;
  if (weft_npy_parse_any(bytes, size, &npy, &error))
    return Failure{ExitInputRefused, error.message, error.hint, error.code};
  std::vector<int64_t> dims(npy.dim, npy.dim + npy.rank);
  uint8_t *data = bytes + npy.data_offset;
  if (!npy.is_fortran && npy.element != WEFT_BOOL &&
      reinterpret_cast<uintptr_t>(data) % kAlignment == 0)
    return HostTensor::over(npy.element, std::move(dims), data, owner);
  Result<HostTensor> copy = HostTensor::allocate(npy.element, std::move(dims));
  if (!copy)
    return copy;
  weft_npy_copy(&npy, bytes, copy->data());
  if (npy.element == WEFT_BOOL)
    std::for_each(copy->data(), copy->data() + copy->bytes(), [](uint8_t &b) { b = b != 0; });
  return copy;
}

Result<std::vector<NamedTensor>> readNpz(uint8_t *bytes, size_t size,
                                         const std::shared_ptr<void> &owner) {
  Result<std::vector<ZipMember>> members = readZip(bytes, size);
  if (!members)
    return members.failure();
  std::vector<NamedTensor> tensors;
  for (const ZipMember &member : *members) {
    std::string name = member.name;
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".npy") == 0)
      name.resize(name.size() - 4);
    Result<HostTensor> tensor = readNpy(bytes + member.begin, member.size, owner);
    if (!tensor)
      return withPath(tensor.failure(), "member '" + member.name + "'");
    tensors.push_back({name, *tensor});
  }
  return tensors;
}

std::string_view bytesOf(const HostTensor &tensor) {
  return {reinterpret_cast<const char *>(tensor.data()), tensor.bytes()};
}

struct NpyPieces {
  std::string header;
  HostTensor tensor;
};

Result<NpyPieces> npyPieces(const HostTensor &tensor) {
  HostTensor stored = tensor;
  if (weft_element_bits(tensor.element()) < 8) {
    Result<HostTensor> values = unpackParts(tensor);
    if (!values)
      return values.failure();
    stored = *values;
  }
  std::string header(WEFT_NPY_HEADER_MAX, '\0');
  size_t size = weft_npy_header(header.data(), header.size(), npyElement(tensor.element()),
                                static_cast<uint32_t>(tensor.dims().size()), tensor.dims().data());
  if (size == 0)
    return Failure{ExitInternalError, "no .npy header for " + printDims(tensor.dims()), {}, {}};
  header.resize(size);
  return NpyPieces{header, stored};
}

/// Writes everything, in parts that write() takes.
bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t done = write(file, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

} // namespace

Result<std::vector<NamedTensor>> readTensorBytes(uint8_t *bytes, size_t size,
                                                 std::shared_ptr<void> owner) {
  if (size >= 4 && memcmp(bytes, "PK", 2) == 0)
    return readNpz(bytes, size, owner);
  if (size < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return Failure{ExitInputRefused, "is neither a .npy nor a .npz file",
                   "write it with numpy.save or numpy.savez", "W0441"};
  Result<HostTensor> tensor = readNpy(bytes, size, owner);
  if (!tensor)
    return tensor.failure();
  return std::vector<NamedTensor>{{"", *tensor}};
}

Result<std::vector<NamedTensor>> readTensorFile(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return systemFailure(path, "cannot be read");
  struct stat info;
  void *pages = MAP_FAILED;
  bool regular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  size_t size = regular ? static_cast<size_t>(info.st_size) : 0;
  // Private and writable: nothing that happens to the tensor reaches the file.
  if (size)
    pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  int error = errno;
  close(file);
  if (!regular)
    return Failure{ExitInputRefused, path + ": is not a regular file", {}, "W0441"};
  if (!size)
    return Failure{ExitInputRefused, path + ": is empty", {}, "W0441"};
  if (pages == MAP_FAILED) {
    errno = error;
    return systemFailure(path, "cannot be mapped");
  }
  std::shared_ptr<void> owner(pages, [size](void *p) { munmap(p, size); });
  Result<std::vector<NamedTensor>> tensors =
      readTensorBytes(static_cast<uint8_t *>(pages), size, owner);
  if (!tensors)
    return withPath(tensors.failure(), path);
  return tensors;
}

OutputFiles::~OutputFiles() {
  std::error_code ignored;
  for (const Pending &file : pending)
    if (file.kind == Unfinished::Folder)
      std::filesystem::remove_all(file.partial, ignored);
    else
      unlink(file.partial.c_str());
  if (!committed)
    for (size_t i = folders.size(); i-- > 0;)
      rmdir(folders[i].path.c_str());
}

Result<Done> OutputFiles::makeFolder(const std::string &path) {
  for (size_t end = 1; end <= path.size(); ++end) {
    if (end < path.size() && path[end] != '/')
      continue;
    std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0777) == 0)
      folders.push_back({part});
    else if (errno != EEXIST)
      return systemFailure(part, "the folder cannot be made");
  }
  return Done{};
}

Result<Done> OutputFiles::add(const std::string &path,
                              const std::vector<std::string_view> &pieces) {
  std::string partial = path + ".partial-" + std::to_string(getpid());
  int file = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0)
    return systemFailure(path, "cannot be written");
  pending.push_back({partial, path});
  bool good = true;
  for (std::string_view piece : pieces)
    good = good && writeAll(file, piece);
  good = good && fsync(file) == 0;
  int error = errno;
  good = close(file) == 0 && good;
  if (good)
    return Done{};
  errno = error ? error : errno;
  return systemFailure(path, "cannot be written");
}

Result<Done> OutputFiles::addNpy(const std::string &path, const HostTensor &tensor) {
  Result<NpyPieces> pieces = npyPieces(tensor);
  if (!pieces)
    return pieces.failure();
  return add(path, {pieces->header, bytesOf(pieces->tensor)});
}

Result<Done> OutputFiles::addNpz(const std::string &path, const std::vector<NamedTensor> &tensors) {
  std::deque<NpyPieces> contents;
  ZipWriter zip;
  for (const NamedTensor &named : tensors) {
    Result<NpyPieces> pieces = npyPieces(named.tensor);
    if (!pieces)
      return pieces.failure();
    contents.push_back(std::move(*pieces));
    zip.add(named.name + ".npy", {contents.back().header, bytesOf(contents.back().tensor)});
  }
  return add(path, zip.finish());
}

Result<Done> OutputFiles::addText(const std::string &path, const std::string &text) {
  return add(path, {text});
}

Result<std::string> OutputFiles::addFolderFor(const std::string &path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    errno = EISDIR;
    return systemFailure(path, "cannot be written");
  }
  std::string partial = path + ".partial-" + std::to_string(getpid());
  if (mkdir(partial.c_str(), 0777) != 0)
    return systemFailure(path, "cannot be written");
  std::filesystem::path whole(path);
  pending.push_back({partial, whole.parent_path().string(), Unfinished::Folder});
  return partial + "/" + whole.filename().string();
}

/// All files of one folder into another, those with longer names first: what a file is named after comes behind what belongs to it.
Result<Done> OutputFiles::moveAll(const std::string &from, const std::string &to) {
  std::vector<std::string> names;
  std::error_code problem;
  for (const auto &entry : std::filesystem::directory_iterator(from, problem))
    names.push_back(entry.path().filename().string());
  std::sort(names.rbegin(), names.rend());
  for (const std::string &name : names) {
    std::string target = to.empty() ? name : to + "/" + name;
    if (rename((from + "/" + name).c_str(), target.c_str()) != 0)
      return systemFailure(target, "cannot be written");
  }
  rmdir(from.c_str());
  return Done{};
}

Result<Done> OutputFiles::commit() {
  while (!pending.empty()) {
    const Pending &file = pending.front();
    if (file.kind == Unfinished::Folder) {
      if (Result<Done> moved = moveAll(file.partial, file.final); !moved)
        return moved;
    } else if (rename(file.partial.c_str(), file.final.c_str()) != 0)
      return systemFailure(file.final, "cannot be written");
    pending.erase(pending.begin());
    committed = true;
  }
  committed = true;
  return Done{};
}

std::string fileName(std::string_view name) {
  std::string out;
  for (char c : name) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '_' || c == '.';
    out += plain ? c : '_';
  }
  if (out.empty() || out[0] == '.')
    out.insert(out.begin(), '_');
  return out.substr(0, 200);
}

std::string FileNames::take(std::string_view name) {
  std::string plain = fileName(name), free = plain;
  for (int n = 2; !taken.insert(free).second; ++n)
    free = plain + "-" + std::to_string(n);
  if (free != plain)
    changed.push_back("'" + std::string(name) + "' is in " + free + ".npy");
  return free + ".npy";
}

} // namespace weft::cli
