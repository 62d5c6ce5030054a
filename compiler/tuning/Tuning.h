//===- Tuning.h - Records that hold for one processor, and kernels that follow them ------------------===//
//
//   Expected<Tuning> tuning = Tuning::read({"model.tuning"}, "");          // for this machine's processor
//   if (const TuningRecord *record = tuning->apply(specification, target)) …   // the specification has its picks now
//   if (const TuningRecord *record = tuning->find(offer, scope)) …             // *wayOf(record->picks, offer)
//
// Nothing is measured in here: a kernel, or an exchange beside some, gets what its records say, or nothing.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_TUNING_TUNING_H
#define WEFT_COMPILER_TUNING_TUNING_H

#include "compiler/tuning/Records.h"
#include "passes/cost/OverlapOffer.h"
#include "targets/common/KernelTarget.h"

namespace weft {

/// What records know bytes by, the same in every process: isKey.
std::string keyOf(llvm::StringRef bytes);
/// What a record knows a kernel by: a hash of the text of its specification without picks, the same in every process.
std::string kernelKey(mlir::func::FuncOp specification);

/// Schedules of an exchange beside kernels, and its choice, as records name them.
constexpr llvm::StringLiteral kTogether = "together", kApart = "apart", kPieces = "pieces";
/// "together pieces=4" or "apart"; nothing when that is not offered.
std::optional<OverlapWay> wayOf(const Picks &picks, const OverlapOffer &offer);

class Tuning {
public:
  /// No records.
  Tuning() = default;
  /// Records of all files for `processor`; empty: this machine's.
  static llvm::Expected<Tuning> read(const std::vector<std::string> &files,
                                     const std::string &processor);

  /// Sets the picks of the best record that fits the kernel: that of the largest gain, and among these the first by text. A record that
  /// picks what the schedules of this Weft do not offer does not fit. Null when none fits, or it picks what is estimated.
  const TuningRecord *apply(mlir::func::FuncOp specification, const KernelTarget &target) const;

  /// The best record that fits the exchange, for a target as records name it. Null when none fits, or it picks what is estimated.
  const TuningRecord *find(const OverlapOffer &offer, const std::string &scope) const;

  bool empty() const { return records.empty(); }
  const std::string &processor() const { return name; }
  /// Processors that the files have records of, none of which is `processor`; empty when there are no such files.
  const std::vector<std::string> &others() const { return strangers; }

private:
  std::string name;
  std::map<std::pair<std::string, std::string>, std::vector<TuningRecord>>
      records; ///< by target and kernel, the best first
  std::vector<std::string> strangers;
};

/// The target's answers, where kernels, and exchanges beside them, follow their records.
class TunedTarget : public KernelChooser, public OverlapChooser {
public:
  TunedTarget(std::shared_ptr<const KernelTarget> own, Tuning tuning)
      : own(std::move(own)), tuning(std::move(tuning)) {}

  std::string name() const override { return own->name().str(); }
  bool isForDevice() const override { return own->isForDevice(); }
  bool looksUpBytes() const override { return own->looksUpBytes(); }
  bool multipliesBytePairs() const override { return own->multipliesBytePairs(); }
  bool addsShortPairs() const override { return own->addsShortPairs(); }
  bool prefersUnsignedBytes() const override { return own->prefersUnsignedBytes(); }
  std::optional<KernelChoice> choose(mlir::func::FuncOp specification) const override {
    tuning.apply(specification, *own);
    return own->choose(specification);
  }
  double operationsOfNanosecond(mlir::func::FuncOp specification) const override {
    return own->operationsOfNanosecond(specification);
  }
  std::optional<OverlapWay> pick(const OverlapOffer &offer) const override {
    const TuningRecord *record = tuning.find(offer, own->scope());
    return record ? wayOf(record->picks, offer) : std::nullopt;
  }

private:
  std::shared_ptr<const KernelTarget> own;
  Tuning tuning;
};

} // namespace weft

#endif // WEFT_COMPILER_TUNING_TUNING_H
