//===- ArmFamily.cpp - The levels of 64-bit ARM and what each of them has ------------------------------===//
//
// A core is a level whose code is laid out for that core; it needs what its level needs.
//===------------------------------------------------------------------------------------------===//

#include "targets/arm/ArmFamily.h"
#include "targets/arm/NeonMachine.h"
#include "targets/arm/Processor.h"
#include "targets/arm/SveMachine.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/CpuTarget.h"
#include "targets/cpu/schedules/Schedules.h"

namespace weft {
namespace {

/// What code of a level is made for. Features as LLVM and the runtime name them.
struct Level {
  const VectorMachine &machine;
  std::vector<std::string> features;
  unsigned vectorScale = 0;     ///< as CodegenOptions says
  const char *preferences = ""; ///< of the core, as LLVM names them; nothing that code needs
};

/// `core`: as LLVM names that whose instructions are put in order.
CpuLevel level(const char *name, const Level &of, const char *core = "generic") {
  std::string forLlvm;
  for (const std::string &feature : of.features)
    forLlvm += (forLlvm.empty() ? "+" : ",+") + feature;
  forLlvm += of.preferences;
  std::vector<std::string> needed = of.features;
  needed.insert(needed.begin(), "fp"); // which LLVM takes NEON to have
  if (of.vectorScale)
    needed.push_back("sve-" + std::to_string(128 * of.vectorScale) + "-bits");
  CodegenOptions options{"aarch64-unknown-linux-gnu", "generic", forLlvm, &of.machine};
  options.core = core;
  options.vectorScale = of.vectorScale;
  return {name, of.machine, std::move(needed), cpuSchedules(),
          [options](mlir::ModuleOp module) { return compileToObject(module, options); }};
}

std::vector<CpuLevel> allLevels() {
  static const NeonMachine neon({}), dots({true}), dotsInOrder({true}, true),
      matrices({true, true, true, true});
  static const SveMachine bits256(8, {true, true, true}), bits512(16, {});
  const Level v8{neon, {"neon"}}, v82{dots, {"neon", "fullfp16", "dotprod"}},
      // Two vectors by one instruction keep its unit for loads longer than by two.
      v82InOrder{dotsInOrder, v82.features, 0, ",+slow-paired-128"},
      v86{matrices, {"neon", "fullfp16", "dotprod", "i8mm", "bf16"}},
      v9{matrices, {"neon", "fullfp16", "dotprod", "i8mm", "bf16", "sve", "sve2"}},
      sve256{bits256, {"neon", "fullfp16", "dotprod", "i8mm", "bf16", "sve"}, 2},
      sve512{bits512, {"neon", "fullfp16", "sve"}, 4};
  return {level("v8", v8),
          level("cortex-a53", v8, "cortex-a53"),
          level("cortex-a72", v8, "cortex-a72"),
          level("v8.2", v82),
          level("cortex-a55", v82InOrder, "cortex-a55"),
          level("cortex-a76", v82, "cortex-a76"),
          level("neoverse-n1", v82, "neoverse-n1"),
          level("apple-m1", v82, "apple-m1"),
          level("v8.6", v86),
          level("v9", v9),
          level("neoverse-n2", v9, "neoverse-n2"),
          level("sve256", sve256),
          level("neoverse-v1", sve256, "neoverse-v1"),
          level("sve512", sve512)};
}

class ArmFamily : public CpuFamily {
public:
  ArmFamily() : CpuFamily(allLevels()) {}
  std::string name() const override { return "arm"; }
  llvm::ArrayRef<DataText> machineTexts() const override {
    static const DataText all[] = {
#include "targets/arm/Machines.inc"
    };
    return all;
  }
  std::string hostProcessor() const override { return armProcessor(); }
  std::string processorIn(llvm::StringRef text) const override { return armProcessorIn(text); }
  std::string hostLevel() const override { return armHostLevel(); }
};

} // namespace

const TargetFamily &armFamily() {
  static const ArmFamily family;
  return family;
}

} // namespace weft
