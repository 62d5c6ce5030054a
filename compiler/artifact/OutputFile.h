//===- OutputFile.h - A file that is there whole or not at all -------------------------------------------===//
//
//   OutputFile file;
//   if (llvm::Error error = file.open(path)) …
//   if (llvm::Error error = file.write(bytes)) …
//   if (llvm::Error error = file.commit()) …          // else nothing is left
//
// Files that belong together are completed all before the first is committed. Until then a file has no name where the system can do
// that, so a process that is killed leaves nothing behind.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_ARTIFACT_OUTPUTFILE_H
#define WEFT_COMPILER_ARTIFACT_OUTPUTFILE_H

#include "llvm/Support/Error.h"
#include <string>

namespace weft {

/// What is written is there until it is whole, where it needs a name: beside `path`, one that no other process uses.
std::string unfinishedPath(const std::string &path);

/// The file being written; removed again unless committed, which gives it its name.
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(const OutputFile &) = delete;
  ~OutputFile();
  llvm::Error open(const std::string &path);
  llvm::Error write(llvm::StringRef bytes);
  /// Of bytes that were written.
  llvm::Error overwrite(uint64_t at, llvm::StringRef bytes);
  /// All is on the disk, still without its name.
  llvm::Error complete();
  llvm::Error commit();
  uint64_t position = 0;

private:
  llvm::Error flush();
  llvm::Error giveName();

  std::string target, temporary, gathered;
  int fd = -1;
  bool isNamed = false; ///< it is there under its temporary name
};

} // namespace weft

#endif
