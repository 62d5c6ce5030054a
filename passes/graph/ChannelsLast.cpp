//===- ChannelsLast.cpp - Convolutions with channels as the last dimension ------------------------------===//
//
//   before   %1 = conv %x, %w … i32 ; %2 = mul %1, %s          after   %0 = transpose %x [0, 2, 3, 1]
//                                                                      %1 = conv %0, %w … channels_last ; %2 = mul %1, %t
//                                                                      %3 = transpose %2 [0, 3, 1, 2]
//
// With channels last, a filter of one pixel is a contraction, and instructions for bytes, which sum products of neighbours in memory, find
// channels of one pixel there. Transposes behind convolutions move on through elementwise operators, concatenations, pools, resizes, borders, parts,
// pixels written as tokens, reductions and what ranks exchange until they meet the next convolution's, where both disappear.
//
// Integers are always moved. Floats have schedules for either order, so they are moved when all convolutions of a function can be and
// few transposes stay: the function is rewritten on a copy first.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Collective.h"
#include "dialects/weft/ops/Quantize.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/ConstantParts.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CHANNELSLAST
#include "passes/graph/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

constexpr int64_t kConvolutionsPerMove = 4; ///< of floats, at least, that pay for a transpose

bool hasIntegers(ConvOp op) { return op.getAccumulate().isInteger(32); }

/// Whether a schedule computes it with channels last.
bool isCandidate(ConvOp op) {
  if (op.getChannelsLast() || typeOf(op.getInput()).getRank() > 4)
    return false;
  if (hasIntegers(op))
    return op.getGroups() == 1;
  SymTensorType filter = typeOf(op.getFilter());
  bool isDepthwise = filter.getDim(1).isConstant(1) && filter.getDim(0).isConstant(op.getGroups());
  return typeOf(op.getResult()).getElementType().isF32() && (op.getGroups() == 1 || isDepthwise) &&
         constantBehind(op.getFilter()) && filter.getConstantDims();
}

/// Orders of dimensions: [n, c, …] from [n, …, c], and back.
SmallVector<int64_t> channelsToFront(int64_t rank) {
  SmallVector<int64_t> order{0, rank - 1};
  llvm::append_range(order, llvm::seq<int64_t>(1, rank - 1));
  return order;
}
SmallVector<int64_t> channelsToBack(int64_t rank) {
  SmallVector<int64_t> order{0};
  llvm::append_range(order, llvm::seq<int64_t>(2, rank));
  order.push_back(1);
  return order;
}

Value toFront(OpBuilder &b, Location location, Value x) {
  return b.create<TransposeOp>(location, x, channelsToFront(typeOf(x).getRank()));
}
Value toBack(OpBuilder &b, Location location, Value x) {
  return b.create<TransposeOp>(location, x, channelsToBack(typeOf(x).getRank()));
}

/// x when the value is x with its channels moved to the front.
Value behindMove(Value value) {
  auto move = value.getDefiningOp<TransposeOp>();
  return move && typeOf(value).getRank() > 2 &&
                 move.getOrder() == ArrayRef(channelsToFront(typeOf(value).getRank()))
             ? move.getInput()
             : Value();
}

/// Numbers of all dimensions, such as steps, in the order with channels at the back.
template <typename T> SmallVector<T> movedToBack(ArrayRef<T> each) {
  SmallVector<T> moved;
  for (int64_t from : channelsToBack(each.size()))
    moved.push_back(each[from]);
  return moved;
}
DimsAttr movedToBack(DimsAttr dims) {
  return DimsAttr::get(dims.getContext(), movedToBack<SymExpr>(dims.getDims()));
}

SymTensorType movedType(SymTensorType type) {
  return SymTensorType::get(movedToBack<SymExpr>(type.getDims()), type.getElementType());
}

