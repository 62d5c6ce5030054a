//===- CpuTarget.h - What targets of all processors share --------------------------------------------===//
//
//   class SomeFamily : public CpuFamily {
//   public:
//     SomeFamily() : CpuFamily({{"first", …}, {"second", …}}) {}
//     std::string name() const override { return "some"; }
//     …
//   };
//
// A processor's folder describes levels; choosing schedules, emitting and compiling are here.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_CPUTARGET_H
#define WEFT_TARGETS_CPU_CPUTARGET_H

#include "targets/common/Registry.h"
#include "targets/cpu/Schedule.h"

namespace weft {

struct CpuLevel {
  std::string name; ///< "v3"
  const VectorMachine &machine;
  std::vector<std::string> features; ///< as the runtime names them
  /// The schedules that are asked for a kernel, most specific first; the last takes what no other does.
  llvm::ArrayRef<const Schedule *> schedules;
  /// An ELF object of a module, which is changed. The module may use func, arith, math, vector, scf, cf and llvm.
  std::function<llvm::Expected<std::string>(mlir::ModuleOp module)> compile;
};

class CpuFamily : public TargetFamily {
public:
  explicit CpuFamily(std::vector<CpuLevel> all) : all(std::move(all)) {}
  std::vector<std::string> levels() const override;
  std::unique_ptr<KernelTarget> kernelTarget(llvm::StringRef level, bool exact) const override;
  std::shared_ptr<HostTarget> hostTarget(llvm::StringRef level) const override;

private:
  const CpuLevel &find(llvm::StringRef level) const;
  std::vector<CpuLevel> all;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_CPUTARGET_H
