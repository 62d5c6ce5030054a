//===- Window.h - What operators with windows share with their code ----------------------------===//
#ifndef WEFT_DIALECTS_WEFT_OPS_WINDOW_H
#define WEFT_DIALECTS_WEFT_OPS_WINDOW_H

#include "dialects/weft/Weft.h"

namespace weft {

/// Attributes of one window dimension, of whatever operator.
struct Window {
  int64_t stride, dilation;
  SymExpr low, high;
};

/// The windows of a verified operation.
template <typename Op> llvm::SmallVector<Window> windowsOf(Op op) {
  llvm::SmallVector<Window> windows;
  for (size_t d = 0; d < op.getStrides().size(); ++d)
    windows.push_back({op.getStrides()[d], op.getDilations()[d], op.getLow()[d], op.getHigh()[d]});
  return windows;
}

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_OPS_WINDOW_H
