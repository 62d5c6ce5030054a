//===- AttentionGroups.cpp ------------------------------------------------------------------------===//

#include "passes/kernel/AttentionGroups.h"

using namespace mlir;

namespace weft {

/// The group's root is a softmax, and what follows it is computed line by line.
static bool hasSoftmax(KernelGroup *group) {
  return group->kind == RootKind::Row &&
         llvm::count_if(group->operations,
                        [](Operation *op) {
                          return isa<SoftmaxOp>(op) ||
                                 cast<ElementOpInterface>(op).rootKind() != RootKind::Loop;
                        }) == 1 &&
         llvm::any_of(group->operations, [](Operation *op) { return isa<SoftmaxOp>(op); });
}

void AttentionGroups::absorb(KernelGroup *into, Operation *op) {
  for (Value operand : op->getOperands()) {
    KernelGroup *row = made.groupOf(operand);
    KernelGroup *scores = row && row != into && hasSoftmax(row) ? scoresOf(row) : nullptr;
    if (!scores || scores == into)
      continue;
    Apart why = unlessMerged(scores, row, into);
    if (!why)
      return;
    made.notes.correct(operand.getDefiningOp(), op, why);
    noteScores(scores, row, why);
  }
}

/// The only contraction that the row reads, or null.
KernelGroup *AttentionGroups::scoresOf(KernelGroup *row) const {
  KernelGroup *scores = nullptr;
  for (Operation *each : row->operations)
    for (Value source : each->getOperands())
      if (KernelGroup *group = made.groupOf(source);
          group && group != row && group->kind == RootKind::Contraction) {
        if (scores && scores != group)
          return nullptr;
        scores = group;
      }
  return scores;
}

/// Makes one group of the three; where something keeps them apart, all groups are as they were.
Apart AttentionGroups::unlessMerged(KernelGroup *scores, KernelGroup *row, KernelGroup *into) {
  for (auto [group, reader] : {std::pair(row, into), std::pair(scores, row)})
    if (Operation *other = made.readerOutside(group, reader))
      return alsoRead(other);
  SmallVector<KernelGroup *> parts{into, row, scores};
  SetVector<KernelGroup *> touched(parts.begin(), parts.end());
  for (KernelGroup *product : {into, scores})
    for (Operation *op : product->operations)
      for (Value operand : op->getOperands())
        if (KernelGroup *group = made.groupOf(operand))
          touched.insert(group);
  auto before = llvm::map_to_vector(touched, [](KernelGroup *group) { return *group; });
  made.merge(into, row);
  made.merge(into, scores);
  into->kind = RootKind::Attention;
  absorbOperands(into);
  Apart why = unlessTaken(into);
  if (!why)
    return {};
  for (auto [group, old] : llvm::zip_equal(touched, before)) {
    *group = std::move(old);
    for (Operation *op : group->operations)
      made.owner[op] = group;
  }
  return why;
}

Apart AttentionGroups::unlessTaken(KernelGroup *group) {
  if (!chooser)
    return {};
  Specification specification = specify(made, group, end);
  if (chooser->choose(*specification.module->getOps<func::FuncOp>().begin()))
    return {};
  return {"no schedule of the target computes this form of attention in one kernel"};
}

Apart AttentionGroups::unlessTakenWith(KernelGroup *group, Operation *op) {
  group->operations.push_back(op);
  made.owner[op] = group;
  Apart why = unlessTaken(group);
  group->operations.pop_back();
  made.owner.erase(op);
  return why ? Apart{"no schedule of the target computes it together with the attention"} : Apart{};
}

/// Elements of the products' operands are pulled once per unit of work, so scaling them there costs less than a pass over memory.
void AttentionGroups::absorbOperands(KernelGroup *into) {
  constexpr size_t kMostScaling = 4;
  for (Operation *op : SmallVector<Operation *>(into->operations))
    for (Value operand : op->getOperands()) {
      KernelGroup *group = isa<ContractOp>(op) ? made.groupOf(operand) : nullptr;
      if (group && group != into && group->kind == RootKind::Loop && !group->moved &&
          group->operations.size() <= kMostScaling && !made.readerOutside(group, into))
        made.merge(into, group);
    }
}

void AttentionGroups::noteScores(KernelGroup *scores, KernelGroup *row, Apart why) {
  for (Operation *each : row->operations)
    for (Value source : each->getOperands())
      if (made.groupOf(source) == scores)
        made.notes.correct(source.getDefiningOp(), each, why);
}

} // namespace weft
