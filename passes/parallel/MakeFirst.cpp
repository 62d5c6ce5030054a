//===- MakeFirst.cpp ------------------------------------------------------------------------------===//

#include "passes/parallel/MakeFirst.h"

using namespace mlir;

namespace weft {
namespace {

using Operations = llvm::DenseSet<Operation *>;

/// With all of the block that it is made of.
void addSources(Operation *op, Operations &sources) {
  SmallVector<Operation *> next{op};
  while (!next.empty()) {
    Operation *each = next.pop_back_val();
    if (!sources.insert(each).second)
      continue;
    for (Value operand : each->getOperands())
      if (Operation *source = operand.getDefiningOp())
        next.push_back(source);
  }
}

/// The first one of the block that is one of `readers` and none of `exchanged`, and that depends on inputs.
Operation *firstOther(Block &block, const Operations &exchanged, const Operations &readers) {
  Operations varying;
  for (Operation &op : block) {
    bool varies = llvm::any_of(op.getOperands(), [&](Value operand) {
      return !operand.getDefiningOp() || varying.contains(operand.getDefiningOp());
    });
    if (!varies)
      continue;
    varying.insert(&op);
    if (readers.contains(&op) && !exchanged.contains(&op))
      return &op;
  }
  return nullptr;
}

void moveInFront(Block &block, const Operations &moved, Operation *place) {
  SmallVector<Operation *> behind;
  for (Operation *op = place; op; op = op->getNextNode())
    if (moved.contains(op))
      behind.push_back(op);
  if (llvm::all_of(behind, [](Operation *op) { return isPure(op) && op->getNumRegions() == 0; }))
    for (Operation *op : behind)
      op->moveBefore(place);
}

} // namespace

void makeFirst(ArrayRef<SmallVector<Operation *>> exchanges, Operation *end) {
  Operations readers;
  for (Operation *op = exchanges.back().back()->getNextNode(); op != end; op = op->getNextNode())
    addSources(op, readers);
  SmallVector<Operations> made(exchanges.size());
  for (auto [list, sources] : llvm::zip_equal(exchanges, made))
    for (Operation *exchange : list)
      addSources(exchange, sources);
  Block &block = *end->getBlock();
  Operations placed;
  for (size_t i = 0; i < made.size(); ++i) {
    Operations others = readers;
    for (const Operations &later : ArrayRef(made).drop_front(i + 1))
      others.insert(later.begin(), later.end());
    placed.insert(made[i].begin(), made[i].end());
    if (Operation *place = firstOther(block, placed, others))
      moveInFront(block, made[i], place);
  }
}

} // namespace weft
