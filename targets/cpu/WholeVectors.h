//===- WholeVectors.h - Loads and stores with masks, where nothing takes a mask ----------------------===//
#ifndef WEFT_TARGETS_CPU_WHOLEVECTORS_H
#define WEFT_TARGETS_CPU_WHOLEVECTORS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

class VectorMachine;

/// Rewrites loads, stores and gathers with masks for a machine that has none: as whole vectors where all lanes are inside, else in as few
/// pieces as the lanes before a limit are. Machines with masks keep theirs; where these are for words only, elements of 16 bits are rewritten.
void preferWholeVectors(mlir::ModuleOp module, const VectorMachine &machine);

} // namespace weft

#endif // WEFT_TARGETS_CPU_WHOLEVECTORS_H
