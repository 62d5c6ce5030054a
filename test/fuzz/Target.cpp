//===- Target.cpp -------------------------------------------------------------------------------===//
#include "test/fuzz/Target.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace weft::fuzz {

std::vector<std::string> readFolder(const std::filesystem::path &folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code none;
  for (const auto &entry : std::filesystem::directory_iterator(folder, none))
    if (entry.is_regular_file())
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> contents;
  for (const std::filesystem::path &path : paths) {
    std::ifstream file(path, std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return contents;
}

std::vector<std::string> seeds() { return targetSeeds(readFolder(WEFT_FUZZ_CORPUS)); }

void writeSeeds(const std::filesystem::path &folder) {
  std::filesystem::create_directories(folder);
  unsigned count = 0;
  for (const std::string &seed : seeds())
    std::ofstream(folder / ("seed-" + std::to_string(count++)), std::ios::binary) << seed;
}

} // namespace weft::fuzz
