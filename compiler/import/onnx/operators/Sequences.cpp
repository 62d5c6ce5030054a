//===- Sequences.cpp - Sequences and optionals ------------------------------------------------------===//

#include "compiler/import/onnx/graph/Sequences.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace weft::onnx {

constexpr int64_t kMostTensors = 4096; ///< of a sequence: each one is operations in the program

const char *kindOf(Value value) {
  return isa<TupleType>(value.getType()) ? "a sequence" : "an empty optional";
}

/// The placeholder that stands for `tensors`; what kind of list it is lies in its type.
static Value placeholder(OpBuilder &builder, ArrayRef<Value> tensors, ArrayRef<Type> types) {
  Type type = TupleType::get(builder.getContext(), types);
  return builder
      .create<UnrealizedConversionCastOp>(builder.getUnknownLoc(), TypeRange(type),
                                          ValueRange(tensors))
      .getResult(0);
}

Value makeSequence(OpBuilder &builder, ArrayRef<Value> tensors) {
  return placeholder(builder, tensors, llvm::to_vector(ValueRange(tensors).getTypes()));
}

static UnrealizedConversionCastOp holderOf(Value value) {
  auto holder = value ? value.getDefiningOp<UnrealizedConversionCastOp>() : nullptr;
  return holder && isa<TupleType>(value.getType()) ? holder : nullptr;
}

std::optional<SmallVector<Value>> sequenceOf(Value value) {
  UnrealizedConversionCastOp holder = holderOf(value);
  if (!holder || !llvm::all_of(holder.getInputs(), isTensor) ||
      !llvm::equal(cast<TupleType>(value.getType()).getTypes(), holder.getInputs().getTypes()))
    return std::nullopt;
  return SmallVector<Value>(holder.getInputs());
}

Value makeFilled(OpBuilder &builder) {
  return placeholder(builder, {}, Type(builder.getNoneType()));
}

Value makeFilled(OpBuilder &builder, const FilledSequence &sequence) {
  SmallVector<Value> inputs{sequence.before};
  llvm::append_range(inputs, sequence.appended);
  return placeholder(builder, inputs, llvm::to_vector(ValueRange(inputs).getTypes()));
}

std::optional<FilledSequence> filledOf(Value value) {
  UnrealizedConversionCastOp holder = holderOf(value);
  if (!holder)
    return std::nullopt;
  Type begun = TupleType::get(value.getContext(), Type(NoneType::get(value.getContext())));
  if (value.getType() == begun)
    return FilledSequence{value, {}};
  if (holder.getInputs().empty() || holder.getInputs()[0].getType() != begun)
    return std::nullopt;
  return FilledSequence{holder.getInputs()[0], SmallVector<Value>(holder.getInputs().drop_front())};
}

Value makeStack(OpBuilder &builder, Value tensors) {
  return placeholder(builder, tensors,
                     Type(TupleType::get(builder.getContext(), tensors.getType())));
}

Value stackOf(Value value) {
  UnrealizedConversionCastOp holder = holderOf(value);
  if (!holder || holder.getInputs().size() != 1 || !isTensor(holder.getInputs()[0]))
    return {};
  Type inner = TupleType::get(value.getContext(), holder.getInputs().getTypes()[0]);
  return value.getType() == TupleType::get(value.getContext(), inner) ? holder.getInputs()[0]
                                                                      : Value();
}

