//===- Index.cpp - gather, gather_elements, gather_nd: types -----------------------------------===//

#include "dialects/weft/ops/Infer.h"

using namespace mlir;

namespace weft {

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= input.getRank())
    return emitOptionalError(location, "'weft.gather' has no axis ", axis, " in ", input);
  if (!indices.getElementType().isSignlessInteger(64) &&
      !indices.getElementType().isSignlessInteger(32))
    return emitOptionalError(location, "'weft.gather' indices must be i32 or i64, but are ",
                             indices.getElementType());
  SmallVector<Attribute> dims(input.getDimAttributes().take_front(axis));
  llvm::append_range(dims, indices.getDimAttributes());
  llvm::append_range(dims, input.getDimAttributes().drop_front(axis + 1));
  results.push_back(SymTensorType::get(context, dims, input.getElementType()));
  return success();
}

SmallVector<unsigned> GatherOp::positionDims() { return {unsigned(getAxis())}; }

//===-- gather_elements, gather_nd ---------------------------------------------------------------===//

static LogicalResult verifyIndices(StringRef name, std::optional<Location> location, Type element) {
  if (element.isSignlessInteger(64) || element.isSignlessInteger(32))
    return success();
  return emitOptionalError(location, "'weft.", name, "' indices must be i32 or i64, but are ",
                           element);
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                 Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t axis = adaptor.getAxis();
  if (input.getRank() != indices.getRank() || axis < 0 || axis >= int64_t(input.getRank())) // R1
    return refuseBeside(location, adaptor.getIndices(), "indices",
                        "'weft.gather_elements' has no axis ", axis, " in both ", input, " and ",
                        indices);
  if (failed(verifyIndices("gather_elements", location, indices.getElementType()))) // R2
    return failure();
  for (unsigned d = 0; d < input.getRank(); ++d) { // R3
    auto have = input.getDim(d).asConstant(), want = indices.getDim(d).asConstant();
    if (int64_t(d) != axis && have && want && *want > *have)
      return refuseBeside(location, adaptor.getIndices(), "indices",
                          "'weft.gather_elements': dimension ", d, " of the indices is ", *want,
                          ", but the operand's is ", *have);
  }
  results.push_back(indices.withElement(input.getElementType()));
  return success();
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto input = tensorType(adaptor.getInput()), indices = tensorType(adaptor.getIndices());
  int64_t batch = adaptor.getBatch(), rank = input.getRank(), picks = indices.getRank();
  auto tuple = picks > 0 ? indices.getDim(picks - 1).asConstant() : std::nullopt;
  if (!tuple || batch < 0 || batch >= picks || batch + *tuple > rank) // R1
    return emitOptionalError(location, "'weft.gather_nd' cannot index ", input, " after ", batch,
                             " batch dimensions with tuples of ", indices);
  if (failed(verifyIndices("gather_nd", location, indices.getElementType()))) // R2
    return failure();
  for (int64_t d = 0; d < batch; ++d) // R3
    if (input.getDim(d) != indices.getDim(d))
      return refuseBeside(location, adaptor.getIndices(), "indices",
                          "'weft.gather_nd': batch dimension ", d, " is '", input.getDim(d).str(),
                          "' and '", indices.getDim(d).str(), "'");
  SmallVector<Attribute> dims(indices.getDimAttributes().drop_back());
  llvm::append_range(dims, input.getDimAttributes().drop_front(batch + *tuple));
  results.push_back(SymTensorType::get(context, dims, input.getElementType()));
  return success();
}

SmallVector<unsigned> GatherElementsOp::positionDims() { return {unsigned(getAxis())}; }

SmallVector<unsigned> GatherNdOp::positionDims() {
  auto indices = tensorType(getIndices());
  int64_t tuple = *indices.getDim(indices.getRank() - 1).asConstant();
  return llvm::to_vector(llvm::seq<unsigned>(getBatch(), getBatch() + tuple));
}

//===-- How they are cut -------------------------------------------------------------------------===//

static std::string factorsOf(char prefix, unsigned begin, unsigned end) {
  std::string text;
  for (unsigned d = begin; d < end; ++d)
    text += prefix + std::to_string(d) + " ";
  return text;
}

std::string GatherOp::splitText() {
  unsigned rank = tensorType(getInput()).getRank(), axis = getAxis();
  std::string front = factorsOf('a', 0, axis), back = factorsOf('a', axis + 1, rank),
              at = factorsOf('i', 0, tensorType(getIndices()).getRank());
  return front + "n! " + back + ", " + at + "-> " + front + at + back;
}

/// Where the operand may be smaller, positions of other ranks may be clamped.
std::string GatherElementsOp::splitText() {
  SymTensorType input = tensorType(getInput()), indices = tensorType(getIndices());
  std::string text, all = factorsOf('a', 0, indices.getRank());
  for (unsigned d = 0; d < indices.getRank(); ++d)
    text +=
        (d != getAxis() && input.getDim(d) == indices.getDim(d) ? "a" + std::to_string(d)
                                                                : "n" + std::to_string(d) + "!") +
        " ";
  return text + ", " + all + "-> " + all;
}

} // namespace weft
