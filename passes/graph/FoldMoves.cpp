//===- FoldMoves.cpp - Products read and write in the order that is wanted ---------------------------===//
//
//   before   %1 = contract "b h m k, b h k n -> b h m n" …        after   %2 = contract "b h m k, b h k n -> b m h n" …
//            %2 = transpose %1 [0, 2, 1, 3]
//
// Heads are split off and merged again by transposes around the products of attention. In the order of a product's rule they cost nothing.
// Scaling between a product and its transpose is done before the move, where it can join the product that made the value. A constant is
// reshaped before it is converted, as biases of 16 bits are.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/graph/Passes.h"
#include "passes/graph/ProductWalk.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FOLDMOVES
#include "passes/graph/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// contract(transpose(x), y) reads x in its own order.
struct ReadInOrder : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    std::optional<ProductWalk> walk = ProductWalk::of(op);
    if (!walk)
      return failure();
    SmallVector<Value> operands(op->getOperands());
    for (auto [operand, factors] :
         {std::pair<Value &, SmallVector<unsigned> &>(operands[0], walk->lhs),
          {operands[1], walk->rhs}})
      if (auto move = operand.getDefiningOp<TransposeOp>()) {
        SmallVector<unsigned> moved(factors);
        for (auto [i, from] : llvm::enumerate(move.getOrder()))
          moved[from] = factors[i];
        factors = moved;
        operand = move.getInput();
      }
    if (operands[0] == op.getLhs() && operands[1] == op.getRhs())
      return failure();
    rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(), walk->text(), operands[0],
                                            operands[1], op.getAccumulate());
    return success();
  }
};

/// transpose(contract(x, y)) writes in the new order when the innermost dimension stays; with a conversion between the two as well.
struct WriteInOrder : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp move, PatternRewriter &rewriter) const override {
    auto convert = move.getInput().getDefiningOp<ConvertOp>();
    auto op = (convert ? convert.getInput() : move.getInput()).getDefiningOp<ContractOp>();
    if (!op || !op->hasOneUse() || (convert && !convert->hasOneUse()) ||
        move.getOrder().back() + 1 != int64_t(move.getOrder().size()))
      return failure();
    std::optional<ProductWalk> walk = ProductWalk::of(op);
    if (!walk)
      return failure();
    SmallVector<unsigned> before(walk->result);
    for (auto [i, from] : llvm::enumerate(move.getOrder()))
      walk->result[i] = before[from];
    Value ordered =
        rewriter.create<ContractOp>(move.getLoc(), move.getType().withElement(op.getAccumulate()),
                                    walk->text(), op.getLhs(), op.getRhs(), op.getAccumulate());
    if (convert)
      ordered = rewriter.create<ConvertOp>(convert.getLoc(), ordered, convert.getTo());
    rewriter.replaceOp(move, ordered);
    return success();
  }
};

/// Whether a chain of moves that nobody else reads ends in a product, with elementwise operators on the way.
bool comesFromProduct(Value value) {
  for (unsigned steps = 0; steps < 16; ++steps) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasOneUse())
      return false;
    if (isa<ContractOp>(op))
      return true;
    auto element = dyn_cast<ElementOpInterface>(op);
    if (!element || op->getNumOperands() == 0 ||
        (element.rootKind() != RootKind::Loop && !isa<TransposeOp, ReshapeOp>(op)))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// f(move(x), scalars…) is move(f(x, scalars…)).
struct ScaleBeforeMove : RewritePattern {
  explicit ScaleBeforeMove(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto element = dyn_cast<ElementOpInterface>(op);
    auto ruled = dyn_cast<RuleOpInterface>(op);
    if (!element || !ruled || element.rootKind() != weft::RootKind::Loop ||
        op->getNumResults() != 1 || op->getNumRegions() ||
        llvm::any_of(op->getAttrs(), [](NamedAttribute a) { return isa<DimsAttr>(a.getValue()); }))
      return failure();
    OpOperand *moved = nullptr;
    for (OpOperand &operand : op->getOpOperands()) {
      if (typeOf(operand.get()).getRank() == 0)
        continue;
      if (moved)
        return failure();
      moved = &operand;
    }
    if (!moved || !isa_and_nonnull<TransposeOp, ReshapeOp>(moved->get().getDefiningOp()) ||
        !walksInPlace(ruled.rule(), moved->getOperandNumber()) || !comesFromProduct(moved->get()))
      return failure();
    Operation *move = moved->get().getDefiningOp();
    Value from = move->getOperand(0);
    Operation *scaled = rewriter.clone(*op);
    scaled->setOperand(moved->getOperandNumber(), from);
    scaled->getResult(0).setType(SymTensorType::get(getContext(), typeOf(from).getDimAttributes(),
                                                    typeOf(op->getResult(0)).getElementType()));
    Operation *after = rewriter.clone(*move);
    after->setOperand(0, scaled->getResult(0));
    after->getResult(0).setType(op->getResult(0).getType());
    rewriter.replaceOp(op, after->getResults());
    return success();
  }

  static bool walksInPlace(const IterationRule &rule, unsigned operand) {
    ArrayRef<Access> read = rule.operand(operand), result = rule.result(0);
    return read.size() == result.size() && allPoints(read) && allPoints(result) &&
           llvm::all_of(llvm::zip(read, result), [](auto pair) {
             return std::get<0>(pair).factor() == std::get<1>(pair).factor();
           });
  }
};

/// reshape(convert(constant)) is convert(reshape(constant)), and so another name of what lies in memory: no kernel has to look through the
/// reshape, which would keep it from merging dimensions.
struct ReshapeConstant : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto convert = op.getInput().getDefiningOp<ConvertOp>();
    if (!convert || convert.rootKind() != weft::RootKind::View)
      return failure();
    Value named = rewriter.create<ReshapeOp>(op.getLoc(), convert.getInput(), op.getDims());
    rewriter.replaceOpWithNewOp<ConvertOp>(op, named, convert.getTo());
    return success();
  }
};

class FoldMoves : public impl::FoldMovesBase<FoldMoves> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadInOrder, WriteInOrder, ScaleBeforeMove, ReshapeConstant>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace weft
