//===- Gathered.h - Weights of which ranks have parts that are gathered before use ----------------------===//
//
//   parsePlacement(context, "[dp*, tp]")      // read in parts along dp, used whole; used in parts along tp
//
// The star is part of the axis' name in a placement, so who asks for axes along which a value is split finds none there.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_WEFT_GATHERED_H
#define WEFT_DIALECTS_WEFT_GATHERED_H

#include "dialects/weft/Weft.h"

namespace weft {

/// An axis with a star.
mlir::StringAttr gatheredAxis(mlir::StringAttr axis);
/// The dimension of which parts along an axis are gathered before use.
std::optional<unsigned> gatheredDim(PlacementAttr placement, mlir::StringAttr axis);
/// Whether any axis has a star.
bool isGathered(PlacementAttr placement);
/// Whether it is a weight of which ranks can gather parts.
bool canGather(mlir::Value value);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_GATHERED_H
