//===- TensorFile.h - .npy and .npz files -----------------------------------------------------===//
//
//   Result<std::vector<NamedTensor>> tensors = readTensorFile("in.npz");  // the kind is sniffed
//
//   OutputFiles files;                       // all or nothing: written beside, renamed by commit()
//   if (Result<Done> r = files.addNpy("out/y.npy", y); !r) return …
//   if (Result<Done> r = files.commit(); !r) return …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_TENSORFILE_H
#define WEFT_TOOLS_WEFT_CLI_TENSORFILE_H

#include "tools/weft/cli/HostTensor.h"
#include "tools/weft/cli/Unfinished.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

struct NamedTensor {
  std::string name; ///< empty for a .npy file
  HostTensor tensor;
};

/// One tensor of a .npy file, all of a .npz file. Element types are numpy's.
Result<std::vector<NamedTensor>> readTensorFile(const std::string &path);

/// The same for bytes in memory, which `owner` keeps alive. For fuzzing, too.
Result<std::vector<NamedTensor>> readTensorBytes(uint8_t *bytes, size_t size,
                                                 std::shared_ptr<void> owner);

/// Files that appear together, or not at all.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles(); ///< removes what was not committed, and folders that were made for it

  /// Makes `path` and the folders above it.
  Result<Done> makeFolder(const std::string &path);
  /// Types that .npy lacks are stored as npyElement() says.
  Result<Done> addNpy(const std::string &path, const HostTensor &tensor);
  Result<Done> addNpz(const std::string &path, const std::vector<NamedTensor> &tensors);
  Result<Done> addText(const std::string &path, const std::string &text);
  /// For a writer of its own: a path of the same name in a new folder beside `path`. What lies in that folder in the end comes to be beside
  /// `path`.
  Result<std::string> addFolderFor(const std::string &path);
  Result<Done> commit();

private:
  struct Pending {
    Pending(std::string partial, std::string final, Unfinished::Kind kind = Unfinished::File)
        : partial(partial), final(final), kind(kind),
          unfinished(std::make_unique<Unfinished>(partial, kind)) {}
    std::string partial, final;
    Unfinished::Kind kind; ///< Folder: both are folders
    std::unique_ptr<Unfinished> unfinished;
  };
  Result<Done> add(const std::string &path, const std::vector<std::string_view> &pieces);
  static Result<Done> moveAll(const std::string &from, const std::string &to);
  std::vector<Pending> pending;
  struct Made {
    std::string path;
    std::unique_ptr<Unfinished> unfinished = std::make_unique<Unfinished>(path);
  };
  std::vector<Made> folders;
  bool committed = false;
};

/// `name` as a file name: letters, digits, '-', '_' and '.' stay, others become '_'; never empty,
/// never hidden.
std::string fileName(std::string_view name);

/// Names of .npy files in one folder. Names that lead to the same one ("a/b", "a_b") get "-2", "-3", …, in the order they come.
class FileNames {
public:
  std::string take(std::string_view name);
  /// For people: "'a_b' is in a_b-2.npy" of those that were not what fileName says.
  const std::vector<std::string> &notes() const { return changed; }

private:
  std::set<std::string> taken;
  std::vector<std::string> changed;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_TENSORFILE_H
