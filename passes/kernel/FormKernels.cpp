//===- FormKernels.cpp - Group operators that share one pass over memory ---------------------------===//
//
// Walks the function in program order. Views and values made from nothing belong to nobody: every group that needs them gets a copy.
// An operator that is the root of a schedule (contraction, row, …) opens a group; an elementwise operator joins the group that produces
// one of its operands when both cover the same space and no other operand depends on that group. A row takes in the elementwise
// group that only it reads. What is left becomes a loop over its result. Groups never span an operation of the host (bind, if, loop):
// what such an operation or its regions read is in memory when it begins.
//
// Deterministic: program order decides, nothing is keyed by addresses that are iterated over.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/Quantize.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"

namespace {

struct Group {
  RootKind kind = RootKind::Loop;
  SymTensorType space;                 ///< of the results
  SmallVector<Operation *> operations; ///< in program order
  unsigned moved =
      0; ///< operators that read elements of the group at other places, which are computed anew for each
  bool dead = false;
};

constexpr unsigned kMostMoved = 2; ///< each may double the work

/// Elements come from nowhere or from another place at no cost: copied into every kernel that reads them.
bool isFree(Operation *op) {
  if (isa<FillOp, IotaOp, DimsValueOp>(op))
    return true;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && elements.isSplat() && !op->hasAttr(kParameterAttr);
  }
  auto element = dyn_cast<ElementOpInterface>(op);
  return element && element.rootKind() == RootKind::View;
}

bool isStored(Operation *op) { return isa<ConstantOp, KernelOp>(op) && !isFree(op); }

/// Results of kernels, by the values they replace.
using Replacements = llvm::DenseMap<Value, Value>;

/// Forms the kernels of operations of one block that no operation of the host separates.
class Former {
public:
  /// `end` is the operation of the host or the terminator behind them.
  Former(Block::iterator begin, Operation *end, Replacements &replacement, bool formAttention)
      : begin(begin), end(end), formAttention(formAttention), replacement(replacement) {}

  LogicalResult run() {
    for (Operation &op : llvm::make_range(begin, end->getIterator())) {
      order[&op] = order.size();
      if (isStored(&op) || isFree(&op))
        continue;
      if (!isa<ElementOpInterface>(op))
        return op.emitError() << "operator '" << op.getName() << "' cannot be compiled yet";
      place(&op);
    }
    if (end->hasTrait<OpTrait::IsTerminator>())
      materializeYielded();
    else
      materializeOperands();
    return emitKernels();
  }

private:
  /// Values stored in memory that `value` reads: itself, or through free operators what they read.
  void storedSources(Value value, SetVector<Value> &sources) {
    Operation *op = value.getDefiningOp();
    if (!op || !isFree(op)) {
      sources.insert(value);
      return;
    }
    for (Value operand : op->getOperands())
      storedSources(operand, sources);
  }

  Group *groupOf(Value value) {
    Operation *op = value.getDefiningOp();
    return op ? owner.lookup(op) : nullptr;
  }

  /// What a value is computed from at the same point at no cost: the integers that are dequantised where they are read, else itself.
  static Value inPlaceSource(Value value) {
    while (auto dequantize = value.getDefiningOp<DequantizeOp>()) {
      if (!isFree(dequantize) || dequantize.getInput().getType().getDimAttributes() !=
                                     dequantize.getType().getDimAttributes())
        break;
      value = dequantize.getInput();
    }
    return value;
  }

  void place(Operation *op) {
    auto type = cast<SymTensorType>(op->getResult(0).getType());
    RootKind kind = cast<ElementOpInterface>(op).rootKind();
    Group *joined = kind == RootKind::Loop ? findHost(op, type) : nullptr;
    if (!joined) {
      groups.push_back(std::make_unique<Group>());
      joined = groups.back().get();
      joined->kind = kind;
    }
    if (!joined->operations.empty() && !readsInPlace(op, joined))
      ++joined->moved;
    joined->space = type;
    joined->operations.push_back(op);
    owner[op] = joined;
    if (kind == RootKind::Contraction && formAttention)
      absorbAttention(joined, op);
    for (Value operand : op->getOperands())
      if (kind == RootKind::Row || kind == RootKind::Loop)
        absorb(joined, operand, op);
  }

