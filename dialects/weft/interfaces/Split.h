//===- Split.h - How ranks may share the work of an operator ---------------------------------------===//
//
//   for (const Cut &cut : cast<SplitOpInterface>(op).cuts())
//     if (Operation *part = buildPart(op, builder, operandsOf(cut), typesOf(cut))) …
//
// A contraction `b i k, k j -> b i j` has four cuts: by b, i and j every rank computes a part of the result, by k a part of the sum.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_INTERFACES_SPLIT_H
#define WEFT_DIALECTS_WEFT_INTERFACES_SPLIT_H

#include "dialects/weft/interfaces/IterationRule.h"
#include "mlir/IR/Builders.h"

namespace weft {

/// One way to give each rank a part of the work: the dimension of operands and results that it has a part of, if any.
struct Cut {
  struct Dim {
    unsigned dim;
    SymExpr stride; ///< of one step of the cut: parts are multiples of it
  };
  llvm::SmallVector<std::optional<Dim>, 3> operands;
  llvm::SmallVector<std::optional<Dim>, 1> results;
  std::optional<Combiner> partial; ///< by which the results of all ranks make the whole
  bool inPieces = false;           ///< only as the smaller operators that the operator is made of
};

/// The text of an operator's rule; empty without one.
std::string splitTextByRule(mlir::Operation *op);
/// The cuts that follow from a rule: by the factors that operands have in dimensions of their own or in front of others.
llvm::SmallVector<Cut, 4> cutsByText(mlir::Operation *op, llvm::StringRef text);
/// The operation on a rank's parts of operands, with results of these types, or null when that is not what it computes.
mlir::Operation *buildPart(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange operands,
                           mlir::TypeRange types);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_INTERFACES_SPLIT_H
