//===- HostCode.h - What bind and run have in common -------------------------------------------------------===//
//
// Functions of the module that is made, loads and stores of what they are called with, checks, and where memory of a plan lies.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_HOST_HOSTCODE_H
#define WEFT_COMPILER_HOST_HOSTCODE_H

#include "compiler/host/HostExpressions.h"
#include "compiler/plan/Variant.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft {

class HostCode : public HostExpressions {
protected:
  HostCode(mlir::ModuleOp module, const PlannedFunction &planned);

  mlir::Value load(mlir::Type type, mlir::Value base, int64_t byteOffset);
  void store(mlir::Value value, mlir::Value base, int64_t byteOffset);
  /// Straight lines that run once per call: they are compiled for size.
  mlir::func::FuncOp begin(llvm::StringRef name, llvm::ArrayRef<mlir::Type> arguments);
  void finish(int32_t code);
  /// Continues in a new block when `holds`, else returns `row` + 1.
  void require(mlir::func::FuncOp function, mlir::Value holds, int32_t row);
  /// The same of bytes, in double arithmetic: integers compute with what is less without wrapping.
  void requireSmall(mlir::func::FuncOp function, mlir::Value bytes, int32_t row);
  /// Where the rank stands, which the runtime knows before a call.
  void loadPlaces(mlir::Value values);
  /// Sets the offsets of the memory in a block, in the order of placement; the peak, at least `loose`.
  mlir::Value placeIn(mlir::Value block, llvm::ArrayRef<SymExpr> loose = {});

  mlir::ModuleOp module;
  const PlannedFunction &planned;
  plan::FuncOp source; ///< of `planned`, in the compiler's context
  mlir::Type pointer, i64, i32;
  llvm::DenseMap<mlir::Value, mlir::Value> offsets; ///< of memory in its block

private:
  mlir::Value at(mlir::Value base, int64_t byteOffset);
};

} // namespace weft

#endif
