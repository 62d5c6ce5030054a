//===- IntegerDot.h - Sums of products of bytes, a group of them per lane and instruction ---------------===//
//
// With a processor's four-byte products where the signs allow, else with pairs of 16-bit numbers:
//
//   IntegerDot dot(machine, activations, weights);           // values of the specification
//   sum = dot.multiplyAdd(c, sum, dot.shift(c, groups), dot.loadWeights(c, panel, offset));
//
// Unsigned activations are multiplied as signed ones where the processor has no other products: what that takes away, 128 times the sum of a
// column's weights, is packed behind each panel, and sums begin with it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERDOT_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERDOT_H

#include "targets/cpu/Schedule.h"

namespace weft {

class IntegerDot {
public:
  IntegerDot(const VectorMachine &machine, mlir::Value activations, mlir::Value weights);
  /// Of activations and weights in memory.
  static ByteSigns signsOf(mlir::Value activations, mlir::Value weights);
  /// Of activations and weights that both are numbers of 16 bits in memory.
  static IntegerDot ofPairs() { return IntegerDot(); }

  Unit unit() const { return four ? Unit::ByteQuads : Unit::ShortPairs; }
  /// Products per lane and instruction.
  int64_t group() const { return four ? 4 : 2; }
  /// Bytes of a group of weights.
  int64_t weightBytes() const { return wideWeights ? 4 : group(); }
  /// Whether activations are multiplied as 16-bit numbers.
  bool widens() const { return !four; }
  /// How weights lie of which `taps` are summed in one run.
  WeightLayout layout(WeightLayout::Order order, int64_t columns, int64_t taps) const;

  mlir::Value zero(KernelContext &c) const;
  /// A vector of groups of weights at a byte offset.
  mlir::Value loadWeights(KernelContext &c, mlir::Value panel, int64_t offset) const;
  /// Groups of activations, each an i32, as they are multiplied.
  mlir::Value shift(KernelContext &c, mlir::Value groups) const;
  mlir::Value shiftByte(KernelContext &c, mlir::Value byte) const;
  /// Whether activations are 128 too small as they are multiplied.
  bool isShifted() const { return shifted; }
  /// Bytes behind the products of a panel: what a sum of each column begins with.
  int64_t shiftBytes(int64_t columns) const { return shifted ? 4 * columns : 0; }
  /// A vector of these.
  mlir::Value loadShift(KernelContext &c, mlir::Value panel, int64_t offset) const;
  mlir::Value multiplyAdd(KernelContext &c, mlir::Value sum, mlir::Value activations,
                          mlir::Value weights) const;
  /// Bytes of a tensor as 16-bit numbers.
  mlir::Value widen(KernelContext &c, mlir::Value bytes, mlir::Value tensor) const;
  /// Copies `count` bytes at `from + k` as 16-bit numbers to `to + 2 * k`.
  void widen(KernelContext &c, mlir::Value from, mlir::Value to, mlir::Value k, int64_t count,
             mlir::Value tensor) const;

private:
  IntegerDot() : signs{true, true}, shifted(false), four(false), wideWeights(true) {}
  mlir::VectorType lanes32(KernelContext &c) const;
  mlir::VectorType lanes16(KernelContext &c) const;
  ByteSigns signs; ///< as activations and weights are multiplied
  bool shifted, four, wideWeights;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERDOT_H
