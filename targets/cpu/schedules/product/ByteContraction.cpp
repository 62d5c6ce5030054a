//===- ByteContraction.cpp - Which products of bytes have a weight that panels are made of ---------===//

#include "targets/cpu/schedules/product/ByteContraction.h"
#include "targets/common/match/ContractionShape.h"

using namespace mlir;

namespace weft {

static bool hasShorts(Value tensor) {
  return cast<SymTensorType>(tensor.getType()).getElementType().isSignlessInteger(16);
}

Match<ByteContraction> ByteContraction::match(func::FuncOp spec) {
  Match<ContractOp> root = onlyRoot<ContractOp>(spec, kNoProduct);
  if (!root)
    return root.decline();
  ContractOp op = *root;
  if (!op.getAccumulate().isInteger(32))
    return Decline::otherKind("the product is not of integers summed in i32");
  auto a = dyn_cast<BlockArgument>(op.getLhs()), w = dyn_cast<BlockArgument>(op.getRhs());
  auto type = cast<SymTensorType>(op.getResult().getType());
  bool hasShortRows = a && hasShorts(a);
  if (!a || !(isByte(a) || hasShortRows))
    return Decline{"the rows are neither bytes nor signed numbers of 16 bits in memory"};
  if (!w || !spec.getArgAttr(w.getArgNumber(), kWeightAttr) || !isByte(w))
    return Decline{"the second matrix is no constant of bytes"};
  if (hasShortRows && isUnsigned(cast<SymTensorType>(w.getType()).getElementType()))
    return Decline{"rows of 16 bits meet unsigned bytes"};
  if (Decline why = unlessResultsHave(type, spec))
    return why;
  IterationRule rule = IterationRule::of(op);
  auto lhs = matrixFactors(rule.operand(0)), rhs = matrixFactors(rule.operand(1)),
       result = matrixFactors(rule.result(0));
  if (type.getRank() != 2 || rule.factors().size() != 3 || !lhs || !rhs || !result)
    return Decline{kNotTwoMatrices};
  auto [m, n] = *result;
  unsigned k = 3 - m - n;
  if (*lhs != std::pair(m, k))
    return Decline{kNotRows};
  auto kSize = rule.factors()[k].extent.asConstant(), nSize = rule.factors()[n].extent.asConstant();
  if (!kSize || !nSize || *kSize < 1 || *nSize < 1)
    return Decline{kNotConstant};
  return ByteContraction{op,     a.getArgNumber(), w.getArgNumber(), type.getDim(0),
                         *kSize, *nSize,           rhs->first == n,  hasShortRows};
}

} // namespace weft
