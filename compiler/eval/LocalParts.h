//===- LocalParts.h - Inputs and outputs of which every rank has its own part -----------------===//
//
//   auto own = cutPart(whole, sizesByRank, {mesh, localArgument(function, i)}, rank);
//   auto whole = joinParts(partsByRank, {mesh, localResult(function, i)}, differing);
//
// Where a part begins follows from the sizes of those in front of it, so it may be cut in any way.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_EVAL_LOCALPARTS_H
#define WEFT_COMPILER_EVAL_LOCALPARTS_H

#include "compiler/eval/CallSymbols.h"
#include "dialects/weft/Mesh.h"

namespace weft {

/// How ranks have parts of a tensor.
struct Division {
  MeshAttr mesh;
  PlacementAttr placement;
};

/// Of a part of this type, by rank. `symbols`: those of all ranks.
llvm::Expected<std::vector<DimValues>> sizesOfParts(mlir::Type part,
                                                    llvm::ArrayRef<SymValues> symbols);

/// A text may say of parts that they are more than the whole.
llvm::Expected<RefTensor> cutPart(const RefTensor &whole, llvm::ArrayRef<DimValues> sizes,
                                  Division division, unsigned rank);
/// Ranks that have the same part must have the same elements; else `differing` is one of them.
RefTensor joinParts(llvm::ArrayRef<const RefTensor *> parts, Division division,
                    std::optional<unsigned> &differing);

/// The same bits: a nan equals itself. Where the first other one is.
std::optional<int64_t> firstDifference(const RefTensor &a, const RefTensor &b);

} // namespace weft

#endif // WEFT_COMPILER_EVAL_LOCALPARTS_H
