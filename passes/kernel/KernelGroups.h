//===- KernelGroups.h - Which operators share a kernel, and the kernels made of them --------------------===//
#ifndef WEFT_PASSES_KERNEL_KERNELGROUPS_H
#define WEFT_PASSES_KERNEL_KERNELGROUPS_H

#include "passes/kernel/Apart.h"
#include "passes/kernel/Specification.h"
#include "llvm/ADT/SetVector.h"

namespace weft {

/// Operators of one block that become one kernel.
struct KernelGroup {
  RootKind kind = RootKind::Loop;
  SymTensorType space;                             ///< of the results
  llvm::SmallVector<mlir::Operation *> operations; ///< in program order
  unsigned moved =
      0; ///< operators that read elements of the group at other places, which are computed anew for each
  bool dead = false;
};

/// Elements come from nowhere or from another place at no cost: copied into every kernel that reads them.
bool isFree(mlir::Operation *op);
bool isStored(mlir::Operation *op);

/// Values stored in memory that `value` reads: itself, or through free operators what they read.
void storedSources(mlir::Value value, llvm::SetVector<mlir::Value> &sources);
llvm::SetVector<mlir::Value> sourcesOf(mlir::Value value);

/// The groups of operations that no operation of the host separates. FormKernels.cpp makes them.
struct KernelGroups {
  explicit KernelGroups(bool explains) : notes(explains) {}

  std::vector<std::unique_ptr<KernelGroup>> all;
  llvm::DenseMap<mlir::Operation *, KernelGroup *> owner;
  llvm::SmallVector<mlir::OpOperand *>
      copies; ///< of what is behind them, which must read memory of its own
  ApartNotes notes;

  KernelGroup *groupOf(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op ? owner.lookup(op) : nullptr;
  }
  /// Makes `group` a part of `into`.
  void merge(KernelGroup *into, KernelGroup *group);
  /// Whether `to` reads, directly or not, something `from` computes.
  bool reaches(KernelGroup *from, KernelGroup *to) const;
  /// Whether something outside the group reads the value, free operators aside.
  bool escapes(mlir::Value value, const KernelGroup *group) const;
  /// Who reads a result of `group`, neither inside it nor inside `reader`: a value in memory is needed then. Null: nobody does.
  /// `isLookedThrough`: operators whose readers count as readers.
  mlir::Operation *
  readerOutside(KernelGroup *group, KernelGroup *reader,
                llvm::function_ref<bool(mlir::Operation *)> isLookedThrough = isFree) const;
};

/// Results of kernels, by the values they replace.
struct Replacements : llvm::DenseMap<mlir::Value, mlir::Value> {
  /// What operations of the host read then. They are told when all kernels are made: what is free depends on who reads it.
  std::vector<std::pair<mlir::OpOperand *, mlir::Value>> reads;
};

/// Builds the groups' kernels in front of `end`, which reads their results then.
mlir::LogicalResult emitKernels(KernelGroups &groups, mlir::Operation *end,
                                Replacements &replacement);
/// Of the kernel that the group would become if it stayed as it is; the program is not changed.
Specification specify(KernelGroups &groups, KernelGroup *group, mlir::Operation *end);

} // namespace weft

#endif // WEFT_PASSES_KERNEL_KERNELGROUPS_H
