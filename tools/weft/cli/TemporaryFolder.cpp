//===- TemporaryFolder.cpp ----------------------------------------------------------------------===//

#include "tools/weft/cli/TemporaryFolder.h"
#include "tools/weft/cli/Options.h"
#include "tools/weft/cli/Unfinished.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace weft::cli {

Result<TemporaryFolder> TemporaryFolder::create() {
  const char *parent = getenv("TMPDIR");
  std::string place = parent && *parent ? parent : "/tmp", pattern = place + "/weft-XXXXXX";
  if (!mkdtemp(pattern.data()))
    return Failure{ExitMachineLacks,
                   "no temporary folder can be made in '" + place + "': " + strerror(errno),
                   "set TMPDIR to a folder that can be written", ""};
  TemporaryFolder folder;
  auto unfinished = std::make_shared<Unfinished>(pattern, Unfinished::Folder);
  folder.name = std::shared_ptr<const std::string>(new std::string(pattern),
                                                   [unfinished](const std::string *path) {
                                                     std::error_code ignored;
                                                     std::filesystem::remove_all(*path, ignored);
                                                     delete path;
                                                   });
  return folder;
}

} // namespace weft::cli
