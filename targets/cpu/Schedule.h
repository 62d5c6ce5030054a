//===- Schedule.h - From a kernel's specification to loops --------------------------------------===//
//
// A kernel's specification is a function on tensors (`func.func @kernel`): operators of one group, weights as arguments, symbols as
// `weft.symbols`. A schedule says how the work is cut into units and emits the code of units [begin, end).
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULE_H
#define WEFT_TARGETS_CPU_SCHEDULE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/common/Decline.h"
#include "targets/common/ElementEmitter.h"
#include "targets/common/Picks.h"

namespace weft {

/// What generators ask about a processor's vectors.
struct VectorIsa {
  unsigned lanes;     ///< f32 lanes of one register
  unsigned registers; ///< vector registers
  bool fma;
  const char *dotPairs; ///< intrinsic: products of signed 16-bit numbers, pairs of them added
  const char *dotBytes =
      ""; ///< intrinsic: adds to each lane four products of unsigned and signed bytes; empty when there is none
};

/// How the host starts a kernel; expressions over the specification's symbols.
struct Launch {
  SymExpr units;
  SymExpr grain;   ///< units per piece of work, at least
  SymExpr scratch; ///< bytes per worker
};

/// Everything a schedule needs to emit one kernel.
struct KernelContext {
  mlir::ImplicitLocOpBuilder &b;
  mlir::func::FuncOp spec, kernel;
  ElementEmitter &e;
  const VectorIsa &isa;
  mlir::Value begin, end, scratch;
  llvm::SmallVector<mlir::Value> inputs, outputs; ///< pointers
  mlir::Operation *returnOp() { return spec.getBody().front().getTerminator(); }
  SymTensorType resultType(unsigned i) {
    return llvm::cast<SymTensorType>(spec.getResultTypes()[i]);
  }
  /// for i = from; i < to; i += step
  void loop(mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// The same with values carried along.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  mlir::Value mul(mlir::Value a, mlir::Value c);
  mlir::Value add(mlir::Value a, mlir::Value c);
  mlir::Value sub(mlir::Value a, mlir::Value c);
  /// Elements of all results at one index. All are pulled before the first is stored.
  void storeResults(llvm::ArrayRef<IndexValue> index);
  /// Walks [0, size) of the innermost dimension in vectors: whole ones first, then a masked rest. `index` is the innermost index.
  void vectors(SymExpr size, llvm::function_ref<void(IndexValue index)> body);
};

class Schedule {
public:
  virtual ~Schedule() = default;
  virtual llvm::StringRef name() const = 0;
  /// Why the kernel is left to the next schedule; nothing when this one takes it.
  virtual Decline decline(mlir::func::FuncOp spec, const VectorIsa &isa) const = 0;
  /// Whether results differ from the definition by rounding of its own products and sums only.
  virtual bool isExact() const { return true; }
  virtual Launch launch(mlir::func::FuncOp spec, const VectorIsa &isa) const = 0;
  virtual void emit(KernelContext &context) const = 0;
  /// Layouts of the arguments: empty for row-major.
  virtual llvm::SmallVector<std::string> layouts(mlir::func::FuncOp spec,
                                                 const VectorIsa &isa) const {
    return llvm::SmallVector<std::string>(spec.getNumArguments());
  }
  /// What it lets be picked of a kernel that it takes. Every candidate is right for all sizes.
  virtual std::vector<Choice> choices(mlir::func::FuncOp, const VectorIsa &) const { return {}; }
};

/// Adds a choice between the estimate and others to the list, unless there is nothing to choose: candidates for which `effect` gives one
/// number lead to the same code, and the first of them stays.
void offer(std::vector<Choice> &list, llvm::StringRef name, llvm::ArrayRef<int64_t> others,
           int64_t estimate, llvm::function_ref<int64_t(int64_t candidate)> effect);

/// Combines the lanes of a vector: halves, quarters, …, a fixed order, so results do not depend on anything. A scalar stays as it is.
mlir::Value combineLanes(mlir::ImplicitLocOpBuilder &b, Combiner combiner, mlir::Type element,
                         mlir::Value vector);

/// Loads the words of a kernel: pointers of inputs and outputs, then symbols; binds them in `context.e`.
void bindWords(KernelContext &context, mlir::Value words);

constexpr int64_t kLineBytes = 64; ///< of the caches

/// What is fetched into the second-level cache while something is summed: with every step some lines, `stride` bytes further. Nothing where
/// `from` is null.
struct Ahead {
  mlir::Value from = {}, stride = {};
  int64_t lines = 1;
  /// The same, for what follows after `steps`.
  Ahead behind(KernelContext &context, mlir::Value steps) const;
  void fetch(KernelContext &context, mlir::Value step) const;
};

/// Rows in registers: sums[r][v] += A[r, k] * B[k, v] for k in [0, depth). A's rows are `rowStride` elements apart and what follows along k
/// `depthStride` (constants keep one base register), B's are at `columns + k * columnStride` elements.
struct TileSource {
  mlir::Value a;
  int64_t rowStride;
  mlir::Value b;
  mlir::Value columnStride;
  int64_t depthStride = 1;
  Ahead ahead = {};                                  ///< a step for every k
  std::function<void(mlir::Value k)> everyTurn = {}; ///< of the loop, which begins with k
};
/// Products summed in one chain; chunks are added up: the error of a long sum stays that of a short one.
constexpr int64_t kSumChunk = 96;
void multiplyAdd(KernelContext &context, const TileSource &source, mlir::Value depth,
                 int64_t unroll, llvm::SmallVectorImpl<mlir::Value> &sums, int64_t rows,
                 int64_t vectors);
/// Rows of a register tile, and columns in vectors of two.
inline int64_t tileRows(const VectorIsa &isa) { return isa.registers >= 32 ? 14 : 6; }
inline int64_t tileColumns(const VectorIsa &isa) { return 2 * isa.lanes; }
/// Fewer rows in a tile leave registers to spare: of use where what they are read from is far.
inline llvm::ArrayRef<int64_t> tileRowCandidates(const VectorIsa &isa) {
  static constexpr int64_t many[] = {14, 10, 7}, few[] = {6, 4, 3};
  return isa.registers >= 32 ? llvm::ArrayRef(many) : llvm::ArrayRef(few);
}
/// The choice of rows for tiles of `m` rows in all.
void offerRows(std::vector<Choice> &list, SymExpr m, int64_t estimate, const VectorIsa &isa);
/// KiB of packed weights that are used again and again before the next are.
constexpr int64_t kBlockCandidates[] = {200, 400, 800};
constexpr int64_t kBlockKiB = 400; ///< stays in L2

/// Cuts `m` rows into ceil(m / tileRows) tiles of sizes that differ by at most one, and calls the function for tile `tile`'s size with
/// (leading arguments…, first row).
void callRowTile(KernelContext &context, llvm::ArrayRef<mlir::func::FuncOp> tiles, mlir::Value m,
                 mlir::Value count, mlir::Value tile,
                 llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value first)> arguments);

/// Elements that share a byte are written one after the other, by one thread: only the loop schedule does that.
bool writesPackedElements(mlir::func::FuncOp spec);

/// The specification's module with code for units [begin, end) in a function `name(words, begin, end, worker)`. The specification is erased.
mlir::LogicalResult emitKernel(mlir::ModuleOp module, llvm::StringRef name,
                               const Schedule &schedule, const VectorIsa &isa);

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULE_H
