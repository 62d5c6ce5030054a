//===- TemporaryFolder.h - A folder that ends with who made it ----------------------------------===//
//
//   Result<TemporaryFolder> folder = TemporaryFolder::create();
//   write(folder->path() + "/model.weft");
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_CLI_TEMPORARYFOLDER_H
#define WEFT_TOOLS_WEFT_CLI_TEMPORARYFOLDER_H

#include "tools/weft/cli/Result.h"

#include <memory>

namespace weft::cli {

/// A folder in $TMPDIR that is removed, with its files, together with its last copy.
class TemporaryFolder {
public:
  static Result<TemporaryFolder> create();
  const std::string &path() const { return *name; }

private:
  std::shared_ptr<const std::string> name;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_CLI_TEMPORARYFOLDER_H
