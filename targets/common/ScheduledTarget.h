//===- ScheduledTarget.h - Which of a list of schedules takes a kernel ---------------------------------===//
//
//   class SomeKernels : public ScheduledTarget<Schedule, SomeMachine> { … name, features, compile … };
//
// Whatever code schedules emit, they are asked in the same way: in the order of a list, the most specific first; the last takes what no
// other does.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_SCHEDULEDTARGET_H
#define WEFT_TARGETS_COMMON_SCHEDULEDTARGET_H

#include "targets/common/KernelTarget.h"
#include "targets/common/Schedule.h"

namespace weft {

/// Elements that share a byte are written one after the other, by one thread: only the general schedule does that.
bool writesPackedElements(mlir::func::FuncOp spec);

/// `Schedule` is a ScheduleFor<Machine> that also emits.
template <typename Schedule, typename Machine> class ScheduledTarget : public KernelTarget {
public:
  ScheduledTarget(llvm::ArrayRef<const Schedule *> schedules, const Machine &machine, bool exact)
      : schedules(schedules), machine(machine), exact(exact) {}

  bool isExact() const override { return exact; }

  std::optional<KernelChoice> choose(mlir::func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    if (!schedule)
      return std::nullopt;
    Launch launch = schedule->launch(spec, machine);
    return KernelChoice{scope(),
                        schedule->name().str(),
                        launch.units,
                        launch.grain,
                        launch.scratch,
                        schedule->layouts(spec, machine),
                        picksOf(spec).values,
                        schedule->rowTiles(spec, machine)};
  }

  std::vector<DeclinedSchedule> declined(mlir::func::FuncOp spec) const override {
    std::vector<DeclinedSchedule> list;
    find(spec, [&](const Schedule *schedule, Decline why) {
      list.push_back({schedule->name().str(), why});
    });
    return list;
  }

  std::vector<std::string> alternatives(mlir::func::FuncOp spec) const override {
    std::vector<std::string> names;
    for (const Schedule *schedule : allowed(spec))
      names.push_back(schedule->name().str());
    return names;
  }

  Unit unit(mlir::func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    return schedule ? schedule->unit(spec, machine) : Unit::Reals;
  }

  LoopKind loops(mlir::func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    return schedule ? schedule->loops() : LoopKind::General;
  }

  KernelEffort effort(mlir::func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    return schedule ? schedule->effort(spec, machine) : effortByRules(spec);
  }

  std::vector<Choice> choices(mlir::func::FuncOp spec) const override {
    const Schedule *schedule = taken(spec);
    return schedule ? schedule->choices(spec, machine) : std::vector<Choice>();
  }

protected:
  /// The one of that name, which `choose` gave.
  const Schedule &named(llvm::StringRef name) const {
    return **llvm::find_if(schedules, [&](const Schedule *each) { return each->name() == name; });
  }

private:
  /// What takes whatever others are made for.
  const Schedule *general() const { return schedules.back(); }

  /// The first that takes the kernel; those before it go to `declined`.
  const Schedule *
  find(mlir::func::FuncOp spec,
       llvm::function_ref<void(const Schedule *schedule, Decline why)> declined) const {
    for (const Schedule *schedule : schedules) {
      Decline why = decline(*schedule, spec);
      if (!why)
        return schedule;
      declined(schedule, why);
    }
    return nullptr;
  }

  /// The schedule that computes the kernel by itself, and those after it that may do so instead: none that rounds more. The general
  /// schedule is no alternative to others.
  std::vector<const Schedule *> allowed(mlir::func::FuncOp spec) const {
    std::vector<const Schedule *> list;
    for (const Schedule *schedule : schedules)
      if (list.empty() ||
          (schedule != general() && (schedule->isExact() || !list.front()->isExact())))
        if (!decline(*schedule, spec))
          list.push_back(schedule);
    return list;
  }

  /// The one that was picked, else the first that takes the kernel.
  const Schedule *taken(mlir::func::FuncOp spec) const {
    std::string picked = picksOf(spec).schedule;
    if (picked.empty())
      return find(spec, [](const Schedule *, Decline) {});
    for (const Schedule *schedule : allowed(spec))
      if (schedule->name() == picked)
        return schedule;
    return nullptr;
  }

  Decline decline(const Schedule &schedule, mlir::func::FuncOp spec) const {
    if (Decline why = schedule.decline(spec, machine))
      return why;
    Launch launch = schedule.launch(spec, machine);
    if (launch.units.isOverflow() || launch.grain.isOverflow() || launch.scratch.isOverflow())
      return {"no formula of 64 bits says how it is launched"};
    if (exact && !schedule.isExact())
      return {"it rounds more than the operators do, and exact results are asked for"};
    if (&schedule != general() && writesPackedElements(spec))
      return {"a result has elements of less than a byte, which only 'loop' writes"};
    return {};
  }

  llvm::ArrayRef<const Schedule *> schedules;
  const Machine &machine;
  bool exact;
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_SCHEDULEDTARGET_H
