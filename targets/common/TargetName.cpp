//===- TargetName.cpp -------------------------------------------------------------------------------===//

#include "targets/common/TargetName.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace weft {

std::optional<TargetName> TargetName::parse(StringRef text) {
  if (text == kHost)
    return TargetName{"", {kHost}};
  auto [family, list] = text.split(':');
  SmallVector<StringRef> levels;
  list.split(levels, ',');
  if (family.empty() || is_contained(levels, ""))
    return std::nullopt;
  return TargetName{family.str(), {levels.begin(), levels.end()}};
}

std::string TargetName::str() const {
  return (family.empty() ? "" : family + ":") + join(levels, ",");
}

} // namespace weft