namespace {

/// Input `i` as a list; refused when it is none.
std::optional<SmallVector<Value>> listInput(NodeImport &n, unsigned i) {
  Value value = n.input(i);
  std::optional<SmallVector<Value>> list = sequenceOf(value);
  if (value && !list && isa<TupleType>(value.getType()))
    n.refuse("input " + Twine(i) +
             " is a sequence that a loop fills, which the operator does not take");
  else if (value && !list)
    n.wrong("input " + Twine(i) + " must be a sequence");
  return list;
}

/// A tensor among the inputs; null and refused when it is something else.
Value tensorInput(NodeImport &n, unsigned i) {
  Value value = n.input(i);
  return !value || isTensor(value)
             ? value
             : n.wrong("input " + Twine(i) + " must be a tensor, but is " + kindOf(value));
}

Value listOf(NodeImport &n, ArrayRef<Value> tensors) {
  for (Value each : tensors)
    if (!each || !isTensor(each))
      return n.refuse("a sequence can only hold tensors");
  if (tensors.size() > size_t(kMostTensors))
    return n.refuse("a sequence of more than " + Twine(kMostTensors) + " tensors is not supported");
  return makeSequence(n.attributes(), tensors);
}

/// Operand `i` as a position up to `last`; negative ones count from the end of the `count` tensors.
std::optional<size_t> position(NodeImport &n, unsigned i, size_t count, int64_t last) {
  if (!tensorInput(n, i))
    return std::nullopt;
  std::optional<int64_t> at = n.constantScalar(i);
  if (!at)
    return std::nullopt;
  if (*at < -int64_t(count) || *at > last)
    return n.wrong("position " + Twine(*at) + " is outside of the sequence"), std::nullopt;
  return size_t(*at < 0 ? *at + int64_t(count) : *at);
}

/// The position of one of the tensors.
std::optional<size_t> position(NodeImport &n, unsigned i, size_t count) {
  return position(n, i, count, int64_t(count) - 1);
}

void convertConstruct(NodeImport &n) { n.result(listOf(n, n.allInputs())); }

void convertEmpty(NodeImport &n) {
  n.ignoreAttributes({"dtype"});
  n.result(listOf(n, {}));
}

/// In the body of a loop: every turn appends as many.
void convertAppend(NodeImport &n, FilledSequence sequence) {
  Value tensor = tensorInput(n, 1);
  if (n.hasInput(2))
    return (void)n.refuse("a position in a sequence that a loop fills is not supported");
  if (!tensor)
    return;
  sequence.appended.push_back(tensor);
  n.result(makeFilled(n.attributes(), sequence));
}

void convertInsert(NodeImport &n) {
  if (std::optional<FilledSequence> filled = filledOf(n.input(0)))
    return convertAppend(n, *filled);
  std::optional<SmallVector<Value>> list = listInput(n, 0);
  Value tensor = tensorInput(n, 1);
  if (!list || !tensor)
    return;
  std::optional<size_t> at = list->size();
  if (n.hasInput(2)) // also right behind the last one
    at = position(n, 2, list->size(), int64_t(list->size()));
  if (!at)
    return;
  list->insert(list->begin() + *at, tensor);
  n.result(listOf(n, *list));
}

void convertErase(NodeImport &n) {
  std::optional<SmallVector<Value>> list = listInput(n, 0);
  if (!list)
    return;
  if (list->empty())
    return (void)n.wrong("the sequence is empty");
  std::optional<size_t> at = n.hasInput(1) ? position(n, 1, list->size()) : list->size() - 1;
  if (!at)
    return;
  list->erase(list->begin() + *at);
  n.result(listOf(n, *list));
}

/// One of the tensors that a loop appended; negative positions count from the last.
void convertStackAt(NodeImport &n, Value stack) {
  std::optional<int64_t> at = tensorInput(n, 1) ? n.constantScalar(1) : std::nullopt;
  if (!at)
    return;
  if (*at < -kMaxSymbolValue || *at >= kMaxSymbolValue)
    return (void)n.wrong("position " + Twine(*at) + " is outside of the sequence");
  SymExpr count = typeOf(stack).getDim(0), need = n.constant(*at < 0 ? -*at : *at + 1);
  if (!n.requireAtMost(need, count, "position " + Twine(*at) + " of the sequence"))
    return;
  Value tensor = n.sliceDim(stack, 0, *at < 0 ? count - need : need - 1, n.constant(1));
  Dims dims(typeOf(stack).getDims());
  dims.erase(dims.begin());
  n.result(tensor ? n.reshape(tensor, dims) : tensor);
}

void convertAt(NodeImport &n) {
  if (Value stack = stackOf(n.input(0)))
    return convertStackAt(n, stack);
  if (std::optional<SmallVector<Value>> list = listInput(n, 0))
    if (std::optional<size_t> at = position(n, 1, list->size()))
      n.result((*list)[*at]);
}

void convertLength(NodeImport &n) {
  if (Value stack = stackOf(n.input(0)))
    return n.result(n.number(n.i64(), typeOf(stack).getDim(0)));
  if (std::optional<SmallVector<Value>> list = listInput(n, 0))
    n.result(n.number(n.i64(), n.constant(int64_t(list->size()))));
}

/// The tensors already lie side by side: their dimension moves to its place, and joins the one there unless it is a new one.
void convertStackConcat(NodeImport &n, Value stack) {
  std::optional<int64_t> axis = n.intAttribute("axis");
  bool stacks = n.intAttribute("new_axis", 0) != 0;
  if (!axis)
    return (void)n.wrong("attribute 'axis' is missing");
  unsigned along = n.axis(*axis, rankOf(stack) - (stacks ? 0 : 1));
  Value moved = n.refused() ? Value() : n.moveDim(stack, 0, along);
  if (!moved || stacks)
    return n.result(moved);
  Dims dims(typeOf(moved).getDims());
  dims[along] = dims[along] * dims[along + 1];
  dims.erase(dims.begin() + along + 1);
  n.result(n.reshape(moved, dims));
}

void convertConcat(NodeImport &n) {
  if (Value stack = stackOf(n.input(0)))
    return convertStackConcat(n, stack);
  std::optional<SmallVector<Value>> list = listInput(n, 0);
  std::optional<int64_t> axis = n.intAttribute("axis");
  bool stacks = n.intAttribute("new_axis", 0) != 0;
  if (!list)
    return;
  if (!axis || list->empty())
    return (void)n.wrong(axis ? "the sequence is empty" : "attribute 'axis' is missing");
  unsigned along = n.axis(*axis, rankOf(list->front()) + (stacks ? 1 : 0));
  if (n.refused())
    return;
  if (stacks)
    for (Value &each : *list)
      each = rankOf(each) < along ? Value() : n.unsqueeze(each, int64_t(along));
  if (llvm::is_contained(*list, Value()))
    return (void)n.wrong("the tensors of the sequence have different ranks");
  n.result(n.concat(*list, along));
}

/// The sizes of the parts along the axis; nothing when refused.
std::optional<Dims> partSizes(NodeImport &n, SymExpr length) {
  if (n.hasInput(1) && n.rank(1) == 1)
    return n.sizesOperand(1);
  std::optional<int64_t> size = n.hasInput(1) ? n.constantScalar(1) : 1;
  std::optional<int64_t> all = length.asConstant();
  if (!size)
    return std::nullopt;
  if (*size < 1)
    return n.wrong("the size of the parts must be positive"), std::nullopt;
  if (!all)
    return n.refuse("the number of parts depends on the dimension '" + length.str() +
                    "', which is not supported"),
           std::nullopt;
  if (*all / *size > kMostTensors)
    return n.refuse("more than " + Twine(kMostTensors) + " parts are not supported"), std::nullopt;
  Dims sizes;
  for (int64_t at = 0; at < *all; at += *size)
    sizes.push_back(n.constant(std::min(*size, *all - at)));
  return sizes;
}

void convertSplit(NodeImport &n) {
  Value x = n.input(0);
  bool keeps = n.intAttribute("keepdims", 1) != 0 || n.hasInput(1);
  unsigned axis = n.axis(n.intAttribute("axis", 0), n.rank(0));
  if (!x || n.refused())
    return;
  SymExpr length = typeOf(x).getDim(axis), start = n.constant(0);
  std::optional<Dims> sizes = partSizes(n, length);
  if (!sizes)
    return;
  SmallVector<Value> parts;
  for (SymExpr size : *sizes) {
    Value part = n.sliceDim(x, axis, start, size);
    start = start + size;
    if (!keeps && part) {
      Dims dims(typeOf(part).getDims());
      dims.erase(dims.begin() + axis);
      part = n.reshape(part, dims);
    }
    parts.push_back(part);
  }
  if (n.requireEqual(start, length, "the sum of the parts"))
    n.result(listOf(n, parts));
}

/// The body once per position; tensors among the inputs are the same for all.
void convertMap(NodeImport &n) {
  const OnnxGraph *body = n.graphAttribute("body");
  std::optional<SmallVector<Value>> first = listInput(n, 0);
  if (!body || !first)
    return;
  SmallVector<SmallVector<Value>> inputs;
  for (auto [i, value] : llvm::enumerate(n.allInputs())) {
    auto list = sequenceOf(value);
    if (list && list->size() != first->size())
      return (void)n.wrong("input " + Twine(i) + " has another length than the first");
    inputs.push_back(list ? *list : SmallVector<Value>(first->size(), value));
  }
  SmallVector<SmallVector<Value>> results(body->outputs.size());
  for (size_t at = 0; at < first->size() && !n.refused(); ++at) {
    SmallVector<Value> arguments, outputs;
    for (const SmallVector<Value> &list : inputs)
      arguments.push_back(list[at]);
    if (!n.services.inlineGraph(*body, arguments, outputs))
      return;
    for (auto [list, value] : llvm::zip(results, outputs))
      list.push_back(value);
  }
  for (const SmallVector<Value> &list : results)
    n.results.push_back(listOf(n, list));
}

//===-- Optionals -----------------------------------------------------------------------------===//

bool isEmpty(Value value) { return isa<NoneType>(value.getType()); }

void convertOptional(NodeImport &n) {
  n.ignoreAttributes({"type"});
  if (n.hasInput(0))
    return n.result(n.input(0));
  OpBuilder &b = n.attributes();
  n.result(b.create<UnrealizedConversionCastOp>(b.getUnknownLoc(), TypeRange(b.getNoneType()),
                                                ValueRange())
               .getResult(0));
}

void convertHasElement(NodeImport &n) {
  n.result(n.number(n.i1(), n.hasInput(0) && !isEmpty(n.input(0)) ? 1.0 : 0.0));
}

void convertGetElement(NodeImport &n) {
  Value value = n.input(0);
  if (value && isEmpty(value))
    return (void)n.wrong("the optional is empty");
  n.result(value);
}

/// Sequences may be among the inputs.
void addWithSequences(OperatorTable &table, OnnxOperator entry) {
  entry.takesSequences = true;
  table.add(entry);
}

} // namespace

void addSequences(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"SequenceEmpty", 11, newest, convertEmpty, 0, 0});
  table.add({"SplitToSequence", 11, newest, convertSplit, 1, 2});
  addWithSequences(table, {"SequenceConstruct", 11, newest, convertConstruct, 1, kAnyNumber});
  addWithSequences(table, {"SequenceInsert", 11, newest, convertInsert, 2, 3});
  addWithSequences(table, {"SequenceErase", 11, newest, convertErase, 1, 2});
  addWithSequences(table, {"SequenceAt", 11, newest, convertAt, 2, 2});
  addWithSequences(table, {"SequenceLength", 11, newest, convertLength});
  addWithSequences(table, {"ConcatFromSequence", 11, newest, convertConcat});
  addWithSequences(table, {"SequenceMap", 17, newest, convertMap, 1, kAnyNumber, kAnyNumber});
  addWithSequences(table, {"Optional", 15, newest, convertOptional, 0, 1});
  addWithSequences(table, {"OptionalHasElement", 15, newest, convertHasElement, 0, 1});
  addWithSequences(table, {"OptionalGetElement", 15, newest, convertGetElement});
}

} // namespace weft::onnx
