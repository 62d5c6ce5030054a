//===- FormKernels.cpp - Group operators that share one pass over memory ---------------------------===//
//
// Walks the function in program order. Views and values made from nothing belong to nobody: every group that needs them gets a copy.
// An operator that is the root of a schedule (contraction, row, …) opens a group; an elementwise operator joins the group that produces
// one of its operands when both cover the same space and no other operand depends on that group. A row takes in the elementwise
// group that only it reads. What is left becomes a loop over its result. Groups never span an operation of the host (bind, if, loop):
// what such an operation or its regions read is in memory when it begins.
//
// What keeps two operators apart is an Apart (passes/kernel/Apart.h), given by the test that decides.
//
// Deterministic: program order decides, nothing is keyed by addresses that are iterated over.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Aliases.h"
#include "dialects/weft/ops/Quantize.h"
#include "passes/kernel/AttentionGroups.h"
#include "passes/kernel/KernelWords.h"
#include "passes/kernel/Passes.h"
#include "passes/kernel/StoredValues.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/kernel/Passes.h.inc"

namespace {

constexpr unsigned kMostMoved = 2; ///< each may double the work

/// Forms the kernels of operations of one block that no operation of the host separates.
class Former {
public:
  /// `end` is the operation of the host or the terminator behind them.
  Former(Block::iterator begin, Operation *end, Replacements &replacement,
         const FormKernelsOptions &options, const KernelChooser *chooser)
      : begin(begin), end(end), made(options.explain), attention(made, chooser, end),
        replacement(replacement) {}

  /// Which operators share a kernel; nothing is built.
  LogicalResult group() {
    for (Operation &op : llvm::make_range(begin, end->getIterator())) {
      if (isStored(&op) || isFree(&op))
        continue;
      if (!isa<ElementOpInterface>(op))
        return op.emitError() << "operator '" << op.getName() << "' cannot be compiled yet";
      place(&op);
    }
    return success();
  }

  const KernelGroups &groups() const { return made; }

  LogicalResult run() {
    if (failed(group()))
      return failure();
    if (end->hasTrait<OpTrait::IsTerminator>())
      materializeYielded();
    else
      materializeOperands();
    return emitKernels(made, end, replacement);
  }

private:
  /// Keeps why `reader` is not computed with what its operand comes from.
  void note(Value operand, Operation *reader, Apart why) {
    if (!made.notes.areKept || !why)
      return;
    for (Value source : sourcesOf(operand))
      if (made.groupOf(source))
        made.notes.note(source.getDefiningOp(), reader, why);
  }

  /// What is restored where it is read, at the same point and at no cost: integers that are dequantised, floats that are widened.
  static Value restoredFrom(Operation *op) {
    auto dequantize = dyn_cast_or_null<DequantizeOp>(op);
    if (!isa_and_nonnull<DequantizeOp, ConvertOp>(op) || !isFree(op) ||
        (dequantize && dequantize.getInput().getType().getDimAttributes() !=
                           dequantize.getType().getDimAttributes()))
      return {};
    return op->getOperand(0);
  }

  /// What a value is computed from at the same point at no cost, else itself.
  static Value inPlaceSource(Value value) {
    while (Value source = restoredFrom(value.getDefiningOp()))
      value = source;
    return value;
  }

  void place(Operation *op) {
    auto type = cast<SymTensorType>(writtenValue(op->getResult(0)).getType());
    RootKind kind = cast<ElementOpInterface>(op).rootKind();
    if (kind == RootKind::View) // that is no view here: it writes
      kind = RootKind::Loop;
    KernelGroup *joined = kind == RootKind::Loop ? findHost(op, type) : nullptr;
    if (!joined) {
      made.all.push_back(std::make_unique<KernelGroup>());
      joined = made.all.back().get();
      joined->kind = kind;
    }
    if (!joined->operations.empty() && !readsInPlace(op, joined))
      ++joined->moved;
    joined->space = type;
    joined->operations.push_back(op);
    made.owner[op] = joined;
    if (kind == RootKind::Contraction)
      attention.absorb(joined, op);
    for (Value operand : op->getOperands()) {
      if (kind == RootKind::Row || kind == RootKind::Loop)
        note(operand, op, absorb(joined, operand, kind));
      else
        note(operand, op, {whyFirst(kind)});
    }
  }

