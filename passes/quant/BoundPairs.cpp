//===- BoundPairs.cpp - How many pairs of products of bytes fit 16 bits -----------------------------------===//
//
//   weft.contract %x, %w …        ->        weft.contract %x, %w … {weft.pair_sums = 2 : i64}
//
// Where bytes are multiplied in pairs whose sum saturates in 16 bits, this is the proof that none does, from the weight and for all rows:
//
//   the weight's columns, each in the order in which kernels sum it      [columns]
//     from wherever a group of kPairGroup may begin in it                [begins]
//       what is above 0 in the pairs of n groups makes 128 at most, and  [fits]
//       what is below -128 at least: 255 times that are numbers of 16 bits
//   the largest n for which all do
//
// Both signs are looked at alone, so rows with zeros fit, too, and so do fewer groups, as at the end of a row.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/PairSums.h"
#include "dialects/weft/interfaces/IterationRule.h"
#include "passes/quant/Passes.h"
#include "passes/quant/Simulation.h"
#include "passes/quant/WeightBytes.h"

#include <functional>
#include <numeric>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_BOUNDPAIRS
#include "passes/quant/Passes.h.inc"

namespace {

constexpr int64_t kMostOfSign = INT16_MAX / UINT8_MAX; ///< of weights that are summed

/// [columns] Column i begins at i / side * side * depth + i % side, element k of it lies k * side behind.
struct Columns {
  SmallVector<int8_t> bytes;
  int64_t depth, side; ///< elements of a column, and columns side by side
  int64_t step;        ///< groups begin at its multiples, or at any multiple of the pairs' groups
};

/// A weight as it is stored, and the sizes it has for the product.
struct Stored {
  ConstantOp constant;
  SmallVector<int64_t> sizes;
  SmallVector<bool> isSliced; ///< a product may read a part of that dimension
};

/// Behind slices, and behind reshapes before these.
std::optional<Stored> storedBehind(Value value) {
  value = outsideKernel(value);
  Stored stored;
  stored.isSliced.assign(cast<SymTensorType>(value.getType()).getRank(), false);
  while (auto slice = value.getDefiningOp<SliceOp>()) {
    auto whole = cast<SymTensorType>(slice.getInput().getType()),
         part = cast<SymTensorType>(value.getType());
    if (llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
      return std::nullopt;
    for (auto [sliced, all, some] :
         llvm::zip_equal(stored.isSliced, whole.getDims(), part.getDims()))
      sliced |= all != some;
    value = slice.getInput();
  }
  auto sizes = cast<SymTensorType>(value.getType()).getConstantDims();
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  stored.constant = value.getDefiningOp<ConstantOp>();
  if (!stored.constant || !sizes || llvm::is_contained(*sizes, 0))
    return std::nullopt;
  stored.sizes.assign(sizes->begin(), sizes->end());
  return stored;
}

int64_t productOf(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

/// The dimension of the weight over which a product of matrices is summed.
std::optional<unsigned> depthOf(ContractOp op) {
  IterationRule rule = IterationRule::of(op);
  SmallVector<unsigned> reduced = rule.reducedFactors();
  if (reduced.size() != 1)
    return std::nullopt;
  for (auto [dim, access] : llvm::enumerate(rule.operand(1)))
    if (access.kind == AccessKind::Point && access.factor() == reduced[0])
      return unsigned(dim);
  return std::nullopt;
}

/// What a product may be summed in.
bool sumsSignedWeights(Value row, Value weight, Type sum) {
  return sum.isInteger(32) && isByte(row) && isByte(weight) &&
         !isUnsigned(cast<SymTensorType>(weight.getType()).getElementType());
}

struct BoundPairsPass : impl::BoundPairsBase<BoundPairsPass> {
  void runOnOperation() override {
    // Where all choices are computed, those with small weights take the code of the others.
    if (isSimulation(getOperation()))
      return;
    getOperation().walk([&](ContractOp op) { note(op, columnsOf(op)); });
    getOperation().walk([&](ConvOp op) { note(op, columnsOf(op)); });
  }

  void note(Operation *op, const std::optional<Columns> &columns) {
    int64_t sums = columns ? pairSums(*columns) : 0;
    if (sums)
      op->setAttr(kPairSumsAttr, Builder(op->getContext()).getI64IntegerAttr(sums));
    else
      op->removeAttr(kPairSumsAttr); // who wrote it may be wrong
  }

  std::optional<Columns> columnsOf(ContractOp op) {
    if (!sumsSignedWeights(op.getLhs(), op.getRhs(), op.getAccumulate()))
      return std::nullopt;
    std::optional<Stored> stored = storedBehind(op.getRhs());
    std::optional<unsigned> dim = depthOf(op);
    auto bytes = stored && dim ? bytesOf(stored->constant, weight) : std::nullopt;
    if (!bytes)
      return std::nullopt;
    ArrayRef<int64_t> sizes(stored->sizes);
    // Where a part begins, another group does.
    return Columns{std::move(*bytes), sizes[*dim], productOf(sizes.drop_front(*dim + 1)),
                   stored->isSliced[*dim] ? 1 : 0};
  }

  std::optional<Columns> columnsOf(ConvOp op) {
    if (!sumsSignedWeights(op.getInput(), op.getFilter(), op.getAccumulate()) ||
        !op.getChannelsLast() || op.getGroups() != 1)
      return std::nullopt;
    std::optional<Stored> stored = storedBehind(op.getFilter());
    auto bytes = stored && !llvm::is_contained(ArrayRef(stored->isSliced).drop_front(), true)
                     ? bytesOf(stored->constant, weight)
                     : std::nullopt;
    if (!bytes)
      return std::nullopt;
    ArrayRef<int64_t> sizes(stored->sizes);
    int64_t channels = sizes[1], taps = productOf(sizes.drop_front(2));
    // All channels of a tap, then those of the next, in one run or in several.
    Columns columns{SmallVector<int8_t>(bytes->size()), channels * taps, 1, channels};
    for (int64_t filter = 0; filter < sizes[0]; ++filter)
      for (int64_t channel = 0; channel < channels; ++channel)
        for (int64_t tap = 0; tap < taps; ++tap)
          columns.bytes[(filter * taps + tap) * channels + channel] =
              (*bytes)[(filter * channels + channel) * taps + tap];
    return columns;
  }

  /// The most that fit in all columns; 0 where not even one pair does.
  static int64_t pairSums(const Columns &columns) {
    int64_t sums = kMostPairSums, all = int64_t(columns.bytes.size()) / columns.depth;
    SmallVector<int8_t> column(columns.depth);
    for (int64_t i = 0; i < all && sums; ++i) {
      int64_t first = i / columns.side * columns.side * columns.depth + i % columns.side;
      for (int64_t k = 0; k < columns.depth; ++k)
        column[k] = columns.bytes[first + k * columns.side];
      while (sums && !fits(column, sums, columns.step))
        sums /= 2;
    }
    return sums;
  }

  /// [begins] At multiples of `step`, and of the groups behind each.
  static bool fits(ArrayRef<int8_t> column, int64_t sums, int64_t step) {
    int64_t apart = std::gcd(step, sums * kPairGroup), size = int64_t(column.size());
    for (int64_t begin = 0; begin < size; begin += apart)
      for (int64_t pair : {begin, begin + 2})
        if (!fits(column, sums, pair, size))
          return false;
    return true;
  }

  /// [fits] One pair of each group.
  static bool fits(ArrayRef<int8_t> column, int64_t sums, int64_t pair, int64_t size) {
    int64_t above = 0, below = 0;
    for (int64_t group = 0; group < sums; ++group)
      for (int64_t k = pair + group * kPairGroup, end = std::min(k + 2, size); k < end; ++k)
        (column[k] > 0 ? above : below) += column[k];
    return above <= kMostOfSign && below >= -kMostOfSign;
  }

  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createBoundPairs(std::function<const char *(llvm::StringRef)> weight) {
  auto pass = std::make_unique<BoundPairsPass>();
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
