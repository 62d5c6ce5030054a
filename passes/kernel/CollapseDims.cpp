//===- CollapseDims.cpp - Merge dimensions that every value of a kernel walks alike ----------------===//
//
//   before   kernel on [b, s, 384], [b, s, 384], [384]      after   kernel on [b*s, 384], [b*s, 384], [384]
//
// Fewer dimensions mean longer vectors, simpler indices and more equal kernels. Applies to kernels whose operators all have rules that
// start with `...` (or name trailing dimensions only): those are indifferent to how the leading dimensions are cut. What only computes an
// operand without `...` (a dequantised weight) keeps its dimensions.
//===------------------------------------------------------------------------------------------===//

#include "passes/kernel/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_COLLAPSEDIMS
#include "passes/kernel/Passes.h.inc"

namespace {

/// Trailing dimensions that an operator names after `...`; nothing when its rule is not of the indifferent kind. Operands without `...`
/// (a weight) keep their dimensions: they are added to `fixed`.
std::optional<unsigned> namedTail(Operation *op, llvm::DenseSet<Value> &fixed) {
  auto ruled = dyn_cast<RuleOpInterface>(op);
  if (!ruled)
    return std::nullopt;
  IterationRule rule = ruled.rule();
  std::optional<unsigned> tail = rule.namedTail();
  for (unsigned i = 0; tail && i < rule.operandCount(); ++i)
    if (!rule.hasEllipsis(i))
      fixed.insert(op->getOperand(i));
  return tail;
}

/// One element without dimensions, from nothing.
bool isNumber(Operation *op) {
  return op->getNumOperands() == 0 && llvm::all_of(op->getResultTypes(), [](Type type) {
           auto tensor = dyn_cast<SymTensorType>(type);
           return tensor && tensor.getRank() == 0;
         });
}

class Collapser {
public:
  explicit Collapser(KernelOp kernel) : kernel(kernel) {}

  void run() {
    unsigned tail = 0;
    findFixedSources();
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      if (fixedSources.contains(&op) || isNumber(&op))
        continue;
      std::optional<unsigned> named = namedTail(&op, fixed);
      if (!named)
        return;
      tail = std::max(tail, *named);
      llvm::append_range(values, op.getResults());
    }
    llvm::append_range(values, kernel.getBody().front().getArguments());
    for (Operation *op : fixedSources)
      for (Value operand : op->getOperands())
        fixed.insert(operand);
    for (Value value : fixed) // one that is also used with `...` cannot be both
      if (!(isa<BlockArgument>(value) || fixedSources.contains(value.getDefiningOp())) ||
          !isOnlyFixed(value))
        return;
    llvm::erase_if(values, [&](Value value) { return fixed.contains(value); });
    findSpace();
    if (!chooseRuns(tail))
      return;
    rewrite();
  }

private:
  /// Dimension counted from the right; 1 when the tensor has fewer.
  SymExpr dimAt(Type type, unsigned fromRight) {
    auto tensor = cast<SymTensorType>(type);
    return fromRight < tensor.getRank() ? tensor.getDim(tensor.getRank() - 1 - fromRight)
                                        : SymExpr::constant(type.getContext(), 1);
  }

  /// Whether every use of the value is one without `...`.
  bool isOnlyFixed(Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      llvm::DenseSet<Value> fixed;
      return fixedSources.contains(use.getOwner()) ||
             (!isa<YieldOp>(use.getOwner()) && namedTail(use.getOwner(), fixed) &&
              fixed.contains(use.get()));
    });
  }

  /// Operators whose results are only used without `...`, or by such operators.
  void findFixedSources() {
    for (Operation &op : llvm::reverse(kernel.getBody().front().without_terminator()))
      if (!op.use_empty() &&
          llvm::all_of(op.getResults(), [&](Value result) { return isOnlyFixed(result); }))
        fixedSources.insert(&op);
  }

  void findSpace() {
    unsigned rank = 0;
    for (Value value : values)
      rank = std::max(rank, cast<SymTensorType>(value.getType()).getRank());
    for (unsigned j = 0; j < rank; ++j) {
      SymExpr dim = SymExpr::constant(kernel.getContext(), 1);
      for (Value value : values)
        if (SymExpr here = dimAt(value.getType(), j); !here.isConstant(1))
          dim = here;
      space.push_back(dim);
    }
  }

  /// Positions from the right, both ends included. Pair by pair would not do: a dimension of 1 goes with both
  /// neighbours of a value that is repeated along only one of them.
  bool mergeable(unsigned first, unsigned last) {
    return llvm::all_of(values, [&](Value value) {
      bool full = true, none = true;
      for (unsigned j = first; j <= last; ++j) {
        full &= dimAt(value.getType(), j) == space[j];
        none &= dimAt(value.getType(), j).isConstant(1);
      }
      return full || none;
    });
  }

  /// runs: numbers of dimensions that become one, from the right.
  bool chooseRuns(unsigned tail) {
    for (unsigned j = 0; j < space.size();) {
      unsigned end = j + 1;
      if (j >= tail)
        while (end < space.size() && mergeable(j, end))
          ++end;
      runs.push_back(end - j);
      j = end;
    }
    return runs.size() < space.size();
  }

  SymTensorType collapsed(Type type) {
    auto tensor = cast<SymTensorType>(type);
    SmallVector<SymExpr> dims;
    unsigned j = 0;
    for (unsigned run : runs) {
      if (j >= tensor.getRank())
        break;
      SymExpr dim = SymExpr::constant(type.getContext(), 1);
      for (unsigned k = 0; k < run; ++k)
        dim = dim * dimAt(type, j + k);
      dims.insert(dims.begin(), dim);
      j += run;
    }
    return SymTensorType::get(type.getContext(),
                              DimsAttr::get(type.getContext(), dims).getDimAttributes(),
                              tensor.getElementType());
  }

  Value reshape(OpBuilder &b, Value value, SymTensorType type) {
    if (value.getType() == type)
      return value;
    return b.create<ReshapeOp>(kernel.getLoc(), type, value,
                               DimsAttr::get(kernel.getContext(), type.getDims()));
  }

  void rewrite() {
    OpBuilder b(kernel);
    SmallVector<Value> inputs;
    for (auto [input, argument] :
         llvm::zip(kernel.getInputs(), kernel.getBody().front().getArguments()))
      inputs.push_back(fixed.contains(argument) ? input
                                                : reshape(b, input, collapsed(input.getType())));
    SmallVector<Type> types;
    for (Type type : kernel.getResultTypes())
      types.push_back(collapsed(type));
    auto merged = b.create<KernelOp>(kernel.getLoc(), types, inputs, kernel.getRoot());
    merged->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    merged.getBody().takeBody(kernel.getBody());
    for (Value value : values)
      value.setType(collapsed(value.getType()));
    for (auto [from, to] : llvm::zip(kernel.getResults(), merged.getResults()))
      from.replaceAllUsesWith(reshape(b, to, cast<SymTensorType>(from.getType())));
    kernel.erase();
  }

  KernelOp kernel;
  SmallVector<Value> values; ///< that are collapsed
  llvm::DenseSet<Value> fixed;
  llvm::SetVector<Operation *> fixedSources;
  SmallVector<SymExpr> space; ///< innermost first
  SmallVector<unsigned> runs;
};

struct CollapseDimsPass : impl::CollapseDimsBase<CollapseDimsPass> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels)
      Collapser(kernel).run();
  }
};

} // namespace
} // namespace weft
