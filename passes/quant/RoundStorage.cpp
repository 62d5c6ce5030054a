//===- RoundStorage.cpp - What kernels hand over in memory, in 16 bits ------------------------------------===//
//
//   before   %1 = add …                                      after   %1 = add …
//            %2 = normalize %1                                       %r = convert %1 to bf16
//            %3 = contract … (convert %1 to bf16), %w                %w = convert %r to f32
//            %4 = add %3, %1                                         %2 = normalize %w; %3 = contract … %r, %w; %4 = add %3, %w
//
// Which values lie in memory is asked of the pass that forms kernels. The kernel that computes a value rounds it, the kernels that read it
// widen it as they load. Whatever moves elements on the way moves the rounded ones, so that it stays another name of what lies in memory.
// A window reads each element many times: it is computed of 16 bits, and its constants are rounded, too.
//
// A value stays f32 where somebody would have to widen it into memory: the host, a product whose operands stay, an operator with loops of
// its own. So do results and inputs of the function; what a reduction leaves: they are few, and sums are divided by them; and masks, whose
// largest f32 would become infinite.
//===------------------------------------------------------------------------------------------===//

#include "passes/kernel/KernelGroups.h"
#include "passes/kernel/StoredValues.h"
#include "passes/quant/NodeNames.h"
#include "passes/quant/Passes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_ROUNDSTORAGE
#include "passes/quant/Passes.h.inc"

namespace {

SymTensorType typeOf(Value value) { return cast<SymTensorType>(value.getType()); }
Type elementOf(Value value) { return typeOf(value).getElementType(); }

bool isConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    if (!element || element.rootKind() != RootKind::View || op->getNumOperands() != 1)
      break;
    value = op->getOperand(0);
  }
  return value.getDefiningOp<ConstantOp>();
}

/// An operator whose result is made of elements of its only tensor, as they are.
bool isMove(Operation *op) {
  auto element = dyn_cast<ElementOpInterface>(op);
  return element && element.rootKind() == RootKind::View && op->getNumOperands() == 1 &&
         elementOf(op->getOperand(0)) == elementOf(op->getResult(0));
}

bool isF32(Value value) { return elementOf(value).isF32(); }

/// Values that measure something: inputs and constants of floats, and floats computed from such. A mask of numbers that stand for infinity,
/// made of conditions and positions, is none.
llvm::DenseSet<Value> findMeasures(func::FuncOp function) {
  llvm::DenseSet<Value> measures;
  auto add = [&](Value value) {
    if (isFloat(elementOf(value)))
      measures.insert(value);
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isSource = op->getNumOperands() == 0 && !isFree(op);
    if (isSource ||
        llvm::any_of(op->getOperands(), [&](Value operand) { return measures.contains(operand); }))
      llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
  return measures;
}

class Rounder {
public:
  Rounder(Type element, ArrayRef<llvm::GlobPattern> kept) : element(element), kept(kept) {}

  void round(const StoredValue &stored) {
    Value value = stored.value;
    if (!isF32(value) || typeOf(value).getRank() == 0 || stored.isReduced ||
        stored.kernel == RootKind::Serial || !areAllWidening(value))
      return;
    readNarrow(value, converted(value, element));
  }

private:
  bool areAllWidening(Value value) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return isWidening(use); });
  }

  /// Whether the reader takes 16 bits in place of f32.
  bool isWidening(OpOperand &use) {
    Operation *reader = use.getOwner();
    auto op = dyn_cast<ElementOpInterface>(reader);
    if (!op ||
        llvm::any_of(kept, [&](auto &pattern) { return matchesNode(pattern, reader->getLoc()); }))
      return false;
    switch (op.rootKind()) {
    case RootKind::Loop:
    case RootKind::Row:
      return true;
    case RootKind::View:
      return isMove(reader) && areAllWidening(reader->getResult(0));
    case RootKind::Window:
      return takesNarrow(use);
    default:
      return false;
    }
  }

  /// A window of one value and constants.
  static bool takesNarrow(OpOperand &use) {
    Operation *window = use.getOwner();
    auto isOther = [&](Value operand) { return operand == use.get() || isConstant(operand); };
    return isa<InferTypeOpInterface>(window) && window->getNumResults() == 1 &&
           isF32(window->getResult(0)) && llvm::all_of(window->getOperands(), isOther) &&
           llvm::all_of(window->getOperands(), isF32);
  }

  /// Readers of `value` read `narrow`, or what it is when widened.
  void readNarrow(Value value, Value narrow) {
    Value wide;
    for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
      Operation *reader = use.getOwner();
      if (reader == narrow.getDefiningOp())
        continue;
      if (isMove(reader))
        move(reader, narrow);
      else if (cast<ElementOpInterface>(reader).rootKind() == RootKind::Window)
        compute(reader, value, narrow);
      else if (isa<ConvertOp>(reader) && elementOf(reader->getResult(0)) == element)
        replace(reader, narrow);
      else
        use.set(wide ? wide : wide = converted(narrow, Float32Type::get(value.getContext())));
    }
  }

  void move(Operation *op, Value narrow) {
    Operation *moved = OpBuilder(op).clone(*op);
    moved->setOperand(0, narrow);
    moved->getResult(0).setType(typeOf(op->getResult(0)).withElement(element));
    readNarrow(op->getResult(0), moved->getResult(0));
    op->erase();
  }

  /// The window of 16 bits. Where it gives them, too, its readers have them wide.
  void compute(Operation *window, Value value, Value narrow) {
    OpBuilder b(window);
    Operation *computed = b.clone(*window);
    for (OpOperand &operand : computed->getOpOperands())
      operand.set(operand.get() == value ? narrow : converted(operand.get(), element));
    SmallVector<Type> types;
    LogicalResult inferred = cast<InferTypeOpInterface>(computed).inferReturnTypes(
        b.getContext(), computed->getLoc(), computed->getOperands(), computed->getAttrDictionary(),
        computed->getPropertiesStorage(), computed->getRegions(), types);
    assert(succeeded(inferred) && "a window of f32 has one of 16 bits");
    (void)inferred;
    Value result = computed->getResult(0);
    result.setType(cast<SymTensorType>(types[0]));
    replace(window, isF32(result) ? result : converted(result, b.getF32Type()));
  }

  static void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  static Value converted(Value value, Type to) {
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    return b.create<ConvertOp>(value.getLoc(), value, to);
  }

  Type element;
  ArrayRef<llvm::GlobPattern> kept;
};

struct RoundStoragePass : impl::RoundStorageBase<RoundStoragePass> {
  using RoundStorageBase::RoundStorageBase;
  void runOnOperation() override {
    FailureOr<SmallVector<llvm::GlobPattern>> kept = nodePatterns(keep, getOperation());
    if (failed(kept))
      return signalPassFailure();
    FailureOr<SmallVector<StoredValue>> stored = storedValues(getOperation());
    if (failed(stored))
      return signalPassFailure();
    Builder b(&getContext());
    Rounder rounder(element == "f16" ? Type(b.getF16Type()) : b.getBF16Type(), *kept);
    llvm::DenseSet<Value> measures = findMeasures(getOperation());
    for (const StoredValue &each : llvm::reverse(*stored)) // what is erased is behind its value
      if (measures.contains(each.value))
        rounder.round(each);
  }
};

} // namespace
} // namespace weft
