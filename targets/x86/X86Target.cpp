//===- X86Target.cpp - x86-64 by feature level ----------------------------------------------------------===//
//
// v2: SSE4.2. v3: AVX2 and FMA. v4: AVX-512 F, BW, CD, DQ, VL. v4+vnni: and products of bytes. host: the best of these that this machine has.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Parser/Parser.h"
#include "targets/common/Target.h"
#include "targets/cpu/Codegen.h"
#include "targets/cpu/PeakLoops.h"
#include "targets/cpu/Schedule.h"
#include "targets/cpu/schedules/Schedules.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace weft {
namespace {

struct Level {
  const char *name, *cpu;
  VectorIsa isa;
  unsigned vectorBits;
  std::vector<std::string> features; ///< as the runtime names them
  const char *beyond = "";           ///< what LLVM may use that `cpu` does not have
};

const Level &level(StringRef name) {
  static const std::vector<std::string> v2 = {"sse4.2", "popcnt"};
  static const std::vector<std::string> v3 = {"sse4.2", "popcnt", "avx",  "avx2",  "fma",
                                              "f16c",   "bmi",    "bmi2", "lzcnt", "movbe"};
  static const std::vector<std::string> v4 = [] {
    std::vector<std::string> all = v3;
    for (const char *feature : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
      all.push_back(feature);
    return all;
  }();
  static const std::vector<std::string> vnni = [] {
    std::vector<std::string> all = v4;
    all.push_back("avx512vnni");
    return all;
  }();
  static const Level levels[] = {
      {"v2", "x86-64-v2", {4, 16, false, "llvm.x86.sse2.pmadd.wd"}, 128, v2},
      {"v3", "x86-64-v3", {8, 16, true, "llvm.x86.avx2.pmadd.wd"}, 256, v3},
      {"v4", "x86-64-v4", {16, 32, true, "llvm.x86.avx512.pmaddw.d.512"}, 512, v4},
      {"v4+vnni",
       "x86-64-v4",
       {16, 32, true, "llvm.x86.avx512.pmaddw.d.512", "llvm.x86.avx512.vpdpbusd.512"},
       512,
       vnni,
       "+avx512vnni,+fast-dpwssd"}}; // one instruction for products of pairs and their sum, not two
  for (const Level &each : levels)
    if (name == each.name)
      return each;
  llvm_unreachable("findTargets knows the levels");
}

class X86Target : public Target {
public:
  X86Target(const Level &level, bool exact) : level(level), exact(exact) {}

  std::string name() const override {
    return std::string("x86:") + level.name + (exact ? ":exact" : "");
  }
  std::vector<std::string> features() const override { return level.features; }
  std::string triple() const override { return "x86_64-unknown-linux-gnu"; }

  std::optional<KernelChoice> choose(func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    if (!schedule)
      return std::nullopt;
    Launch launch = schedule->launch(spec, level.isa);
    return KernelChoice{schedule->name().str(),
                        launch.units,
                        launch.grain,
                        launch.scratch,
                        schedule->layouts(spec, level.isa),
                        picksOf(spec).values};
  }

  std::vector<DeclinedSchedule> declined(func::FuncOp spec) const override {
    std::vector<DeclinedSchedule> list;
    find(spec, [&](const Schedule *schedule, Decline why) {
      list.push_back({schedule->name().str(), why});
    });
    return list;
  }

  std::vector<std::string> alternatives(func::FuncOp spec) const override {
    std::vector<std::string> names;
    for (const Schedule *schedule : allowed(spec))
      names.push_back(schedule->name().str());
    return names;
  }

  std::vector<Choice> choices(func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    return schedule ? schedule->choices(spec, level.isa) : std::vector<Choice>();
  }

  llvm::Expected<std::string> compileKernel(StringRef specification, StringRef symbol,
                                            StringRef scheduleName) const override {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerCodegenDialects(context);
    context.loadDialect<WeftDialect, SymDialect>();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(specification, &context);
    if (!module)
      return llvm::createStringError("the specification of kernel '" + symbol + "' does not parse");
    for (const Schedule *schedule : cpuSchedules())
      if (schedule->name() == scheduleName)
        if (failed(emitKernel(*module, symbol, *schedule, level.isa)))
          return llvm::createStringError("schedule '" + scheduleName + "' cannot emit kernel '" +
                                         symbol + "'");
    return compileToObject(*module, options());
  }

  llvm::Expected<std::string> compileHost(ModuleOp module) const override {
    return compileToObject(module, options());
  }

  llvm::Expected<PeakLoops> compilePeakLoops() const override {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerCodegenDialects(context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    PeakLoops loops = emitPeakLoops(*module, level.isa);
    llvm::Expected<std::string> object = compileToObject(*module, options());
    if (!object)
      return object.takeError();
    loops.object = std::move(*object);
    return loops;
  }

private:
  /// The first that takes the kernel; those before it go to `declined`.
  const Schedule *
  find(func::FuncOp spec,
       llvm::function_ref<void(const Schedule *schedule, Decline why)> declined) const {
    for (const Schedule *schedule : cpuSchedules()) {
      Decline why = decline(*schedule, spec);
      if (!why)
        return schedule;
      declined(schedule, why);
    }
    return nullptr;
  }

  /// The schedule that computes the kernel by itself, and those after it that may do so instead: none that rounds more. The loop
  /// schedule, which takes whatever others are made for, is no alternative to them.
  std::vector<const Schedule *> allowed(func::FuncOp spec) const {
    std::vector<const Schedule *> list;
    for (const Schedule *schedule : cpuSchedules())
      if (list.empty() ||
          (schedule != loopSchedule() && (schedule->isExact() || !list.front()->isExact())))
        if (!decline(*schedule, spec))
          list.push_back(schedule);
    return list;
  }

  /// The one that was picked, else the first that takes the kernel.
  const Schedule *taken(func::FuncOp spec) const {
    std::string picked = picksOf(spec).schedule;
    if (picked.empty())
      return find(spec, [](const Schedule *, Decline) {});
    for (const Schedule *schedule : allowed(spec))
      if (schedule->name() == picked)
        return schedule;
    return nullptr;
  }

  Decline decline(const Schedule &schedule, func::FuncOp spec) const {
    if (Decline why = schedule.decline(spec, level.isa))
      return why;
    if (exact && !schedule.isExact())
      return {"it rounds more than the operators do, and exact results are asked for"};
    if (&schedule != loopSchedule() && writesPackedElements(spec))
      return {"a result has elements of less than a byte, which only 'loop' writes"};
    return {};
  }

  CodegenOptions options() const {
    return {triple(), level.cpu, level.beyond, level.vectorBits, level.isa.fma};
  }

  const Level &level;
  bool exact;
};

constexpr StringRef levelNames[] = {"v2", "v3", "v4", "v4+vnni"};

/// The highest level whose features this machine has.
StringRef hostLevel() {
  llvm::StringMap<bool> have = llvm::sys::getHostCPUFeatures();
  auto all = [&](std::initializer_list<const char *> features) {
    return llvm::all_of(features, [&](const char *feature) { return have.lookup(feature); });
  };
  if (all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "fma", "bmi2"}))
    return all({"avx512vnni"}) ? "v4+vnni" : "v4";
  return all({"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"}) ? "v3" : "v2";
}

} // namespace

llvm::Expected<std::vector<std::unique_ptr<Target>>> findTargets(StringRef text) {
  auto unknown = [&] {
    return llvm::createStringError(
        "unknown target '" + text +
        "'; known are x86:host, x86:v2, x86:v3, x86:v4, x86:v4+vnni, and several as x86:v3,v4");
  };
  StringRef rest = text;
  bool exact = rest.consume_back(":exact");
  if (!rest.consume_front("x86:"))
    return unknown();
  SmallVector<StringRef> names;
  rest.split(names, ',');
  for (StringRef &name : names) {
    if (name == "host")
      name = hostLevel();
    if (!llvm::is_contained(levelNames, name))
      return unknown();
  }
  std::vector<std::unique_ptr<Target>> targets;
  for (StringRef name :
       llvm::reverse(levelNames)) // every level has all features of those before it
    if (llvm::is_contained(names, name))
      targets.push_back(std::make_unique<X86Target>(level(name), exact));
  return std::move(targets);
}

} // namespace weft
