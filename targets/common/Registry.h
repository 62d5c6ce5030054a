//===- Registry.h - Which targets there are ---------------------------------------------------------===//
//
//   for (FoundTarget &target : *findTargets("host")) … target.kernels->choose(specification) …
//
// A family says what its levels are, which of them this machine has, and makes targets of them. The list of families is
// targets/Families.cpp; nobody else knows a family.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_REGISTRY_H
#define WEFT_TARGETS_COMMON_REGISTRY_H

#include "targets/common/HostTarget.h"
#include "targets/common/KernelTarget.h"
#include "targets/common/TargetName.h"

namespace weft {

/// What is known of a machine, which compiler/machine reads, or of hardware's integers, which compiler/hardware does.
struct DataText {
  std::string name, json;
};

/// Processors whose code differs by level only.
class TargetFamily {
public:
  virtual ~TargetFamily() = default;
  virtual std::string name() const = 0;
  /// Those that need more of a processor stand behind those that need less.
  virtual std::vector<std::string> levels() const = 0;
  /// Whether it is of devices beside a host, whose processor is of another family.
  virtual bool isDevice() const { return false; }
  /// The highest level that this machine has; empty when it is of another family.
  virtual std::string hostLevel() const = 0;
  /// This machine's processor, when it is of this family, in words that are the same on every machine with one like it. Printable ASCII.
  virtual std::string hostProcessor() const = 0;
  /// That of another machine, of what a system says of it in /proc/cpuinfo: the same words as there. Empty where the text does not say.
  virtual std::string processorIn(llvm::StringRef text) const { return ""; }
  /// Data of machines with such processors.
  virtual llvm::ArrayRef<DataText> machineTexts() const { return {}; }
  /// Descriptions of what its levels compute in integers.
  virtual llvm::ArrayRef<DataText> hardwareTexts() const { return {}; }
  /// `level` is one of levels(). With `exact`, no schedule is taken that rounds more than the operators do.
  virtual std::unique_ptr<KernelTarget> kernelTarget(llvm::StringRef level, bool exact) const = 0;
  virtual std::shared_ptr<HostTarget> hostTarget(llvm::StringRef level) const = 0;
};

/// The list, in targets/Families.cpp. "host" is a level of the first that this machine is of.
llvm::ArrayRef<const TargetFamily *> listedFamilies();
/// One more, which lives as long as the process: for tests.
void addFamily(const TargetFamily &family);

/// Who compiles the kernels of a variant, and the program that calls them.
struct FoundTarget {
  std::shared_ptr<const KernelTarget> kernels;
  std::shared_ptr<HostTarget> host;
};

/// The targets named by `text`, each once, those that need the most of a processor first, or an error that lists what there is.
/// FAMILY:LEVEL,LEVEL are two; those of devices, which stand behind the others, may be of other families. With `exact`, they take no schedule that rounds more than the operators do.
llvm::Expected<std::vector<FoundTarget>> findTargets(llvm::StringRef text, bool exact = false);

/// All there are, family by family, those that need less of a processor first.
std::vector<std::unique_ptr<KernelTarget>> allKernelTargets();

/// Data of machines, family by family.
std::vector<DataText> allMachines();

/// Descriptions of integers: those of no family first.
std::vector<DataText> allHardware();

/// The one whose scope is `scope`, or an error that lists what there is.
llvm::Expected<std::shared_ptr<const KernelTarget>> findKernelTarget(llvm::StringRef scope);

/// This machine's processor: "AMD EPYC 9B14 (25/17)". Printable ASCII.
std::string hostProcessor();
/// Another machine's, which is of that family: as hostProcessor() there, of what its system says in /proc/cpuinfo.
std::string processorIn(llvm::StringRef family, llvm::StringRef text);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_REGISTRY_H
