//===- KeptApart.cpp --------------------------------------------------------------------------===//

#include "tools/weft/cli/KeptApart.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

/// Without links and detours; what does not exist yet has its folder's.
fs::path whole(const std::string &path) {
  std::error_code ignored;
  fs::path canonical = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return canonical.empty() ? fs::path(path) : canonical;
}

/// The paths of the files that this process has mapped, as the system lists them.
std::set<std::string> mappedFiles() {
  std::set<std::string> paths;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (size_t at = line.find('/'); at != std::string::npos)
      paths.insert(line.substr(at));
  return paths;
}

constexpr std::string_view kReadOfFolders[] = {".npz", ".json", ".safetensors"};

bool isRead(const fs::path &written, const NamedPath &read) {
  std::error_code ignored;
  fs::path path = whole(read.path);
  if (path == written)
    return true;
  return fs::is_directory(path, ignored) && written.parent_path() == path &&
         fs::exists(written, ignored) &&
         std::count(std::begin(kReadOfFolders), std::end(kReadOfFolders),
                    written.extension().string()) > 0;
}

Failure wrong(const NamedPath &path, const std::string &why) {
  return {ExitWrongUsage, "'" + path.option + " " + path.path + "' " + why, "name another file",
          ""};
}

} // namespace

Result<Done> checkKeptApart(const std::vector<NamedPath> &read,
                            const std::vector<NamedPath> &written) {
  const std::set<std::string> mapped = mappedFiles();
  for (size_t i = 0; i < written.size(); ++i) {
    fs::path path = whole(written[i].path);
    for (const NamedPath &each : read)
      if (isRead(path, each))
        return wrong(written[i], "would replace what is read");
    if (mapped.count(path.string()))
      return wrong(written[i], "would replace what is read");
    for (size_t j = 0; j < i; ++j)
      if (whole(written[j].path) == path)
        return wrong(written[i], "is also '" + written[j].option + " " + written[j].path + "'");
  }
  return Done{};
}

std::vector<NamedPath> readByCall(const ParsedOptions &options,
                                  const std::vector<const char *> &given) {
  std::vector<NamedPath> read{{"", options.positional()[0]}};
  for (const char *option : given)
    for (const std::string &text : options.values(option))
      if (size_t at = text.find('@'); at == 0 || (at != std::string::npos && text[at - 1] == '='))
        read.push_back({"", text.substr(at + 1)});
  return read;
}

std::vector<NamedPath> writtenAnswers(const ParsedOptions &options,
                                      const std::vector<std::string> &inFolder) {
  std::vector<NamedPath> written;
  if (options.has("output"))
    written.push_back({"--output", options.value("output")});
  if (options.has("output-dir"))
    for (const std::string &path : inFolder)
      written.push_back({"--output-dir", path});
  return written;
}

} // namespace weft::cli
