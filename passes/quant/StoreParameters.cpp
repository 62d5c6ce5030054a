//===- StoreParameters.cpp - What integers are restored with is read from memory --------------------===//
//
// Small values that depend on constants only become constants, filters of bytes that are multiplied by floats become floats, and scales and zero
// points are parameters, so that layers share their code.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "passes/kernel/ConstantParts.h"
#include "passes/quant/ConstantValues.h"
#include "passes/quant/Passes.h"
#include "passes/quant/QuantisedViews.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_STOREPARAMETERS
#include "passes/quant/Passes.h.inc"

namespace {

constexpr int64_t kMostFolded = 1 << 16, ///< elements of a constant made here
    kMostRestored = 1 << 24;             ///< those of a filter

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Whether a value is a weight in blocks, which schedules restore where they read it, however small it is.
bool isRestoredBlocks(Value value) {
  return isa_and_nonnull<DequantizeBlocksOp>(makerBehindViews(value));
}

class Storer {
public:
  Storer(func::FuncOp function, WeightReader weight)
      : b(function.getLoc(), function.getContext()), constants(weight),
        filters(std::move(weight), kMostRestored) {}

  void run(func::FuncOp function) {
    SmallVector<Operation *> all;
    function.walk([&](Operation *op) { all.push_back(op); });
    for (Operation *op : all)
      fold(op);
    for (Operation *op : all)
      if (auto conv = dyn_cast<ConvOp>(op))
        restoreFilter(conv);
    for (Operation *op : all)
      if (isa<QuantizeOp, DequantizeOp>(op))
        for (unsigned i : {1u, 2u})
          makeParameter(op->getOpOperand(i));
  }

private:
  /// A small value that depends on constants only becomes one.
  void fold(Operation *op) {
    if (op->getNumResults() != 1 || op->use_empty() || op->getNumOperands() == 0 ||
        isa<KernelOp>(op) || isRestoredBlocks(op->getResult(0)))
      return;
    Value value = op->getResult(0);
    auto type = dyn_cast<SymTensorType>(value.getType());
    if (!type || !type.getConstantDims() ||
        type.getElements().asConstant().value_or(kMostFolded + 1) > kMostFolded ||
        type.getElementType().isInteger(1) || isPacked(type.getElementType()) ||
        constantPart(value) || llvm::all_of(op->getUsers(), [&](Operation *user) {
          return user->getNumResults() == 1 && user->getNumOperands() > 0 &&
                 constants.ofRanks(user->getResult(0));
        }))
      return; // what only constants read disappears with them
    const RankValues *values = constants.ofRanks(value);
    if (!values || !elementsOf(values->tensors[0]))
      return;
    b.setInsertionPoint(op);
    value.replaceAllUsesWith(storedConstant(b, type, values->group, values->joined()));
  }

  /// A filter of bytes that is multiplied by floats is one of floats: no schedule restores filters where it reads them.
  void restoreFilter(ConvOp op) {
    auto restored = op.getFilter().getDefiningOp<DequantizeOp>();
    const RefTensor *numbers = restored ? filters.find(restored) : nullptr;
    if (!numbers)
      return;
    b.setInsertionPoint(op);
    op.getFilterMutable().assign(storedConstant(b, restored.getType(), {}, *numbers));
    filters.forget();
  }

  /// A number that differs from layer to layer is read from memory, so that layers share their code.
  void makeParameter(OpOperand &operand) {
    Operation *op = operand.get().getDefiningOp();
    const RefTensor *tensor = isa_and_nonnull<FillOp, ConstantOp>(op) && isOne(operand.get())
                                  ? constants.find(operand.get())
                                  : nullptr;
    if (!tensor || (tensor->kind == Scalar::Integer && tensor->integers[0] == 0))
      return;
    if (op->hasAttr(kParameterAttr))
      return;
    b.setInsertionPoint(operand.getOwner());
    auto constant = b.create<ConstantOp>(typeOf(operand.get()), elementsOf(*tensor));
    constant->setAttr(kParameterAttr, b.getUnitAttr());
    operand.set(constant);
  }

  ImplicitLocOpBuilder b;
  ConstantValues constants, filters;
};

struct StoreParametersPass : impl::StoreParametersBase<StoreParametersPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal() && isQuantised(getOperation()))
      Storer(getOperation(), weight).run(getOperation());
  }
  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createStoreParameters(WeightReader weight) {
  auto pass = std::make_unique<StoreParametersPass>();
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