  /// The latest group that produces an operand in the result's space and that no other operand depends on.
  Group *findHost(Operation *op, SymTensorType type) {
    Group *best = nullptr;
    for (Value operand : op->getOperands()) {
      Group *group = groupOf(inPlaceSource(operand));
      if (!group || group->kind == RootKind::Serial ||
          group->space.getDimAttributes() != type.getDimAttributes())
        continue;
      if (isPacked(type.getElementType()) &&
          group->kind != RootKind::Loop) // only loops write parts of bytes
        continue;
      if (!mayJoin(group, op))
        continue;
      if (!readsInPlace(op, group) && (group->kind != RootKind::Loop || group->moved >= kMostMoved))
        continue;
      if (!best || order[group->operations.back()] > order[best->operations.back()])
        best = group;
    }
    return best;
  }

  /// Whether `op` reads what `group` computes only at the point it computes itself: schedules other than the loop over the result have
  /// no other elements at hand.
  bool readsInPlace(Operation *op, Group *group) {
    auto element = dyn_cast<RuleOpInterface>(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      SetVector<Value> sources;
      storedSources(operand, sources);
      if (llvm::none_of(sources, [&](Value source) { return groupOf(source) == group; }))
        continue;
      if (!element || groupOf(inPlaceSource(operand)) != group)
        return false;
      for (Value from = operand; auto dequantize = from.getDefiningOp<DequantizeOp>();
           from = dequantize.getInput())
        if (isFree(dequantize) &&
            (groupOf(dequantize.getScale()) == group || groupOf(dequantize.getZero()) == group))
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

  /// No operand of `op` outside `group` may depend on it.
  bool mayJoin(Group *group, Operation *op) {
    if (group->operations.size() >= kMostOperators)
      return false;
    SetVector<Value> sources;
    for (Value operand : op->getOperands())
      storedSources(operand, sources);
    for (Value source : sources)
      if (Group *other = groupOf(source); other && other != group && reaches(group, other))
        return false;
    return true;
  }

  /// Whether `to` reads, directly or not, something `from` computes.
  bool reaches(Group *from, Group *to) {
    llvm::DenseSet<Group *> seen;
    SmallVector<Group *> work{to};
    while (!work.empty()) {
      Group *group = work.pop_back_val();
      if (group == from)
        return true;
      if (!seen.insert(group).second)
        continue;
      SetVector<Value> sources;
      for (Operation *op : group->operations)
        for (Value operand : op->getOperands())
          storedSources(operand, sources);
      for (Value source : sources)
        if (Group *next = groupOf(source); next && next != group)
          work.push_back(next);
    }
    return false;
  }

  /// A contraction over the line of a softmax whose scores come from another contraction: nothing between them is needed elsewhere, so the
  /// three become one group and scores never reach memory.
  void absorbAttention(Group *into, Operation *op) {
    for (Value operand : op->getOperands()) {
      Group *row = groupOf(operand);
      if (!row || row == into || !hasSoftmax(row) || !feedsOnly(row, into))
        continue;
      Group *scores = nullptr;
      for (Operation *each : row->operations)
        for (Value source : each->getOperands())
          if (Group *group = groupOf(source);
              group && group != row && group->kind == RootKind::Contraction)
            scores = scores && scores != group ? into : group;
      if (!scores || scores == into || !feedsOnly(scores, row))
        continue;
      merge(into, row);
      merge(into, scores);
      into->kind = RootKind::Attention;
      absorbOperands(into);
      return;
    }
  }

  /// The group's root is a softmax, and what follows it is computed line by line.
  static bool hasSoftmax(Group *group) {
    return group->kind == RootKind::Row &&
           llvm::count_if(group->operations,
                          [](Operation *op) {
                            return isa<SoftmaxOp>(op) ||
                                   cast<ElementOpInterface>(op).rootKind() != RootKind::Loop;
                          }) == 1 &&
           llvm::any_of(group->operations, [](Operation *op) { return isa<SoftmaxOp>(op); });
  }

  /// Elements of the products' operands are pulled once per unit of work, so scaling them there costs less than a pass over memory.
  void absorbOperands(Group *into) {
    constexpr size_t kMostScaling = 4;
    for (Operation *op : SmallVector<Operation *>(into->operations))
      for (Value operand : op->getOperands()) {
        Group *group = isa<ContractOp>(op) ? groupOf(operand) : nullptr;
        if (group && group != into && group->kind == RootKind::Loop && !group->moved &&
            group->operations.size() <= kMostScaling && feedsOnly(group, into))
          merge(into, group);
      }
  }

  /// Whether every result of `group` is read inside `group` and `reader` only.
  bool feedsOnly(Group *group, Group *reader) {
    for (Operation *op : group->operations)
      for (Value result : op->getResults())
        if (escapesBoth(result, group, reader))
          return false;
    return true;
  }

  bool escapesBoth(Value value, Group *a, Group *b) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (isFree(user))
        return llvm::any_of(user->getResults(),
                            [&](Value result) { return escapesBoth(result, a, b); });
      Group *group = owner.lookup(user);
      return group != a && group != b;
    });
  }

  void merge(Group *into, Group *group) {
    for (Operation *op : group->operations)
      owner[op] = into;
    into->operations.append(group->operations);
    into->moved += group->moved;
    llvm::sort(into->operations, [&](Operation *a, Operation *b) { return order[a] < order[b]; });
    group->dead = true;
    group->operations.clear();
  }

  /// Takes the elementwise group that computes `operand` into `into`, when nobody else reads it.
  void absorb(Group *into, Value operand, Operation *reader) {
    Group *group = groupOf(inPlaceSource(operand));
    if (!group || group == into || group->kind != RootKind::Loop ||
        group->operations.size() + into->operations.size() > kMostOperators)
      return;
    bool row = into->kind == RootKind::Row;
    if (row && group->space.getDimAttributes() !=
                   cast<SymTensorType>(operand.getType()).getDimAttributes())
      return;
    if (!row && (into->kind != RootKind::Loop ||
                 group->space.getDimAttributes() != into->space.getDimAttributes()))
      return;
    for (Operation *op : group->operations)
      for (Value result : op->getResults())
        if (isReadElsewhere(result, group, into))
          return;
    merge(into, group);
  }

  /// Whether an operation outside both groups reads the value, where it is dequantised on the way or not.
  bool isReadElsewhere(Value value, Group *a, Group *b) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (isa<DequantizeOp>(user) && isFree(user))
        return isReadElsewhere(user->getResult(0), a, b);
      Group *group = owner.lookup(user);
      return group != a && group != b;
    });
  }

  /// Every returned value must be the result of a kernel, each of another one.
  void materializeYielded() {
    llvm::DenseSet<Value> seen;
    bool conditional = isa<YieldOp>(end) && isa<LoopOp>(end->getParentOp()) &&
                       cast<LoopOp>(end->getParentOp()).isConditional();
    for (OpOperand &operand : end->getOpOperands()) {
      if (conditional && operand.getOperandNumber() == 0 && !isMadeHere(operand.get()))
        continue; // the host reads it where it lies
      if (!groupOf(operand.get()) || !seen.insert(operand.get()).second)
        copies.push_back(&operand);
    }
  }

  /// What an operation of the host reads lies in memory.
  void materializeOperands() {
    for (OpOperand &operand : end->getOpOperands())
      if (isMadeHere(operand.get()) && !groupOf(operand.get()))
        copies.push_back(&operand);
  }

  /// Not a stored value under this or another name.
  bool isMadeHere(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    Operation *op = value.getDefiningOp();
    return op && isFree(op);
  }

  LogicalResult emitKernels() {
    OpBuilder builder(end);
    SmallVector<Group *> pending;
    for (auto &group : groups)
      if (!group->dead && !group->operations.empty())
        pending.push_back(group.get());
    llvm::DenseSet<Group *> done;
    while (!pending.empty()) { // groups in an order in which every group follows what it reads
      bool progress = false;
      for (Group *&group : pending) {
        if (!group || !ready(group, done))
          continue;
        emit(builder, group);
        done.insert(group);
        group = nullptr;
        progress = true;
      }
      if (!progress)
        return end->emitError("kernel groups depend on each other in a circle");
      llvm::erase(pending, nullptr);
    }
    for (OpOperand *operand : copies)
      emitCopy(builder, *operand);
    for (OpOperand &operand : end->getOpOperands())
      operand.set(outside(builder, operand.get()));
    return success();
  }

  bool ready(Group *group, const llvm::DenseSet<Group *> &done) {
    SetVector<Value> sources;
    for (Operation *op : group->operations)
      for (Value operand : op->getOperands())
        storedSources(operand, sources);
    return llvm::all_of(sources, [&](Value source) {
      Group *other = groupOf(source);
      return !other || other == group || done.contains(other);
    });
  }

  /// Builds one kernel: stored values become arguments, free operators are copied in.
  class KernelBuilder {
  public:
    KernelBuilder(Former &former, Group *group) : former(former), group(group) {}

    Value map(OpBuilder &b, Value value) {
      if (auto it = inside.find(value); it != inside.end())
        return it->second;
      Operation *op = value.getDefiningOp();
      if (!op || !(isFree(op) || (group && former.owner.lookup(op) == group)))
        return argument(value);
      if (Value base =
              former.contiguousBase(value)) // a reshape of a stored value is another name for it
        return argument(value);
      Operation *clone = b.clone(*op);
      for (OpOperand &operand : clone->getOpOperands()) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(clone);
        operand.set(map(b, operand.get()));
      }
      for (auto [from, to] : llvm::zip(op->getResults(), clone->getResults()))
        inside[from] = to;
      return inside[value];
    }

    Value argument(Value value) {
      Value &mapped = inside[value];
      if (!mapped) {
        inputs.push_back(value);
        mapped = body->addArgument(value.getType(), value.getLoc());
      }
      return mapped;
    }

    Former &former;
    Group *group;
    Block *body = nullptr;
    SmallVector<Value> inputs;
    llvm::DenseMap<Value, Value> inside;
  };

  /// For a chain of reshapes of a stored value, that value; else null.
  Value contiguousBase(Value value) {
    bool reshaped = false;
    while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      value = reshape.getInput();
      reshaped = true;
    }
    Operation *op = value.getDefiningOp();
    return reshaped && !(op && isFree(op)) && !openGroup(value) ? value : Value();
  }
  bool openGroup(Value value) {
    Group *group = groupOf(value);
    return group && group == current;
  }

  /// Whether something outside the group reads the value, free operators aside.
  bool escapes(Value value, Group *group) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (isFree(user))
        return llvm::any_of(user->getResults(),
                            [&](Value result) { return escapes(result, group); });
      return owner.lookup(user) != group;
    });
  }

  static StringRef kindName(RootKind kind) {
    static constexpr StringRef names[] = {"loop",      "view",   "contraction", "row",
                                          "attention", "serial", "window"};
    return names[unsigned(kind)];
  }

  void emit(OpBuilder &builder, Group *group) {
    current = group;
    SmallVector<Value> results;
    for (Operation *op : group->operations)
      for (Value result : op->getResults())
        if (escapes(result, group))
          results.push_back(result);
    auto region = std::make_unique<Region>();
    region->push_back(new Block());
    KernelBuilder kernel(*this, group);
    kernel.body = &region->front();
    OpBuilder inner(end->getContext());
    inner.setInsertionPointToEnd(kernel.body);
    SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(kernel.map(inner, result));
    inner.create<YieldOp>(group->operations.back()->getLoc(), yielded);
    SmallVector<Location> locations;
    for (Operation *op : group->operations)
      locations.push_back(op->getLoc());
    create(builder, builder.getFusedLoc(locations), kernel, std::move(region), results,
           kindName(group->kind));
    current = nullptr;
  }

  void create(OpBuilder &builder, Location location, KernelBuilder &kernel,
              std::unique_ptr<Region> region, ArrayRef<Value> results, StringRef root) {
    SmallVector<Value> inputs;
    for (Value input : kernel.inputs)
      inputs.push_back(outside(builder, input));
    auto op = builder.create<KernelOp>(location, ValueRange(results).getTypes(), inputs, root);
    op.getBody().takeBody(*region);
    for (auto [from, to] : llvm::zip(results, op.getResults()))
      replacement[from] = to;
  }

  /// The value outside kernels: kernels' results for what they compute, reshapes kept.
  Value outside(OpBuilder &builder, Value value) {
    if (Value known = replacement.lookup(value))
      return known;
    auto reshape = value.getDefiningOp<ReshapeOp>();
    if (!reshape)
      return value;
    return builder.create<ReshapeOp>(reshape.getLoc(), reshape.getType(),
                                     outside(builder, reshape.getInput()), reshape.getDims());
  }

  void emitCopy(OpBuilder &builder, OpOperand &operand) {
    auto region = std::make_unique<Region>();
    region->push_back(new Block());
    KernelBuilder kernel(*this, nullptr);
    kernel.body = &region->front();
    OpBuilder inner(end->getContext());
    inner.setInsertionPointToEnd(kernel.body);
    Value mapped = kernel.map(inner, operand.get());
    inner.create<YieldOp>(operand.get().getLoc(), mapped);
    SmallVector<Value> inputs;
    for (Value input : kernel.inputs)
      inputs.push_back(outside(builder, input));
    auto op =
        builder.create<KernelOp>(operand.get().getLoc(), operand.get().getType(), inputs, "loop");
    op.getBody().takeBody(*region);
    operand.set(op.getResult(0));
  }

  Block::iterator begin;
  Operation *end;
  bool formAttention;
  std::vector<std::unique_ptr<Group>> groups;
  llvm::DenseMap<Operation *, Group *> owner;
  llvm::DenseMap<Operation *, size_t> order;
  SmallVector<OpOperand *> copies;
  Replacements &replacement;
  Group *current = nullptr;
};

/// `old` collects what kernels replace. It is erased when all is done: new operations must not get the addresses that `replacement` knows.
LogicalResult formBlock(Block &block, Replacements &replacement, SmallVectorImpl<Operation *> &old,
                        bool formAttention) {
  auto begin = block.begin();
  for (Operation &op : block)
    if (!isa<HostOpInterface>(op) && !op.hasTrait<OpTrait::IsTerminator>())
      old.push_back(&op);
  for (auto it = block.begin(); it != block.end(); ++it) {
    if (!isa<HostOpInterface>(*it) && !it->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (failed(Former(begin, &*it, replacement, formAttention).run()))
      return failure();
    for (Region &region : it->getRegions())
      for (Block &inner : region)
        if (failed(formBlock(inner, replacement, old, formAttention)))
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
    SmallVector<Operation *> old;
    if (failed(formBlock(getOperation().getBody().front(), replacement, old, attention)))
      return signalPassFailure();
    for (Operation *op : llvm::reverse(old))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
} // namespace weft
