//===- HostProgram.h - bind and run of every function, as code ------------------------------------------===//
#ifndef WEFT_COMPILER_HOST_HOSTPROGRAM_H
#define WEFT_COMPILER_HOST_HOSTPROGRAM_H

#include "compiler/plan/Variant.h"

namespace weft {

/// Names of the code of a function in the image.
std::string bindSymbol(unsigned variant, unsigned function);
std::string runSymbol(unsigned variant, unsigned function);
/// What `run` answers with Reach::Kernels when row `row` of the function's positions holds one outside.
int32_t positionsAnswer(const PlannedFunction &function, unsigned row);

/// How `run` reaches what it calls: the host table of its frame, or kernels themselves, one after the other on the caller's thread. The
/// latter gives `worker0` of the frame to all; it cannot ask for memory, exchange with ranks, or use devices.
enum class Reach { Table, Kernels };

/// Adds bind and run of all functions of variant `number` to `module`, whose context has the code generation dialects.
void emitHostProgram(mlir::ModuleOp module, unsigned number, const Variant &variant,
                     llvm::ArrayRef<StoredWeight> weights, Reach reach = Reach::Table);

} // namespace weft

#endif
