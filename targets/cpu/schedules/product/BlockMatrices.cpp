//===- BlockMatrices.cpp - The inner loops of products of matrices in blocks ------------------------------===//
//
//   rows rounded into scratch, in pairs                                     [place]
//   for block of k                                                          [add block]
//     sums = 0 or what zero points take away, in registers: integers, two
//            rows by two columns in four lanes
//     for eight k's; of 4 bits low halves, then high ones, of sixteen
//       for two columns in four lanes: bytes, once for all rows
//         for pair of rows: its sums += pair * columns                      [multiply]
//     totals += sums * scale * step, as many lanes each
//   totals of two rows are parted                                           [part rows]
//
// Of 4 bits two words of a column lie side by side: their low halves are eight k's of it, their high halves eight others. Rows lie in the
// same order.
//===------------------------------------------------------------------------------------------===//

#include "targets/cpu/schedules/product/BlockMatrices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cpu/schedules/tile/ByteMatrixTile.h"
#include "targets/cpu/schedules/tile/RoundedRows.h"

using namespace mlir;

namespace weft {
namespace {

constexpr int64_t kWords = 2; ///< of a column, side by side

/// Numbers of 4 bits are from 0 to 15, which signed bytes hold, too: one kind of product does for all.
constexpr ByteSigns kSigns{true, true};

int64_t unitOf(const PackedWeight &w) {
  return w.form == PackedWeight::Nibbles ? kWords * w.unit() : VectorMachine::kMatrixDepth;
}

} // namespace

bool BlockMatrices::takes(const PackedWeight &w, const VectorMachine &machine) {
  // Longer vectors would have every pair's bytes and steps several times, which took more instructions than products of single rows.
  bool isOneMatrix = int64_t(machine.lanes()) * 4 == kPairBytes;
  return machine.multipliesByteMatrices(kSigns) && isOneMatrix && w.numberBits == 8 &&
         w.block % (kWords * kGroup) == 0;
}

WeightLayout BlockMatrices::layout(const PackedWeight &w, WeightLayout::Order order,
                                   const VectorMachine &machine) {
  return w.form == PackedWeight::Nibbles
             ? WeightLayout::nibbles(tileColumns(machine), order, kWords)
             : WeightLayout::dots(tileColumns(machine), order, kGroup, 1);
}

int64_t BlockMatrices::bytesPerDepth(const PackedWeight &w, const VectorMachine &machine) {
  return w.form == PackedWeight::Nibbles ? tileColumns(machine) / 2 : tileColumns(machine);
}

int64_t BlockMatrices::shiftOf(const PackedWeight &w) {
  return w.form == PackedWeight::Bytes && isUnsigned(w.element) ? -128 : w.bias();
}

int64_t BlockMatrices::regionBytes(const PackedContraction &s) {
  return s.k / s.weight.block * blockBytes(s.weight);
}

/// Which four bytes of a block lie at a place: those that low halves of two words meet, then those of high halves.
int64_t BlockMatrices::fourOf(const PackedWeight &w, int64_t place) {
  if (w.form != PackedWeight::Nibbles)
    return place;
  int64_t sixteen = place / 4, isHigh = place / 2 % 2, word = place % 2;
  return 4 * sixteen + 2 * word + isHigh;
}

void BlockMatrices::place(KernelContext &c, const PackedContraction &s, Value region, Value first,
                          Value count, std::optional<int64_t> zero) {
  const PackedWeight &w = s.weight;
  auto number = [&](int64_t value) { return constantI64(c.b, value); };
  RoundedRows rounded(c, s.k, w.block);
  int64_t blocks = s.k / w.block, bytes = kPairs * w.block / kGroup * kPairBytes;
  Type byte = c.b.getI8Type();
  // [place] Of an odd number of rows the last has no partner: what stands in its place is multiplied, and used nowhere.
  c.loop(number(0), count, 1, [&](Value row) {
    Value pair = c.b.create<arith::DivUIOp>(row, number(2)),
          ofPair = c.b.create<arith::RemUIOp>(row, number(2));
    Value inRegion = c.add(c.mul(pair, number(kPairBytes)), c.mul(ofPair, number(kGroup)));
    Value there = elementPointer(c.b, region, byte, inRegion);
    c.loop(number(0), number(blocks), 1, [&](Value nth) {
      Value block = elementPointer(c.b, there, byte, c.mul(nth, number(blockBytes(w))));
      auto at = [&](int64_t offset) { return elementPointer(c.b, block, byte, number(offset)); };
      auto eightAt = [&](int64_t group) { return at(group * kPairs * kPairBytes); };
      auto fourAt = [&](int64_t place) { return fourOf(w, place); };
      Value from = c.add(c.mul(c.add(first, row), number(blocks)), nth);
      rounded.toPair(c.inputs[s.lhs], from,
                     {eightAt, fourAt, at(bytes), at(bytes + kPairs * kPairBytes), zero});
    });
  });
}

BlockMatrices::BlockMatrices(KernelContext &c, const PackedContraction &s, int64_t rows,
                             Value region, std::optional<int64_t> zero)
    : BlockTile(c, s, rows, kVectors * llvm::divideCeil(rows, 2),
                bytesPerDepth(s.weight, c.machine)),
      pairs(llvm::divideCeil(rows, 2)), zero(zero), region(region) {}

/// Of every pair of rows the steps (0) or corrections (1) of the block.
BlockMatrices::Values BlockMatrices::ofRows(int64_t kind, Type element) {
  Values found;
  int64_t behind = (w.block / kGroup + kind) * kPairs * kPairBytes;
  for (int64_t pair = 0; pair < pairs; ++pair)
    found.push_back(c.b.create<LLVM::LoadOp>(VectorType::get({4}, element),
                                             at(block, behind + pair * kPairBytes), 4));
  return found;
}

/// Of the columns of vector `v` of sums, two of the four in `columns`: these for a row, and again for the next.
Value BlockMatrices::twice(Value columns, int64_t v) {
  int64_t first = v % 2 * 2;
  return c.b.create<vector::ShuffleOp>(columns, columns,
                                       SmallVector<int64_t>{first, first + 1, first, first + 1});
}

/// [add block] A block's integers are exact; they become reals here.
BlockMatrices::Values BlockMatrices::addBlock(Value nth, ValueRange totals) {
  block = pointer(region, c.mul(nth, number(blockBytes(w))));
  Values sums, starts(pairs, bits(0));
  if (zero.value_or(0) != 0)
    starts = ofRows(1, c.b.getI32Type());
  for (Value start : starts)
    sums.append(kVectors, start);
  sums = sumBlock(nth, sums);
  Values steps = ofRows(0, f32()), corrections = w.zero ? ofRows(1, f32()) : Values(), next(totals);
  Value fourScales, fourZeros;
  for (int64_t v = 0; v < kVectors; ++v) {
    if (v % 2 == 0) { // four columns
      fourScales = scalesOf(nth, v / 2);
      if (w.zero)
        fourZeros = c.b.create<arith::MulFOp>(zerosOf(nth, v / 2, shiftOf(w)), fourScales);
    }
    Value scale = twice(fourScales, v), ofZero = w.zero ? twice(fourZeros, v) : Value();
    for (int64_t pair = 0; pair < pairs; ++pair) {
      Value &total = next[kVectors * pair + v];
      Value sum = c.b.create<arith::SIToFPOp>(reals(), sums[kVectors * pair + v]);
      sum = c.b.create<arith::MulFOp>(sum, scale);
      total = c.b.create<vector::FMAOp>(sum, steps[pair], total);
      if (w.zero)
        total = c.b.create<vector::FMAOp>(ofZero, corrections[pair], total);
    }
  }
  return next;
}

/// Eight bytes of each pair of rows.
BlockMatrices::Values BlockMatrices::pairsAt(Value bytes) {
  auto words = VectorType::get({4}, c.b.getI32Type());
  Values found;
  for (int64_t pair = 0; pair < pairs; ++pair)
    found.push_back(c.b.create<LLVM::LoadOp>(words, at(bytes, pair * kPairBytes), 4));
  return found;
}

/// [multiply] Vector `v` of all columns by as many bytes of each pair.
void BlockMatrices::multiply(ArrayRef<Value> ofPairs, Value ofTwo, int64_t v,
                             MutableArrayRef<Value> sums) {
  for (auto [pair, bytes] : llvm::enumerate(ofPairs)) {
    Value &sum = sums[kVectors * pair + v];
    sum = c.machine.addByteMatrices(c.b, sum, bytes, ofTwo, kSigns);
  }
}

/// The bytes of low halves (0) or high ones (1), or those that are stored, as signed numbers.
Value BlockMatrices::unpacked(Value words, int64_t half) {
  if (w.form != PackedWeight::Nibbles)
    return isUnsigned(w.element)
               ? Value(c.b.create<arith::XOrIOp>(words, bits(int64_t(0x80808080))))
               : words;
  if (half == 0)
    return c.b.create<arith::AndIOp>(words, bits(0x0f0f0f0f));
  // Shifted one by one, bytes need no mask.
  auto type = VectorType::get({4 * int64_t(c.machine.lanes())}, c.b.getI8Type());
  Value four = c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, Attribute(c.b.getI8IntegerAttr(4))));
  Value bytes = c.b.create<LLVM::BitcastOp>(type, words);
  return c.b.create<LLVM::BitcastOp>(words.getType(), c.b.create<arith::ShRUIOp>(bytes, four));
}

