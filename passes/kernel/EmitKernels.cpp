//===- EmitKernels.cpp - The kernels of groups of operators ---------------------------------------------===//
//
// Every group becomes one operation behind those it reads. Stored values are its arguments; free operators are copied in. What must be read
// from memory although no group computes it is copied there by a kernel of its own.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Quantize.h"
#include "passes/kernel/KernelGroups.h"

using namespace mlir;

namespace weft {
namespace {

Type elementOf(Value value) { return cast<SymTensorType>(value.getType()).getElementType(); }

/// The number that all elements are: of a constant, also where views repeat or cut it.
TypedAttr numberEverywhere(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isFree(op))
    return {};
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    auto number = dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
    return number && number.getType() == elementOf(value) ? number : TypedAttr();
  }
  if (auto fill = dyn_cast<FillOp>(op))
    return fill.getValue();
  bool isMove = op->getNumOperands() == 1 && op->getNumResults() == 1 &&
                elementOf(op->getOperand(0)) == elementOf(value);
  return isMove ? numberEverywhere(op->getOperand(0)) : TypedAttr();
}

class KernelEmitter {
public:
  KernelEmitter(KernelGroups &groups, Operation *end, Replacements &replacement)
      : groups(groups), end(end), replacement(replacement) {}

  LogicalResult run() {
    OpBuilder builder(end);
    SmallVector<KernelGroup *> pending;
    for (auto &group : groups.all)
      if (!group->dead && !group->operations.empty())
        pending.push_back(group.get());
    llvm::DenseSet<KernelGroup *> done;
    while (!pending.empty()) { // groups in an order in which every group follows what it reads
      bool progress = false;
      for (KernelGroup *&group : pending) {
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
    for (OpOperand *operand : groups.copies)
      emitCopy(builder, *operand);
    for (OpOperand &operand : end->getOpOperands())
      if (!llvm::is_contained(groups.copies, &operand))
        replacement.reads.push_back({&operand, outside(builder, operand.get())});
    return success();
  }

  /// The group's kernel; `inputs` are what it reads by their names in front of the pass.
  KernelOp build(OpBuilder &builder, KernelGroup *group, SmallVector<Value> &inputs) {
    current = group;
    SmallVector<Value> results;
    for (Operation *op : group->operations)
      for (Value result : op->getResults())
        if (groups.escapes(result, group))
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
                         results, group->kind);
    inputs = std::move(kernel.inputs);
    current = nullptr;
    return op;
  }

private:
  bool ready(KernelGroup *group, const llvm::DenseSet<KernelGroup *> &done) {
    SetVector<Value> sources;
    for (Operation *op : group->operations)
      for (Value operand : op->getOperands())
        storedSources(operand, sources);
    return llvm::all_of(sources, [&](Value source) {
      KernelGroup *other = groups.groupOf(source);
      return !other || other == group || done.contains(other);
    });
  }

  /// Builds one kernel: stored values become arguments, free operators are copied in.
  class KernelBuilder {
  public:
    KernelBuilder(KernelEmitter &emitter, KernelGroup *group) : emitter(emitter), group(group) {}

    Value map(OpBuilder &b, Value value) {
      if (auto it = inside.find(value); it != inside.end())
        return it->second;
      Operation *op = value.getDefiningOp();
      if (!op || !(isFree(op) || (group && emitter.groups.owner.lookup(op) == group)))
        return argument(value);
      if (Value base =
              emitter.contiguousBase(value)) // a reshape of a stored value is another name for it
        return argument(value);
      if (TypedAttr number = numberEverywhere(value)) // has the dimensions that its readers see
        return inside[value] = b.create<FillOp>(op->getLoc(), value.getType(), number);
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

    KernelEmitter &emitter;
    KernelGroup *group;
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
    KernelGroup *group = groups.groupOf(value);
    return group && group == current;
  }

  void emit(OpBuilder &builder, KernelGroup *group) {
    SmallVector<Value> inputs;
    KernelOp kernel = build(builder, group, inputs);
    if (groups.notes.areKept)
      explain(kernel, inputs, group->operations);
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
      if (isEdge && groups.owner.contains(from))
        groups.notes.note(from, to, {"a view between them reads it at other places"});
      entries.push_back(isEdge ? groups.notes.describe(from, to)
                               : DictionaryAttr::get(kernel.getContext()));
    }
    kernel->setAttr(kApartAttr, ArrayAttr::get(kernel.getContext(), entries));
  }

  KernelOp create(OpBuilder &builder, Location location, KernelBuilder &kernel,
                  std::unique_ptr<Region> region, ArrayRef<Value> results, RootKind root) {
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
    auto op = builder.create<KernelOp>(operand.get().getLoc(), operand.get().getType(), inputs,
                                       RootKind::Loop);
    op.getBody().takeBody(*region);
    if (groups.notes.areKept)
      explainCopy(op, kernel.inputs, operand.get());
    replacement.reads.push_back({&operand, op.getResult(0)});
  }

  void explainCopy(KernelOp kernel, ArrayRef<Value> inputs, Value copied) {
    Operation *view = copied.getDefiningOp();
    if (!view)
      return;
    for (Value source : sourcesOf(copied))
      if (Operation *from = source.getDefiningOp())
        groups.notes.note(from, view, {"the view of it must lie in memory and is copied there"});
    explain(kernel, inputs, view);
  }

  KernelGroups &groups;
  Operation *end;
  Replacements &replacement;
  KernelGroup *current = nullptr;
};

} // namespace

LogicalResult emitKernels(KernelGroups &groups, Operation *end, Replacements &replacement) {
  return KernelEmitter(groups, end, replacement).run();
}

Specification specify(KernelGroups &groups, KernelGroup *group, Operation *end) {
  Block aside; // goes with all that is built in it
  OpBuilder builder(end->getContext());
  builder.setInsertionPointToEnd(&aside);
  Replacements none;
  SmallVector<Value> inputs;
  return specify(KernelEmitter(groups, end, none).build(builder, group, inputs));
}

} // namespace weft
