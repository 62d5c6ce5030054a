//===- MachineData.h - What a machine can do, as data -----------------------------------------===//
//
//   llvm::Expected<MachineData> data = parseMachine(text, "mine.json");
//   data->time(need, /*threads=*/1).all()
//
// A JSON object with a machine's rates, for prices of programs that do not run: docs/machines.md
// describes its fields. Any bytes are read into data whose numbers are all finite and above 0, or
// an error of one line; nothing in here knows MLIR.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MACHINE_MACHINEDATA_H
#define WEFT_COMPILER_MACHINE_MACHINEDATA_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft {

/// What a call of a kernel takes of a machine.
struct KernelNeed {
  std::string unit, loops;  ///< what multiplies, and the kind of loop: keys of a machine's data
  double multiplyAdds = 0;  ///< of numbers
  double operations = 0;    ///< the arithmetic besides
  double bytes = 0;         ///< read and written
  double pieces = 1;        ///< into which workers part it, at most
  double bytesAroundIt = 0; ///< of all kernels of the call: what memory it is read from
};

/// What takes the time of a kernel.
enum class TimeLimit { Compute, Memory, Start };
llvm::StringRef nameOf(TimeLimit limit);

struct KernelTime {
  double compute, memory, start; ///< nanoseconds, of which the first two go on at the same time
  double all() const { return (compute > memory ? compute : memory) + start; }
  TimeLimit limit() const;
};

struct MachineData {
  struct Cache {
    double bytes, bytesPerCycle;
    bool isShared; ///< by all cores; else each has one
  };
  std::string name, about, target; ///< target: what is compiled for it
  bool isMeasured = false;         ///< somebody compared what it predicts with a clock
  int64_t cores = 1;
  double clock = 0;                                  ///< cycles per nanosecond
  std::map<std::string, double> multiplyAdds;        ///< of a core in a cycle, by unit
  double operations = 0;                             ///< of a core in a cycle
  std::map<std::string, double> reached;             ///< shares of that, by kind of loop
  std::vector<Cache> caches;                         ///< the smallest first
  double memoryOfOne = 0, memoryOfAll = 0;           ///< bytes per nanosecond: of a core, of all
  double startNanoseconds = 0, shareNanoseconds = 0; ///< of a kernel; and of parting it
  double together = 1; ///< share of its rate that a core has while others compute
  std::map<std::string, std::string> sources; ///< where a figure comes from, by its key

  /// Empty where the machine has what multiplies so; else what its data lack.
  std::string lacks(const KernelNeed &need) const;
  /// Of a kernel that it lacks nothing for; `threads` >= 1.
  KernelTime time(const KernelNeed &need, int64_t threads) const;

private:
  double bytesPerNanosecond(double bytesAround, double threads) const;
};

/// `place` starts the error.
llvm::Expected<MachineData> parseMachine(llvm::StringRef text, llvm::StringRef place);
llvm::Expected<MachineData> readMachine(const std::string &path);

} // namespace weft

#endif // WEFT_COMPILER_MACHINE_MACHINEDATA_H
