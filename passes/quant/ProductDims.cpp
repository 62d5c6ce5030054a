//===- ProductDims.cpp ------------------------------------------------------------------------===//

#include "passes/quant/ProductDims.h"

using namespace mlir;

namespace weft {

/// Whether the left operand's other dimensions are the result's leading ones, in order.
static bool rowsLead(const IterationRule &rule, ArrayRef<int64_t> summed) {
  SmallVector<unsigned> kept;
  for (auto [d, access] : llvm::enumerate(rule.operand(0)))
    if (!llvm::is_contained(summed, int64_t(d)))
      kept.push_back(access.factor());
  ArrayRef<Access> result = rule.result(0).drop_back();
  return kept.size() == result.size() && llvm::all_of(llvm::zip(kept, result), [](auto pair) {
           return std::get<0>(pair) == std::get<1>(pair).factor();
         });
}

std::optional<ProductDims> productDims(ContractOp op) {
  IterationRule rule = IterationRule::of(op);
  if (!op.getAccumulate().isF32() || cast<SymTensorType>(op.getResult().getType()).getRank() == 0)
    return std::nullopt;
  auto points = [](ArrayRef<Access> accesses) {
    return llvm::all_of(accesses, [](const Access &a) { return a.kind == AccessKind::Point; });
  };
  if (!points(rule.operand(0)) || !points(rule.operand(1)) || !points(rule.result(0)))
    return std::nullopt;
  unsigned n = rule.result(0).back().factor();
  ProductDims dims{~0u, {}, false};
  for (auto [d, access] : llvm::enumerate(rule.operand(1)))
    if (access.factor() == n)
      dims.column = d;
    else if (!rule.factors()[access.factor()].reduced)
      return std::nullopt;
  for (auto [d, access] : llvm::enumerate(rule.operand(0)))
    if (access.factor() == n)
      return std::nullopt;
    else if (rule.factors()[access.factor()].reduced)
      dims.summed.push_back(d);
  if (dims.column == ~0u || dims.summed.size() + 1 != rule.operand(1).size())
    return std::nullopt;
  dims.rowsLead = rowsLead(rule, dims.summed);
  return dims;
}

} // namespace weft
