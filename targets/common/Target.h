//===- Target.h - What the compiler asks of a processor family --------------------------------------===//
//
// Targets are found from text ("x86:v3", "x86:v3,v4"). It chooses a schedule for a kernel's specification and compiles specifications and the host program
// to object code. Targets are immutable; compile may run in many threads at once, each call uses contexts of its own.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_TARGET_H
#define WEFT_TARGETS_COMMON_TARGET_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/KernelChoice.h"
#include "targets/common/Decline.h"
#include "targets/common/Picks.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// A schedule that was asked for a kernel before the one that takes it.
struct DeclinedSchedule {
  std::string schedule;
  Decline why;
};

/// Two functions `void (const float *data, float *out, int64_t rounds)` that show what a processor can do at most.
struct PeakLoops {
  static constexpr const char *kMultiply = "weft_peak_multiply", *kRead = "weft_peak_read";
  std::string object; ///< ELF; no function of it calls or refers to anything
  int64_t flops;      ///< of a round of the first, in registers
  int64_t bytes;      ///< that a round of the second reads
  /// Bytes at `data`, which are read before the first round, and at `out`, at least.
  static constexpr int64_t kLeastBytes = 4096;
};

class Target {
public:
  virtual ~Target() = default;
  /// "x86:v4" or "x86:v4:exact".
  virtual std::string name() const = 0;
  /// CPU features the code needs, by the names the runtime knows.
  virtual std::vector<std::string> features() const = 0;
  /// ELF machine number and LLVM triple of the image.
  virtual std::string triple() const = 0;
  /// Nothing when no schedule accepts the kernel. The specification's picks are followed where a schedule offers them.
  virtual std::optional<KernelChoice> choose(mlir::func::FuncOp specification) const = 0;
  /// What was asked before the choice, in that order; everything when there is none.
  virtual std::vector<DeclinedSchedule> declined(mlir::func::FuncOp specification) const = 0;
  /// The schedules that may be picked, the one that is taken by itself first; empty when there is none.
  virtual std::vector<std::string> alternatives(mlir::func::FuncOp specification) const = 0;
  /// What the schedule of `choose` lets be picked besides.
  virtual std::vector<Choice> choices(mlir::func::FuncOp specification) const = 0;
  /// Object code of a kernel `symbol(words, begin, end, worker)`. `specification` is the text of a module with one function.
  virtual llvm::Expected<std::string> compileKernel(llvm::StringRef specification,
                                                    llvm::StringRef symbol,
                                                    llvm::StringRef schedule) const = 0;
  /// Object code of a module in the LLVM, func, arith, cf, scf and math dialects.
  virtual llvm::Expected<std::string> compileHost(mlir::ModuleOp module) const = 0;
  virtual llvm::Expected<PeakLoops> compilePeakLoops() const = 0;
};

/// The targets named by `text`, each once, those that need the most of a processor first, or an error that lists what there is.
/// "x86:v3,v4" are two; "x86:v3:exact" takes no schedule that saves time by computing with other products and sums than the operators say.
llvm::Expected<std::vector<std::unique_ptr<Target>>> findTargets(llvm::StringRef text);

/// This machine's processor, in words that are the same on every machine with one like it: "AMD EPYC 9B14 (25/17)", family and model
/// in parentheses. Printable ASCII.
std::string hostProcessor();

} // namespace weft

#endif // WEFT_TARGETS_COMMON_TARGET_H