  /// The latest group that produces an operand in the result's space and that no other operand depends on.
  KernelGroup *findHost(Operation *op, SymTensorType type) {
    KernelGroup *best = nullptr;
    for (Value operand : op->getOperands()) {
      KernelGroup *group = made.groupOf(inPlaceSource(operand));
      if (!group) {
        note(operand, op, whyMoved(operand));
        continue;
      }
      if (Apart why = unlessHost(group, op, type)) {
        note(operand, op, why);
        continue;
      }
      if (!best || best->operations.back()->isBeforeInBlock(group->operations.back()))
        best = group;
    }
    return best;
  }

  /// Nothing when `op`, whose result has this type, can be computed where `group` computes its elements.
  Apart unlessHost(KernelGroup *group, Operation *op, SymTensorType type) {
    if (group->kind == RootKind::Serial)
      return {"an operator with loops of its own gives no elements before it has ended"};
    if (group->space.getDimAttributes() != type.getDimAttributes())
      return {kOtherDimensions};
    if (isPacked(type.getElementType()) && group->kind != RootKind::Loop)
      return {"elements of less than a byte are written by a kernel of elementwise operators only"};
    if (Apart why = unlessJoins(group, op))
      return why;
    if (inPlaceWrite(op->getResult(0)) && group->kind != RootKind::Loop)
      return {"an input with room is written by a kernel of elementwise operators only"};
    if (readsInPlace(op, group))
      return group->kind == RootKind::Attention ? attention.unlessTakenWith(group, op) : Apart{};
    if (group->kind != RootKind::Loop)
      return {
          "it reads elements at other places than it computes, which tiles and rows do not hold"};
    if (group->moved >= kMostMoved)
      return {"several operators of the kernel read its elements at other places already, and each "
              "computes them again"};
    return {};
  }

  /// A view between the two: which is known when `operand` is read through one.
  Apart whyMoved(Value operand) {
    Operation *view = inPlaceSource(operand).getDefiningOp();
    return view && isFree(view) ? Apart{"data change their places or dimensions between them", view}
                                : Apart{};
  }

  /// Whether `op` reads what `group` computes only at the point it computes itself: schedules other than the loop over the result have
  /// no other elements at hand.
  bool readsInPlace(Operation *op, KernelGroup *group) {
    auto element = dyn_cast<RuleOpInterface>(op);
    if (std::optional<InPlaceWrite> write = inPlaceWrite(op->getResult(0)))
      return made.groupOf(write->part) == group; // it computes what is new only
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      SetVector<Value> sources;
      storedSources(operand, sources);
      if (llvm::none_of(sources, [&](Value source) { return made.groupOf(source) == group; }))
        continue;
      if (!element || made.groupOf(inPlaceSource(operand)) != group)
        return false;
      for (Value from = operand; auto dequantize = from.getDefiningOp<DequantizeOp>();
           from = dequantize.getInput())
        if (isFree(dequantize) && (made.groupOf(dequantize.getScale()) == group ||
                                   made.groupOf(dequantize.getZero()) == group))
          return false;
      IterationRule rule = element.rule();
      ArrayRef<Access> read = rule.operand(i), result = rule.result(0);
      bool same =
          read.size() == result.size() && llvm::all_of(llvm::zip(read, result), [](auto pair) {
            auto &[a, b] = pair;
            return a.kind == AccessKind::Point && b.kind == AccessKind::Point &&
                   a.factor() == b.factor();
          });
      if (!same)
        return false;
    }
    return true;
  }

  /// Elements are pulled through a group by recursion, so one that grows without end would exhaust the stack.
  static constexpr size_t kMostOperators = 256;

