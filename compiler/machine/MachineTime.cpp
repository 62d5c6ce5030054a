//===- MachineTime.cpp - How long a kernel takes on a machine ---------------------------------===//
//
// Arithmetic and traffic go on at the same time, so a kernel takes the longer of both, and what it
// takes to begin: code and first lines that are not there yet. Workers have whole pieces, and one
// waits for the last.
//===------------------------------------------------------------------------------------------===//

#include "compiler/machine/MachineData.h"
#include <algorithm>
#include <cmath>

namespace weft {

llvm::StringRef nameOf(TimeLimit limit) {
  return limit == TimeLimit::Compute ? "compute" : limit == TimeLimit::Memory ? "memory" : "start";
}

TimeLimit KernelTime::limit() const {
  double most = std::max({compute, memory, start});
  return most == start     ? TimeLimit::Start
         : most == compute ? TimeLimit::Compute
                           : TimeLimit::Memory;
}

std::string MachineData::lacks(const KernelNeed &need) const {
  if (need.multiplyAdds <= 0)
    return "";
  if (!multiplyAdds.count(need.unit))
    return "multiply_adds_per_cycle of '" + need.unit + "'";
  return reached.count(need.loops) ? "" : "the share reached of '" + need.loops + "'";
}

/// From the smallest cache that has room for all that a call touches.
double MachineData::bytesPerNanosecond(double bytesAround, double threads) const {
  for (const Cache &cache : caches)
    if (bytesAround <= cache.bytes * (cache.isShared ? 1 : threads))
      return cache.bytesPerCycle * clock * threads;
  return threads <= 1 ? memoryOfOne : std::min(memoryOfOne * threads, memoryOfAll);
}

KernelTime MachineData::time(const KernelNeed &need, int64_t threads) const {
  double workers = std::max(1.0, std::min({double(threads), double(cores), need.pieces}));
  double cycles = need.operations / operations;
  if (need.multiplyAdds > 0)
    cycles += need.multiplyAdds / (multiplyAdds.at(need.unit) * reached.at(need.loops));
  // Of all pieces, those of the worker that has most.
  double part = std::ceil(need.pieces / workers) / std::max(need.pieces, 1.0);
  double rate = clock * (workers > 1 ? together : 1);
  return {cycles * std::min(part, 1.0) / rate,
          need.bytes / bytesPerNanosecond(need.bytesAroundIt, workers),
          startNanoseconds / workers + (workers > 1 ? shareNanoseconds : 0)};
}

} // namespace weft
