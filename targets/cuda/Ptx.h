//===- Ptx.h - From structured operations to PTX ------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_PTX_H
#define WEFT_TARGETS_CUDA_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include "targets/cuda/SimtMachine.h"
#include "llvm/Support/Error.h"

namespace weft {

/// How many threads a block has, and how many blocks a multiprocessor shall have registers for.
struct BlockShape {
  int64_t threads, atOnce;
};

/// Of a module, lowered in place, with one kernel `symbol`.
llvm::Expected<std::string> compileToPtx(mlir::ModuleOp module, llvm::StringRef symbol,
                                         BlockShape blocks, const SimtMachine &machine);

/// One text of those of several kernels for one machine.
std::string joinPtx(llvm::ArrayRef<std::string> kernels);

} // namespace weft

#endif // WEFT_TARGETS_CUDA_PTX_H
