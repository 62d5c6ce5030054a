//===- FindMachine.cpp ------------------------------------------------------------------------===//

#include "compiler/machine/MachineData.h"
#include "targets/common/Registry.h"
#include "weft/machine.hpp"

namespace weft {
namespace {

/// A name is no path: it has neither a dot nor a slash.
bool isPath(const std::string &text) { return text.find_first_of("./") != std::string::npos; }

Result<Machine> given(llvm::Expected<MachineData> data) {
  if (!data)
    return Diagnostic{Diagnostic::Error, "W0333", "", llvm::toString(data.takeError()), ""};
  return Machine(std::make_shared<MachineData>(std::move(*data)));
}

} // namespace

Result<Machine> findMachine(const std::string &nameOrFile) {
  if (isPath(nameOrFile))
    return given(readMachine(nameOrFile));
  std::string names;
  for (const DataText &each : allMachines()) {
    if (each.name == nameOrFile)
      return given(parseMachine(each.json, nameOrFile));
    names += (names.empty() ? "" : ", ") + each.name;
  }
  return Diagnostic{Diagnostic::Error, "W0309", "",
                    "there are no data of a machine '" + nameOrFile + "'",
                    "there are those of " + names + "; or name a file: ./mine.json"};
}

std::string nameOf(const Machine &machine) { return machine->name; }

std::string targetOf(const Machine &machine) { return machine->target; }

} // namespace weft
