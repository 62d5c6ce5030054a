//===- FoldConstants.cpp - What follows from constants alone is computed once --------------------------===//
//
//   before   %n = sqrt (reduce sum (mul %v, %v) [1, 2]); %w = mul %v, (div %g, %n)      after   %w = constant …
//            %y = conv %x, %w …                                                                 %y = conv %x, %w …
//
// Exporters leave such work in their files: filters whose lengths were trained apart, tables of positions that every layer multiplies by
// its own weight. It would be done in every call, and a filter that is computed is packed by no schedule.
//
// So is a constant cut into pieces, of which each becomes one. Results that take more memory than the constants they come from stay computed, and so does what is no work: views, and what integers or
// narrow floats stand for. Nothing comes from numbers alone, such as a mask of positions: kernels compute those where they read them.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "passes/graph/Passes.h"
#include "passes/quant/ConstantValues.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/graph/Passes.h.inc"

namespace {

constexpr int64_t kMostElements = 1 << 24, ///< of one value
    kMostKept = 1 << 20,                   ///< of a value that others behind it may need again
    kMostPoints = 1 << 24,                 ///< that one operator computes
    kMostProducts = 1 << 28;               ///< that one contraction adds up
constexpr int64_t kSmallTable = 64 << 10;  ///< bytes that a file may grow by for one value

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }

int64_t bytesOf(Value value) {
  SymTensorType type = typeOf(value);
  return elementBytes(type.getElementType(), *type.getElements().asConstant());
}

/// Where it is read, it is the same elements in other places or of another type.
bool isNoWork(Operation *op) {
  auto element = dyn_cast<ElementOpInterface>(op);
  return isa<ConvertOp, DequantizeOp>(op) || (element && element.rootKind() == RootKind::View);
}

/// Bytes of all slices of a constant; nothing when its elements are needed in other ways as well.
std::optional<int64_t> bytesOfPieces(Operation *whole) {
  int64_t bytes = 0;
  for (Operation *user : whole->getUsers()) {
    if (isa<ReshapeOp>(user)) {
      std::optional<int64_t> more = bytesOfPieces(user);
      if (!more)
        return std::nullopt;
      bytes += *more;
    } else if (isa<SliceOp>(user) && typeOf(user->getResult(0)).getConstantDims()) {
      bytes += bytesOf(user->getResult(0));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

/// One of the pieces that a constant is cut into, as the weights of each direction: together they take no more memory than it.
bool isPiece(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  auto isConstant = [](SymExpr start) { return bool(start.asConstant()); };
  if (!slice || !llvm::all_of(slice.getStarts().getDims(), isConstant)) // each rank's own
    return false;
  Value whole = slice.getInput();
  while (auto reshape = whole.getDefiningOp<ReshapeOp>())
    whole = reshape.getInput();
  auto constant = whole.getDefiningOp<ConstantOp>();
  if (!constant || elementBits(constant.getType().getElementType()) < 8)
    return false;
  std::optional<int64_t> pieces = bytesOfPieces(constant);
  return pieces && *pieces <= std::max(bytesOf(whole), kSmallTable);
}

/// Another function may need the whole that pieces come from.
bool isAlone(func::FuncOp function) {
  return llvm::hasSingleElement(function->getParentOfType<ModuleOp>().getOps<func::FuncOp>());
}

/// Constants in memory that a value is computed from.
struct Stored {
  int64_t bytes = 0;
  bool hasIntegers = false;

  void add(Operation *op) {
    if (!seen.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      add(operand.getDefiningOp());
    auto constant = dyn_cast<ConstantOp>(op);
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
    if (!constant || (elements && elements.isSplat()))
      return;
    bytes += bytesOf(op->getResult(0));
    hasIntegers |= !isa<FloatType>(typeOf(op->getResult(0)).getElementType());
  }

private:
  llvm::DenseSet<Operation *> seen;
};

class Folder {
public:
  explicit Folder(const WeightReader &weight) : constants(weight, kMostElements) {}

  void run(func::FuncOp function) {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isComputable(op))
        known.insert(op);
    });
    // Who comes last has the most behind it; where that is not folded, what it reads may be.
    SmallVector<Operation *> all(known.begin(), known.end());
    for (Operation *op : llvm::reverse(all))
      if (op->getNumOperands() && !isNoWork(op) && isReadByUnknown(op) && !fold(op))
        known.remove(op);
    if (isAlone(function))
      for (Operation *op : all) // of what is constant now, too
        if (isPiece(op) && isReadByUnknown(op))
          fold(op);
  }

private:
  /// Whether all that it needs is known, and it takes no more than a moment.
  bool isComputable(Operation *op) const {
    if (!isa<ReferenceOpInterface>(op) || isa<HostOpInterface, CollectiveOpInterface>(op) ||
        op->getNumRegions() || op->getNumResults() != 1 || !isPure(op))
      return false;
    auto type = dyn_cast<SymTensorType>(op->getResult(0).getType());
    if (!type || !type.getConstantDims() || *type.getElements().asConstant() > kMostElements)
      return false;
    auto isKnown = [&](Value operand) { return known.contains(operand.getDefiningOp()); };
    return llvm::all_of(op->getOperands(), isKnown) && isShort(op);
  }

  static bool isShort(Operation *op) {
    if (isNoWork(op) || !isa<RuleOpInterface>(op))
      return true;
    const int64_t most = isa<ContractOp>(op) ? kMostProducts : kMostPoints;
    int64_t points = 1;
    for (const Factor &factor : cast<RuleOpInterface>(op).rule().factors()) {
      std::optional<int64_t> extent = factor.extent.asConstant();
      if (!extent || llvm::MulOverflow(points, *extent, points) || points > most)
        return false;
    }
    return true;
  }

  bool isReadByUnknown(Operation *op) const {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !known.contains(user) || (isNoWork(user) && isReadByUnknown(user));
    });
  }

  bool fold(Operation *op) {
    Stored from;
    from.add(op);
    int64_t bytes = bytesOf(op->getResult(0));
    if (!from.bytes || bytes > std::max(from.bytes, from.hasIntegers ? 0 : kSmallTable))
      return false;
    const RefTensor *numbers = constants.find(op->getResult(0));
    Attribute elements = numbers ? elementsOf(*numbers) : nullptr;
    if (!elements)
      return false;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    if (numbers->size() > kMostKept)
      constants.forget();
    Value folded = b.create<ConstantOp>(op->getResult(0).getType(), elements);
    op->replaceAllUsesWith(ValueRange(folded)); // and is erased behind, as what it reads
    known.insert(folded.getDefiningOp());
    return true;
  }

  ConstantValues constants;
  llvm::SetVector<Operation *> known; ///< in program order: what follows from constants alone
};

struct FoldConstantsPass : impl::FoldConstantsBase<FoldConstantsPass> {
  void runOnOperation() override { Folder(weight).run(getOperation()); }
  WeightReader weight;
};

} // namespace

std::unique_ptr<Pass> createFoldConstants(std::function<const char *(llvm::StringRef)> weight) {
  auto pass = std::make_unique<FoldConstantsPass>();
  pass->weight = std::move(weight);
  return pass;
}

} // namespace weft
