//===- RoundOperands.cpp - Operands of products and convolutions in 16 bits ------------------------------===//
//
//   before   %2 = reshape %1 to [m, 64]                      after   %r = convert %1 to bf16
//            %3 = contract "m k, k n -> m n" %2, %w                  %2 = reshape %r to [m, 64]
//                                                                    %3 = contract "m k, k n -> m n" %2, (convert %w to bf16)
//
// Rounding is written into the program, so the evaluator rounds alike. A value is rounded once for all products and convolutions, directly
// behind what computes it: whatever moves its elements on the way to them, or to other ranks, moves the rounded ones. So the kernel that computes the value
// can round it, too, and it lies in memory in 16 bits.
//===------------------------------------------------------------------------------------------===//

#include "passes/quant/RoundOperands.h"
#include "dialects/weft/Mesh.h"
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Rounding.h"
#include "passes/kernel/ConstantParts.h"
#include "passes/quant/NodeNames.h"
#include "passes/quant/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_ROUNDOPERANDS
#include "passes/quant/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

/// Whether all of an operand is read: where it is a part of it, rounding the whole would be work for nothing.
bool isWhole(ArrayRef<Access> read) {
  return llvm::all_of(read, [](const Access &access) {
    return access.kind == AccessKind::Point || access.kind == AccessKind::Maybe ||
           access.kind == AccessKind::Fixed;
  });
}

/// An operator whose result is made of all elements of its only tensor, as they are.
bool isMove(Operation *op) {
  auto element = dyn_cast_or_null<ElementOpInterface>(op);
  if (!element || op->getNumOperands() != 1 || element.rootKind() != RootKind::View)
    return false;
  auto ruled = dyn_cast<RuleOpInterface>(op);
  return ruled ? ruled.scalarCost() == 0 && isWhole(ruled.rule().operand(0))
               : typeOf(op->getOperand(0)).getElements() == typeOf(op->getResult(0)).getElements();
}

/// A collective that gives its operand to others as it is.
bool isSent(Operation *op) {
  auto collective = dyn_cast_or_null<CollectiveOpInterface>(op);
  return collective && !collective.getForm().combiner;
}

/// Reals that integers stand for: rounding them again would add to the error of quantising.
bool isQuantised(Value value) {
  while (isMove(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return isa_and_nonnull<DequantizeOp, DequantizeBlocksOp, RoundBlocksOp>(value.getDefiningOp());
}

bool isRoundable(Value operand) {
  return typeOf(operand).getElementType().isF32() && typeOf(operand).getRank() > 0 &&
         !isQuantised(operand);
}

constexpr int64_t kSideBySide = 30; ///< elements of a window's row

/// Whether rows of windows that hold an odd number of elements, as an image's, are put side by side,
/// which makes pairs of them.
bool isGathered(ConvOp op, SymTensorType filter, int64_t channels) {
  if (filter.getRank() != 4 || op.getDilations().back() != 1)
    return false;
  std::optional<int64_t> rows = filter.getDim(2).asConstant(),
                         columns = filter.getDim(3).asConstant();
  return rows && columns && *rows > 1 && *columns % 2 == 1 && *columns > 1 &&
         *columns * channels <= kSideBySide;
}

/// Whether a schedule can use a unit, which multiplies pairs: neighbouring channels, or elements of a
/// window that are put side by side.
bool hasPairs(ConvOp op) {
  SymTensorType filter = typeOf(op.getFilter());
  std::optional<int64_t> channels = filter.getDim(1).asConstant();
  return op.getGroups() == 1 && filter.getRank() <= 4 && channels &&
         (*channels % 2 == 0 || isGathered(op, filter, *channels));
}

/// A product or convolution whose operands are rounded.
bool isRoundable(Operation *op) {
  auto conv = dyn_cast<ConvOp>(op);
  return (isa<ContractOp>(op) || (conv && hasPairs(conv))) &&
         typeOf(op->getResult(0)).getElementType().isF32() &&
         llvm::all_of(op->getOperands(), [](Value operand) { return isRoundable(operand); });
}

/// The rounded twins of values. Each stands directly behind its value, so it is there for all its readers. What ranks give each other for products
/// alone is rounded before, which takes half of the bytes.
class Twins {
public:
  Twins(Type element, ArrayRef<Operation *> products)
      : element(element), products(products.begin(), products.end()) {}

  /// `reader` is the first product that asks: what rounds an input is named after it.
  Value of(Value value, Location reader) {
    SmallVector<Operation *>
        path; // from the product to what computes the value, or to what has a twin
    for (; !twins.contains(value) && passes(value); value = path.back()->getOperand(0))
      path.push_back(value.getDefiningOp());
    if (!twins.contains(value))
      twins[value] = converted(value, reader);
    Value twin = twins.lookup(value);
    for (Operation *op : llvm::reverse(path))
      twins[op->getResult(0)] = twin = moved(op, twin);
    return twin;
  }

  /// What nobody reads any more.
  void eraseMoved() {
    for (Operation *op : llvm::reverse(moves))
      if (op->use_empty())
        op->erase();
  }

private:
  /// Whether the value's twin is made of that of what it is made of.
  bool passes(Value value) const {
    Operation *op = value.getDefiningOp();
    return isMove(op) || (isSent(op) && !constantBehind(value) && isForProducts(value));
  }
  bool isForProducts(Value value) const {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return products.contains(user) || (isMove(user) && isForProducts(user->getResult(0)));
    });
  }

  Value moved(Operation *op, Value source) {
    moves.push_back(op);
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Operation *twin = b.clone(*op);
    twin->setOperand(0, source);
    twin->getResult(0).setType(typeOf(op->getResult(0)).withElement(element));
    if (auto collective = dyn_cast<CollectiveOpInterface>(twin))
      sayBytes(collective);
    return twin->getResult(0);
  }

  Value converted(Value value, Location reader) {
    auto widened = value.getDefiningOp<ConvertOp>();
    if (widened && typeOf(widened.getInput()).getElementType() == element)
      return widened.getInput();
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    return b.create<ConvertOp>(isa<BlockArgument>(value) ? reader : value.getLoc(), value, element);
  }

  Type element;
  llvm::DenseSet<Operation *> products;
  llvm::DenseMap<Value, Value> twins;
  SmallVector<Operation *> moves; ///< a move behind those that it reads
};

struct RoundOperandsPass : impl::RoundOperandsBase<RoundOperandsPass> {
  using RoundOperandsBase::RoundOperandsBase;
  void runOnOperation() override {
    FailureOr<SmallVector<llvm::GlobPattern>> kept = nodePatterns(keep, getOperation());
    if (failed(kept))
      return signalPassFailure();
    SmallVector<Operation *> products;
    getOperation().walk([&](Operation *op) {
      auto keeps = [&](auto &pattern) { return matchesNode(pattern, op->getLoc()); };
      if (isRoundable(op) && llvm::none_of(*kept, keeps))
        products.push_back(op);
    });
    Builder b(&getContext());
    roundOperands(products, element == "f16" ? Type(b.getF16Type()) : Type(b.getBF16Type()));
  }
};

} // namespace

bool hasRoundableOperands(Operation *product) { return isRoundable(product); }

void roundOperands(ArrayRef<Operation *> products, Type element) {
  Twins twins(element, products);
  for (Operation *op : products)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(twins.of(operand.get(), op->getLoc()));
  twins.eraseMoved();
}

int64_t roundableWeights(ModuleOp program) {
  int64_t elements = 0;
  program.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (constantBehind(operand) && isRoundable(op))
        elements += typeOf(operand).getElements().asConstant().value_or(0);
  });
  return elements;
}

} // namespace weft