  static constexpr const char *kOtherDimensions = "they have different dimensions";

  static Apart unlessTooLarge(ArrayRef<Operation *> all) {
    if (all.size() > kMostOperators)
      return {"the kernel would have more than 256 operators"};
    if (!KernelWords(all).fit())
      return {"the kernel would have more tensors and sizes than a call hands over"};
    return {};
  }

  /// No operand of `op` outside `group` may depend on it.
  Apart unlessJoins(KernelGroup *group, Operation *op) {
    SmallVector<Operation *> all(group->operations);
    all.push_back(op);
    if (Apart why = unlessTooLarge(all))
      return why;
    SetVector<Value> sources;
    for (Value operand : op->getOperands())
      storedSources(operand, sources);
    for (Value source : sources)
      if (KernelGroup *other = made.groupOf(source);
          other && other != group && made.reaches(group, other))
        return {"another operand is computed from it by a kernel in between",
                source.getDefiningOp()};
    return {};
  }

  /// Takes the elementwise group that computes `operand` into `into`, when nobody else reads it.
  Apart absorb(KernelGroup *into, Value operand, RootKind reader) {
    KernelGroup *group = made.groupOf(inPlaceSource(operand));
    if (!group)
      return whyMoved(operand);
    if (group == into)
      return {};
    Apart why = unlessTakes(into, group, operand, reader);
    if (!why) {
      SmallVector<Operation *> all(into->operations);
      all.append(group->operations);
      why = unlessTooLarge(all);
    }
    auto isRestoring = [](Operation *user) {
      return isa<DequantizeOp, ConvertOp>(user) && isFree(user);
    };
    if (!why)
      if (Operation *other = made.readerOutside(group, into, isRestoring))
        why = alsoRead(other);
    if (!why)
      made.merge(into, group);
    return why;
  }

  static Apart unlessTakes(KernelGroup *into, KernelGroup *group, Value operand, RootKind reader) {
    bool isRow = into->kind == RootKind::Row;
    if (reader == RootKind::Row && group->kind != RootKind::Loop)
      return {whyNoLines(group->kind)};
    if (group->kind != RootKind::Loop || (!isRow && into->kind != RootKind::Loop))
      return {"it is computed in the kernel of another operand", into->operations.front()};
    SymTensorType space = isRow ? cast<SymTensorType>(operand.getType()) : into->space;
    bool same = group->space.getDimAttributes() == space.getDimAttributes();
    return same ? Apart{} : Apart{kOtherDimensions};
  }

  /// Every returned value must be the result of a kernel or of a collective here, each of another one.
  void materializeYielded() {
    llvm::DenseSet<Value> seen;
    bool conditional = isa<YieldOp>(end) && isa<LoopOp>(end->getParentOp()) &&
                       cast<LoopOp>(end->getParentOp()).isConditional();
    for (OpOperand &operand : end->getOpOperands()) {
      if (conditional && operand.getOperandNumber() == 0 && !isMadeHere(operand.get()))
        continue; // the host reads it where it lies
      bool isOwn = made.groupOf(operand.get()) || isExchanged(operand.get()) ||
                   isComputedBefore(operand.get());
      if (!isOwn || !seen.insert(operand.get()).second)
        made.copies.push_back(&operand);
    }
  }

  /// What ranks gave each other in this block, which may lie where it is returned.
  bool isExchanged(Value value) const {
    Operation *op = value.getDefiningOp();
    return isa_and_present<CollectiveOpInterface>(op) && op->getBlock() == end->getBlock();
  }

  /// What a kernel in front of operations of the host computes, which do not read it: the function's result may lie where callers want it at once.
  bool isComputedBefore(Value value) const {
    Operation *op = value.getDefiningOp();
    return isa<func::ReturnOp>(end) && op && op->getBlock() == end->getBlock() &&
           op->isBeforeInBlock(&*begin) && !isFree(op) && !isStored(op) &&
           !isa<HostOpInterface>(op) && !isReadByHost(value);
  }

