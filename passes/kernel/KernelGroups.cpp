//===- KernelGroups.cpp - Which operators share a kernel --------------------------------------------------===//

#include "passes/kernel/KernelGroups.h"
#include "dialects/weft/ops/Quantize.h"
#include "passes/kernel/ConstantParts.h"

using namespace mlir;

namespace weft {

/// Constants of one number.
static bool isSplat(ConstantOp constant) {
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  return elements && elements.isSplat() && !constant->hasAttr(kParameterAttr);
}

/// Whether each rank has a part of a stored constant.
static bool isStoredPart(Operation *op) {
  std::optional<ConstantPart> part =
      isa<SliceOp>(op) ? constantPart(op->getResult(0)) : std::nullopt;
  return part && !isSplat(part->whole);
}

/// A view of integers that are the rows of a product with a constant: its tiles read rows as they lie in memory, so the view writes them there.
static bool movesIntegerRows(Operation *view) {
  if (view->getNumOperands() != 1 || view->getNumResults() != 1 || isa<ReshapeOp>(view))
    return false;
  auto elementOf = [](Value value) {
    return cast<SymTensorType>(value.getType()).getElementType();
  };
  Type element = elementOf(view->getResult(0));
  if (!(element.isInteger(8) || element.isInteger(16)) ||
      element != elementOf(view->getOperand(0)) || constantBehind(view->getOperand(0)))
    return false;
  SmallVector<OpOperand *> reads = llvm::to_vector(llvm::make_pointer_range(view->getUses()));
  while (!reads.empty()) {
    OpOperand *read = reads.pop_back_val();
    if (auto reshape = dyn_cast<ReshapeOp>(read->getOwner()))
      llvm::append_range(reads, llvm::make_pointer_range(reshape->getUses()));
    else if (auto product = dyn_cast<ContractOp>(read->getOwner()))
      if (read->getOperandNumber() == 0 && product.getAccumulate().isInteger(32) &&
          constantBehind(product.getRhs()))
        return true;
  }
  return false;
}

bool isFree(Operation *op) {
  if (isa<FillOp, IotaOp, DimsValueOp>(op))
    return true;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isSplat(constant);
  if (isStoredPart(op))
    return false;
  auto element = dyn_cast<ElementOpInterface>(op);
  return element && element.rootKind() == RootKind::View && !movesIntegerRows(op);
}

bool isStored(Operation *op) {
  return (isa<ConstantOp, KernelOp>(op) && !isFree(op)) || isStoredPart(op);
}

void storedSources(Value value, SetVector<Value> &sources) {
  Operation *op = value.getDefiningOp();
  if (!op || !isFree(op)) {
    sources.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    storedSources(operand, sources);
}

SetVector<Value> sourcesOf(Value value) {
  SetVector<Value> sources;
  storedSources(value, sources);
  return sources;
}

void KernelGroups::merge(KernelGroup *into, KernelGroup *group) {
  for (Operation *op : group->operations)
    owner[op] = into;
  into->operations.append(group->operations);
  into->moved += group->moved;
  llvm::sort(into->operations, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  group->dead = true;
  group->operations.clear();
}

bool KernelGroups::reaches(KernelGroup *from, KernelGroup *to) const {
  llvm::DenseSet<KernelGroup *> seen;
  SmallVector<KernelGroup *> work{to};
  while (!work.empty()) {
    KernelGroup *group = work.pop_back_val();
    if (group == from)
      return true;
    if (!seen.insert(group).second)
      continue;
    SetVector<Value> sources;
    for (Operation *op : group->operations)
      for (Value operand : op->getOperands())
        storedSources(operand, sources);
    for (Value source : sources)
      if (KernelGroup *next = groupOf(source); next && next != group)
        work.push_back(next);
  }
  return false;
}

/// Who reads the value and is not inside.
static Operation *readerOutside(Value value, llvm::function_ref<bool(Operation *)> isInside,
                                llvm::function_ref<bool(Operation *)> isLookedThrough) {
  for (Operation *user : value.getUsers()) {
    if (isLookedThrough(user)) {
      for (Value result : user->getResults())
        if (Operation *found = readerOutside(result, isInside, isLookedThrough))
          return found;
    } else if (!isInside(user)) {
      return user;
    }
  }
  return nullptr;
}

bool KernelGroups::escapes(Value value, const KernelGroup *group) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isFree(user))
      return llvm::any_of(user->getResults(), [&](Value result) { return escapes(result, group); });
    return owner.lookup(user) != group;
  });
}

Operation *
KernelGroups::readerOutside(KernelGroup *group, KernelGroup *reader,
                            llvm::function_ref<bool(Operation *)> isLookedThrough) const {
  auto isInside = [&](Operation *user) {
    KernelGroup *own = owner.lookup(user);
    return own == group || own == reader;
  };
  for (Operation *op : group->operations)
    for (Value result : op->getResults())
      if (Operation *found = weft::readerOutside(result, isInside, isLookedThrough))
        return found;
  return nullptr;
}

} // namespace weft
