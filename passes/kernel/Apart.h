//===- Apart.h - Why an operator is not in the kernel of what it reads ------------------------------===//
//
// The tests of FormKernels give an Apart. When it is asked to explain, one is kept for each pair of operators, and every kernel gets an
// attribute with one entry per input:
//
//   weft.kernel "row"(%0) attributes {weft.apart = [{from = "node 'fc' (MatMul)", reason = "…", to = "node 'sm' (Softmax)"}]}
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_APART_H
#define WEFT_PASSES_KERNEL_APART_H

#include "dialects/weft/Weft.h"

namespace weft {

/// An array with a dictionary per input of a kernel; empty ones for inputs that no kernel of the same region computes.
constexpr llvm::StringLiteral kApartAttr = "weft.apart";

struct Apart {
  const char *reason = nullptr;  ///< null: nothing keeps them apart
  mlir::Operation *by = nullptr; ///< the operator that the reason speaks of, if any
  explicit operator bool() const { return reason; }
};

/// What the reader is given for an operator: the node's place in the model, else the operator's name and line.
std::string placeOf(mlir::Operation *op);

/// Why an operator of this kind is not computed in the kernel of any operand; null when it may be.
const char *whyFirst(RootKind kind);
/// Why the lines of a softmax, normalisation or reduction are not computed in a kernel of this kind.
const char *whyNoLines(RootKind kind);
/// A value that another operator reads, too, must be in memory.
Apart alsoRead(mlir::Operation *reader);

class ApartNotes {
public:
  explicit ApartNotes(bool areKept) : areKept(areKept) {}

  /// Why `to` is not computed together with its operand from `from`. The first word holds.
  void note(mlir::Operation *from, mlir::Operation *to, Apart why);
  /// The same, known better.
  void correct(mlir::Operation *from, mlir::Operation *to, Apart why);

  /// What is known of the pair, as an entry of the attribute.
  mlir::DictionaryAttr describe(mlir::Operation *from, mlir::Operation *to) const;

  const bool areKept;

private:
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Operation *>, Apart> notes;
};

} // namespace weft

#endif // WEFT_PASSES_KERNEL_APART_H
