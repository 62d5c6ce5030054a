//===- X86Tables.h - What AVX-512 looks up ------------------------------------------------------------===//
#ifndef WEFT_TARGETS_X86_X86TABLES_H
#define WEFT_TARGETS_X86_X86TABLES_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

// What VectorMachine declares under these names.

bool x86LooksUp(mlir::Type type);
mlir::Value x86LookUp(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<float> table,
                      mlir::Value index);
mlir::Value x86LookUpBytes(mlir::ImplicitLocOpBuilder &b, mlir::Value table, mlir::Value bytes);

} // namespace weft

#endif // WEFT_TARGETS_X86_X86TABLES_H
