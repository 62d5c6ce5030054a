//===- NodeNames.cpp ------------------------------------------------------------------------------===//

#include "passes/quant/NodeNames.h"

using namespace mlir;

namespace weft {

static StringRef withoutDescription(StringRef described) {
  size_t begin = described.find('\''), end = described.rfind('\'');
  return begin == end ? described : described.slice(begin + 1, end);
}

llvm::SmallVector<std::string, 1> nodeNames(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return {withoutDescription(name.getName()).str()};
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return {file.getFilename().str() + ":" + std::to_string(file.getLine())};
  llvm::SmallVector<std::string, 1> names;
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location each : fused.getLocations())
      names.append(nodeNames(each));
  return names;
}

bool matchesNode(const llvm::GlobPattern &pattern, Location location) {
  return llvm::any_of(nodeNames(location),
                      [&](const std::string &name) { return pattern.match(name); });
}

FailureOr<llvm::SmallVector<llvm::GlobPattern>> nodePatterns(ArrayRef<std::string> texts,
                                                             Operation *program) {
  llvm::SmallVector<llvm::GlobPattern> patterns;
  for (const std::string &text : texts) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return program->emitError("pattern '") << text << "': " << toString(pattern.takeError());
    patterns.push_back(std::move(*pattern));
  }
  return patterns;
}

} // namespace weft
