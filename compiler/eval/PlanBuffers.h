//===- PlanBuffers.h - Where the buffers of a plan lie while it is evaluated ------------------===//
//
//   PlanBuffers buffers(function, symbols, options);
//   buffers.begin(inputs);                       // arena, inputs, outputs
//   buffers.name(op);                            // plan.memory, plan.part, plan.reserve, …
//   buffers.read({buffers.at(value), f32, {3, 4}, runsOfAll({3, 4}), "output 'y'"});
//
// Blocks are bytes, and memory lies in them where its places say: who writes overwrites what
// overlaps. Whoever reads bytes that were not written through the memory that he names gets an
// error.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EVAL_PLANBUFFERS_H
#define WEFT_COMPILER_EVAL_PLANBUFFERS_H

#include "compiler/eval/ByteMemory.h"
#include "compiler/eval/CallSymbols.h"
#include "compiler/eval/Evaluate.h"
#include "dialects/plan/Plan.h"

namespace weft {

/// Memory that one operation names.
struct Extent {
  std::string name;                   ///< "input 'x'", for errors
  unsigned owner;                     ///< another one each time that memory is named
  std::shared_ptr<ByteMemory> memory; ///< null while nobody asked for it, and of weights
  int64_t begin = 0, bytes = 0;       ///< in `memory`
  plan::WeightOp weight;
  bool isInput = false, isInPlace = false; ///< in place: a result is written to it
  bool isWritten = false;
};

struct Address {
  std::shared_ptr<Extent> extent;
  int64_t offset = 0;
};

/// Elements of a tensor in memory that are read or written.
struct PlanOperand {
  Address address;
  mlir::Type element;
  DimValues dims;
  ElementRuns runs;
  std::string name; ///< "input 0 of kernel @k", for errors
};

class PlanBuffers {
public:
  PlanBuffers(plan::FuncOp function, const CallSymbols &symbols, const EvaluateOptions &options)
      : function(function), symbols(symbols), options(options) {}

  /// Inputs as callers see them.
  llvm::Error begin(llvm::ArrayRef<std::shared_ptr<RefTensor>> inputs);
  /// An operation that names memory or asks for it.
  llvm::Error name(mlir::Operation &op);
  Address at(mlir::Value buffer) const { return addresses.lookup(buffer); }
  void set(mlir::Value buffer, Address address) { addresses[buffer] = std::move(address); }
  /// Where a result of the function lies.
  Address result(unsigned i);

  llvm::Expected<RefTensor> read(PlanOperand operand) const;
  /// Elements of `values`, which has all of the tensor's.
  llvm::Error write(const PlanOperand &operand, RefTensor values, mlir::Operation *by);
  /// Whether they lie in common bytes.
  static bool overlap(const PlanOperand &a, const PlanOperand &b);

private:
  struct Block {
    std::shared_ptr<ByteMemory> memory;
    llvm::DenseMap<mlir::Operation *, int64_t> begins; ///< of memory that has a place
  };

  llvm::Error beginInput(unsigned i, const RefTensor &seen);
  llvm::Error beginOutput(unsigned i);
  llvm::Expected<std::map<int64_t, plan::MemoryOp>> placesIn(mlir::Value block);
  llvm::Error open(mlir::Value block, DimsAttr peaks, mlir::Location location);
  llvm::Expected<int64_t> place(plan::MemoryOp memory, std::map<int64_t, int64_t> &tops);
  llvm::Error nameMemory(plan::MemoryOp memory);
  llvm::Error namePart(plan::PartOp part);
  llvm::Error provide(plan::ProvideOp provide);
  llvm::Expected<int64_t> bytesOf(SymExpr bytes, mlir::Location location) const;
  static llvm::Error checkBounds(const PlanOperand &operand);
  struct Part {
    ElementRuns runs; ///< of the whole
    DimValues sizes;
  };
  llvm::Expected<Part> partOf(plan::WeightOp op) const;
  llvm::Expected<Address> withElements(const Address &weight) const;
  std::shared_ptr<Extent> newExtent(std::string name);

  plan::FuncOp function;
  const CallSymbols &symbols;
  const EvaluateOptions &options;
  std::vector<std::shared_ptr<Extent>> inputs, outputs;
  llvm::DenseMap<mlir::Value, Block> blocks; ///< null is the arena
  llvm::DenseMap<mlir::Value, Address> addresses;
  unsigned owners = 0;
};

/// "kernel @k at '/encoder/norm'", for errors.
std::string nameOf(plan::LaunchOp launch);
/// " at model.mlir:12", empty where a location says nothing.
std::string placeOf(mlir::Location location);

} // namespace weft

#endif // WEFT_COMPILER_EVAL_PLANBUFFERS_H
