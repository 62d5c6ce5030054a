//===- FindHardware.cpp -----------------------------------------------------------------------===//

#include "compiler/hardware/FindHardware.h"
#include "compiler/import/readers/MappedFile.h"
#include "compiler/model/ModuleImpl.h"
#include "targets/common/Registry.h"

using namespace mlir;

namespace weft {
namespace {

Diagnostic hardwareError(const std::string &text, const std::string &hint = "") {
  return {Diagnostic::Error, "W0330", "", text, hint};
}

/// A name is no path: it has neither a dot nor a slash.
bool isPath(const std::string &text) { return text.find_first_of("./") != std::string::npos; }

Result<Hardware> parsed(llvm::StringRef text, const std::string &place) {
  std::shared_ptr<Module::Impl> scratch = Module::Impl::create(place); // which knows the dialect
  auto isOperator = [&](llvm::StringRef name) {
    return RegisteredOperationName::lookup(("weft." + name).str(), scratch->context.get())
        .has_value();
  };
  llvm::Expected<HardwareData> data = parseHardware(text, place, isOperator);
  if (!data)
    return hardwareError(llvm::toString(data.takeError()));
  return Hardware(std::make_shared<HardwareData>(std::move(*data)));
}

} // namespace

Result<Hardware> findHardware(const std::string &nameOrFile) {
  if (isPath(nameOrFile)) {
    llvm::Expected<std::shared_ptr<MappedFile>> file = MappedFile::open(nameOrFile);
    if (!file)
      return hardwareError(llvm::toString(file.takeError()));
    llvm::ArrayRef<char> bytes = (*file)->bytes();
    return parsed({bytes.data(), bytes.size()}, nameOrFile);
  }
  std::string names;
  for (const DataText &each : allHardware()) {
    if (each.name == nameOrFile)
      return parsed(each.json, nameOrFile);
    names += (names.empty() ? "" : ", ") + each.name;
  }
  return hardwareError("there is no description of hardware '" + nameOrFile + "'",
                       "there are " + names + "; or name a file: ./mine.json");
}

std::string nameOf(const Hardware &hardware) { return hardware->name; }

Result<HardwareData> usableOn(const HardwareData &hardware, const std::string &target) {
  HardwareData usable = hardware;
  if (target.empty())
    return usable;
  llvm::Expected<std::vector<FoundTarget>> targets = findTargets(target);
  if (!targets)
    return Diagnostic{Diagnostic::Error, "W0308", "", llvm::toString(targets.takeError()), ""};
  std::vector<std::string> have = targets->front().kernels->features();
  llvm::erase_if(usable.operators, [&](const HardwareOperator &way) {
    return !llvm::all_of(way.features, [&](const std::string &feature) {
      return llvm::is_contained(have, feature);
    });
  });
  return usable;
}

} // namespace weft
