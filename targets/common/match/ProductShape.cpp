//===- ProductShape.cpp - Recognises products of two values -------------------------------------------===//

#include "targets/common/match/ProductShape.h"
#include "targets/common/match/ContractionShape.h"

using namespace mlir;

namespace weft {

SmallVector<IndexValue> ProductShape::indexOf(const Factors &factors, ArrayRef<Value> outer,
                                              IndexValue m, IndexValue n, IndexValue k) const {
  SmallVector<IndexValue> index;
  for (unsigned factor : factors) {
    const auto *at = llvm::find(this->outer, factor);
    index.push_back(factor == this->m   ? m
                    : factor == this->n ? n
                    : factor == this->k ? k
                                        : IndexValue{outer[at - this->outer.begin()]});
  }
  return index;
}

/// Dimensions of 1 at the end, as of a filter of one pixel, do not count.
static std::optional<ProductShape::Factors> pointsOf(ArrayRef<Access> accesses) {
  ProductShape::Factors factors;
  while (!accesses.empty() && accesses.back().kind == AccessKind::Fixed)
    accesses = accesses.drop_back();
  for (const Access &access : accesses) {
    if (access.kind != AccessKind::Point)
      return std::nullopt;
    factors.push_back(access.factor());
  }
  return factors;
}

static bool multipliesFloats(ContractOp op) {
  return op.getAccumulate().isF32() &&
         isFloat(cast<SymTensorType>(op.getLhs().getType()).getElementType());
}
static bool multipliesBytes(ContractOp op) {
  return op.getAccumulate().isInteger(32) && isByte(op.getLhs()) && isByte(op.getRhs());
}

Match<ProductShape> ProductShape::match(func::FuncOp spec, bool alsoBytes) {
  Match<ContractOp> root = onlyRoot<ContractOp>(spec, kNoProduct);
  if (!root)
    return root.decline();
  ContractOp op = *root;
  if (!multipliesFloats(op) && !(alsoBytes && multipliesBytes(op)))
    return Decline::otherKind("the product is not of floats summed in f32");
  if (Decline why = unlessResultsHave(cast<SymTensorType>(op.getResult().getType()), spec))
    return why;
  ProductShape s{op, op.getLhs(), op.getRhs(), {}, {}, {}, {}, 0, 0, 0, IterationRule::of(op)};
  auto a = pointsOf(s.rule.operand(0)), b = pointsOf(s.rule.operand(1)),
       result = pointsOf(s.rule.result(0));
  if (!a || !b || !result || result->size() < 2)
    return Decline{"the product is not of matrices or stacks of them"};
  if (s.rule.reducedFactors().size() != 1)
    return Decline{"the product does not sum over one dimension"};
  s.n = result->back();
  if (llvm::is_contained(*a, s.n)) { // the side with n is called B
    std::swap(a, b);
    std::swap(s.a, s.b);
  }
  s.k = s.rule.reducedFactors()[0];
  if (llvm::is_contained(*a, s.n) || !llvm::is_contained(*b, s.n) || !llvm::is_contained(*a, s.k) ||
      !llvm::is_contained(*b, s.k))
    return Decline{"the result's last dimension is in both operands, or the summed one is not"};
  bool found = false;
  for (unsigned factor : llvm::reverse(ArrayRef(*result).drop_back())) {
    if (!found && !llvm::is_contained(*b, factor)) {
      s.m = factor;
      found = true;
    } else {
      s.outer.insert(s.outer.begin(), factor);
    }
  }
  s.inA = *a;
  s.inB = *b;
  s.inResult = *result;
  if (!found)
    return Decline{"one operand has every dimension of the result"};
  return s;
}

} // namespace weft
