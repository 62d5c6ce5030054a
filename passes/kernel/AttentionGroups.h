//===- AttentionGroups.h - Softmax between two products as one group -------------------------------------===//
//
// A contraction over the line of a softmax whose scores come from another contraction: nothing between them is needed elsewhere, so the
// three become one group, and scores never reach memory. The target is asked whether it takes the group when it is formed, and again for
// every operator that would join it. One that is refused stays in its parts, which is nothing to any other.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_PASSES_KERNEL_ATTENTIONGROUPS_H
#define WEFT_PASSES_KERNEL_ATTENTIONGROUPS_H

#include "passes/cost/KernelChoice.h"
#include "passes/kernel/KernelGroups.h"

namespace weft {

class AttentionGroups {
public:
  /// `chooser` may be null: all groups are taken then. `end` is what the groups are in front of.
  AttentionGroups(KernelGroups &made, const KernelChooser *chooser, mlir::Operation *end)
      : made(made), chooser(chooser), end(end) {}

  /// Takes the softmax and the scores that `op`, a contraction alone in its group `into`, reads into that group.
  void absorb(KernelGroup *into, mlir::Operation *op);
  /// Nothing when the target takes the attention together with `op`.
  Apart unlessTakenWith(KernelGroup *group, mlir::Operation *op);

private:
  Apart unlessMerged(KernelGroup *scores, KernelGroup *row, KernelGroup *into);
  Apart unlessTaken(KernelGroup *group);
  KernelGroup *scoresOf(KernelGroup *row) const;
  void absorbOperands(KernelGroup *into);
  void noteScores(KernelGroup *scores, KernelGroup *row, Apart why);

  KernelGroups &made;
  const KernelChooser *chooser;
  mlir::Operation *end;
};

} // namespace weft

#endif // WEFT_PASSES_KERNEL_ATTENTIONGROUPS_H
