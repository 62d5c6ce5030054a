//===- KernelFolder.h - Code of kernels that earlier compilations left in a folder --------------===//
//
//   if (const KernelFolder *folder = KernelFolder::given())            // WEFT_KERNELS=FOLDER
//     if (std::optional<KernelImage> known = folder->find(key)) …
//
// A file for each kernel, named by a hash of all that decides its code. Any number of processes share a folder; what is not whole, or of
// another format, is as if it were not there, and so is a folder that cannot be read or written.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_KERNELFOLDER_H
#define WEFT_COMPILER_DRIVER_KERNELFOLDER_H

#include "targets/common/KernelTarget.h"

namespace weft {

class KernelFolder {
public:
  explicit KernelFolder(std::string path) : path(std::move(path)) {}
  /// The one that the environment names; null where it names none.
  static const KernelFolder *given();

  /// By a key that says all that decides the code but the compiler itself, which files know.
  std::optional<KernelImage> find(llvm::StringRef key) const;
  void keep(llvm::StringRef key, const KernelImage &image) const;

private:
  std::string fileOf(llvm::StringRef key) const;
  std::string path;
};

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_KERNELFOLDER_H
