//===- ConstantParts.cpp ------------------------------------------------------------------------===//

#include "passes/kernel/ConstantParts.h"
#include "dialects/symbolic/Multiples.h"
#include "dialects/weft/ops/Collective.h"

using namespace mlir;

namespace weft {
namespace {

/// Whether ranks, and nothing else, have other values of it.
bool isOfRanks(SymExpr expr, ArrayRef<StringAttr> rankSymbols) {
  return llvm::all_of(expr.symbols(),
                      [&](StringAttr name) { return llvm::is_contained(rankSymbols, name); });
}

/// Lines of elements that do not fill bytes cannot be taken apart.
bool fillsBytes(SymTensorType type, ArrayRef<int64_t> sizes) {
  return !sizes.empty() && sizes.back() * elementBits(type.getElementType()) % 8 == 0;
}

/// The part of so many elements from `starts` on, where it is one of several of the same size.
std::optional<ConstantPart> partOf(ConstantOp whole, SymTensorType type, ArrayRef<int64_t> sizes,
                                   ArrayRef<SymExpr> starts) {
  ConstantPart part{whole, type, SmallVector<int64_t>(sizes), {}};
  MeshAttr mesh = meshOf(whole);
  auto dims = type.getConstantDims();
  if (!mesh || !dims || !fillsBytes(type, sizes))
    return std::nullopt;
  SmallVector<StringAttr> symbols = rankSymbols(mesh);
  for (auto [dim, size, start] : llvm::zip_equal(*dims, sizes, starts)) {
    if (size == 0 || dim % size != 0 || !isOfRanks(start, symbols))
      return std::nullopt;
    SymExpr at = exactQuotient(start, SymExpr::constant(whole.getContext(), size));
    if (!at)
      return std::nullopt;
    part.at.push_back(at);
  }
  bool isOne = llvm::all_of(part.at, [](SymExpr at) { return at.asConstant().has_value(); });
  return isOne ? std::nullopt : std::optional(part); // what all ranks read can be folded
}

} // namespace

std::optional<ConstantPart> constantPart(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return ConstantPart{constant, constant.getType(), {}, {}};
  if (!value.getDefiningOp<SliceOp>())
    return std::nullopt;
  auto sizes = cast<SymTensorType>(value.getType()).getConstantDims();
  SmallVector<SymExpr> starts(cast<SymTensorType>(value.getType()).getRank(),
                              SymExpr::constant(value.getContext(), 0));
  for (; auto slice = value.getDefiningOp<SliceOp>(); value = slice.getInput()) {
    if (llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
      return std::nullopt;
    for (auto [start, more] : llvm::zip_equal(starts, slice.getStarts().getDims()))
      start = start + more;
  }
  auto type = cast<SymTensorType>(value.getType());
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && sizes ? partOf(constant, type, *sizes, starts) : std::nullopt;
}

std::optional<ConstantPart> gatheredPart(Value value) {
  if (!gatheredFrom(value))
    return std::nullopt;
  Operation *gather = value.getDefiningOp();
  bool isOfKernels = llvm::all_of(value.getUsers(), [&](Operation *user) {
    return isa<KernelOp>(user) && user->getBlock() == gather->getBlock();
  });
  return isOfKernels ? constantPart(gather->getOperand(0)) : std::nullopt;
}

ConstantOp constantBehind(Value value) {
  while (true) {
    if (auto slice = value.getDefiningOp<SliceOp>())
      value = slice.getInput();
    else if (Value whole = gatheredFrom(value))
      value = whole;
    else
      return value.getDefiningOp<ConstantOp>();
  }
}

} // namespace weft
