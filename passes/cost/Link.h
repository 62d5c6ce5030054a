//===- Link.h - What ranks have between them --------------------------------------------------------------===//
#ifndef WEFT_PASSES_COST_LINK_H
#define WEFT_PASSES_COST_LINK_H

#include "dialects/weft/Mesh.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace weft {

/// What ranks have between them: a message takes `latency`, and its bytes pass one after the other.
struct Link {
  double latency = 2000;         ///< nanoseconds, of a message
  double bytesPerNanosecond = 5; ///< of long ones
  bool isMemory = true; ///< a rank's processor copies the bytes, and computes nothing meanwhile
};

/// Of a mesh: one for each axis that has its own. By default the memory of one machine.
struct Links {
  Link others;
  std::map<std::string, Link> axes;
  /// Of a group: the slowest of its axes.
  Link of(MeshAttr group) const;
};

/// Reads `[AXIS=]BANDWIDTH,LATENCY`, as in `2GB/s,20us` or `dp=1GB/s,30us`.
llvm::Error readLink(llvm::StringRef text, Links &links);

} // namespace weft

#endif // WEFT_PASSES_COST_LINK_H
