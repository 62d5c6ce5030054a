//===- PeakLoops.h - Loops that do as much as the processor can ------------------------------------------===//
//
// What kernels are measured against: loops that only multiply and add in registers, one for every unit, and one that only reads. They are emitted and
// compiled like kernels, so that a share of their speed says what a schedule leaves on the table, not what the compiler cannot do.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_PEAKLOOPS_H
#define WEFT_TARGETS_CPU_PEAKLOOPS_H

#include "mlir/IR/BuiltinOps.h"
#include "targets/common/KernelTarget.h"

namespace weft {

class VectorMachine;

/// Adds the loops to `module`, whose context has the code generation dialects, and says what a round of each does.
PeakLoops emitPeakLoops(mlir::ModuleOp module, const VectorMachine &machine);

} // namespace weft

#endif // WEFT_TARGETS_CPU_PEAKLOOPS_H
