//===- SimtKernel.h - From a kernel's specification to the code of one thread ---------------------===//
//
//   void emit(SimtKernel &k) const override {
//     k.when(k.less(k.thread, k.e.uniform(elements)), [&] { k.storeResults(k.pointIndex(dims, k.thread)); });
//   }
//
// A kernel is a grid of blocks in one dimension. Its parameters are the words of the specification, pointers first, and the address of
// scratch. Lanes of the element emitter are elements that one thread holds.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CUDA_SIMTKERNEL_H
#define WEFT_TARGETS_CUDA_SIMTKERNEL_H

#include "targets/common/KernelFrame.h"
#include "targets/common/Schedule.h"
#include "targets/cuda/SimtMachine.h"

namespace weft {

struct SimtKernel : KernelFrame {
  const SimtMachine &machine;
  mlir::Value thread = {};  ///< its number in the grid, i64
  mlir::Value block = {};   ///< of the grid
  mlir::Value inBlock = {}; ///< the thread's number there
  mlir::Value scratch = {}; ///< pointer to the launch's
  mlir::Value counters =
      {}; ///< and to words that are 0 before and behind it, of a kernel that has such

  /// if (condition) body();
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value less(mlir::Value a, mlir::Value c);
  /// Number of this thread's warp in the grid, and of the thread in its warp.
  mlir::Value warp();
  mlir::Value lane();
  /// Of the element with this number in row-major order.
  llvm::SmallVector<IndexValue> pointIndex(llvm::ArrayRef<SymExpr> dims, mlir::Value number);
  /// The block's number, written with digits of so many values each; the last changes fastest.
  llvm::SmallVector<mlir::Value> blockDigits(llvm::ArrayRef<SymExpr> counts);
  /// Blocks take numbers below `count` in turns: there may be more of them than blocks, where groups are larger than the grid knows.
  void inTurns(mlir::Value count, llvm::function_ref<void(mlir::Value)> body);
  /// A number that is a multiple of `size` as one that shows it.
  mlir::Value multipleOf(mlir::Value number, int64_t size);
  /// `value`, a scalar, of the thread whose lane differs in these bits.
  mlir::Value exchange(mlir::Value value, unsigned bits);
  /// `value`, a scalar, of the thread of the warp with this number, i64.
  mlir::Value ofLane(mlir::Value value, mlir::Value lane);
  /// The values of a warp's threads combined, in all of them: in the order of a tree, so always the same.
  mlir::Value combineWarp(Combiner combiner, mlir::Type element, mlir::Value value);
  /// Threads of the warp go on together.
  void gatherWarp();
  /// All threads of the block come here, and see what the others wrote to shared memory.
  void gatherBlock();
  /// A pointer to so many bytes of the block, a multiple of `alignment`. One array of them per kernel. More than kMostDeclared are asked for when it is
  /// launched.
  mlir::Value sharedBytes(int64_t bytes, int64_t alignment = 16);
  static constexpr int64_t kMostDeclared = 48 * 1024;
  int64_t launchBytes = 0; ///< so many
  /// Numbers or vectors there, so many bytes behind a pointer, a multiple of their size or of 16.
  mlir::Value loadShared(mlir::Type type, mlir::Value pointer, mlir::Value bytes);
  void storeShared(mlir::Value data, mlir::Value pointer, mlir::Value bytes);
  mlir::Value sharedPlace(mlir::Value pointer, mlir::Value bytes);
  /// 16 bytes, both at multiples of 16, go to shared memory while the thread goes on; zeros where the condition, if there is one, does not hold.
  void copyShared(mlir::Value to, mlir::Value from, mlir::Value isThere);
  /// What the thread copies from here on belongs to another group.
  void endCopies();
  /// Waits for the thread's own copies but those of the last groups. Others see them behind a barrier.
  void awaitCopies(int64_t groups);
  /// What the thread wrote to shared memory, or copied there and waited for, is seen, behind a barrier, by products that read it themselves.
  void showToProducts();
  /// Instructions as text, for whole warps, which read and write memory. Operands are numbers in braces: $0 is the first of `types`.
  llvm::SmallVector<mlir::Value> assembly(llvm::StringRef text, llvm::StringRef constraints,
                                          llvm::ArrayRef<mlir::Type> types,
                                          mlir::ValueRange operands);
  mlir::Value call(llvm::StringRef intrinsic, mlir::Type type, mlir::ValueRange arguments = {});

private:
  mlir::Value inWords(mlir::Value value,
                      llvm::function_ref<mlir::Value(mlir::Value word)> exchange);
};

/// One way to compute kernels on a GPU. Units are blocks.
class SimtSchedule : public ScheduleFor<SimtMachine> {
public:
  /// Of a block.
  virtual int64_t threads() const { return SimtMachine::kThreads; }
  /// Of a multiprocessor, which have registers together.
  virtual int64_t blocksAtOnce(mlir::func::FuncOp) const { return 1; }
  virtual void emit(SimtKernel &kernel) const = 0;
  /// Whether blocks of the kernel count each other.
  virtual bool isCounted(mlir::func::FuncOp, const SimtMachine &) const { return false; }

  /// Weights that are only read rounded are stored so.
  llvm::SmallVector<WeightLayout> layouts(mlir::func::FuncOp spec,
                                          const SimtMachine &) const override;

protected:
  /// For so many threads, or so many groups of a block's threads.
  Launch blocks(SymExpr count, int64_t perBlock) const;
};

/// The specification's module with the code of a thread in a function `name`. The specification is erased.
/// Returned are the bytes of shared memory that are asked for when it is launched.
int64_t emitSimtKernel(mlir::ModuleOp module, llvm::StringRef name, const SimtSchedule &schedule,
                       const SimtMachine &machine);

/// A block for some queries of a softmax between two products.
const SimtSchedule *simtAttention();
/// A block for each tile of a product of f16 or bf16, by tensor cores.
const SimtSchedule *simtTiles();
/// A block for each tile of a product of floats, by ordinary units.
const SimtSchedule *simtRealTiles();
/// A warp for each line of a softmax or normalisation.
const SimtSchedule *simtLines();
/// As many threads for each result of a reduction as keep the device busy.
const SimtSchedule *simtReductions();
/// A thread for each independent part of an operator that has loops of its own.
const SimtSchedule *simtUnits();
/// A warp or a block for each line whose elements are combined with all before them.
const SimtSchedule *simtScans();
/// A thread for some rows of what updates are written to.
const SimtSchedule *simtScatters();
/// A warp or a block for each line of which a few elements are selected.
const SimtSchedule *simtSelections();
/// A block for each tile of what is read in one order and written in another.
const SimtSchedule *simtTurns();
/// A thread for each element; takes what no other does.
const SimtSchedule *simtPoints();

} // namespace weft

#endif // WEFT_TARGETS_CUDA_SIMTKERNEL_H