/// op(move(x)) as move(op(x)), where `adjust` says of the operator with channels at the back what it does there.
template <typename Op>
LogicalResult moveBehind(PatternRewriter &rewriter, Op op, ValueRange sources,
                         function_ref<void(Op)> adjust) {
  auto moved = cast<Op>(rewriter.clone(*op));
  moved->setOperands(0, sources.size(), sources);
  moved->getResult(0).setType(movedType(typeOf(op.getResult())));
  adjust(moved);
  rewriter.replaceOp(op, toFront(rewriter, op.getLoc(), moved->getResult(0)));
  return success();
}

struct MoveConvolution : OpRewritePattern<ConvOp> {
  MoveConvolution(MLIRContext *context, bool floats) : OpRewritePattern(context), floats(floats) {}
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (!isCandidate(op) || hasIntegers(op) == floats)
      return failure();
    return moveBehind<ConvOp>(rewriter, op, toBack(rewriter, op.getLoc(), op.getInput()),
                              [](ConvOp moved) { moved.setChannelsLast(true); });
  }
  bool floats;
};

/// Two transposes are one, or none.
struct JoinMoves : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto before = op.getInput().getDefiningOp<TransposeOp>();
    if (!before)
      return failure();
    SmallVector<int64_t> order;
    for (int64_t from : op.getOrder())
      order.push_back(before.getOrder()[from]);
    if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
      rewriter.replaceOp(op, before.getInput());
    else
      rewriter.replaceOpWithNewOp<TransposeOp>(op, before.getInput(), order);
    return success();
  }
};

/// f(move(x), move(y), per channel…) is move(f(x, y, per channel…)).
struct MoveBehindElementwise : RewritePattern {
  explicit MoveBehindElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto ruled = dyn_cast<RuleOpInterface>(op);
    if (!ruled || op->getNumResults() != 1 || op->getNumRegions() || op->getNumOperands() == 0)
      return failure();
    if (!ruled.rule().isPointwise())
      return failure();
    auto type = typeOf(op->getResult(0));
    SmallVector<Value> operands;
    bool moves = false;
    for (Value operand : op->getOperands()) {
      Value source = behindMove(operand);
      moves |= bool(source);
      if (source ? typeOf(operand).getRank() != type.getRank() : !isPerChannel(operand, type))
        return failure();
      operands.push_back(source);
    }
    if (!moves)
      return failure();
    for (auto [moved, operand] : llvm::zip(operands, op->getOperands()))
      if (!moved)
        moved = channelLast(rewriter, op->getLoc(), operand, type);
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(movedType(type));
    rewriter.replaceOp(op, toFront(rewriter, op->getLoc(), moved->getResult(0)));
    return success();
  }

  /// Dimension of the operand, aligned at the right, that meets the result's channels; rank or more when there is none.
  static unsigned channelOf(Value operand, SymTensorType result) {
    return typeOf(operand).getRank() + 1 - result.getRank();
  }
  static bool isPerChannel(Value operand, SymTensorType result) {
    unsigned rank = typeOf(operand).getRank();
    if (rank > result.getRank())
      return false;
    for (unsigned d = 0; d < rank; ++d)
      if (d != channelOf(operand, result) && !typeOf(operand).getDim(d).isConstant(1))
        return false;
    return true;
  }
  static Value channelLast(OpBuilder &b, Location location, Value operand, SymTensorType result) {
    SymExpr channels = typeOf(operand).getElements();
    if (channels.isConstant(1))
      return operand;
    DimsAttr dims = DimsAttr::get(b.getContext(), channels);
    auto type = SymTensorType::get(b.getContext(), dims.getDimAttributes(),
                                   typeOf(operand).getElementType());
    return b.create<ReshapeOp>(location, type, operand, dims);
  }
};

