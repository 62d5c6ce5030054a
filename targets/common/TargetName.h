//===- TargetName.h - Names of targets, parsed and printed in one place ------------------------------===//
//
//   std::optional<TargetName> name = TargetName::parse("some:first,second");   // a family and some of its levels
//   name->str();
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_TARGETNAME_H
#define WEFT_TARGETS_COMMON_TARGETNAME_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct TargetName {
  /// Stands for the level that this machine has; alone, for its family, too.
  static constexpr const char *kHost = "host";

  std::string family;              ///< empty: this machine's
  std::vector<std::string> levels; ///< at least one; a target that exists has one

  /// Nothing when the text is neither "host" nor FAMILY:LEVEL or FAMILY:LEVEL,LEVEL. Knows no family: targets/common/Registry.h does.
  static std::optional<TargetName> parse(llvm::StringRef text);
  std::string str() const;
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_TARGETNAME_H
