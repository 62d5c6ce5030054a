//===- IntegerDot.h - Sums of products of bytes, a group of them per lane and instruction ---------------===//
//
//   IntegerDot dot(machine, product);                                // a weft.contract or weft.conv of bytes
//   sum = dot.multiplyAdd(c, sum, dot.shift(c, groups), dot.loadWeights(c, panel, offset));
//
// By the first of these that the processor has for the signs:
//
//   four products of bytes, summed in 32 bits
//   pairs of products of bytes, which saturate in 16 bits: where the weight was proven so small that none does (PairSums.h). A group is two
//       pairs, and the pairs of as many groups as were proven to fit are summed in 16 bits before they are widened:
//         sum += (pairs(x0, w0) + pairs(x1, w1)) * [1, 1]            3 multiplications for 8 products in each lane, not 4
//   pairs of 16-bit numbers
//
// Activations are multiplied with the other sign where the processor has no other products: what that adds or takes away, 128 times the sum
// of a column's weights, is packed behind each panel, and sums begin with it.
//===------------------------------------------------------------------------------------------===//
#ifndef WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERDOT_H
#define WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERDOT_H

#include "targets/cpu/Schedule.h"

namespace weft {

class IntegerDot {
public:
  /// Activations may be numbers of 16 bits.
  IntegerDot(const VectorMachine &machine, mlir::Operation *product);
  /// Of activations and weights in memory.
  static ByteSigns signsOf(mlir::Value activations, mlir::Value weights);
  /// Of activations and weights that both are numbers of 16 bits in memory.
  static IntegerDot ofPairs() { return IntegerDot(); }

  Unit unit() const {
    return !four ? Unit::ShortPairs : pairSums ? Unit::BytePairs : Unit::ByteQuads;
  }
  /// Products per lane and instruction.
  int64_t group() const { return four ? 4 : 2; }
  /// Groups that are best added to a sum at once.
  int64_t atOnce() const { return std::max<int64_t>(1, pairSums); }
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
  /// Whether activations are 128 too small or too large as they are multiplied.
  bool isShifted() const { return shifted; }
  /// Bytes behind the products of a panel: what a sum of each column begins with.
  int64_t shiftBytes(int64_t columns) const { return shifted ? 4 * columns : 0; }
  /// A vector of these.
  mlir::Value loadShift(KernelContext &c, mlir::Value panel, int64_t offset) const;
  /// Of one group or of several, at most atOnce().
  mlir::Value multiplyAdd(KernelContext &c, mlir::Value sum, mlir::ValueRange activations,
                          mlir::ValueRange weights) const;
  /// Bytes of a tensor as 16-bit numbers, which may be such already.
  mlir::Value widen(KernelContext &c, mlir::Value bytes, mlir::Value tensor) const;
  /// Copies `count` elements from the kth at `from` on as 16-bit numbers to `to`.
  void widen(KernelContext &c, mlir::Value from, mlir::Value to, mlir::Value k, int64_t count,
             mlir::Value tensor) const;

private:
  IntegerDot() : signs{true, true}, shifted(0), pairSums(0), four(false), wideWeights(true) {}
  bool takes(const VectorMachine &machine, ByteSigns multiplied, int64_t proven);
  mlir::VectorType lanes32(KernelContext &c) const;
  mlir::VectorType lanes16(KernelContext &c) const;
  ByteSigns signs;  ///< as activations and weights are multiplied
  int64_t shifted;  ///< by how much activations are too small
  int64_t pairSums; ///< groups whose pairs are summed in 16 bits; 0: none is
  bool four, wideWeights;
};

} // namespace weft

#endif // WEFT_TARGETS_CPU_SCHEDULES_TILE_INTEGERDOT_H
