//===- KernelWords.cpp - Counts tensors and sizes of a kernel before it is made ---------------------------===//

#include "passes/kernel/KernelWords.h"

using namespace mlir;

namespace weft {

KernelWords::KernelWords(ArrayRef<Operation *> operations)
    : inside(operations.begin(), operations.end()) {
  for (Operation *op : operations) {
    addSizes(op);
    for (Value operand : op->getOperands())
      addRead(operand);
    for (Value result : op->getResults())
      if (isReadOutside(result))
        tensors.insert(result);
  }
}

bool KernelWords::fit() const {
  return tensors.size() + std::max(sizes.size(), symbols.size()) <= kMostKernelWords;
}

void KernelWords::addSizes(Operation *op) {
  for (Type type : op->getResultTypes())
    addSizes(type);
  for (NamedAttribute attribute : op->getAttrs())
    if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
      for (SymExpr dim : dims.getDims())
        addSize(dim);
}

void KernelWords::addSizes(Type type) {
  if (auto tensor = dyn_cast<SymTensorType>(type))
    for (SymExpr dim : tensor.getDims())
      addSize(dim);
}

void KernelWords::addSize(SymExpr expr) {
  if (expr.asConstant() || !sizes.insert(expr).second)
    return;
  for (StringAttr symbol : expr.symbols())
    symbols.insert(symbol);
}

void KernelWords::addRead(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && isInside(op))
    return;
  if (!op || !isFree(op)) {
    tensors.insert(value);
    return addSizes(value.getType());
  }
  addSizes(op);
  for (Value operand : op->getOperands())
    addRead(operand);
}

bool KernelWords::isReadOutside(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isFree(user))
      return llvm::any_of(user->getResults(), [&](Value result) { return isReadOutside(result); });
    return !isInside(user);
  });
}

} // namespace weft
