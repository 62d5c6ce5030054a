//===- Registry.cpp - Finds targets by name ---------------------------------------------------------===//

#include "targets/common/Registry.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace weft {
namespace {

std::vector<const TargetFamily *> &addedFamilies() {
  static std::vector<const TargetFamily *> added;
  return added;
}

std::vector<const TargetFamily *> allFamilies() {
  std::vector<const TargetFamily *> all = listedFamilies().vec();
  append_range(all, addedFamilies());
  return all;
}

/// The family of that name; of this machine when the name is empty.
const TargetFamily *findFamily(StringRef name) {
  for (const TargetFamily *family : allFamilies())
    if (name.empty() ? !family->hostLevel().empty() : family->name() == name)
      return family;
  return nullptr;
}

Error noKernelTarget(StringRef scope) {
  SmallVector<std::string> known;
  for (const TargetFamily *family : allFamilies())
    for (const std::string &level : family->levels())
      known.push_back(TargetName{family->name(), {level}}.str());
  return createStringError("no kernels are compiled for '" + scope + "', but for " +
                           join(known, ", ") + ", also with '" + KernelTarget::kExactEnding + "'");
}

Error unknown(StringRef text) {
  SmallVector<std::string> known{TargetName::kHost};
  for (const TargetFamily *family : allFamilies()) {
    known.push_back(TargetName{family->name(), {TargetName::kHost}}.str());
    for (const std::string &level : family->levels())
      known.push_back(TargetName{family->name(), {level}}.str());
  }
  return createStringError("unknown target '" + text + "'; known are " + join(known, ", ") +
                           ", and several levels as FAMILY:LEVEL,LEVEL");
}

} // namespace

void addFamily(const TargetFamily &family) { addedFamilies().push_back(&family); }

Expected<std::vector<FoundTarget>> findTargets(StringRef text, bool exact) {
  std::optional<TargetName> name = TargetName::parse(text);
  const TargetFamily *family = name ? findFamily(name->family) : nullptr;
  if (!family)
    return unknown(text);
  std::vector<std::string> levels = family->levels();
  for (std::string &level : name->levels) {
    if (level == TargetName::kHost)
      level = family->hostLevel();
    if (!is_contained(levels, level))
      return unknown(text);
  }
  std::vector<FoundTarget> found;
  for (const std::string &level : reverse(levels))
    if (is_contained(name->levels, level))
      found.push_back({family->kernelTarget(level, exact), family->hostTarget(level)});
  return std::move(found);
}

Expected<std::shared_ptr<const KernelTarget>> findKernelTarget(StringRef scope) {
  StringRef text = scope;
  bool exact = text.consume_back(KernelTarget::kExactEnding);
  std::optional<TargetName> name = TargetName::parse(text);
  const TargetFamily *family =
      name && text != TargetName::kHost ? findFamily(name->family) : nullptr;
  if (!family || name->levels.size() != 1 || !is_contained(family->levels(), name->levels[0]))
    return noKernelTarget(scope);
  return family->kernelTarget(name->levels[0], exact);
}

std::string hostProcessor() {
  const TargetFamily *family = findFamily("");
  return family ? family->hostProcessor() : "unknown";
}

} // namespace weft
