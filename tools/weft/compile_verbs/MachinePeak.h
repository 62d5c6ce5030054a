//===- MachinePeak.h - What this machine can do at most, measured ------------------------------===//
//
//   Result<MachinePeak> peak = MachinePeak::create("host");
//   double most = peak->operationsPerSecond("pairs of bf16"), bytes = peak->bytesPerSecond(16 << 20);
//
// On one thread, with loops that the target compiles like kernels (targets/cpu/PeakLoops.h).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_COMPILE_VERBS_MACHINEPEAK_H
#define WEFT_TOOLS_WEFT_COMPILE_VERBS_MACHINEPEAK_H

#include "tools/weft/cli/Result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::cli {

class MachinePeak {
public:
  /// A figure is the best of some pieces this long, which whoever is compared with it should be, too: others use the machine meanwhile.
  static constexpr double kPieceSeconds = 4e-3;
  static constexpr int kPieces = 3;

  /// The first target of `target`, which this machine must be able to run.
  static Result<MachinePeak> create(const std::string &target);

  /// Additions and multiplications in registers, of f32 where the machine lacks the unit; takes some milliseconds.
  double operationsPerSecond(const std::string &unit) const;
  /// Those that the machine has.
  std::vector<std::string> unitNames() const;
  /// Reads `bytes` again and again, so from the cache that holds them or from memory.
  double bytesPerSecond(int64_t bytes);

private:
  using Function = void (*)(const float *data, float *out, int64_t rounds);
  struct Loop {
    Function function = nullptr;
    int64_t perRound = 0; ///< operations or bytes
  };
  double seconds(const Loop &loop, const float *data, int64_t rounds) const;

  std::map<std::string, Loop> units;
  Loop read;
  std::shared_ptr<void> code;
  std::shared_ptr<float> data;
  int64_t dataBytes = 0;
};

} // namespace weft::cli

#endif // WEFT_TOOLS_WEFT_COMPILE_VERBS_MACHINEPEAK_H
