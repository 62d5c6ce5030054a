//===- Scatter.h - What scatters share with their reference semantics ---------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_SCATTER_H
#define WEFT_DIALECTS_WEFT_OPS_SCATTER_H

#include "dialects/weft/Weft.h"

namespace weft {

/// How an update combines with what is there; nothing for `set`.
std::optional<Combiner> combinerOf(ScatterKind kind);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_SCATTER_H
