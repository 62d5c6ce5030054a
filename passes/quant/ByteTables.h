//===- ByteTables.h - Tables whose rows could be stored as bytes ----------------------------------===//
//
//   before   %1 = gather %table, %ids axis 0
//   after    %q = gather %bytes, %ids axis 0 ; %s = gather %scales, %ids axis 0
//            %1 = dequantize %q, %s, 0
//
// Embeddings are most of the bytes of a small model, and a call reads few of their rows. Each row has a scale of its own; what is read is
// restored where it is read.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_BYTETABLES_H
#define WEFT_PASSES_QUANT_BYTETABLES_H

#include "passes/quant/LayerChoice.h"

namespace weft {

/// On a read of a table that may become bytes: 1 to store them, 0 to leave it.
constexpr llvm::StringLiteral kTableChosenAttr = "weft.bytes";

/// Rows of a constant matrix of f32 that nothing else reads.
struct ByteTable {
  mutable GatherOp read; ///< a handle; its methods are not const
  mutable ConstantOp table;
  int64_t rows, columns;
};

/// In program order. What stands in a region of the host's operations is none, nor are small ones.
std::vector<ByteTable> byteTables(mlir::func::FuncOp function);

/// The read of bytes; null where the table's elements are not known.
mlir::Value buildTable(mlir::ImplicitLocOpBuilder &b, const ByteTable &table,
                       const WeightFiles &files);

} // namespace weft

#endif // WEFT_PASSES_QUANT_BYTETABLES_H
