//===- Rounding.cpp - Reference semantics of round_blocks --------------------------------------===//

#include "dialects/weft/ops/Rounding.h"
#include <cmath>

using namespace mlir;

namespace weft {

LogicalResult RoundBlocksOp::evaluate(ReferenceCall &call) {
  const RefTensor &in = *call.inputs[0];
  RefTensor &out = call.outputs.emplace_back(in.element, in.dims);
  int64_t width = in.dims.back(), length = getBlock();
  for (int64_t line = 0; width > 0 && line < in.size(); line += width)
    for (int64_t first = 0; first < width; first += length) {
      int64_t begin = line + first, end = line + std::min(width, first + length);
      double largest = 0;
      for (int64_t i = begin; i < end; ++i)
        if (double size = std::fabs(in.reals[i]); size > largest || std::isnan(size))
          largest = size;
      double step = float(largest / 127), inverse = float(127 / largest);
      if (std::isinf(inverse))
        inverse = 0;
      for (int64_t i = begin; i < end; ++i)
        out.reals[i] = std::nearbyint(in.reals[i] * inverse) * step;
    }
  return success();
}

} // namespace weft
