//===- ContractionForm.cpp - How rows and a packed weight are multiplied -----------------------------===//

#include "targets/cpu/schedules/product/ContractionForm.h"
#include "dialects/plan/WeightParts.h"
#include "dialects/weft/WeightArguments.h"
#include "targets/cpu/schedules/tile/PanelBlocks.h"

using namespace mlir;

namespace weft {
namespace {

/// Chunks of floats in one of pairs: their rounding to 8 bits hides that of a sum of 768.
constexpr int64_t kChunksOfPairs = 8;
/// From which the first leaves its panels as f32, which have to reach the second-level cache then: halves and what is looked up are widened
/// nearly as fast as f32 are loaded, other numbers of 4 bits need several instructions.
constexpr int64_t kTilesToLeave = 8, kTilesToLeaveNibbles = 2;
constexpr int64_t kRowsToWiden = 3; ///< with one chain of sums

/// How the matrix in such an argument lies: in the panels of the whole that it is a part of, where
/// it can.
WeightLayout layoutOf(func::FuncOp spec, unsigned argument, const WeightLayout &layout) {
  auto whole = spec.getArgAttrOfType<TypeAttr>(argument, kPartOfAttr);
  auto type = cast<SymTensorType>(spec.getArgument(argument).getType());
  return whole ? layoutInWhole(layout, cast<SymTensorType>(whole.getValue()), type) : layout;
}

} // namespace

ContractionForm ContractionForm::of(func::FuncOp spec, const VectorMachine &machine) {
  PackedContraction s = *PackedContraction::matchParts(spec);
  bool pairs = s.element.isBF16() && s.weight.form == PackedWeight::Halves &&
               s.weight.element.isBF16() && s.mostK % 2 == 0 && machine.addsHalfProducts();
  bool isNarrow = s.weight.form != PackedWeight::Words && !pairs;
  int64_t vectors = isNarrow ? 2 : panelVectors(s.mostN, machine);
  return {s, pairs, vectors, vectors * machine.lanes()};
}

SmallVector<WeightLayout> ContractionForm::layouts(func::FuncOp spec) const {
  SmallVector<WeightLayout> result(spec.getNumArguments());
  result[weight.data] = weight.layout(order(), columns);
  weight.placeScales(order(), columns, result);
  for (auto [i, layout] : llvm::enumerate(result))
    layout = layoutOf(spec, i, layout);
  return result;
}

int64_t ContractionForm::storedDepth(func::FuncOp spec, unsigned argument) const {
  auto type = cast<SymTensorType>(spec.getArgument(argument).getType());
  int64_t depth = layouts(spec)[argument].depth;
  return depth ? depth : *type.getDim(transposed ? 1 : 0).asConstant();
}

int64_t ContractionForm::panelDistance(func::FuncOp spec) const {
  int64_t depth = layouts(spec)[weight.data].depth;
  return weight.panelBytes(depth ? depth : k, columns);
}

int64_t ContractionForm::chunk() const {
  return scaledChunk ? scaledChunk : weight.chunk() * (pairs ? kChunksOfPairs : 1);
}

int64_t ContractionForm::rowStride() const {
  bool meet = k * 4 % kPageBytes == 0;
  return laysRows() && !roundedBlock && meet ? k + kLineBytes / 4 : k;
}

bool ContractionForm::mayLayAhead(const VectorMachine &machine) const {
  return machine.convertsBeside() && weight.form == PackedWeight::Halves && widens() &&
         laysRows() && !roundedBlock && k >= int64_t(machine.lanes());
}

bool ContractionForm::widens() const {
  bool isNarrow = weight.form == PackedWeight::Halves || weight.form == PackedWeight::Nibbles;
  return isNarrow && !pairs && k;
}

bool ContractionForm::isDecoded(const VectorMachine &machine) const {
  auto reals = VectorType::get({machine.lanes()}, Float32Type::get(weight.element.getContext()));
  return weight.form == PackedWeight::Nibbles && !machine.looksUp(reals);
}

bool ContractionForm::widensFirst(const VectorMachine &machine, int64_t rows) const {
  return isDecoded(machine) && k && rows >= kRowsToWiden;
}

int64_t ContractionForm::tilesToLeave(const VectorMachine &machine, int64_t mostRows) const {
  if (!isDecoded(machine))
    return widens() ? kTilesToLeave : 0;
  if (mostRows <= kRowsToWiden)
    return 0;
  int64_t tiles = kTilesToLeaveNibbles;
  while (PanelBlocks::fewestRows(tiles, mostRows) < kRowsToWiden)
    ++tiles;
  return tiles;
}

ContractionForm ContractionForm::asWidened(const VectorMachine &machine) const {
  ContractionForm s = *this;
  if (isDecoded(machine)) {
    s.scaledChunk = std::max(weight.chunk(), kSumChunk / weight.block * weight.block);
    s.weight.block = 0;
  }
  s.weight.form = PackedWeight::Words;
  s.weight.zero.reset();
  return s;
}

} // namespace weft
