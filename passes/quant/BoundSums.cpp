//===- BoundSums.cpp - How large the sums of integer convolutions can get -------------------------------===//
//
//   weft.conv %x, %f …        ->        weft.conv %x, %f … {weft.narrow_sums}
//
// where no element of %x, whatever it is, makes a sum that takes more than kNarrowSumBits. Schedules see types, not the bytes of a filter;
// what they may compute modulo a power of two depends on these. One word rather than a number: kernels that are alike stay alike.
//===------------------------------------------------------------------------------------------===//

#include "passes/quant/Passes.h"
#include "passes/quant/WeightBytes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_BOUNDSUMS
#include "passes/quant/Passes.h.inc"

namespace {

/// All filters that a rank reads some of, or all of them in part.
struct Filters {
  ConstantOp bytes;
  SymTensorType type;
};

/// What a value that enters a kernel is outside, behind reshapes and slices. With fewer channels a filter's sums are smaller: what is true of
/// all of it is true of a rank's part.
Filters filtersBehind(Value value) {
  value = outsideKernel(value);
  auto type = cast<SymTensorType>(value.getType());
  for (;;)
    if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      value = reshape.getInput();
    } else if (auto slice = value.getDefiningOp<SliceOp>()) {
      if (slice.getType().getRank() == 0 || slice.getType().getDim(0) != type.getDim(0))
        return {}; // what is sliced are no filters
      value = slice.getInput();
      type = cast<SymTensorType>(value.getType());
    } else {
      return {value.getDefiningOp<ConstantOp>(), type};
    }
}

struct BoundSumsPass : impl::BoundSumsBase<BoundSumsPass> {
  void runOnOperation() override {
    getOperation().walk([&](ConvOp op) {
      if (isNarrow(op))
        op->setAttr(kNarrowSumsAttr, UnitAttr::get(op.getContext()));
      else
        op->removeAttr(kNarrowSumsAttr); // who wrote it may be wrong
    });
  }

  /// Products with every element from `low` to `high` of the operand's type stay in range, filter by filter.
  bool isNarrow(ConvOp op) {
    if (!op.getAccumulate().isInteger(32) || !isByte(op.getInput()) || !isByte(op.getFilter()))
      return false;
    auto [constant, type] = filtersBehind(op.getFilter());
    std::optional<SmallVector<int64_t>> sizes = type.getConstantDims();
    std::optional<SmallVector<int8_t>> taps =
        constant && sizes ? bytesOf(constant, weight) : std::nullopt;
    if (!taps || taps->empty())
      return false;
    Type element = cast<SymTensorType>(op.getInput().getType()).getElementType();
    int64_t low = isUnsigned(element) ? 0 : INT8_MIN,
            high = isUnsigned(element) ? UINT8_MAX : INT8_MAX;
    size_t ofFilter = taps->size() / (*sizes)[0];
    for (ArrayRef<int8_t> rest(*taps); !rest.empty(); rest = rest.drop_front(ofFilter)) {
      int64_t least = 0, most = 0;
      for (int8_t tap : rest.take_front(ofFilter)) {
        int64_t weight = isUnsigned(type.getElementType()) ? uint8_t(tap) : tap;
        least += std::min(weight * low, weight * high);
        most += std::max(weight * low, weight * high);
      }
      if (!llvm::isInt<kNarrowSumBits>(least) || !llvm::isInt<kNarrowSumBits>(most))
        return false;
    }
    return true;
  }

  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createBoundSums(std::function<const char *(llvm::StringRef)> weight) {
  auto pass = std::make_unique<BoundSumsPass>();
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
