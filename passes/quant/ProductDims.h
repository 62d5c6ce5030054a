//===- ProductDims.h - Which dimensions of a product are summed, and which are columns ----------===//
//
//   if (std::optional<ProductDims> dims = productDims(contract)) …     // of a product with a weight
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_PRODUCTDIMS_H
#define WEFT_PASSES_QUANT_PRODUCTDIMS_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Of a contraction of rows with a matrix: one dimension of the right operand is the result's last one, all others are summed.
struct ProductDims {
  unsigned column; ///< the dimension of the right operand that is the result's last
  llvm::SmallVector<int64_t, 2> summed; ///< dimensions of the left operand
  bool rowsLead; ///< the left operand's other dimensions are the result's leading ones, in order
};

/// Nothing for a contraction that is none such, or that is not summed in f32.
std::optional<ProductDims> productDims(ContractOp op);

} // namespace weft

#endif // WEFT_PASSES_QUANT_PRODUCTDIMS_H
