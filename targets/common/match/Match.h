//===- Match.h - What a schedule knows of a kernel, or why it declines ------------------------------===//
//
//   Match<Shape> match(func::FuncOp spec) {
//     Match<ContractOp> op = onlyRoot<ContractOp>(spec, "there is no product");
//     if (!op)
//       return op.decline();
//     if (…)
//       return Decline{"the weight is no constant"};
//     return Shape{*op, …};
//   }
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_MATCH_MATCH_H
#define WEFT_TARGETS_COMMON_MATCH_MATCH_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/common/Decline.h"

namespace weft {

template <typename T> class Match {
public:
  Match(T value) : value(std::move(value)) {}
  Match(Decline why) : why(why) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  T *operator->() { return &*value; }
  /// Nothing when there is a value.
  Decline decline() const { return why; }

private:
  std::optional<T> value;
  Decline why;
};

/// The kernel's only root, when it is an Op. `none` says that the kernel has no Op.
template <typename Op> Match<Op> onlyRoot(mlir::func::FuncOp spec, const char *none) {
  Op root;
  bool hasOthers = false;
  for (mlir::Operation &each : spec.getBody().front()) {
    auto element = llvm::dyn_cast<ElementOpInterface>(each);
    if (auto here = llvm::dyn_cast<Op>(each); here && !root)
      root = here;
    else if (here || (element && element.rootKind() != RootKind::Loop &&
                      element.rootKind() != RootKind::View))
      hasOthers = true;
  }
  if (!root)
    return Decline::otherKind(none);
  if (hasOthers)
    return Decline::otherKind("the kernel has more than one product, reduction, softmax or window");
  return root;
}

/// Nothing when all results of the kernel have the dimensions of `type`, its root's.
inline Decline unlessResultsHave(SymTensorType type, mlir::func::FuncOp spec) {
  for (mlir::Type result : spec.getResultTypes())
    if (llvm::cast<SymTensorType>(result).getDimAttributes() != type.getDimAttributes())
      return {"a result of the kernel has other dimensions"};
  return {};
}

} // namespace weft

#endif // WEFT_TARGETS_COMMON_MATCH_MATCH_H
