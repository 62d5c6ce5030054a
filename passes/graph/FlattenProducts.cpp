//===- FlattenProducts.cpp - Products with a constant are of rows and a matrix ------------------------===//
//
//   before   %0 = transpose %x [1, 0, 2]                               after   %1 = contract "... k, k n -> ... n" %x, %w
//            %1 = contract "d0 d1 d2, d2 d3 -> d0 d1 d3" %0, %w                %2 = transpose %1 [1, 0, 2]
//            %1 = contract "b s d, d h e -> b h s e" %x, %w                    %1 = contract "... k, k n -> ... n" %x, (reshape %w)
//                                                                              %2 = transpose (reshape %1) [0, 2, 1, 3]
//
// Recurrent networks take steps first where batches come first, einsums have weights of several dimensions, exporters write batches of one:
// all are rows of one matrix times another, whose panels are packed once. Moves stand behind the product, where readers look through them.
// So it is only where the summed dimensions are the last of the rows, and what the weight gives is the last of the result.
//===------------------------------------------------------------------------------------------===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/graph/Passes.h"
#include "passes/graph/ProductWalk.h"
#include "passes/kernel/ConstantParts.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FLATTENPRODUCTS
#include "passes/graph/Passes.h.inc"

namespace {

using Factors = SmallVector<unsigned>;

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

Value reshaped(OpBuilder &b, Location loc, Value value, ArrayRef<SymExpr> dims) {
  if (ArrayRef<SymExpr>(typeOf(value).getDims()) == dims)
    return value;
  return b.create<ReshapeOp>(loc, value, DimsAttr::get(b.getContext(), dims));
}

/// The value with `order[i]` as dimension i; its own dimensions when nothing moves.
Value reordered(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  return b.create<TransposeOp>(loc, value, order);
}

SmallVector<SymExpr> sizesOf(ArrayRef<unsigned> factors, const IterationRule &rule) {
  SmallVector<SymExpr> sizes;
  for (unsigned factor : factors)
    sizes.push_back(rule.factors()[factor].extent);
  return sizes;
}

/// Whether it is stored, under whichever dimensions.
bool isWeight(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return bool(constantBehind(value));
}

/// contract(x [1, n], y) over an access `1` is one of fewer dimensions.
struct DropRepeated : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    auto [operands, result] = op.getRule().split("->");
    auto [left, right] = operands.split(',');
    std::string text[2];
    Value values[2] = {op.getLhs(), op.getRhs()};
    bool isShorter = false;
    for (unsigned i = 0; i < 2; ++i) {
      SmallVector<StringRef> accesses;
      (i ? right : left).split(accesses, ' ', -1, /*KeepEmpty=*/false);
      SmallVector<SymExpr> dims = typeOf(values[i]).getDims(), kept;
      if (accesses.size() != dims.size() || llvm::is_contained(accesses, "..."))
        return failure();
      for (auto [access, dim] : llvm::zip(accesses, dims))
        if (access != "1") {
          text[i] += (text[i].empty() ? "" : " ") + access.str();
          kept.push_back(dim);
        }
      isShorter |= kept.size() < dims.size();
      values[i] = reshaped(rewriter, op.getLoc(), values[i], kept);
    }
    if (!isShorter)
      return failure();
    rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(),
                                            text[0] + ", " + text[1] + " ->" + result.str(),
                                            values[0], values[1], op.getAccumulate());
    return success();
  }
};

/// Which factors of a product are rows, which are summed, and which the weight gives.
struct Parts {
  Factors rows, summed, given;
  bool isTransposed; ///< the weight begins with what it gives
};

