//===- WidenedPanels.cpp - Panels of narrow weights as f32 in scratch --------------------------===//

#include "targets/cpu/schedules/tile/WidenedPanels.h"

using namespace mlir;

namespace weft {

/// Panels in order: what the last unit of one writes too much, the next overwrites.
void WidenedPanels::emit(KernelContext &c, Value from, int64_t distance, Value to,
                         Value panels) const {
  Type byte = c.b.getI8Type(), f32 = c.b.getF32Type();
  int64_t unit = weight.unit(), unitBytes = weight.unitBytes(columns), lanes = c.machine.lanes();
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  c.loop(number(0), panels, 1, [&](Value panel) {
    Value stored = elementPointer(c.b, from, byte, c.mul(panel, number(distance))),
          widened = elementPointer(c.b, to, byte, c.mul(panel, number(panelBytes())));
    c.loop(number(0), number(llvm::divideCeil(depth, unit)), 1, [&](Value nth) {
      Value units = elementPointer(c.b, stored, byte, c.mul(nth, number(unitBytes))),
            rows = elementPointer(c.b, widened, f32, c.mul(nth, number(unit * columns)));
      for (int64_t column = 0; column < columns; column += lanes) {
        Value here = elementPointer(c.b, units, byte, number(unitBytes / columns * column));
        for (auto [k, reals] : llvm::enumerate(weight.decode(c, here, Value())))
          c.b.create<LLVM::StoreOp>(
              reals, elementPointer(c.b, rows, f32, number(k * columns + column)), 4);
      }
    });
  });
}

} // namespace weft