  /// As it is or as a view, also inside of an operation's regions.
  bool isReadByHost(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (user->getBlock() != end->getBlock() || isa<HostOpInterface>(user))
        return true;
      return isFree(user) &&
             llvm::any_of(user->getResults(), [&](Value view) { return isReadByHost(view); });
    });
  }

  /// What an operation of the host reads lies in memory.
  void materializeOperands() {
    for (OpOperand &operand : end->getOpOperands())
      if (isMadeHere(operand.get()) && !made.groupOf(operand.get()))
        made.copies.push_back(&operand);
  }

  /// Not a stored value under this or another name.
  bool isMadeHere(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    Operation *op = value.getDefiningOp();
    return op && isFree(op);
  }

  Block::iterator begin;
  Operation *end;
  KernelGroups made;
  AttentionGroups attention;
  Replacements &replacement;
};

/// Operations of one block that no operation of the host separates; `end` is such a one, or the terminator.
using FormRun = llvm::function_ref<LogicalResult(Block::iterator begin, Operation *end)>;

LogicalResult forEachRun(Block &block, FormRun form) {
  auto begin = block.begin();
  for (auto it = block.begin(); it != block.end(); ++it) {
    if (!isa<HostOpInterface>(*it) && !it->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (failed(form(begin, &*it)))
      return failure();
    for (Region &region : it->getRegions())
      for (Block &inner : region)
        if (failed(forEachRun(inner, form)))
          return failure();
    begin = std::next(it);
  }
  return success();
}

struct FormKernelsPass : impl::FormKernelsBase<FormKernelsPass> {
  using FormKernelsBase::FormKernelsBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Replacements replacement;
    SmallVector<Operation *> old; // erased when all is done: new operations must not get the
                                  // addresses that `replacement` knows
    auto form = [&](Block::iterator begin, Operation *end) {
      for (Operation &op : llvm::make_range(begin, end->getIterator()))
        old.push_back(&op);
      return Former(begin, end, replacement, {explain}, chooser.get()).run();
    };
    if (failed(forEachRun(getOperation().getBody().front(), form)))
      return signalPassFailure();
    for (auto [operand, value] : replacement.reads)
      operand->set(value);
    for (Operation *op : llvm::reverse(old))
      if (op->use_empty())
        op->erase();
  }

  std::shared_ptr<const KernelChooser> chooser;
};

/// Whether the value has other dimensions than what a reduction of its kernel reads.
bool isReduced(const KernelGroup &group, Value value) {
  SymExpr size = cast<SymTensorType>(value.getType()).getElements();
  return group.kind == RootKind::Row && llvm::any_of(group.operations, [&](Operation *op) {
           return cast<ElementOpInterface>(op).rootKind() == RootKind::Row &&
                  cast<SymTensorType>(op->getOperand(0).getType()).getElements() != size;
         });
}

} // namespace

std::unique_ptr<Pass> createFormKernels(const FormKernelsOptions &options,
                                        std::shared_ptr<const KernelChooser> chooser) {
  auto pass = std::make_unique<FormKernelsPass>(options);
  pass->chooser = std::move(chooser);
  return pass;
}

FailureOr<SmallVector<StoredValue>> storedValues(func::FuncOp function) {
  SmallVector<StoredValue> stored;
  auto collect = [&](Block::iterator begin, Operation *end) {
    Replacements none;
    Former former(begin, end, none, {}, nullptr);
    if (failed(former.group()))
      return failure();
    for (Operation &op : llvm::make_range(begin, end->getIterator()))
      for (Value result : op.getResults())
        if (KernelGroup *group = former.groups().groupOf(result))
          if (former.groups().escapes(result, group))
            stored.push_back({result, group->kind, isReduced(*group, result)});
    return success();
  };
  if (!function.isExternal() && failed(forEachRun(function.getBody().front(), collect)))
    return failure();
  return stored;
}

} // namespace weft
