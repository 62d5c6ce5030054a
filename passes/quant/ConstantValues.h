//===- ConstantValues.h - Values that depend on constants only, computed while compiling ------------===//
//
//   ConstantValues constants(readWeight);
//   if (const RefTensor *scale = constants.find(op.getScale())) …
//   if (const RankValues *sums = constants.ofRanks(value))           // ranks may have parts of constants, so each its own
//     value.replaceAllUsesWith(storedConstant(b, type, sums->group, sums->joined()));
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_QUANT_CONSTANTVALUES_H
#define WEFT_PASSES_QUANT_CONSTANTVALUES_H

#include "dialects/weft/Mesh.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>
#include <memory>

namespace weft {

/// The bytes of a named weight, or null.
using WeightReader = std::function<const char *(llvm::StringRef)>;

/// What a value is on every rank.
struct RankValues {
  MeshAttr group; ///< the axes along which ranks have other numbers; null: all have the same
  std::vector<RefTensor> tensors; ///< in the order of places in the group

  const RefTensor &at(const SymValues &places) const;
  /// Those of all ranks behind each other along the first dimension; numbers without dimensions are a list.
  RefTensor joined() const;
};

class ConstantValues {
public:
  /// `mostElements`: of an intermediate value, on all ranks together.
  explicit ConstantValues(WeightReader weight, int64_t mostElements = 1 << 20)
      : weight(std::move(weight)), mostElements(mostElements) {}

  /// Null when the value depends on an input, when ranks have others, or when computing it takes too much.
  const RefTensor *find(mlir::Value value);
  /// The same of values that depend on where a rank stands, too.
  const RankValues *ofRanks(mlir::Value value);
  /// The bytes of a constant's elements, or null where nobody has them as they lie.
  const char *bytesOf(ConstantOp constant) const;
  /// Whether all elements are 0, for certain.
  bool isZero(mlir::Value value);
  /// Whether both are constants with the same elements.
  bool areEqual(mlir::Value a, mlir::Value b);
  /// To be called when operations were erased: others may lie in their memory.
  void forget() { known.clear(); }

private:
  std::shared_ptr<RankValues> compute(mlir::Value value);
  std::shared_ptr<RankValues> sumBytes(ReduceOp op);

  WeightReader weight;
  int64_t mostElements;
  llvm::DenseMap<mlir::Value, std::shared_ptr<RankValues>> known; ///< null for what is not constant
};

/// The elements of a constant; null where the program has no such constants.
mlir::Attribute elementsOf(const RefTensor &tensor);
/// A constant of these numbers or, of those that all ranks of a group have behind each other, the rank's part.
mlir::Value storedConstant(mlir::ImplicitLocOpBuilder &b, SymTensorType type, MeshAttr group,
                           const RefTensor &numbers);

} // namespace weft

#endif // WEFT_PASSES_QUANT_CONSTANTVALUES_H
