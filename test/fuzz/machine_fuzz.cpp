// Any bytes: data of a machine are refused in one line, or give every kernel a time that is finite and above 0.
#include "compiler/machine/MachineData.h"
#include "test/fuzz/Target.h"

#include <cmath>

using namespace weft;
using namespace weft::fuzz;

const Format &fuzz::targetFormat() { return jsonFormat(); }

std::vector<std::string> fuzz::targetSeeds(const std::vector<std::string> &corpus) {
  return corpus;
}

static void askForTimes(const MachineData &machine) {
  for (const auto &[unit, rate] : machine.multiplyAdds)
    for (const auto &[loops, share] : machine.reached)
      for (int64_t threads : {1, 3, 1000}) {
        KernelNeed need;
        need.unit = unit;
        need.loops = loops;
        need.multiplyAdds = need.operations = need.bytes = need.bytesAroundIt = 1e9;
        need.pieces = 7;
        require(machine.lacks(need).empty(), "what is named is there");
        double time = machine.time(need, threads).all();
        require(std::isfinite(time) && time > 0, "times are numbers");
      }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto machine = parseMachine(llvm::StringRef(reinterpret_cast<const char *>(data), size), "m");
  if (!machine) {
    requireError(llvm::toString(machine.takeError()), "m");
    return 0;
  }
  ++fuzz::accepted;
  require(machine->cores >= 1 && machine->memoryOfAll >= machine->memoryOfOne,
          "fields are within their ranges");
  askForTimes(*machine);
  return 0;
}
