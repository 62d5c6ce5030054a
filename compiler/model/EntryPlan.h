//===- EntryPlan.h - How a call's symbols are found and its inputs checked ---------------------------===//
//
// Arguments are walked left to right: dimensions that are one symbol bind it; then dimensions k*n + c with one unbound symbol are solved;
// every other symbolic dimension is a check, and so are ranges and facts. The order is fixed, so messages are deterministic.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_ENTRYPLAN_H
#define WEFT_COMPILER_MODEL_ENTRYPLAN_H

#include "dialects/weft/Weft.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "weft/artifact.h"
#include "llvm/Support/Error.h"

namespace weft {

struct EntrySymbol {
  mlir::StringAttr name;
  int64_t min, max, multiple;
  unsigned input, dim; ///< where it is bound
  bool isRoom = false; ///< the length of the input's buffer along `dim`, which its strides say
};

/// An input with room along `dim`, and the output that lies in its memory (passes/graph/GrowInPlace.cpp).
struct InPlacePair {
  unsigned input, output, dim;
  SymExpr size; ///< of the output along `dim`
  mlir::StringAttr room;
};

/// One step of bind; all but Bind are rows of the check table, in this order.
struct EntryStep {
  enum Kind { Bind, BindRoom, Check } kind;
  weft_check_kind_t check = WEFT_CHECK_DIM;
  unsigned input = 0, dim = 0, symbol = 0;
  /// Of a dimension factor*n + addend that is solved for `symbol`; of room, `factor` is how far apart two places are.
  int64_t factor = 1, addend = 0;
  SymExpr expected;
  std::optional<SymPred> fact;
};

struct EntryPlan {
  llvm::SmallVector<EntrySymbol> symbols;
  std::vector<EntryStep> steps;
  llvm::SmallVector<InPlacePair> inPlace; ///< in the order of inputs
  llvm::SmallVector<std::string> facts;   ///< all of the contract, as text
  /// Symbols that get values while the function runs, and the facts about them: rows of the check table behind those of the steps, first
  /// one per symbol (its value is negative), then one per fact.
  llvm::SmallVector<mlir::StringAttr> boundSymbols;
  llvm::SmallVector<SymPred> boundFacts;
  /// Declared symbols that say where a rank stands: they have values before bind.
  llvm::SmallVector<mlir::StringAttr> rankSymbols;

  unsigned checkCount() const;
  unsigned sizeRow() const {
    return checkCount() - 1;
  } ///< of the check that sizes are numbers of bytes

  /// Values of all symbols for the dimensions of the inputs, or what is wrong with them. No strides say how much room there is: what
  /// the outputs need. `values`: those of symbols that say which rank this is.
  llvm::Expected<SymValues> bind(llvm::ArrayRef<llvm::SmallVector<int64_t, 4>> inputDims,
                                 llvm::ArrayRef<std::string> names, SymValues values) const;
};

/// Fails when neither inputs nor the place of a rank determine a symbol, when the contract contradicts itself, and when an argument or a
/// result is another one on every rank and is not said to be a part of a whole.
llvm::Expected<EntryPlan> planEntry(mlir::FunctionOpInterface function);
/// The function without a body, as it is called for all ranks: with the whole of what each has a part of.
mlir::OwningOpRef<mlir::FunctionOpInterface> withWholes(mlir::FunctionOpInterface function);

/// The type that callers see of an argument or result: of a buffer with room, what is in use.
SymTensorType callersInput(mlir::FunctionOpInterface function, unsigned i);
SymTensorType callersOutput(mlir::FunctionOpInterface function, unsigned i);

/// The name of an argument or result for people.
std::string inputName(mlir::FunctionOpInterface function, unsigned i);
std::string outputName(mlir::FunctionOpInterface function, unsigned i);

} // namespace weft

#endif
