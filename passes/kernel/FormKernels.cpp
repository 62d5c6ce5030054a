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

#include "dialects/weft/Quantize.h"
#include "passes/Passes.h"
#include "passes/kernel/Apart.h"
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
  Former(Block::iterator begin, Operation *end, Replacements &replacement,
         const FormKernelsOptions &options)
      : begin(begin), end(end), formAttention(options.attention), notes(options.explain),
        replacement(replacement) {}

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

  SetVector<Value> sourcesOf(Value value) {
    SetVector<Value> sources;
    storedSources(value, sources);
    return sources;
  }

  Group *groupOf(Value value) {
    Operation *op = value.getDefiningOp();
    return op ? owner.lookup(op) : nullptr;
  }

  /// Keeps why `reader` is not computed with what its operand comes from.
  void note(Value operand, Operation *reader, Apart why) {
    if (!notes.areKept || !why)
      return;
    for (Value source : sourcesOf(operand))
      if (groupOf(source))
        notes.note(source.getDefiningOp(), reader, why);
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
    if (kind == RootKind::Contraction)
      absorbAttention(joined, op);
    for (Value operand : op->getOperands()) {
      if (kind == RootKind::Row || kind == RootKind::Loop)
        note(operand, op, absorb(joined, operand, kind));
      else
        note(operand, op, {whyFirst(kind)});
    }
  }

  /// The latest group that produces an operand in the result's space and that no other operand depends on.
  Group *findHost(Operation *op, SymTensorType type) {
    Group *best = nullptr;
    for (Value operand : op->getOperands()) {
      Group *group = groupOf(inPlaceSource(operand));
      if (!group) {
        note(operand, op, whyMoved(operand));
        continue;
      }
      if (Apart why = unlessHost(group, op, type)) {
        note(operand, op, why);
        continue;
      }
      if (!best || order[group->operations.back()] > order[best->operations.back()])
        best = group;
    }
    return best;
  }

  /// Nothing when `op`, whose result has this type, can be computed where `group` computes its elements.
  Apart unlessHost(Group *group, Operation *op, SymTensorType type) {
    if (group->kind == RootKind::Serial)
      return {"an operator with loops of its own gives no elements before it has ended"};
    if (group->space.getDimAttributes() != type.getDimAttributes())
      return {kOtherDimensions};
    if (isPacked(type.getElementType()) && group->kind != RootKind::Loop)
      return {"elements of less than a byte are written by a kernel of elementwise operators only"};
    if (Apart why = unlessJoins(group, op))
      return why;
    if (readsInPlace(op, group))
      return {};
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

  static constexpr const char *kOtherDimensions = "they have different dimensions";
  static constexpr Apart kTooMany = {"the kernel would have more than 256 operators"};

  /// No operand of `op` outside `group` may depend on it.
  Apart unlessJoins(Group *group, Operation *op) {
    if (group->operations.size() >= kMostOperators)
      return kTooMany;
    SetVector<Value> sources;
    for (Value operand : op->getOperands())
      storedSources(operand, sources);
    for (Value source : sources)
      if (Group *other = groupOf(source); other && other != group && reaches(group, other))
        return {"another operand is computed from it by a kernel in between",
                source.getDefiningOp()};
    return {};
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
      Group *scores = row && row != into && hasSoftmax(row) ? scoresOf(row) : nullptr;
      if (!scores || scores == into)
        continue;
      if (Apart why = unlessAttention(scores, row, into)) {
        notes.correct(operand.getDefiningOp(), op, why);
        noteScores(scores, row, why);
        continue;
      }
      merge(into, row);
      merge(into, scores);
      into->kind = RootKind::Attention;
      absorbOperands(into);
      return;
    }
  }

  /// The only contraction that the row reads, or null.
  Group *scoresOf(Group *row) {
    Group *scores = nullptr;
    for (Operation *each : row->operations)
      for (Value source : each->getOperands())
        if (Group *group = groupOf(source);
            group && group != row && group->kind == RootKind::Contraction) {
          if (scores && scores != group)
            return nullptr;
          scores = group;
        }
    return scores;
  }

  Apart unlessAttention(Group *scores, Group *row, Group *into) {
    for (auto [group, reader] : {std::pair(row, into), std::pair(scores, row)})
      if (Operation *other = readerOutside(group, reader))
        return alsoRead(other);
    if (!formAttention)
      return {"no schedule of the target computes this form of attention in one kernel"};
    return {};
  }

  void noteScores(Group *scores, Group *row, Apart why) {
    for (Operation *each : row->operations)
      for (Value source : each->getOperands())
        if (groupOf(source) == scores)
          notes.correct(source.getDefiningOp(), each, why);
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
            group->operations.size() <= kMostScaling && !readerOutside(group, into))
          merge(into, group);
      }
  }

  /// Who reads a result of `group`, neither inside it nor inside `reader`: a value in memory is needed then. Null: nobody does.
  Operation *readerOutside(Group *group, Group *reader) {
    auto isFreeHere = [](Operation *user) { return isFree(user); };
    return readerOutside(group, reader, isFreeHere);
  }

  /// `isLookedThrough`: operators whose readers count as readers.
  Operation *readerOutside(Group *group, Group *reader,
                           llvm::function_ref<bool(Operation *)> isLookedThrough) {
    for (Operation *op : group->operations)
      for (Value result : op->getResults())
        if (Operation *found = readerOutside(result, group, reader, isLookedThrough))
          return found;
    return nullptr;
  }

  Operation *readerOutside(Value value, Group *a, Group *b,
                           llvm::function_ref<bool(Operation *)> isLookedThrough) {
    for (Operation *user : value.getUsers()) {
      if (isLookedThrough(user)) {
        for (Value result : user->getResults())
          if (Operation *found = readerOutside(result, a, b, isLookedThrough))
            return found;
        continue;
      }
      Group *group = owner.lookup(user);
      if (group != a && group != b)
        return user;
    }
    return nullptr;
  }

  static Apart alsoRead(Operation *reader) {
    if (isa<func::ReturnOp>(reader))
      return {"the value between them is an output of the model"};
    if (reader->hasTrait<OpTrait::IsTerminator>())
      return {"the value between them is a result of a branch or loop"};
    return {"the value between them has another reader", reader};
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
  Apart absorb(Group *into, Value operand, RootKind reader) {
    Group *group = groupOf(inPlaceSource(operand));
    if (!group)
      return whyMoved(operand);
    if (group == into)
      return {};
    Apart why = unlessTakes(into, group, operand, reader);
    if (!why && group->operations.size() + into->operations.size() > kMostOperators)
      why = kTooMany;
    auto isRestoring = [](Operation *user) { return isa<DequantizeOp>(user) && isFree(user); };
    if (!why)
      if (Operation *other = readerOutside(group, into, isRestoring))
        why = alsoRead(other);
    if (!why)
      merge(into, group);
    return why;
  }

  static Apart unlessTakes(Group *into, Group *group, Value operand, RootKind reader) {
    bool isRow = into->kind == RootKind::Row;
    if (reader == RootKind::Row && group->kind != RootKind::Loop)
      return {whyNoLines(group->kind)};
    if (group->kind != RootKind::Loop || (!isRow && into->kind != RootKind::Loop))
      return {"it is computed in the kernel of another operand", into->operations.front()};
    SymTensorType space = isRow ? cast<SymTensorType>(operand.getType()) : into->space;
    bool same = group->space.getDimAttributes() == space.getDimAttributes();
    return same ? Apart{} : Apart{kOtherDimensions};
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
    KernelOp op = create(builder, builder.getFusedLoc(locations), kernel, std::move(region),
                         results, kindName(group->kind));
    if (notes.areKept)
      explain(op, kernel.inputs, group->operations);
    current = nullptr;
  }

  /// What the kernel's inputs come from, and why that is not computed in it; `readers` are its operators.
  void explain(KernelOp kernel, ArrayRef<Value> inputs, ArrayRef<Operation *> readers) {
    llvm::DenseMap<Value, Operation *> firstReader;
    for (Operation *op : readers)
      for (Value operand : op->getOperands())
        for (Value source : sourcesOf(operand))
          firstReader.try_emplace(source, op);
    SmallVector<Attribute> entries;
    for (Value input : inputs) {
      SetVector<Value> sources = sourcesOf(input);
      Operation *from = sources.size() == 1 ? sources[0].getDefiningOp() : nullptr;
      Operation *to = from ? firstReader.lookup(sources[0]) : nullptr;
      bool isEdge = to && !isStored(from) && !isa<HostOpInterface>(from);
      if (isEdge && owner.contains(from))
        notes.note(from, to, {"a view between them reads it at other places"});
      entries.push_back(isEdge ? notes.describe(from, to)
                               : DictionaryAttr::get(kernel.getContext()));
    }
    kernel->setAttr(kApartAttr, ArrayAttr::get(kernel.getContext(), entries));
  }

  KernelOp create(OpBuilder &builder, Location location, KernelBuilder &kernel,
                  std::unique_ptr<Region> region, ArrayRef<Value> results, StringRef root) {
    SmallVector<Value> inputs;
    for (Value input : kernel.inputs)
      inputs.push_back(outside(builder, input));
    auto op = builder.create<KernelOp>(location, ValueRange(results).getTypes(), inputs, root);
    op.getBody().takeBody(*region);
    for (auto [from, to] : llvm::zip(results, op.getResults()))
      replacement[from] = to;
    return op;
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
    if (notes.areKept)
      explainCopy(op, kernel.inputs, operand.get());
    operand.set(op.getResult(0));
  }

  void explainCopy(KernelOp kernel, ArrayRef<Value> inputs, Value copied) {
    Operation *view = copied.getDefiningOp();
    if (!view)
      return;
    for (Value source : sourcesOf(copied))
      if (Operation *from = source.getDefiningOp())
        notes.note(from, view, {"the view of it must lie in memory and is copied there"});
    explain(kernel, inputs, view);
  }

  Block::iterator begin;
  Operation *end;
  bool formAttention;
  ApartNotes notes;
  std::vector<std::unique_ptr<Group>> groups;
  llvm::DenseMap<Operation *, Group *> owner;
  llvm::DenseMap<Operation *, size_t> order;
  SmallVector<OpOperand *> copies;
  Replacements &replacement;
  Group *current = nullptr;
};

/// `old` collects what kernels replace. It is erased when all is done: new operations must not get the addresses that `replacement` knows.
LogicalResult formBlock(Block &block, Replacements &replacement, SmallVectorImpl<Operation *> &old,
                        const FormKernelsOptions &options) {
  auto begin = block.begin();
  for (Operation &op : block)
    if (!isa<HostOpInterface>(op) && !op.hasTrait<OpTrait::IsTerminator>())
      old.push_back(&op);
  for (auto it = block.begin(); it != block.end(); ++it) {
    if (!isa<HostOpInterface>(*it) && !it->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (failed(Former(begin, &*it, replacement, options).run()))
      return failure();
    for (Region &region : it->getRegions())
      for (Block &inner : region)
        if (failed(formBlock(inner, replacement, old, options)))
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
    if (failed(formBlock(getOperation().getBody().front(), replacement, old, {attention, explain})))
      return signalPassFailure();
    for (Operation *op : llvm::reverse(old))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
} // namespace weft
