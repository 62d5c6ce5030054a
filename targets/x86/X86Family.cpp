//===- X86Family.cpp - The levels of x86-64 and what each of them has --------------------------------===//

#include "targets/x86/X86Family.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/CpuTarget.h"
#include "targets/cpu/schedules/Schedules.h"
#include "targets/x86/Processor.h"
#include "targets/x86/X86Machine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace weft {
namespace {

std::vector<std::string> with(std::vector<std::string> features,
                              std::initializer_list<const char *> more) {
  features.insert(features.end(), more.begin(), more.end());
  return features;
}

/// `cpu`: as LLVM names it; `beyond`: what LLVM may use that it does not have.
CpuLevel level(const char *name, std::vector<std::string> features, const char *cpu,
               const char *beyond = "") {
  const VectorMachine &machine = x86Machine(name);
  CodegenOptions options{"x86_64-unknown-linux-gnu", cpu, beyond, &machine};
  // With 16 lanes that saves a sixth of the time of a compilation and changes no code; with fewer a fiftieth, and it does.
  if (machine.lanes() == 16)
    options.optimization = Optimization::ShortLoops;
  return {name, machine, std::move(features), cpuSchedules(),
          [options](mlir::ModuleOp module) { return compileToObject(module, options); }};
}

std::vector<CpuLevel> allLevels() {
  std::vector<std::string> v2{"sse4.2", "popcnt"},
      v3 = with(v2, {"avx", "avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"}),
      v3vnni = with(v3, {"avxvnni"}),
      v4 = with(v3, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
      vnni = with(v4, {"avx512vnni"}), bf16 = with(vnni, {"avx512bf16"}),
      amx = with(bf16, {"amx-tile", "amx-bf16", "amx-int8"});
  // One instruction for products of pairs and their sum, not two.
  const char *pairs = "+avx512vnni,+fast-dpwssd", *halves = "+avx512vnni,+fast-dpwssd,+avx512bf16",
             *tiles = "+avx512vnni,+fast-dpwssd,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8";
  return {level("v2", v2, "x86-64-v2"),
          level("v3", v3, "x86-64-v3"),
          level("v3+vnni", v3vnni, "x86-64-v3", "+avxvnni"),
          level("v4", v4, "x86-64-v4"),
          level("v4+vnni", vnni, "x86-64-v4", pairs),
          level("v4+bf16", bf16, "x86-64-v4", halves),
          level("v4+amx", amx, "x86-64-v4", tiles)};
}

class X86Family : public CpuFamily {
public:
  X86Family() : CpuFamily(allLevels()) {}
  std::string name() const override { return "x86"; }
  llvm::ArrayRef<DataText> machineTexts() const override {
    static const DataText all[] = {
#include "targets/x86/Machines.inc"
    };
    return all;
  }
  llvm::ArrayRef<DataText> hardwareTexts() const override {
    static const DataText all[] = {
#include "targets/x86/Hardware.inc"
    };
    return all;
  }
  std::string hostProcessor() const override { return x86Processor(); }
  std::string processorIn(llvm::StringRef text) const override { return x86ProcessorIn(text); }

  std::string hostLevel() const override {
    if (!llvm::Triple(llvm::sys::getProcessTriple()).isX86())
      return "";
    llvm::StringMap<bool> have = llvm::sys::getHostCPUFeatures();
    auto all = [&](std::initializer_list<const char *> features) {
      return llvm::all_of(features, [&](const char *feature) { return have.lookup(feature); });
    };
    if (all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "fma", "bmi2"}))
      return !all({"avx512vnni"})                                      ? "v4"
             : all({"avx512bf16", "amx-tile", "amx-bf16", "amx-int8"}) ? "v4+amx"
             : all({"avx512bf16"}) && x86HasFastHalves()               ? "v4+bf16"
                                                                       : "v4+vnni";
    if (!all({"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"}))
      return "v2";
    return all({"avxvnni"}) ? "v3+vnni" : "v3";
  }
};

} // namespace

const TargetFamily &x86Family() {
  static const X86Family family;
  return family;
}

} // namespace weft
