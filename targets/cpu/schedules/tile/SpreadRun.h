//===- SpreadRun.h - Elements of memory, each in all lanes ---------------------------------------------===//
//
//   SpreadRun run(c, f32, 4);                    // four elements that lie one behind the other
//   Value all = run.element(2, addressOf);       // the third of them in all lanes; addressOf(i) is where element i lies
//
// What a multiply-add takes beside a vector. Where it takes a lane of a register, as many elements as have lanes there are loaded at once.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_SPREADRUN_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_SPREADRUN_H

#include "targets/cpu/Schedule.h"

namespace weft {

class SpreadRun {
public:
  /// `count` elements of 32 bits, which lie at multiples of `align` bytes.
  SpreadRun(KernelContext &c, mlir::Type type, int64_t count, unsigned align = 4)
      : c(&c), type(type), count(count), align(align) {}
  /// `change` gives other elements, lane by lane, of a vector of any length.
  void changeBy(std::function<mlir::Value(mlir::Value)> change) { changed = std::move(change); }
  /// The address is asked for where it is used.
  mlir::Value element(int64_t i, llvm::function_ref<mlir::Value(int64_t)> addressOf);

private:
  bool isInWholeRun(int64_t i) const;

  KernelContext *c;
  mlir::Type type;
  int64_t count;
  unsigned align;
  std::function<mlir::Value(mlir::Value)> changed = [](mlir::Value same) { return same; };
  llvm::SmallVector<mlir::Value> runs; ///< that were loaded, null where not yet
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_SPREADRUN_H
