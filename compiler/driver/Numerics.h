//===- Numerics.h - Whether a program can be computed with what is asked of its numbers -------===//
//
//   if (Result<void> done = checkNumerics(options.numerics, *module); !done) return done.diagnostics();
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_DRIVER_NUMERICS_H
#define WEFT_COMPILER_DRIVER_NUMERICS_H

#include "mlir/IR/BuiltinOps.h"
#include "targets/common/KernelTarget.h"
#include "weft/compiler.hpp"

namespace weft {

/// Of `program` as it was imported. Names of nodes are looked up here: passes may take out what nobody
/// reads.
Result<void> checkNumerics(const Numerics &numerics, mlir::ModuleOp program);

/// Adds what its user may want to know about the speed of `program`, as it was imported, with these
/// numbers on `target`, the best of those compiled for: that products of bf16 would take less time, or
/// that operands in 16 bits take no less.
void adviseOnSpeed(const Numerics &numerics, const KernelTarget &target, mlir::ModuleOp program,
                   std::vector<Diagnostic> &notes);

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_NUMERICS_H
