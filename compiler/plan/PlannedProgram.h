//===- PlannedProgram.h - What the descriptor and the host program read off a plan ---------------------===//
//
//   Program program = programOf(module);      // of a module of plan.func and plan.kernel
//   addWeights(module, weights);                       // constants that it reads and `weights` does not have in that layout
//
// Nothing is decided here: rows are those of the plan, in the order of first use.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_PLAN_PLANNEDPROGRAM_H
#define WEFT_COMPILER_PLAN_PLANNEDPROGRAM_H

#include "compiler/model/EntryPlan.h"
#include "dialects/plan/Plan.h"
#include "dialects/weft/Mesh.h"
#include "mlir/IR/OwningOpRef.h"

namespace weft {

/// A distinct kernel. Equal text means equal code.
struct PlannedKernel {
  plan::KernelOp op;
  std::string text, symbol, target, schedule;
  uint8_t key[16];
  std::vector<std::string> nodes;
  unsigned calls = 0, pointers;
  bool isTuned;                                ///< a record picked how it is computed
  unsigned blockThreads = 0, blockBytes = 0;   ///< on a device, once it is compiled
  bool isCounted = false;                      ///< and whether its blocks count each other
  llvm::SmallVector<mlir::StringAttr> symbols; ///< words behind the pointers, in order
  SymExpr flops, bytesMoved, work;             ///< of a call, over these
};

/// What ranks do together, in the runtime's words. Sizes are those of the form.
struct PlannedExchange {
  plan::ExchangeOp op;
  ExchangeForm form;
  mlir::Type element;
  uint16_t kind, combiner; ///< weft_collective_kind_t, weft_combiner_t or 0
  unsigned group;          ///< in the program's
};

/// What one rank sends along axes, at most, where data decide.
struct PlannedTraffic {
  std::string axes; ///< "tp", or "dp, tp"
  SymExpr bytes, messages;
};

struct PlannedFunction {
  plan::FuncOp function;
  EntryPlan entry;
  llvm::SmallVector<SymExpr> arena;        ///< bytes: the maximum of these
  bool isArenaLoose = false;               ///< that is more than its memory takes
  llvm::SmallVector<plan::ReserveOp> late; ///< blocks that are asked for while it runs
  llvm::SmallVector<plan::TogetherOp> regions;
  llvm::SmallVector<plan::CheckPositionsOp> positions; ///< checks of them
  std::vector<PlannedExchange> exchanges;
  llvm::SmallVector<plan::OverlapOp> overlaps; ///< ranks compute while they go on
  /// Whether exchanges go on beside launches.
  bool hasBeside() const {
    return llvm::any_of(exchanges, [](const PlannedExchange &each) {
      return plan::ExchangeOp(each.op).getBeside();
    });
  }
  std::vector<PlannedTraffic> traffic;    ///< in the order in which axes are met
  llvm::SmallVector<SymExpr> scratch;     ///< per worker: the maximum of these
  llvm::SmallVector<SymExpr> lateScratch; ///< of the launches that ask for it
  SymExpr flops, bytesMoved;              ///< at most, where data decide
  /// The most each dimension can be, over symbols of the signature; null when nothing limits it.
  std::vector<llvm::SmallVector<SymExpr>> outputDims;

  bool isLate(plan::LaunchOp launch) const;
};

struct Program {
  std::vector<PlannedFunction> functions;
  std::vector<PlannedKernel> kernels;
  llvm::StringMap<unsigned> kernelRows; ///< by symbol
  MeshAttr mesh;                        ///< of the functions that have one; null: none has
  llvm::SmallVector<MeshAttr> groups;   ///< along whose axes ranks do something together

  const PlannedKernel &kernelOf(plan::LaunchOp launch) const {
    return kernels[kernelRows.lookup(launch.getKernel())];
  }
};

/// A constant in one layout, as the artifact stores it: whole, or where parts are no ranges of that, in parts of one size one behind the
/// other.
struct StoredWeight {
  std::string name, layout;
  SymTensorType whole, type; ///< type: of what is packed, the whole or a part
  llvm::SmallVector<int64_t>
      size;              ///< of a part, in dimensions of the whole; empty: the whole is stored
  mlir::Attribute value; ///< FlatSymbolRefAttr or DenseElementsAttr
  uint64_t offset = 0, bytes = 0; ///< of all
  uint64_t distance = 0;          ///< bytes from one part to the next
};

/// Reports through the module's context.
mlir::FailureOr<Program> programOf(mlir::ModuleOp module);

void addWeights(mlir::ModuleOp module, std::vector<StoredWeight> &weights);
/// The weight's row; it was added.
unsigned rowOf(plan::WeightOp weight, llvm::ArrayRef<StoredWeight> weights);
/// Where it begins in the weights of the file, once these have places.
SymExpr offsetOf(plan::WeightOp weight, llvm::ArrayRef<StoredWeight> weights);

} // namespace weft

#endif
