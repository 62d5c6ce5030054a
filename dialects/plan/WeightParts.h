//===- WeightParts.h - Where parts of a weight lie in the packed whole ------------------------------===//
//
//   partDistances(*WeightLayout::parse("panels_t<16>"), whole, {96, 384})      // of [384, 384] f32: {147456, 0}
//   layoutInWhole(WeightLayout::panels(16, WeightLayout::WidthByDepth), whole, part).str()      // "panels_t<16 of 1536>"
//
// A file for several meshes cuts a weight in several ways. Where every part is a range of the packed whole, or ranges at one distance, the
// whole is all that is stored.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_PLAN_WEIGHTPARTS_H
#define WEFT_DIALECTS_PLAN_WEIGHTPARTS_H

#include "dialects/plan/WeightLayout.h"
#include "dialects/weft/Weft.h"

namespace weft {

/// Bytes of a panel: of all that is stored of so many columns side by side.
int64_t panelBytes(const WeightLayout &layout, SymTensorType type);

/// Bytes from one part of these sizes to the next, along every dimension of the packed whole; 0 where it is not cut. Nothing where parts are
/// no ranges of it, nor ranges at the distance of its panels.
std::optional<llvm::SmallVector<int64_t>>
partDistances(const WeightLayout &layout, SymTensorType whole, llvm::ArrayRef<int64_t> sizes);

/// Whether equal parts along a dimension, each packed, are the packed whole when they lie behind each other, in as many bytes as it has elements.
bool partsAreWhole(const WeightLayout &layout, SymTensorType whole, unsigned dim, int64_t ranks);

/// How a part lies in the panels of the whole, where it is rows of them; else `layout`, which is how it lies by itself. Of parts whose sizes are
/// symbols, partDistances() of the largest says whether they can lie there.
WeightLayout layoutInWhole(WeightLayout layout, SymTensorType whole, SymTensorType part);

} // namespace weft

#endif // WEFT_DIALECTS_PLAN_WEIGHTPARTS_H
