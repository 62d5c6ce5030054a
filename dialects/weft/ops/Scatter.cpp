//===- Scatter.cpp - scatter_elements, scatter_nd: types ---------------------------------------===//

#include "dialects/weft/ops/Scatter.h"
#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {
namespace {

LogicalResult verifyScatter(StringRef name, std::optional<Location> location, SymTensorType input,
                            Value indices, Value updates, ArrayRef<Attribute> updateDims) {
  Type position = elementOf(indices);
  if (!position.isSignlessInteger(64) && !position.isSignlessInteger(32)) // R2
    return emitOptionalError(location, "'weft.", name, "' indices must be i32 or i64, but are ",
                             position);
  auto wanted = SymTensorType::get(input.getContext(), updateDims, input.getElementType());
  if (updates.getType() != wanted) // R3
    return refuseBeside(location, indices, "indices", "'weft.", name, "' updates must be ", wanted,
                        ", but are ", updates.getType());
  return success();
}

} // namespace

std::optional<Combiner> combinerOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Set:
    return std::nullopt;
  case ScatterKind::Add:
    return Combiner::Sum;
  case ScatterKind::Mul:
    return Combiner::Prod;
  case ScatterKind::Max:
    return Combiner::Max;
  case ScatterKind::Min:
    return Combiner::Min;
  }
  llvm_unreachable("closed set of kinds");
}

//===-- scatter_elements -------------------------------------------------------------------------===//

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis(), rank = input.getRank();
  if (rank != int64_t(indices.getRank()) || axis < 0 || axis >= rank) // R1
    return emitOptionalError(location, "'weft.scatter_elements' has no axis ", axis, " in both ",
                             input, " and ", indices);
  results.push_back(input);
  return verifyScatter("scatter_elements", location, input, adaptor.getIndices(),
                       adaptor.getUpdates(), indices.getDimAttributes());
}

RootKind ScatterElementsOp::rootKind() { return RootKind::Serial; }

//===-- scatter_nd -------------------------------------------------------------------------------===//

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  unsigned rank = indices.getRank();
  auto tuple = rank > 0 ? indices.getDim(rank - 1).asConstant() : std::nullopt;
  if (!tuple || *tuple > int64_t(input.getRank())) // R1
    return emitOptionalError(location, "'weft.scatter_nd' cannot index ", input, " with tuples of ",
                             indices);
  SmallVector<Attribute> dims(indices.getDimAttributes().drop_back());
  llvm::append_range(dims, input.getDimAttributes().drop_front(*tuple));
  results.push_back(input);
  return verifyScatter("scatter_nd", location, input, adaptor.getIndices(), adaptor.getUpdates(),
                       dims);
}

RootKind ScatterNdOp::rootKind() { return RootKind::Serial; }

SmallVector<unsigned> ScatterElementsOp::positionDims() { return {unsigned(getAxis())}; }

SmallVector<unsigned> ScatterNdOp::positionDims() {
  auto indices = tensorType(getIndices());
  return llvm::to_vector(
      llvm::seq<unsigned>(0, *indices.getDim(indices.getRank() - 1).asConstant()));
}

} // namespace weft
