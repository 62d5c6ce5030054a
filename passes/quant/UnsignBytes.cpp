//===- UnsignBytes.cpp - Signed bytes that products read become unsigned ones ----------------------===//
//
//   %q = quantize %x, %s, %z : i8           ->        %q = quantize %x, %s, %z + 128 : ui8
//   %a = dequantize %q, %s, %z                        %a = dequantize %q, %s, %z + 128
//
// Some processors multiply four bytes at once only where one is unsigned. The integers stand for the same reals. All that are moved and put
// together with them, and all that restore them, change at once; where anything else reads one of them, none does.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Resize.h"
#include "passes/quant/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_UNSIGNBYTES
#include "passes/quant/Passes.h.inc"

namespace {

constexpr int32_t kHalf = 128; ///< of what a byte has

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

bool isSignedByte(Value value) { return typeOf(value).getElementType().isSignlessInteger(8); }

/// Whether bytes stay what they are, and their order counts at the most.
bool keepsBytes(Operation *op) {
  auto pool = dyn_cast<PoolOp>(op);
  return movesElements(op) || isa<ConcatOp>(op) || (pool && pool.getKind() == PoolKind::Max);
}

/// Whether a product takes what is restored as its rows.
bool isReadByProduct(DequantizeOp restored) {
  return llvm::any_of(restored->getUses(), [](OpOperand &use) {
    auto conv = dyn_cast<ConvOp>(use.getOwner());
    return use.getOperandNumber() == 0 &&
           (isa<ContractOp>(use.getOwner()) || (conv && conv.getGroups() == 1));
  });
}

/// Values that become unsigned together.
struct Together {
  llvm::SetVector<Value> values;
  SmallVector<QuantizeOp> makers;
  SmallVector<DequantizeOp> readers;

  /// Nothing where something else makes or reads one of them, or no product reads any.
  static std::optional<Together> of(QuantizeOp first) {
    Together all;
    all.values.insert(first.getResult());
    for (size_t i = 0; i < all.values.size(); ++i)
      if (!all.add(all.values[i]))
        return std::nullopt;
    if (llvm::none_of(all.readers, isReadByProduct))
      return std::nullopt;
    return all;
  }

private:
  bool add(Value value) {
    Operation *maker = value.getDefiningOp();
    if (!maker || !isSignedByte(value))
      return false;
    if (auto quantize = dyn_cast<QuantizeOp>(maker))
      makers.push_back(quantize);
    else if (keepsBytes(maker))
      values.insert(maker->operand_begin(), maker->operand_end());
    else
      return false;
    for (OpOperand &use : value.getUses())
      if (auto dequantize = dyn_cast<DequantizeOp>(use.getOwner());
          dequantize && use.getOperandNumber() == 0)
        readers.push_back(dequantize);
      else if (keepsBytes(use.getOwner()))
        values.insert(use.getOwner()->getResult(0));
      else
        return false;
    return true;
  }
};

class Rewriter {
public:
  explicit Rewriter(func::FuncOp function) : b(function.getLoc(), function.getContext()) {}

  void rewrite(const Together &all) {
    for (QuantizeOp quantize : all.makers)
      quantize.setOperand(2, unsignedZero(quantize, quantize.getZero()));
    for (DequantizeOp dequantize : all.readers)
      dequantize.setOperand(2, unsignedZero(dequantize, dequantize.getZero()));
    for (Value value : all.values)
      value.setType(typeOf(value).withElement(b.getIntegerType(8, /*isSigned=*/false)));
  }

private:
  Value unsignedZero(Operation *reader, Value zero) {
    b.setInsertionPoint(reader);
    b.setLoc(reader->getLoc());
    Type i32 = b.getI32Type();
    Value wide = b.create<ConvertOp>(zero, TypeAttr::get(i32));
    Value half =
        b.create<FillOp>(SymTensorType::get(ArrayRef<SymExpr>(), i32), b.getI32IntegerAttr(kHalf));
    return b.create<ConvertOp>(b.create<AddOp>(wide, half),
                               TypeAttr::get(b.getIntegerType(8, /*isSigned=*/false)));
  }

  ImplicitLocOpBuilder b;
};

struct UnsignBytesPass : impl::UnsignBytesBase<UnsignBytesPass> {
  using UnsignBytesBase::UnsignBytesBase;
  void runOnOperation() override {
    if (!wanted)
      return;
    SmallVector<QuantizeOp> all;
    getOperation().walk([&](QuantizeOp op) {
      if (isSignedByte(op.getResult()))
        all.push_back(op);
    });
    for (QuantizeOp op : all)
      if (isSignedByte(op.getResult())) // else it changed with others
        if (std::optional<Together> together = Together::of(op))
          Rewriter(getOperation()).rewrite(*together);
  }
};

} // namespace
} // namespace weft
