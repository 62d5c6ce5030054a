//===- ConstantValues.h - Values that depend on constants only, computed while compiling ------------===//
//
//   ConstantValues constants(readWeight);
//   if (const RefTensor *scale = constants.find(op.getScale())) …
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_CONSTANTVALUES_H
#define WEFT_PASSES_QUANT_CONSTANTVALUES_H

#include "dialects/weft/Weft.h"
#include <functional>
#include <memory>

namespace weft {

/// The bytes of a named weight, or null.
using WeightReader = std::function<const char *(llvm::StringRef)>;

class ConstantValues {
public:
  explicit ConstantValues(WeightReader weight) : weight(std::move(weight)) {}

  /// Null when the value depends on an input, or when computing it takes too much.
  const RefTensor *find(mlir::Value value);
  /// Whether all elements are 0, for certain.
  bool isZero(mlir::Value value);
  /// Whether both are constants with the same elements.
  bool areEqual(mlir::Value a, mlir::Value b);

private:
  std::shared_ptr<RefTensor> compute(mlir::Value value);
  std::shared_ptr<RefTensor> sumBytes(ReduceOp op);

  WeightReader weight;
  llvm::DenseMap<mlir::Value, std::shared_ptr<RefTensor>>
      tensors; ///< null for what is not constant
};

} // namespace weft

#endif // WEFT_PASSES_QUANT_CONSTANTVALUES_H
