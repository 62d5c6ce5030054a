//===- CallSymbols.h - Values of a call's symbols, as they become known -----------------------===//
//
//   llvm::Expected<SymValues> values = bindInputs(function, inputs);   // those of the signature
//   CallSymbols symbols(symbolsOf(function), *values);
//   symbols.set(name, 3, "/NonZero: ");                                // one that data decide
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EVAL_CALLSYMBOLS_H
#define WEFT_COMPILER_EVAL_CALLSYMBOLS_H

#include "dialects/weft/Weft.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Error.h"

namespace weft {

class CallSymbols {
public:
  CallSymbols(SymbolsAttr declared, SymValues values)
      : declared(declared), values(std::move(values)) {}

  const SymValues &known() const { return values; }
  /// Every fact all of whose symbols have values now must hold. `where` stands before the error.
  llvm::Error set(mlir::StringAttr name, int64_t value, const llvm::Twine &where);
  void forget(mlir::StringAttr name) { values.erase(name); }

private:
  SymbolsAttr declared;
  SymValues values;
};

/// Checks the inputs as a call does. Tensors of the evaluator have no strides: of an input with
/// room they are what callers see, and the room is what its output needs. `ofRank`: values of the
/// symbols that say which rank this is. Inputs are whole, also those of which ranks get parts.
llvm::Expected<SymValues> bindInputs(mlir::FunctionOpInterface function,
                                     llvm::ArrayRef<RefTensor> inputs,
                                     SymValues ofRank = SymValues());

using DimValues = llvm::SmallVector<int64_t, 4>;

/// The sizes of a tensor, or which of them has no value.
llvm::Expected<DimValues> dimsOf(SymTensorType type, const SymValues &values);

/// As compiled programs do, before integers wrap; less than that is the machine's memory.
llvm::Error refuseSize(SymTensorType type, const SymValues &values);

/// Whether positions from data are below the sizes; `where` stands before the error.
llvm::Error checkPositions(const RefTensor &positions, DimsAttr sizes, const SymValues &values,
                           const llvm::Twine &where);

} // namespace weft

#endif // WEFT_COMPILER_EVAL_CALLSYMBOLS_H
