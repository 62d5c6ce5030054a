//===- RankManifest.h - What an artifact's manifest says of ranks ------------------------------===//
//
//   describeRanks(programs, FuseComm::Auto, object);
//
// object: {"fuse_comm": "auto", "fused_exchanges": ["all_gather after '/up'"], "local": ["main<tp = 2> input 0: [tp, _] of [n, 12]"]}
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_RANKMANIFEST_H
#define WEFT_COMPILER_DRIVER_RANKMANIFEST_H

#include "compiler/plan/PlannedProgram.h"
#include "weft/compiler.hpp"
#include "llvm/Support/JSON.h"

namespace weft {

/// Nothing where no program is for ranks. The programs are those of all variants.
void describeRanks(llvm::ArrayRef<const Program *> programs, FuseComm fuse,
                   llvm::json::Object &object);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_RANKMANIFEST_H
