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
  return !sizes.empty() && sizes.back() * elementBytes(type.getElementType(), 8) % 8 == 0;
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

/// What ranks have of one dimension: the most of it, and the number of a rank's part. Nothing where not all begin at a multiple of the most.
std::optional<std::pair<int64_t, SymExpr>> countedParts(MeshAttr mesh, SymExpr size,
                                                        SymExpr start) {
  SmallVector<std::pair<int64_t, int64_t>> parts;
  int64_t most = 0;
  for (int64_t rank = 0; rank < mesh.getRanks(); ++rank) {
    SymValues here = rankValues(mesh, rank);
    FailureOr<int64_t> own = size.evaluate(here), begin = start.evaluate(here);
    if (failed(own) || failed(begin))
      return std::nullopt;
    parts.push_back({*begin, *own});
    most = std::max(most, *own);
  }
  bool areCounted = most > 0 && llvm::all_of(parts, [&](auto part) {
                      return part.second == 0 || part.first % most == 0;
                    });
  return areCounted ? std::optional(std::pair(most, SymExpr::floordiv(start, most))) : std::nullopt;
}

/// Whether parts of a row-major constant are lines that follow each other.
bool areNeighbours(ArrayRef<int64_t> dims, ArrayRef<int64_t> sizes) {
  size_t cut = 0;
  while (cut + 1 < dims.size() && dims[cut] == 1)
    ++cut;
  return dims.drop_front(cut + 1) == sizes.drop_front(cut + 1);
}

/// Whether what reads a value, or a reshape of it, are operators that kernels compute, or collectives if `areGiven`.
bool onlyKernelsRead(Value value, bool areGiven) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<ReshapeOp>(user))
      return onlyKernelsRead(user->getResult(0), areGiven);
    return isa<KernelOp, ElementOpInterface>(user) ||
           (areGiven && isa<CollectiveOpInterface>(user));
  });
}

/// The part where ranks have several sizes of it.
std::optional<ConstantPart> unequalPart(ConstantOp whole, SymTensorType type, Value value,
                                        ArrayRef<SymExpr> starts) {
  ConstantPart part{whole, type, {}, {}, /*differ=*/true};
  MeshAttr mesh = meshOf(whole);
  if (!mesh || !type.getConstantDims())
    return std::nullopt;
  for (auto [size, start] :
       llvm::zip_equal(cast<SymTensorType>(value.getType()).getDims(), starts)) {
    auto counted = countedParts(mesh, size, start);
    if (!counted)
      return std::nullopt;
    part.sizes.push_back(counted->first);
    part.at.push_back(counted->second);
  }
  bool areGiven = areNeighbours(*type.getConstantDims(), part.sizes);
  bool isPart = fillsBytes(type, part.sizes) && onlyKernelsRead(value, areGiven);
  return isPart ? std::optional(part) : std::nullopt;
}

} // namespace

std::optional<ConstantPart> constantPart(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return ConstantPart{constant, constant.getType(), {}, {}};
  if (!value.getDefiningOp<SliceOp>())
    return std::nullopt;
  Value part = value;
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
  if (!constant)
    return std::nullopt;
  return sizes ? partOf(constant, type, *sizes, starts) : unequalPart(constant, type, part, starts);
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
