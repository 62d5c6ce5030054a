//===- ValueProducts.h - Products of two values, which units of bf16 could compute -----------------===//
//
//   before   %1 = contract … %q, %k ; %2 = softmax %1 ; %3 = contract … %2, %v
//   after    %1 = contract … (convert %q to bf16), (convert %k to bf16) ; …          both products, or none
//
// Products that only operators without weights lie between, as those of an attention, become one kernel: they decide together.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_VALUEPRODUCTS_H
#define WEFT_PASSES_QUANT_VALUEPRODUCTS_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

/// On the first of products that may be of bf16: 1 to round their operands, 0 to leave them.
constexpr llvm::StringLiteral kValuesChosenAttr = "weft.halves";

struct ValueProducts {
  llvm::SmallVector<mlir::Operation *, 2> products;   ///< in program order
  llvm::SmallVector<mlir::Operation *, 8> operations; ///< these, and what lies between them
  mlir::Operation *first() const { return products.front(); }
};

/// In program order. What stands in a region of the host's operations is none.
std::vector<ValueProducts> valueProducts(mlir::func::FuncOp function);

} // namespace weft

#endif // WEFT_PASSES_QUANT_VALUEPRODUCTS_H