/// concat(move(x), move(y), …) is move(concat(x, y, …)). Of bytes, which are few, others are moved for it: what a transposed convolution
/// wrote in its places, beside what a convolution did.
struct MoveBehindConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> sources;
    for (Value input : op.getInputs())
      sources.push_back(behindMove(input));
    auto isMoved = [](Value source) { return bool(source); };
    bool movesOthers = llvm::all_of(op.getInputs(), areBytes) && !isSameBothWays(op);
    if (movesOthers ? llvm::none_of(sources, isMoved) : !llvm::all_of(sources, isMoved))
      return rewriter.notifyMatchFailure(op, "an operand has its channels in front");
    for (auto [source, input] : llvm::zip(sources, op.getInputs()))
      if (!source)
        source = toBack(rewriter, op.getLoc(), input);
    return moveBehind<ConcatOp>(rewriter, op, sources, [](ConcatOp moved) {
      SmallVector<int64_t> order = channelsToBack(typeOf(moved.getResult()).getRank());
      moved.setDim(llvm::find(order, moved.getDim()) - order.begin());
    });
  }

  /// Of images with one dimension what moves channels to the back looks as what moves them to the front, and would be moved again.
  static bool isSameBothWays(ConcatOp op) { return typeOf(op.getResult()).getRank() == 3; }

  /// Whether what lies in memory are bytes, which may be restored where they are read.
  static bool areBytes(Value value) {
    if (Value source = behindMove(value))
      value = source;
    if (auto restored = value.getDefiningOp<DequantizeOp>())
      value = restored.getInput();
    return elementBits(typeOf(value).getElementType()) == 8;
  }
};

struct MoveBehindPool : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    Value source = behindMove(op.getInput());
    if (!source || op.getChannelsLast() ||
        op.getKernel().size() + 2 != typeOf(op.getInput()).getRank())
      return failure();
    return moveBehind<PoolOp>(rewriter, op, source,
                              [](PoolOp moved) { moved.setChannelsLast(true); });
  }
};

/// An image at another resolution, channels as they are.
struct MoveBehindResize : OpRewritePattern<ResizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ResizeOp op, PatternRewriter &rewriter) const override {
    Value source = behindMove(op.getInput());
    if (!source)
      return rewriter.notifyMatchFailure(op, "the operand has its channels in front");
    return moveBehind<ResizeOp>(rewriter, op, source, [](ResizeOp moved) {
      moved.setSizesAttr(movedToBack(moved.getSizes()));
      moved.setScales(movedToBack<double>(moved.getScales()));
    });
  }
};

/// A border around an image: of a quantised one, of the integer that stands for 0.
struct MoveBehindPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    Value source = behindMove(op.getInput());
    if (!source)
      return rewriter.notifyMatchFailure(op, "the operand has its channels in front");
    return moveBehind<PadOp>(rewriter, op, source, [](PadOp moved) {
      moved.setLowAttr(movedToBack(moved.getLow()));
      moved.setHighAttr(movedToBack(moved.getHigh()));
    });
  }
};

/// A part of an image, or every second pixel of it, with all channels.
struct MoveBehindSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Value source = behindMove(op.getInput());
    if (!source)
      return rewriter.notifyMatchFailure(op, "the operand has its channels in front");
    if (op.getSteps()[1] != 1 || op.getSizes().getDims()[1] != typeOf(op.getInput()).getDim(1))
      return rewriter.notifyMatchFailure(op, "it takes some of the channels");
    return moveBehind<SliceOp>(rewriter, op, source, [](SliceOp moved) {
      moved.setStartsAttr(movedToBack(moved.getStarts()));
      moved.setSizesAttr(movedToBack(moved.getSizes()));
      moved.setSteps(movedToBack<int64_t>(moved.getSteps()));
    });
  }
};

/// The pixels of an image as a sequence of tokens, or the other way round.
struct MoveBehindReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Value source = behindMove(op.getInput());
    SymTensorType from = typeOf(op.getInput()), to = typeOf(op.getResult());
    if (!source)
      return rewriter.notifyMatchFailure(op, "the operand has its channels in front");
    if (to.getRank() < 3 || from.getDim(0) != to.getDim(0) || from.getDim(1) != to.getDim(1))
      return rewriter.notifyMatchFailure(op, "images and channels are not kept apart");
    return moveBehind<ReshapeOp>(rewriter, op, source, [](ReshapeOp moved) {
      moved.setDimsAttr(movedToBack(moved.getDims()));
    });
  }
};

