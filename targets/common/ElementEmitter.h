//===- ElementEmitter.h - Pulls elements of a kernel's values into scf, vector and LLVM operations -===//
//
// A kernel is a function on tensors. Its operands lie in memory, row-major; a schedule loops over result indices and asks for
// elements, which are computed on demand through the operators' emitElement:
//
//   ElementEmitter e(builder, words, lanes);
//   e.bindPointer(argument, pointer);           // operands and results in memory
//   e.provide(root, [&](ArrayRef<IndexValue> index) { return accumulators[…]; });   // values in registers
//   e.store(result, index, e.pull(returned, index));
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_COMMON_ELEMENTEMITTER_H
#define WEFT_TARGETS_COMMON_ELEMENTEMITTER_H

#include "dialects/weft/Weft.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <map>

namespace weft {

class ElementEmitter : public ElementBuilder {
public:
  using Provider = std::function<mlir::Value(llvm::ArrayRef<IndexValue>)>;

  /// `safe`: a pointer that may always be read, for lanes that are switched off. Starts with everything in scope of the builder's
  /// insertion point.
  ElementEmitter(mlir::ImplicitLocOpBuilder &b, unsigned lanes, mlir::Value safe)
      : ElementBuilder(b, lanes), safe(safe) {
    memo.emplace_back();
  }

  void bindPointer(mlir::Value tensor, mlir::Value pointer) { pointers[tensor] = pointer; }
  /// Null: the tensor is not in memory.
  mlir::Value pointerOf(mlir::Value tensor) const { return pointers.lookup(tensor); }
  /// Nobody ever writes the tensor: what is loaded once need not be loaded again behind a store.
  void setInvariant(mlir::Value tensor) { invariant.insert(tensor); }
  void bindSymbol(mlir::StringAttr name, mlir::Value value) { symbols[name] = value; }
  void provide(mlir::Value tensor, Provider provider) { providers[tensor] = std::move(provider); }
  void withdraw(mlir::Value tensor) { providers.erase(tensor); }
  /// A new set of lanes with the same bindings; values pulled so far are forgotten.
  void setLanes(unsigned count);
  /// Forgets pulled values: call it when the insertion point leaves the block they were computed in.
  void forget();
  /// Lanes outside `mask` (vector of i1) are not loaded or stored; lane 0 is always inside. Null: all lanes.
  void setTailMask(mlir::Value mask) { tailMask = mask; }
  /// For machines that have no masks: what is guarded is a branch, of each lane where lanes differ, and so is what is scattered.
  void setGuardsBranch() { guardsBranch = true; }
  /// What is guarded by something that all lanes agree on is a branch; else lanes that are outside are switched off.
  void setBranchesWhereSame() { branchesWhereSame = true; }
  /// For machines that look up a vector of bytes in a table of 256 at once, given by a pointer: else each is loaded by itself.
  using ByteTables = std::function<mlir::Value(mlir::Value table, mlir::Value bytes)>;
  void setByteTables(ByteTables tables) { byteTables = std::move(tables); }
  /// Pointers are multiples of so many bytes: what is contiguous says how well it is aligned. 0: as elements are.
  void setPointerAlignment(unsigned bytes) { pointerAlignment = bytes; }
  /// Sizes equal to `expr` are this value, of which more is known than of its symbols.
  void bindSize(SymExpr expr, mlir::Value value) { sizes[expr] = value; }
  void unbindSize(SymExpr expr) { sizes.erase(expr); }

  /// Element(s) of any value of the kernel.
  mlir::Value pull(mlir::Value tensor, llvm::ArrayRef<IndexValue> index);
  /// Elements of a tensor in memory.
  mlir::Value load(mlir::Value pointer, SymTensorType type, llvm::ArrayRef<IndexValue> index);
  /// The same of what nobody ever writes.
  mlir::Value loadConstant(mlir::Value pointer, SymTensorType type,
                           llvm::ArrayRef<IndexValue> index);
  /// Writes elements to `pointer` (contiguous along the lanes).
  void store(mlir::Value pointer, SymTensorType type, llvm::ArrayRef<IndexValue> index,
             mlir::Value data);
  /// Elements as they are stored.
  mlir::Value encoded(mlir::Type element, mlir::Value data);
  /// Row-major position, in elements.
  IndexValue linear(SymTensorType type, llvm::ArrayRef<IndexValue> index);
  mlir::Value uniform(SymExpr expr) { return symbolic(expr).base; }

  mlir::Value operand(unsigned i, llvm::ArrayRef<IndexValue> index) override;
  mlir::Value lookUp(unsigned i, mlir::Value bytes) override;
  IndexValue symbolic(SymExpr expr) override;
  mlir::Value guarded(mlir::Value condition, llvm::function_ref<mlir::Value()> body,
                      mlir::Value otherwise) override;
  mlir::Value
  fold(llvm::ArrayRef<SymExpr> extents, mlir::Value init,
       llvm::function_ref<mlir::Value(llvm::ArrayRef<IndexValue>, mlir::Value)> body) override;

private:
  using Key = std::vector<std::pair<const void *, int64_t>>;
  mlir::Value loadPacked(mlir::Value pointer, unsigned width, IndexValue at);
  mlir::Value loadPackedRun(mlir::Value pointer, unsigned width, mlir::Value first);
  mlir::Value wordOf(mlir::Value bytes);
  void storePacked(mlir::Value pointer, IndexValue at, mlir::Value data);
  mlir::Value loadLanes(mlir::Value pointer, mlir::Type memory, IndexValue at);
  mlir::Value loadOneByOne(mlir::Value pointer, mlir::Type memory, IndexValue at);
  unsigned alignmentOf(mlir::Type memory, IndexValue at) const;
  mlir::Value loadEverySecondByte(mlir::Value address, mlir::Value mask);
  mlir::Value both(mlir::Value a, mlir::Value c);
  mlir::Value branched(mlir::Value condition, llvm::function_ref<mlir::Value()> body,
                       mlir::Value otherwise);

  llvm::DenseMap<mlir::Value, mlir::Value> pointers;
  llvm::DenseSet<mlir::Value> invariant;
  bool isInvariant = false; ///< of what is being loaded
  bool guardsBranch = false, branchesWhereSame = false;
  unsigned pointerAlignment = 0;
  ByteTables byteTables;
  llvm::DenseMap<SymExpr, mlir::Value> sizes;
  llvm::DenseMap<mlir::Value, Provider> providers;
  llvm::DenseMap<mlir::StringAttr, mlir::Value> symbols;
  llvm::SmallVector<std::map<Key, mlir::Value>> memo; ///< one scope per open loop body or guard
  llvm::SmallVector<mlir::Operation *> current;
  mlir::Value safe, tailMask, guard;
};

/// The type an element is loaded and stored as: bools are bytes, unsigned integers signless, narrow floats bits (LLVM promotes masked
/// stores of bf16 to library calls).
mlir::Type memoryType(mlir::Type element);
mlir::Value constantI64(mlir::ImplicitLocOpBuilder &b, int64_t value);
/// Pointer plus `index` elements of `type`.
mlir::Value elementPointer(mlir::ImplicitLocOpBuilder &b, mlir::Value base, mlir::Type type,
                           mlir::Value index);

} // namespace weft

#endif // WEFT_TARGETS_COMMON_ELEMENTEMITTER_H
