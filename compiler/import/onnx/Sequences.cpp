//===- Sequences.cpp - Sequences and optionals ------------------------------------------------------===//

#include "compiler/import/onnx/Sequences.h"
#include "compiler/import/onnx/Operators.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace weft::onnx {

constexpr int64_t kMostTensors = 4096; ///< of a sequence: each one is operations in the program

const char *kindOf(Value value) {
  return isa<TupleType>(value.getType()) ? "a sequence" : "an empty optional";
}

Value makeSequence(OpBuilder &builder, ArrayRef<Value> tensors) {
  Type type = TupleType::get(builder.getContext(), ValueRange(tensors).getTypes());
  return builder
      .create<UnrealizedConversionCastOp>(builder.getUnknownLoc(), TypeRange(type),
                                          ValueRange(tensors))
      .getResult(0);
}

std::optional<SmallVector<Value>> sequenceOf(Value value) {
  auto holder = value ? value.getDefiningOp<UnrealizedConversionCastOp>() : nullptr;
  if (!holder || !isa<TupleType>(value.getType()))
    return std::nullopt;
  return SmallVector<Value>(holder.getInputs());
}

namespace {

/// Input `i` as a list; refused when it is none.
std::optional<SmallVector<Value>> listInput(NodeImport &n, unsigned i) {
  Value value = n.input(i);
  std::optional<SmallVector<Value>> list = sequenceOf(value);
  if (value && !list)
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

void convertInsert(NodeImport &n) {
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

void convertAt(NodeImport &n) {
  if (std::optional<SmallVector<Value>> list = listInput(n, 0))
    if (std::optional<size_t> at = position(n, 1, list->size()))
      n.result((*list)[*at]);
}

void convertLength(NodeImport &n) {
  if (std::optional<SmallVector<Value>> list = listInput(n, 0))
    n.result(n.number(n.i64(), n.constant(int64_t(list->size()))));
}

void convertConcat(NodeImport &n) {
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
