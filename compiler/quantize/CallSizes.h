//===- CallSizes.h - Sizes that a call gives to symbols ---------------------------------------===//
#ifndef WEFT_COMPILER_QUANTIZE_CALLSIZES_H
#define WEFT_COMPILER_QUANTIZE_CALLSIZES_H

#include "compiler/quantize/Session.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

inline SymValues sizesOf(mlir::func::FuncOp function, const BoundCall &call) {
  SymValues values;
  for (auto [argument, tensor] : llvm::zip(function.getArguments(), call.tensors)) {
    auto type = mlir::cast<SymTensorType>(argument.getType());
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (mlir::StringAttr symbol = type.getDim(d).asSymbol())
        values[symbol] = tensor.dim[d];
  }
  return values;
}

} // namespace weft

#endif // WEFT_COMPILER_QUANTIZE_CALLSIZES_H
