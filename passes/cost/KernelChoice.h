//===- KernelChoice.h - What passes ask of a target about a kernel ------------------------------------===//
//
//   std::optional<KernelChoice> choice = chooser.choose(specification);      // nothing: the target cannot compute it
//
// Declared below the targets, so that a pass can ask while it decides; targets, with the records of what was measured, answer.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_COST_KERNELCHOICE_H
#define WEFT_PASSES_COST_KERNELCHOICE_H

#include "dialects/plan/WeightLayout.h"
#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <optional>

namespace weft {

/// Of a specification: what a record picked.
constexpr llvm::StringLiteral kPicksAttr = "weft.picks";

/// How units follow the rows of an argument, which only tiles of these rows read. Results have the same rows, which only their units write.
///
///   height 0   rows are cut into `tiles` parts of which the first rows % tiles have a row more; all units / tiles units of a part follow each other where
///              there are `least` parts or more, else the tiles units of each of units / tiles blocks do
///   else       the kernel may be called for some of the rows, by their addresses and number: `rows` is a symbol, the first dimension of all that has
///              rows, and units and scratch are those of so many rows, a part for every `height` of them
struct RowTiles {
  unsigned argument;
  SymExpr rows, tiles;
  int64_t least, height = 0;
};

/// Who computes a kernel, how it is started, and how it wants its operands; expressions over the specification's symbols.
struct KernelChoice {
  std::string target; ///< as plans and records name it
  std::string schedule;
  SymExpr units, grain, scratch;
  llvm::SmallVector<WeightLayout> layouts;   ///< of arguments
  std::map<std::string, int64_t> picks = {}; ///< sizes that a record chose, by name
  std::optional<RowTiles> rowTiles = {};
};

class KernelChooser {
public:
  virtual ~KernelChooser() = default;
  /// What the target is called that the host's program is compiled for.
  virtual std::string name() const = 0;
  /// Whether kernels run on a device beside the host, where all that they read and write lies.
  virtual bool isForDevice() const { return false; }
  /// Whether functions of bytes are looked up in tables by instructions for vectors.
  virtual bool looksUpBytes() const { return false; }
  /// Whether bytes are multiplied in pairs whose sums saturate, where weights are known to be so small that none does.
  virtual bool multipliesBytePairs() const { return false; }
  /// Whether pairs of products of signed numbers of 16 bits take as long as one of f32.
  virtual bool addsShortPairs() const { return false; }
  /// Whether products of four bytes at once take unsigned rows only, or those in fewer steps.
  virtual bool prefersUnsignedBytes() const { return false; }
  /// Sets the specification's picks where records have some, and says how it is computed; nothing when the target has no way.
  virtual std::optional<KernelChoice> choose(mlir::func::FuncOp specification) const = 0;
  /// Additions and multiplications of a nanosecond by one core, as far as the target says it, by what the kernel multiplies with: no processor's figure.
  virtual double operationsOfNanosecond(mlir::func::FuncOp specification) const = 0;
};

} // namespace weft

#endif // WEFT_PASSES_COST_KERNELCHOICE_H
