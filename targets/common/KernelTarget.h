//===- KernelTarget.h - Who judges and compiles kernels ---------------------------------------------===//
//
//   std::optional<KernelChoice> choice = target.choose(specification);
//   llvm::Expected<KernelImage> image = target.compile(text, symbol, choice->schedule);
//
// A target chooses a schedule for a kernel's specification and makes code of it. Targets are immutable; compile may run in many
// threads at once, each call uses contexts of its own. targets/common/Registry.h finds them.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_KERNELTARGET_H
#define WEFT_TARGETS_COMMON_KERNELTARGET_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/KernelChoice.h"
#include "passes/cost/KernelWork.h"
#include "targets/common/Decline.h"
#include "targets/common/Effort.h"
#include "targets/common/Picks.h"
#include "targets/common/TargetName.h"
#include "targets/common/Unit.h"
#include "llvm/Support/Error.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// On a module that is compiled: it has no kernels, only what the host runs once per call.
constexpr llvm::StringLiteral kHostProgramAttr = "host_program";

/// A schedule that was asked for a kernel before the one that takes it.
struct DeclinedSchedule {
  std::string schedule;
  Decline why;
};

/// The code of a kernel.
struct KernelImage {
  enum Kind {
    ElfObject, ///< relocatable, to be linked with the host's program
    Ptx        ///< text for a device, to be joined with that of others
  } kind;
  std::string bytes;
  std::string entry; ///< the symbol it is called by
  Unit unit = Unit::Reals;
  int64_t threads = 0;    ///< of a block, on a device
  int64_t blockBytes = 0; ///< that a block's threads share there, beside what the code declares
  bool isCounted = false; ///< there its blocks count each other
  bool isKept = false;    ///< an earlier compilation made it
};

/// How many words the blocks of a kernel that is counted have to count with, each 0 before and behind it.
constexpr int64_t kBlockCounters = 1024;

/// Functions `void (const float *data, float *out, int64_t rounds)` that show what a processor can do at most.
struct PeakLoops {
  struct Loop {
    std::string symbol;
    int64_t perRound; ///< additions and multiplications in registers, or bytes read
  };
  std::string object;         ///< ELF; no function of it calls or refers to anything
  std::map<Unit, Loop> units; ///< that the processor has
  Loop read;
  /// Bytes at `data`, which are read before the first round, and at `out`, at least.
  static constexpr int64_t kLeastBytes = 4096;
};

class KernelTarget {
public:
  virtual ~KernelTarget() = default;
  virtual TargetName name() const = 0;
  /// Whether no schedule is taken that rounds more than the operators do.
  virtual bool isExact() const = 0;
  /// What plans, tuning records and identities of kernels call it: the name, and ":exact". Other choices about numbers are part of the program, and so of the specification; this one only says which schedules are asked. Its
  /// words are those of records that exist: they stay.
  std::string scope() const { return name().str() + (isExact() ? kExactEnding : ""); }
  static constexpr const char *kExactEnding = ":exact";
  /// What the code needs of a processor, by the names the runtime knows.
  virtual std::vector<std::string> features() const = 0;
  /// Nothing when no schedule accepts the kernel. The specification's picks are followed where a schedule offers them.
  virtual std::optional<KernelChoice> choose(mlir::func::FuncOp specification) const = 0;
  /// What was asked before the choice, in that order; everything when there is none.
  virtual std::vector<DeclinedSchedule> declined(mlir::func::FuncOp specification) const = 0;
  /// The schedules that may be picked, the one that is taken by itself first; empty when there is none.
  virtual std::vector<std::string> alternatives(mlir::func::FuncOp specification) const = 0;
  /// What the schedule of `choose` multiplies with.
  virtual Unit unit(mlir::func::FuncOp specification) const = 0;
  /// What kind of loop it is, and what it carries out.
  virtual LoopKind loops(mlir::func::FuncOp specification) const = 0;
  virtual KernelEffort effort(mlir::func::FuncOp specification) const = 0;
  /// What the schedule of `choose` lets be picked besides.
  virtual std::vector<Choice> choices(mlir::func::FuncOp specification) const = 0;
  /// The code of a kernel `symbol(words, begin, end, worker)`. `specification` is the text of a module with one function.
  virtual llvm::Expected<KernelImage> compile(llvm::StringRef specification, llvm::StringRef symbol,
                                              llvm::StringRef schedule) const = 0;
  virtual llvm::Expected<PeakLoops> compilePeakLoops() const = 0;
  /// Whether kernels run on a device beside the host, in blocks of threads, with memory of its own.
  virtual bool isForDevice() const { return false; }
  /// One image of those of several kernels, for a device.
  virtual std::string join(llvm::ArrayRef<std::string> images) const { return ""; }
  /// Whether functions of bytes are looked up in tables by instructions for vectors.
  virtual bool looksUpBytes() const { return false; }
  /// As of KernelChooser.
  virtual bool multipliesBytePairs() const { return false; }
  virtual bool addsShortPairs() const { return false; }
  virtual bool prefersUnsignedBytes() const { return false; }
  /// Whether rows that are rounded to bytes in blocks are multiplied as such with blocks of 4 bits.
  virtual bool multipliesByteBlocks() const { return false; }
  /// How many products of bf16 are summed in f32 in the time of one of f32.
  virtual unsigned halfProductRate() const { return 1; }
  /// See KernelChooser.
  virtual double operationsOfNanosecond(mlir::func::FuncOp specification) const {
    return double(kWorkOfNanosecond);
  }
};

} // namespace weft

#endif // WEFT_TARGETS_COMMON_KERNELTARGET_H