/// What ranks exchange in the order that it is in.
struct MoveBehindExchange : OpInterfaceRewritePattern<CollectiveOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(CollectiveOpInterface op,
                                PatternRewriter &rewriter) const override {
    Value source = behindMove(op->getOperand(0));
    if (!source)
      return failure();
    Value moved = exchangeInOrder(rewriter, op, source, channelsToBack(typeOf(source).getRank()));
    rewriter.replaceOp(op, toFront(rewriter, op->getLoc(), moved));
    return success();
  }
};

/// A reduction over everything between the first dimension and the channels.
struct MoveIntoReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Value source = behindMove(op.getInput());
    if (!source)
      return failure();
    int64_t rank = typeOf(source).getRank();
    if (!llvm::equal(op.getAxes(), llvm::seq<int64_t>(2, rank)))
      return failure();
    Operation *moved = rewriter.clone(*op);
    moved->setOperand(0, source);
    cast<ReduceOp>(moved).setAxes(llvm::to_vector(llvm::seq<int64_t>(1, rank - 1)));
    rewriter.replaceOp(op, moved->getResults());
    return success();
  }
};

/// Filters of one pixel, on an operand that is in memory as it is read.
void useContraction(ConvOp op) {
  auto filter = typeOf(op.getFilter());
  auto isZero = [](SymExpr e) { return e.isConstant(0); };
  bool isPointwise =
      op.getChannelsLast() && op.getGroups() == 1 && !op.getInput().getDefiningOp<TransposeOp>() &&
      llvm::all_of(op.getStrides(), [](int64_t stride) { return stride == 1; }) &&
      llvm::all_of(op.getLow().getDims(), isZero) && llvm::all_of(op.getHigh().getDims(), isZero);
  std::string rule = "... c, o c";
  for (unsigned i = 2; i < filter.getRank(); ++i) {
    isPointwise &= filter.getDim(i).isConstant(1);
    rule += " 1";
  }
  if (!isPointwise)
    return;
  OpBuilder b(op);
  Value product = b.create<ContractOp>(op.getLoc(), op.getResult().getType(), rule + " -> ... o",
                                       op.getInput(), op.getFilter(), op.getAccumulate());
  op.getResult().replaceAllUsesWith(product);
  op.erase();
}

LogicalResult moveChannels(func::FuncOp function, bool floats) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<MoveConvolution>(function.getContext(), floats);
  patterns.add<JoinMoves, MoveBehindElementwise, MoveBehindConcat, MoveBehindPool, MoveBehindResize,
               MoveBehindPad, MoveBehindSlice, MoveBehindReshape, MoveBehindExchange,
               MoveIntoReduction>(function.getContext());
  return applyPatternsAndFoldGreedily(function, std::move(patterns));
}

/// Transposes, but those of constants and of images with one channel, which cost nothing.
int64_t countMoves(func::FuncOp function) {
  int64_t count = 0;
  function.walk([&](TransposeOp op) {
    SymTensorType type = typeOf(op.getInput());
    bool isFree = constantBehind(op.getInput()) ||
                  (type.getRank() > 2 && type.getDim(1).isConstant(1) &&
                   op.getOrder() == ArrayRef(channelsToBack(type.getRank())));
    count += !isFree;
  });
  return count;
}

class ChannelsLast : public impl::ChannelsLastBase<ChannelsLast> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    int64_t integers = 0, floats = 0, others = 0;
    function.walk([&](ConvOp op) {
      ++(!isCandidate(op) ? others : hasIntegers(op) ? integers : floats);
    });
    if (integers && failed(moveChannels(function, /*floats=*/false)))
      return signalPassFailure();
    if (floats && !others) {
      OwningOpRef<func::FuncOp> copy = function.clone();
      if (failed(moveChannels(*copy, /*floats=*/true)))
        return signalPassFailure();
      if ((countMoves(*copy) - countMoves(function)) * kConvolutionsPerMove <= floats)
        function.getBody().takeBody(copy->getBody());
    }
    function.walk([](ConvOp op) { useContraction(op); });
  }
};

} // namespace
} // namespace weft
