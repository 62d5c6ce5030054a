//===- ArmFamily.cpp - The levels of 64-bit ARM and what each of them has ------------------------------===//

#include "targets/arm/ArmFamily.h"
#include "targets/arm/ArmMachine.h"
#include "targets/arm/Processor.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/CpuTarget.h"
#include "targets/cpu/schedules/Schedules.h"

namespace weft {
namespace {

/// `beyond`: what LLVM may use that not every 64-bit ARM has.
CpuLevel level(const char *name, std::vector<std::string> features, const char *beyond) {
  const VectorMachine &machine = armMachine(name);
  CodegenOptions options{"aarch64-unknown-linux-gnu", "generic", beyond, &machine};
  return {name, machine, std::move(features), cpuSchedules(),
          [options](mlir::ModuleOp module) { return compileToObject(module, options); }};
}

std::vector<CpuLevel> allLevels() {
  return {level("v8", {"fp", "neon"}, "+neon"),
          level("v8.2", {"fp", "neon", "fullfp16", "dotprod"}, "+neon,+fullfp16,+dotprod"),
          level("v8.6", {"fp", "neon", "fullfp16", "dotprod", "i8mm", "bf16"},
                "+neon,+fullfp16,+dotprod,+i8mm,+bf16")};
}

class ArmFamily : public CpuFamily {
public:
  ArmFamily() : CpuFamily(allLevels()) {}
  std::string name() const override { return "arm"; }
  std::string hostProcessor() const override { return armProcessor(); }
  std::string hostLevel() const override { return armHostLevel(); }
};

} // namespace

const TargetFamily &armFamily() {
  static const ArmFamily family;
  return family;
}

} // namespace weft
