//===- Lower.h - A grouped function as kernels, buffers and calls ---------------------------------------===//
//
// What stands between the graph (constants, reshapes, kernels) and machine code: distinct kernels by their text, one buffer per value, the
// memory plan, and one call per kernel operation. Both the host program and the descriptor are written from it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_PLAN_LOWER_H
#define WEFT_COMPILER_PLAN_LOWER_H

#include "compiler/model/EntryPlan.h"
#include "compiler/tuning/Tuning.h"
#include "passes/kernel/Specification.h"
#include "passes/plan/PlanMemory.h"
#include "targets/common/Registry.h"
#include "llvm/ADT/MapVector.h"

namespace weft {

/// Where a value lies.
struct Buffer {
  enum Kind { Arena, Input, Output, Weight, Slot } kind;
  unsigned
      index; ///< storage class, argument, result, row of the stored weights, or pointer that a loop moves
  SymExpr offset; ///< in bytes; null for none
};

/// A distinct kernel. Equal text means equal code.
struct KernelCode {
  const KernelTarget *target; ///< that compiles it
  std::string text, schedule, symbol;
  uint8_t key[16];
  std::vector<std::string> nodes;
  unsigned calls = 0, pointers;
  bool isTuned;                                ///< a record picked how it is computed
  llvm::SmallVector<mlir::StringAttr> symbols; ///< words behind the pointers, in order
  SymExpr flops, bytesMoved;                   ///< of a call, over these
  SymExpr work; ///< of a call: kWorkOfNanosecond take about a nanosecond
};
constexpr int64_t kWorkOfNanosecond = 128;

struct KernelCall {
  KernelOp op;
  unsigned kernel;
  llvm::SmallVector<Buffer> pointers;
  llvm::SmallVector<SymExpr> values; ///< words after the pointers
  SymExpr units, grain;
  SymExpr work;        ///< as KernelCode's
  SymExpr lateScratch; ///< per worker, when it is known only now; else null
};

/// Calls that follow each other and do not depend on each other: their kernels run at the same time.
struct CallRegion {
  unsigned first, count;
};

/// What the host does, in order: an entry of LoweredFunction's list of that kind.
struct HostStep {
  enum Kind { Run, Bind, If, Loop, Reserve, Provide } kind;
  unsigned index; ///< of Reserve: the late block less 1
};

struct BindStep {
  mlir::StringAttr symbol;
  Buffer value;
  unsigned bits;
  std::string node; ///< of the user, for messages
};

struct IfStep {
  Buffer condition;
  std::vector<HostStep> yes, no;
  llvm::SmallVector<mlir::StringAttr> symbols;
  llvm::SmallVector<SymExpr> yesDims, noDims; ///< values of the symbols
  /// Results whose size only the regions know lie where either left them: slots, and for each what it points to.
  llvm::SmallVector<unsigned> slots;
  llvm::SmallVector<Buffer> yesBuffers, noBuffers;
};

/// Memory for what an output takes, which is known only here.
struct ProvideStep {
  unsigned output;
  SymExpr bytes;
};

/// A carried value is read through one pointer and its next value written through another. They move on after each time: the next value
/// becomes the current one, and the buffer before that is written again.
struct CarriedValue {
  Buffer init;
  unsigned first, second; ///< storage classes
  unsigned current, next; ///< slots
};

struct LoopStep {
  mlir::StringAttr index, count; ///< count is null without a condition
  SymExpr trips;
  Buffer begin, goOn; ///< conditions, when there is a count
  std::vector<CarriedValue> carried;
  std::vector<HostStep> body;
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
  std::vector<HostStep> steps;
  std::vector<KernelCall> calls;
  std::vector<CallRegion> regions;
  std::vector<BindStep> binds;
  std::vector<IfStep> ifs;
  std::vector<LoopStep> loops;
  std::vector<ProvideStep> provides;
  unsigned slots = 0;
  std::vector<StorageClass> classes;
  MemoryPlan plan; ///< of the arena
  /// Of blocks 1, 2, ...: memory that is asked for where all symbols of its sizes have values, as bind can limit none of them.
  std::vector<MemoryPlan> latePlans;
  llvm::SmallVector<SymExpr> scratch;     ///< per worker: the maximum of these
  llvm::SmallVector<SymExpr> lateScratch; ///< of the calls that ask for it
  SymExpr flops, bytesMoved;              ///< at most, where data decide
  std::vector<llvm::SmallVector<SymExpr>>
      outputDims; ///< the most each can be, over symbols of the signature; null when nothing limits it
};

struct Program {
  std::vector<LoweredFunction> functions;
  std::vector<KernelCode> kernels;
};

/// A model for one target. An artifact has one or several, the best first; weights are common to them.
struct Variant {
  FoundTarget target;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Program program;
};

/// The names in a location, in order.
void collectNodes(mlir::Location location, std::vector<std::string> &nodes);

/// Whether the target has a schedule for every kernel of the module.
bool allAccepted(mlir::ModuleOp module, const KernelTarget &target);

/// Lowers all public functions of a grouped module, with kernels as the records say; what they read and `weights` does not have in that
/// layout is added there. Reports through the module's context.
mlir::FailureOr<Program> lowerProgram(mlir::ModuleOp module, const KernelTarget &target,
                                      const Tuning &tuning, std::vector<StoredWeight> &weights);

} // namespace weft

#endif
