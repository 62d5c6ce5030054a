//===- SplitPart.cpp - Operations on a rank's parts ---------------------------------------------------===//

#include "dialects/weft/Weft.h"

using namespace mlir;

namespace weft {

Operation *buildPart(Operation *op, OpBuilder &builder, ValueRange operands, TypeRange types) {
  Operation *part = builder.clone(*op);
  part->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(part->getResults(), types))
    result.setType(type);
  if (StringRef sizes = cast<SplitOpInterface>(op).sizesName(); !sizes.empty())
    part->setAttr(sizes, DimsAttr::get(op->getContext(), cast<SymTensorType>(types[0]).getDims()));
  SmallVector<Type> inferred;
  auto infer = dyn_cast<InferTypeOpInterface>(part);
  if (infer &&
      succeeded(infer.inferReturnTypes(op->getContext(), std::nullopt, part->getOperands(),
                                       part->getAttrDictionary(), part->getPropertiesStorage(),
                                       part->getRegions(), inferred)) &&
      TypeRange(inferred) == types)
    return part;
  part->erase();
  return nullptr;
}

} // namespace weft