void BlockMatrices::multiplyAdd(Value k, Value ofBlock, int64_t depth,
                                MutableArrayRef<Value> sums) {
  int64_t unit = unitOf(w), perUnit = unit * perDepth, ofGroup = kPairs * kPairBytes;
  Value here = pointer(weights, c.mul(k, number(perDepth))),
        bytes = pointer(block, c.mul(ofBlock, number(ofGroup / kGroup)));
  for (int64_t u = 0; u < depth / unit; ++u) {
    Values loaded;
    for (int64_t v = 0; v < kVectors; ++v)
      loaded.push_back(c.b.create<LLVM::LoadOp>(
          integers(), at(here, u * perUnit + v * int64_t(c.machine.lanes()) * 4), 4));
    // Eight k's of all columns at a time: more would not stay in registers beside the sums.
    for (int64_t eight = 0; eight < unit / kGroup; ++eight) {
      Values ofPairs = pairsAt(at(bytes, (u * unit / kGroup + eight) * ofGroup));
      for (int64_t v = 0; v < kVectors; ++v)
        multiply(ofPairs, unpacked(loaded[v], eight), v, sums);
    }
  }
}

/// [part rows] As products of whole matrices are.
BlockMatrices::Values BlockMatrices::rowByRow(Values totals) {
  return ByteMatrixTile::partRows(c, totals, rows, kVectors / 2);
}

} // namespace weft
