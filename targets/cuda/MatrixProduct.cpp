//===- MatrixProduct.cpp - Products of two tensors, in tiles ----------------------------------------------===//
//
//   stacks whose rows follow each other in the left operand, and which share the right one, are one matrix   [stacks]
//   bytes are multiplied along their steps: weights of them lie so in the file                               [packed]
//     what lies otherwise is gathered by threads that have neighbouring lines                                [gathered]
//===------------------------------------------------------------------------------------------===//

#include "targets/common/match/ProductShape.h"
#include "targets/common/match/WalkOrder.h"
#include "targets/cuda/TiledProduct.h"

using namespace mlir;

namespace weft {
namespace {

using Factors = ProductShape::Factors;

class MatrixProduct : public TiledProduct {
public:
  explicit MatrixProduct(const ProductShape &shape) : s(shape) {
    auto element = [](Value value) {
      return cast<SymTensorType>(value.getType()).getElementType();
    };
    root = s.op.getResult(), leftType = element(s.a), rightType = element(s.b);
    rows = s.extent(s.m), columns = run = s.extent(s.n), steps = s.extent(s.k);
    joinStacks();
    findPacked();
    for (unsigned factor : stacks)
      outer.push_back(s.extent(factor));
  }

  TileSource left(SimtKernel &k, ArrayRef<Value> outer) const override {
    TileSource source{
        s.a, indexOf(k, s.a, s.inA, outer, true), rows, steps, 0, 0, s.inA.back() == s.k};
    return alongSteps(source);
  }
  TileSource right(SimtKernel &k, ArrayRef<Value> outer) const override {
    TileSource source{
        s.b, indexOf(k, s.b, s.inB, outer, false), columns, steps, 0, 0, s.inB.back() == s.k};
    if (packed) {
      source.index = [](const IndexValue &line, const IndexValue &step) {
        return SmallVector<IndexValue>{line, step};
      };
      source.pointer = k.inputs[*packed];
      source.type = SymTensorType::get({columns, steps}, rightType);
      source.isDeepLast = true;
    }
    return alongSteps(source);
  }
  TileWriter::Index results(SimtKernel &k, ArrayRef<Value> outer) const override {
    SmallVector<Value> all = withJoined(k, outer);
    return [this, all](const IndexValue &row, const IndexValue &column) {
      return s.indexOf(s.inResult, all, row, column, {});
    };
  }

  void setLayouts(SmallVectorImpl<WeightLayout> &layouts) const override {
    if (packed)
      layouts[*packed] = WeightLayout::panels(1, WeightLayout::DepthByWidth, WeightLayout::Bytes);
  }

private:
  /// [packed]
  void findPacked() {
    auto weight = dyn_cast<BlockArgument>(s.b);
    auto dims = cast<SymTensorType>(s.b.getType()).getConstantDims();
    if (!hasBytes() || !weight || !weight.hasOneUse() || s.inB != Factors{s.k, s.n} || !dims ||
        dims->size() != 2 || llvm::is_contained(*dims, 0))
      return;
    auto spec = cast<func::FuncOp>(weight.getOwner()->getParentOp());
    if (spec.getArgAttr(weight.getArgNumber(), kWeightAttr))
      packed = weight.getArgNumber();
  }

  /// [gathered]
  TileSource alongSteps(TileSource source) const {
    if (!hasBytes() || source.isDeepLast)
      return source;
    source.isDeepLast = source.areLinesBeside = true;
    source.run = SymExpr::constant(root.getContext(), 1);
    return source;
  }

  /// [stacks] Rows are counted over all of them: stacks before the last are 0. Where that has one row, it has no place for the number.
  void joinStacks() {
    stacks = s.outer;
    unsigned joined = 0;
    auto precede = [&](const Factors &factors) { // of the joined rows: the factor before them
      const auto *at = llvm::find(factors, joined ? s.outer[s.outer.size() - joined] : s.m);
      return at == factors.begin() ? std::optional<unsigned>() : *(at - 1);
    };
    while (!stacks.empty() && !s.extent(s.m).isConstant(1) && s.inResult.size() > joined + 2 &&
           precede(s.inA) == stacks.back() && precede(s.inResult) == stacks.back() &&
           !llvm::is_contained(s.inB, stacks.back()) && s.inResult[s.inResult.size() - 2] == s.m &&
           walksInOrder(s.op, /*behind=*/1, joined + 2)) {
      rows = rows * s.extent(stacks.pop_back_val());
      ++joined;
    }
  }

  SmallVector<Value> withJoined(SimtKernel &k, ArrayRef<Value> outer) const {
    SmallVector<Value> all(outer);
    all.resize(s.outer.size(), constantI64(k.b, 0));
    return all;
  }

  TileSource::Index indexOf(SimtKernel &k, Value value, const Factors &factors,
                            ArrayRef<Value> outer, bool isLeft) const {
    SmallVector<Value> all = withJoined(k, outer);
    unsigned rank = cast<SymTensorType>(value.getType()).getRank();
    return [this, &k, all, rank, own = &factors, isLeft](const IndexValue &at,
                                                         const IndexValue &step) {
      IndexValue none;
      SmallVector<IndexValue> place =
          s.indexOf(*own, all, isLeft ? at : none, isLeft ? none : at, step);
      place.resize(rank, k.e.constant(0));
      return place;
    };
  }

  ProductShape s;
  Factors stacks;                 ///< of s.outer, those before joined ones
  std::optional<unsigned> packed; ///< the argument that is B, whose columns are lines
};

} // namespace

Match<TiledProduct::Owned> matchMatrices(func::FuncOp spec) {
  Match<ProductShape> shape = ProductShape::match(spec, /*alsoBytes=*/true);
  if (!shape)
    return shape.decline();
  return TiledProduct::Owned(std::make_shared<MatrixProduct>(*shape));
}

Match<TiledProduct::Owned> TiledProduct::match(func::FuncOp spec) {
  Match<Owned> matrices = matchMatrices(spec);
  if (matrices)
    return matrices;
  Match<Owned> windows = matchWindows(spec);
  return windows || !spec.getOps<ConvOp>().empty() ? windows : matrices;
}

} // namespace weft