struct Flatten : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    std::optional<ProductWalk> walk = ProductWalk::of(op);
    if (!walk || !isWeight(op.getRhs()))
      return failure();
    IterationRule rule = IterationRule::of(op);
    std::optional<Parts> parts = partsOf(*walk, rule);
    if (!parts)
      return failure();
    auto product = [&](ArrayRef<unsigned> factors) {
      SymExpr size = SymExpr::constant(getContext(), 1);
      for (SymExpr extent : sizesOf(factors, rule))
        size = size * extent;
      return size;
    };
    SymExpr depth = product(parts->summed), width = product(parts->given);
    SmallVector<SymExpr> rows = sizesOf(parts->rows, rule), apart = rows;
    llvm::append_range(apart, sizesOf(parts->given, rule));
    if (rows.empty()) // a vector is one row
      rows.push_back(SymExpr::constant(getContext(), 1));
    SmallVector<SymExpr> flat(rows), sums(rows);
    flat.push_back(depth);
    sums.push_back(width);
    Location loc = op.getLoc();
    Value lhs = reshaped(rewriter, loc, op.getLhs(), flat);
    Value rhs = reshaped(rewriter, loc, op.getRhs(),
                         parts->isTransposed ? ArrayRef<SymExpr>{width, depth}
                                             : ArrayRef<SymExpr>{depth, width});
    Type type = SymTensorType::get(sums, op.getAccumulate());
    Value made = rewriter.create<ContractOp>(
        loc, type, parts->isTransposed ? "... k, n k -> ... n" : "... k, k n -> ... n", lhs, rhs,
        op.getAccumulate());
    Factors have(parts->rows);
    have.append(parts->given);
    auto order = llvm::map_to_vector(walk->result, [&](unsigned factor) {
      return int64_t(llvm::find(have, factor) - have.begin());
    });
    rewriter.replaceOp(op, reordered(rewriter, loc, reshaped(rewriter, loc, made, apart), order));
    return success();
  }

  static std::optional<Parts> partsOf(const ProductWalk &walk, const IterationRule &rule) {
    Parts parts;
    auto isIn = [](ArrayRef<unsigned> factors, unsigned f) {
      return llvm::is_contained(factors, f);
    };
    Factors weight;
    for (unsigned f : walk.rhs)
      if (!rule.factors()[f].extent.isConstant(1) || !isIn(walk.lhs, f)) {
        weight.push_back(f);
        (isIn(walk.result, f) ? parts.given : parts.summed).push_back(f);
      }
    for (unsigned f : walk.lhs)
      if (!isIn(parts.summed, f))
        parts.rows.push_back(f);
    Factors lhs(parts.rows), plain(parts.summed), turned(parts.given);
    lhs.append(parts.summed);
    plain.append(parts.given);
    turned.append(parts.summed);
    bool agree = lhs == walk.lhs && (weight == plain || weight == turned) &&
                 !parts.summed.empty() && !parts.given.empty() &&
                 walk.result.back() == parts.given.back() &&
                 walk.result.size() == parts.rows.size() + parts.given.size() &&
                 llvm::all_of(parts.rows, [&](unsigned f) { return isIn(walk.result, f); }) &&
                 llvm::none_of(parts.given, [&](unsigned f) { return isIn(walk.lhs, f); });
    parts.isTransposed = weight != plain;
    return agree ? std::optional(parts) : std::nullopt;
  }
};

/// Rows of a dimension of 1 are rows without it.
struct DropUnitRows : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    std::optional<ProductWalk> walk = ProductWalk::of(op);
    if (!walk || !isWeight(op.getRhs()))
      return failure();
    IterationRule rule = IterationRule::of(op);
    const ProductWalk before = *walk;
    auto isUnit = [&](unsigned f) {
      return rule.factors()[f].extent.isConstant(1) && llvm::is_contained(before.lhs, f) &&
             llvm::is_contained(before.result, f) && !llvm::is_contained(before.rhs, f);
    };
    if (llvm::none_of(before.lhs, isUnit))
      return failure();
    llvm::erase_if(walk->lhs, isUnit);
    if (walk->lhs.size() < 2) // one row stays one
      return failure();
    llvm::erase_if(walk->result, isUnit);
    Location loc = op.getLoc();
    Value made = rewriter.create<ContractOp>(
        loc, SymTensorType::get(sizesOf(walk->result, rule), op.getAccumulate()), walk->text(),
        reshaped(rewriter, loc, op.getLhs(), sizesOf(walk->lhs, rule)), op.getRhs(),
        op.getAccumulate());
    rewriter.replaceOp(op, reshaped(rewriter, loc, made, op.getType().getDims()));
    return success();
  }
};

/// contract(transpose(x), w) whose rows stay whole is transpose(contract(x, w)).
struct MoveBehind : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    auto move = op.getLhs().getDefiningOp<TransposeOp>();
    IterationRule rule = IterationRule::of(op);
    if (!move || rule.namedTail() != 1u || rule.hasEllipsis(1) || !isWeight(op.getRhs()) ||
        move.getOrder().back() + 1 != int64_t(move.getOrder().size()))
      return failure();
    SmallVector<SymExpr> dims = typeOf(move.getInput()).getDims();
    dims.back() = op.getType().getDims().back();
    Value made =
        rewriter.create<ContractOp>(op.getLoc(), SymTensorType::get(dims, op.getAccumulate()),
                                    op.getRule(), move.getInput(), op.getRhs(), op.getAccumulate());
    rewriter.replaceOpWithNewOp<TransposeOp>(op, made, move.getOrder());
    return success();
  }
};

/// transpose(x [b, 1, n]) that moves only dimensions of 1 is a reshape.
struct MoveUnits : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> moved;
    for (int64_t from : op.getOrder())
      if (!typeOf(op.getInput()).getDim(from).isConstant(1))
        moved.push_back(from);
    if (!llvm::is_sorted(moved))
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getInput(),
                                           DimsAttr::get(getContext(), op.getType().getDims()));
    return success();
  }
};

class FlattenProducts : public impl::FlattenProductsBase<FlattenProducts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropRepeated, DropUnitRows, Flatten, MoveBehind, MoveUnits>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace weft
