//===- Positions.cpp - Positions from data that are outside ------------------------------------===//

#include "dialects/weft/Weft.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace weft {
namespace {

std::string placeOf(int64_t flat, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0; flat /= dims[d])
    index[d] = flat % dims[d];
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!index.empty())
    llvm::interleaveComma(index, os << " at ["), os << "]";
  return text;
}

std::string rangeOf(int64_t position, int64_t size) {
  if (size == 0)
    return "an empty dimension";
  return (Twine(position < 0 ? -size : 0) + ".." + Twine(size - 1)).str();
}

} // namespace

std::string describeOutside(const RefTensor &positions, ArrayRef<int64_t> sizes) {
  for (auto [i, position] : llvm::enumerate(positions.integers)) {
    int64_t size = sizes[i % sizes.size()];
    if (position < -size || position >= size)
      return ("index " + Twine(position) + placeOf(i, positions.dims) + " is outside " +
              rangeOf(position, size))
          .str();
  }
  return "";
}

LogicalResult evaluateReference(Operation *op, ReferenceCall &call) {
  auto indexed = dyn_cast<PositionsOpInterface>(op);
  if (indexed && indexed.getOutside() == Outside::Refused &&
      call.inputs[1]->kind == Scalar::Integer) {
    SmallVector<int64_t> sizes;
    for (unsigned dim : indexed.positionDims())
      sizes.push_back(call.inputs[0]->dims[dim]);
    if (std::string why = sizes.empty() ? "" : describeOutside(*call.inputs[1], sizes);
        !why.empty())
      return call.fail(why);
  }
  return cast<ReferenceOpInterface>(op).evaluate(call);
}

} // namespace weft
