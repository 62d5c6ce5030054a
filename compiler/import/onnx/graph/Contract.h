//===- Contract.h - Symbols of a model and what is known about them ---------------------------===//
//
// Names the dimensions of the inputs, keeps the caller's facts, and collects the relations that the
// graph itself needs ("the lengths of two operands are equal"). The latter become part of the
// function's contract, which is checked when the function is entered.
//
//   SymExpr seq = contract.inputDim("ids", 1, dim);
//   if (!contract.require(SymPred::equal(a, b), place)) refuse(...);   // never true
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_IMPORT_ONNX_GRAPH_CONTRACT_H
#define WEFT_COMPILER_IMPORT_ONNX_GRAPH_CONTRACT_H

#include "compiler/import/onnx/file/OnnxModel.h"
#include "compiler/model/Facts.h"
#include "dialects/weft/Weft.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace weft::onnx {

/// A relation that some node needs.
struct Requirement {
  SymPred pred;
  std::string place; ///< the node, as in messages
};

class Contract {
public:
  /// `known` are requirements of an earlier pass over the same model.
  Contract(mlir::MLIRContext *context, llvm::ArrayRef<std::string> userFacts,
           llvm::ArrayRef<Requirement> known);

  /// Declares the symbols of all inputs; afterwards inputDim gives their dimensions. Refuses a
  /// user's fact that cannot be read, speaks of unknown symbols or contradicts.
  Result<void> declare(llvm::ArrayRef<const OnnxValueInfo *> inputs);

  /// The dimension of an input after substitution of solved equalities.
  SymExpr inputDim(const OnnxValueInfo &input, unsigned index) const;

  const SymFacts &facts() const { return known; }
  SymExpr simplify(SymExpr expr) const { return known.simplify(expr); }

  /// A new symbol whose value the program finds while it runs; `limit` (may be null) is the most it can be. Facts about it are checked
  /// where it is bound.
  SymExpr bindSymbol(llvm::StringRef wish, SymExpr limit);

  /// Symbols that run time binds, in order.
  llvm::ArrayRef<mlir::StringAttr> boundSymbols() const { return boundNames; }
  /// While a region of a loop or branch is imported: it need not run, so relations about bound symbols hold only inside it.
  unsigned regions = 0;
  /// While a branch is imported: how many symbols were bound before the innermost one.
  std::optional<size_t> boundBeforeBranch;

  /// Adds a relation that must hold. False when it is known to be false.
  bool require(SymPred pred, llvm::StringRef place);
  /// Those that no earlier pass knew.
  llvm::ArrayRef<Requirement> newRequirements() const { return added; }
  /// All, in the order they were found.
  std::vector<Requirement> requirements() const;

  /// Whether the caller's promise and the requirements fit together.
  llvm::Error checkPromise() const;

  SymbolsAttr attribute() const;

private:
  void declareInput(const OnnxValueInfo &input, bool parameters);
  std::string freshName(llvm::StringRef wish);
  SymExpr parameterExpr(llvm::StringRef text);
  bool isInner(const SymPred &pred) const;
  void solve(const SymPred &pred, std::vector<SymPred> &preds);
  void rebuildFacts(llvm::ArrayRef<SymPred> preds);

  mlir::MLIRContext *context;
  std::vector<std::string> userTexts;
  std::vector<Requirement> earlier, added;
  std::vector<SymPred> userFacts;
  SymFacts known, promised;            ///< everything, and what the caller promises
  SymMap solved, promisedSolved;       ///< equalities of all facts, and of the caller's only
  std::vector<mlir::StringAttr> names; ///< in order of declaration
  std::vector<mlir::StringAttr> boundNames;
  std::vector<SymPred> innerFacts;                   ///< about bound symbols
  llvm::StringMap<SymExpr> parameters;               ///< by the text in the file
  llvm::StringMap<std::vector<SymExpr>> inputShapes; ///< before substitution
  llvm::StringSet<> taken;
};

/// `expr <= 0` with negative terms moved to the right: `seq <= 512`.
SymPred atMostZero(SymExpr expr);
/// `a == b`; where the difference is one pos(x), as for min(seq, 512) and seq, `x <= 0`.
SymPred equalityOf(SymExpr a, SymExpr b);
/// The sizes that a size is broadcast from: those inside bcast(n, bcast(m, k)), or itself.
llvm::SmallVector<SymExpr, 2> broadcastParts(SymExpr dim);
/// `a == b` in facts without bcast, where one of the two is broadcast: `n == k or n == 1`, and so on.
llvm::SmallVector<SymPred, 3> equalitiesOf(SymExpr a, SymExpr b);

} // namespace weft::onnx

#endif // WEFT_COMPILER_IMPORT_ONNX_GRAPH_CONTRACT_H
