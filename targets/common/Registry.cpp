//===- Registry.cpp - Finds targets by name ---------------------------------------------------------===//

#include "targets/common/Registry.h"
#include "llvm/ADT/MapVector.h"
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

void addNames(SmallVector<std::string> &names, const TargetFamily &family) {
  if (!family.isDevice())
    names.push_back(TargetName{family.name(), {TargetName::kHost}}.str());
  for (const std::string &level : family.levels())
    names.push_back(TargetName{family.name(), {level}}.str());
}

/// "; the nearest is 'FAMILY:LEVEL'", or nothing where no name is like the text.
std::string nearestTo(StringRef text, ArrayRef<std::string> known) {
  const std::string *nearest = nullptr;
  unsigned least = 3; // letters that may differ, and one
  for (const std::string &name : known)
    if (unsigned distance = text.edit_distance(name, true, least); distance < least) {
      nearest = &name;
      least = distance;
    }
  return nearest ? "; the nearest is '" + *nearest + "'" : "";
}

Error unknown(StringRef text) {
  SmallVector<std::string> known{TargetName::kHost};
  for (const TargetFamily *family : allFamilies())
    addNames(known, *family);
  return createStringError("unknown target '" + text + "'" + nearestTo(text, known) +
                           "; known are " + join(known, ", ") +
                           ", and several levels as FAMILY:LEVEL,LEVEL");
}

/// Other families have nothing like it.
Error unknownLevel(const TargetFamily &family, StringRef level) {
  SmallVector<std::string> known;
  addNames(known, family);
  std::string text = TargetName{family.name(), {level.str()}}.str();
  return createStringError("unknown target '" + text + "'" + nearestTo(text, known) +
                           "; known are " + join(known, ", ") + "; 'weft targets' lists all");
}

/// 'FAMILY:host' on a machine of another family.
Error notThisMachine(const TargetFamily &family) {
  const TargetFamily *own = findFamily("");
  return createStringError("'" + TargetName{family.name(), {TargetName::kHost}}.str() +
                           "' is the level of this machine, but that is of " +
                           (own ? "family '" + own->name() + "'" : "no known family"));
}

Error severalFamilies(StringRef text) {
  return createStringError(
      "target '" + text +
      "' names several families of processors: a file is for one, and for devices beside it");
}

} // namespace

void addFamily(const TargetFamily &family) { addedFamilies().push_back(&family); }

/// Levels that were asked for, by family, in the order of the text.
using AskedLevels = MapVector<const TargetFamily *, std::vector<std::string>>;

/// "FAMILY:LEVEL,LEVEL,FAMILY:LEVEL"
static Expected<AskedLevels> readLevels(StringRef text) {
  std::optional<TargetName> name = TargetName::parse(text);
  const TargetFamily *family = name ? findFamily(name->family) : nullptr;
  if (!family)
    return unknown(text);
  AskedLevels asked;
  for (StringRef level : name->levels) {
    if (level.contains(':')) {
      auto [other, first] = level.split(':');
      family = other.empty() ? nullptr : findFamily(other);
      level = first;
    }
    if (!family)
      return unknown(text);
    if (level == TargetName::kHost && family->hostLevel().empty())
      return notThisMachine(*family);
    std::string known = level == TargetName::kHost ? family->hostLevel() : level.str();
    if (!is_contained(family->levels(), known))
      return unknownLevel(*family, known);
    asked[family].push_back(known);
  }
  if (count_if(asked, [](auto &each) { return !each.first->isDevice(); }) > 1)
    return severalFamilies(text);
  return std::move(asked);
}

Expected<std::vector<FoundTarget>> findTargets(StringRef text, bool exact) {
  Expected<AskedLevels> asked = readLevels(text);
  if (!asked)
    return asked.takeError();
  std::vector<FoundTarget> found;
  for (bool isDevice : {false, true})
    for (auto &[family, wanted] : *asked)
      if (family->isDevice() == isDevice)
        for (std::vector<std::string> levels = family->levels(); !levels.empty(); levels.pop_back())
          if (is_contained(wanted, levels.back()))
            found.push_back(
                {family->kernelTarget(levels.back(), exact), family->hostTarget(levels.back())});
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

std::vector<std::unique_ptr<KernelTarget>> allKernelTargets() {
  std::vector<std::unique_ptr<KernelTarget>> all;
  for (const TargetFamily *family : allFamilies())
    for (const std::string &level : family->levels())
      all.push_back(family->kernelTarget(level, /*exact=*/false));
  return all;
}

std::vector<DataText> allMachines() {
  std::vector<DataText> all;
  for (const TargetFamily *family : allFamilies())
    append_range(all, family->machineTexts());
  return all;
}

std::vector<DataText> allHardware() {
  std::vector<DataText> all = {
#include "targets/common/Hardware.inc"
  };
  for (const TargetFamily *family : allFamilies())
    append_range(all, family->hardwareTexts());
  return all;
}

std::string hostProcessor() {
  const TargetFamily *family = findFamily("");
  return family ? family->hostProcessor() : "unknown";
}

std::string processorIn(StringRef name, StringRef text) {
  const TargetFamily *family = findFamily(name);
  std::string processor = family ? family->processorIn(text) : "";
  return processor.empty() ? "unknown" : processor;
}

} // namespace weft
