//===- WidenedPanels.cpp - Panels of narrow weights as f32 in scratch --------------------------===//

#include "targets/cpu/schedules/tile/WidenedPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

/// Panels in order: what the last unit of one writes too much, the next overwrites.
void WidenedPanels::emit(KernelContext &c, Value from, int64_t distance, Value to,
                         Value panels) const {
  Type byte = c.b.getI8Type();
  c.loop(constantI64(c.b, 0), panels, 1, [&](Value panel) {
    auto at = [&](Value base, int64_t bytes) {
      return elementPointer(c.b, base, byte, c.mul(panel, constantI64(c.b, bytes)));
    };
    emitUnits(c, at(from, distance), at(to, panelBytes()), llvm::divideCeil(depth, weight.unit()));
  });
}

void WidenedPanels::emitUnits(KernelContext &c, Value from, Value to, int64_t units,
                              ArrayRef<Value> zeros, ArrayRef<Value> scales) const {
  Type byte = c.b.getI8Type(), f32 = c.b.getF32Type();
  int64_t unit = weight.unit(), unitBytes = weight.unitBytes(columns), lanes = c.machine.lanes();
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  c.loop(number(0), number(units), 1, [&](Value nth) {
    Value stored = elementPointer(c.b, from, byte, c.mul(nth, number(unitBytes))),
          rows = elementPointer(c.b, to, f32, c.mul(nth, number(unit * columns)));
    for (int64_t column = 0; column < columns; column += lanes) {
      Value here = elementPointer(c.b, stored, byte, number(unitBytes / columns * column)),
            zero = zeros.empty() ? Value() : zeros[column / lanes];
      for (auto [k, decoded] : llvm::enumerate(weight.decode(c, here, zero))) {
        Value reals = decoded;
        if (!scales.empty())
          reals = c.b.create<arith::MulFOp>(reals, scales[column / lanes]);
        c.b.create<LLVM::StoreOp>(reals,
                                  elementPointer(c.b, rows, f32, number(k * columns + column)), 4);
      }
    }
  });
}

} // namespace weft
