//===- MappedFile.h - A read-only mapping of a file -------------------------------------------===//
//
// Weights are read where they lie on disk: readers hand out ranges of a mapping and keep it alive
// by sharing it.
//
//   Expected<std::shared_ptr<MappedFile>> file = MappedFile::open("model.onnx");
//   ArrayRef<char> bytes = (*file)->bytes();
//
// A file that another process shortens while it is mapped ends this process with SIGBUS, as for
// every user of mmap.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_READERS_MAPPEDFILE_H
#define WEFT_COMPILER_IMPORT_READERS_MAPPEDFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>

namespace weft {

/// The bytes of one regular file, immutable; any number of threads may read them at once.
class MappedFile {
public:
  /// Maps a regular file, following symbolic links. Fails when it is missing, unreadable or not a
  /// regular file.
  static llvm::Expected<std::shared_ptr<MappedFile>> open(llvm::StringRef path);

  /// Maps a file that a model names. `relativePath` comes from hostile input: absolute paths, '..'
  /// components and symbolic links that lead out of `directory` are refused. `directory` is the
  /// user's own and may be "" for the current one.
  static llvm::Expected<std::shared_ptr<MappedFile>> openInside(llvm::StringRef directory,
                                                                llvm::StringRef relativePath);

  /// Maps a file whose name the directory has an entry for: a link there may lead anywhere, as in the
  /// caches of Hugging Face, whose files are links to blobs. Names with '/' are held inside, as above.
  static llvm::Expected<std::shared_ptr<MappedFile>> openEntry(llvm::StringRef directory,
                                                               llvm::StringRef name);

  /// Wraps bytes in memory that the caller or `owner` keeps alive; `name` stands for the path in messages.
  static std::shared_ptr<MappedFile> view(llvm::StringRef name, llvm::ArrayRef<char> bytes,
                                          std::shared_ptr<const void> owner = nullptr);

  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  llvm::ArrayRef<char> bytes() const { return {data, static_cast<size_t>(length)}; }
  uint64_t size() const { return length; }

  /// The path that was opened, or the name of a view.
  llvm::StringRef path() const { return name; }

  /// The path as it is from the directory that it was opened in: what a text there calls the file.
  llvm::StringRef pathFrom(llvm::StringRef directory) const;

  /// True when there is no file behind it, and so no directory beside it.
  bool isView() const { return fromMemory; }

  /// True when `range` lies inside the mapping.
  bool contains(llvm::ArrayRef<char> range) const;

  /// Position of a range that lies inside the mapping.
  uint64_t offsetOf(llvm::ArrayRef<char> range) const { return offsetOf(range.data()); }
  uint64_t offsetOf(const char *position) const { return position - data; }

  /// Tells the system that the whole pages inside `range` are not needed soon; they are read again
  /// when touched.
  void releasePages(llvm::ArrayRef<char> range) const;

private:
  MappedFile(llvm::StringRef name, const char *data, uint64_t length, bool mapped)
      : name(name), data(data), length(length), mapped(mapped) {}
  static llvm::Expected<std::shared_ptr<MappedFile>> mapDescriptor(int descriptor,
                                                                   llvm::StringRef path);

  std::string name;
  const char *data;
  uint64_t length;
  bool mapped; ///< false for a view and for an empty file
  bool fromMemory = false;
  std::shared_ptr<const void> owner; ///< of a view's bytes, unless the caller keeps them
};

} // namespace weft

#endif // WEFT_COMPILER_IMPORT_READERS_MAPPEDFILE_H
