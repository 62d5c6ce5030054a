//===- BoundNumbers.cpp - Which weights of bytes have numbers of few bits -------------------------===//
//
//   weft.dequantize_blocks %w, …      ->      weft.dequantize_blocks %w, … {weft.number_bits = 6 : i64}
//
// where the largest number of the constant behind %w, or behind slices and other shapes of it, is from 32 to 63; 5 where it is less.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/NumberBits.h"
#include "passes/quant/ConstantValues.h"
#include "passes/quant/Passes.h"
#include "passes/quant/Simulation.h"
#include "passes/quant/WeightBytes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_BOUNDNUMBERS
#include "passes/quant/Passes.h.inc"

namespace {

bool isUnsignedByte(Value value) {
  Type element = cast<SymTensorType>(value.getType()).getElementType();
  return elementBits(element) == 8 && isUnsigned(element) && !isFloat(element);
}

ConstantOp constantBehind(Value value) {
  value = outsideKernel(value);
  while (Operation *made = value.getDefiningOp()) {
    if (!isa<SliceOp, ReshapeOp>(made))
      return dyn_cast<ConstantOp>(made);
    value = made->getOperand(0);
  }
  return {};
}

struct BoundNumbersPass : impl::BoundNumbersBase<BoundNumbersPass> {
  void runOnOperation() override {
    getOperation().walk([&](DequantizeBlocksOp op) {
      op->removeAttr(kNumberBitsAttr); // who wrote it may be wrong
      if (std::optional<int64_t> bits = bitsOf(op.getInput()))
        op->setAttr(kNumberBitsAttr, Builder(op.getContext()).getI64IntegerAttr(*bits));
    });
  }

  /// Nothing where bytes are no wider.
  std::optional<int64_t> bitsOf(Value input) const {
    ConstantOp constant = isUnsignedByte(input) ? constantBehind(input) : ConstantOp();
    auto bytes = constant ? bytesOf(constant, weight) : std::nullopt;
    if (!bytes)
      return std::nullopt;
    unsigned all = 0; // bits that some number has
    for (int8_t byte : *bytes)
      all |= uint8_t(byte);
    int64_t bits = std::max<int64_t>(kFewestNumberBits, int64_t(llvm::bit_width(all)));
    return bits <= kMostNumberBits ? std::optional(bits) : std::nullopt;
  }

  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createBoundNumbers(std::function<const char *(llvm::StringRef)> weight) {
  auto pass = std::make_unique<BoundNumbersPass>();
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
