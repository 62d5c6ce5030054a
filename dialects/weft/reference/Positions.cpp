//===- Positions.cpp - Positions from data that are outside ------------------------------------===//

#include "dialects/weft/Weft.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft {

std::string OutsidePosition::text() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "index " << position;
  if (!index.empty())
    llvm::interleaveComma(index, os << " at ["), os << "]";
  os << " is outside ";
  if (size == 0)
    os << "an empty dimension";
  else
    os << (position < 0 ? -size : 0) << ".." << size - 1;
  return text;
}

static SmallVector<int64_t, 4> indexOf(int64_t flat, ArrayRef<int64_t> dims) {
  SmallVector<int64_t, 4> index(dims.size());
  for (size_t d = dims.size(); d-- > 0; flat /= dims[d])
    index[d] = flat % dims[d];
  return index;
}

std::optional<OutsidePosition> findOutside(const RefTensor &positions, ArrayRef<int64_t> sizes) {
  if (sizes.empty())
    return std::nullopt;
  for (auto [i, position] : llvm::enumerate(positions.integers)) {
    int64_t size = sizes[i % sizes.size()];
    if (position < -size || position >= size)
      return OutsidePosition{position, size, indexOf(i, positions.dims)};
  }
  return std::nullopt;
}

LogicalResult evaluateReference(Operation *op, ReferenceCall &call) {
  auto indexed = dyn_cast<PositionsOpInterface>(op);
  if (indexed && indexed.getOutside() == Outside::Refused &&
      call.inputs[1]->kind == Scalar::Integer) {
    SmallVector<int64_t> sizes;
    for (unsigned dim : indexed.positionDims())
      sizes.push_back(call.inputs[0]->dims[dim]);
    if (std::optional<OutsidePosition> outside = findOutside(*call.inputs[1], sizes))
      return call.fail(outside->text());
  }
  return cast<ReferenceOpInterface>(op).evaluate(call);
}

} // namespace weft
