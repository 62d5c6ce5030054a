//===- Lower.h - A grouped function as kernels, buffers and calls ---------------------------------------===//
//
// What stands between the graph (constants, reshapes, kernels) and machine code: distinct kernels by their text, one buffer per value, the
// memory plan, and one call per kernel operation. Both the host program and the descriptor are written from it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_PIPELINE_LOWER_H
#define WEFT_COMPILER_PIPELINE_LOWER_H

#include "compiler/pipeline/EntryPlan.h"
#include "passes/memory/PlanMemory.h"
#include "targets/common/Target.h"
#include "llvm/ADT/MapVector.h"

namespace weft {

/// Where a value lies.
struct Buffer {
  enum Kind { Arena, Input, Output, Weight } kind;
  unsigned index; ///< storage class, argument, result, or row of Program::weights
};

/// A distinct kernel. Equal text means equal code.
struct KernelCode {
  std::string text, schedule, symbol;
  uint8_t key[16];
  std::vector<std::string> nodes;
  unsigned calls = 0;
};

struct KernelCall {
  unsigned kernel;
  llvm::SmallVector<Buffer> pointers;
  llvm::SmallVector<SymExpr> values; ///< words after the pointers
  SymExpr units, grain;
};

/// A constant in one layout, as the artifact stores it.
struct StoredWeight {
  std::string name, layout;
  SymTensorType type;
  mlir::Attribute value; ///< FlatSymbolRefAttr or DenseElementsAttr
  uint64_t offset = 0, bytes = 0;
};

struct LoweredFunction {
  mlir::func::FuncOp function;
  EntryPlan entry;
  std::vector<KernelCall> calls;
  std::vector<StorageClass> classes;
  MemoryPlan plan;
  llvm::SmallVector<SymExpr> scratch; ///< per worker: the maximum of these
  SymExpr flops, bytesMoved;
};

struct Program {
  std::vector<LoweredFunction> functions;
  std::vector<KernelCode> kernels;
  std::vector<StoredWeight> weights;
};

/// Whether the target has a schedule for every kernel of the module.
bool allAccepted(mlir::ModuleOp module, const Target &target);

/// Lowers all public functions of a grouped module. Reports through the module's context.
mlir::FailureOr<Program> lowerProgram(mlir::ModuleOp module, const Target &target);

} // namespace weft

#endif
