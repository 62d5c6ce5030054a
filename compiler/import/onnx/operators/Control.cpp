//===- Control.cpp - If, Loop and Scan ---------------------------------------------------------===//

#include "compiler/import/onnx/graph/Sequences.h"
#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

/// 1 or 0 where a condition is known.
std::optional<bool> knownCondition(NodeImport &n, Value condition) {
  const RefTensor *known = n.known(condition);
  if (known && known->kind == Scalar::Integer && known->size() == 1)
    return known->integers[0] != 0;
  return std::nullopt;
}

//===-- If ------------------------------------------------------------------------------------===//

/// Exporters leave decisions about ranks and sizes in the file; most are decided here.
void convertIf(NodeImport &n) {
  const OnnxGraph *graphs[2] = {n.graphAttribute("else_branch"), n.graphAttribute("then_branch")};
  if (!graphs[0] || !graphs[1] || !n.input(0))
    return;
  size_t wanted = n.node.outputs.size();
  for (const OnnxGraph *graph : graphs)
    if (graph->outputs.size() < wanted)
      return (void)n.wrong("a branch has " + Twine(graph->outputs.size()) +
                           " outputs, but the node has " + Twine(wanted));
  if (std::optional<bool> taken = knownCondition(n, n.input(0))) {
    SmallVector<Value> outputs;
    if (n.services.inlineGraph(*graphs[*taken], {}, outputs))
      n.results.assign(outputs.begin(), outputs.end());
    return;
  }
  SmallVector<Value> outputs = n.branch(n.input(0), [&](bool yes, SmallVectorImpl<Value> &yielded) {
    return n.services.inlineGraph(*graphs[yes], {}, yielded);
  });
  n.results.assign(outputs.begin(), outputs.end());
}

//===-- Loop ----------------------------------------------------------------------------------===//

/// The most trips that the first input allows. A number that only data decide becomes a symbol.
SymExpr tripLimit(NodeImport &n) {
  SymExpr unlimited = n.constant(kMaxSymbolValue);
  if (!n.hasInput(0))
    return unlimited;
  Value trips = n.input(0);
  const RefTensor *known = n.known(trips);
  SymExpr expr = known && known->size() == 1 ? elementExpr(*known, 0) : SymExpr();
  if (expr && expr.asConstant().value_or(0) > kMaxSymbolValue)
    return unlimited;
  if (expr)
    return n.simplify(n.larger(expr, n.constant(0)));
  Value low = n.maximum(n.convert(trips, n.i64()), n.number(n.i64(), 0.0));
  return n.bindSymbol(n.minimum(low, n.number(n.i64(), double(kMaxSymbolValue))), "trips", {});
}

/// What a loop carries from turn to turn: tensors, and empty sequences that it fills.
struct LoopStates {
  SmallVector<Value> tensors;
  SmallVector<bool> isSequence; ///< of every state in order
};

/// Nothing when refused.
std::optional<LoopStates> readStates(NodeImport &n) {
  LoopStates states;
  for (unsigned i = 2; i < n.inputCount(); ++i) {
    Value init = n.input(i);
    if (!init)
      return std::nullopt;
    auto list = sequenceOf(init);
    states.isSequence.push_back(list.has_value());
    if (list && !list->empty())
      return n.refuse(
                 "input " + Twine(i) +
                 " is a sequence that is not empty when the loop begins, which is not supported"),
             std::nullopt;
    if (!list && !isTensor(init))
      return n.refuse("input " + Twine(i) + " is " + kindOf(init) +
                      ", which a loop does not carry"),
             std::nullopt;
    if (!list)
      states.tensors.push_back(init);
  }
  return states;
}

/// What a turn appended as one tensor, [how many, ...] when there are several; null and refused when the body does something else.
Value appendedOf(NodeImport &n, Value before, Value after, unsigned output, bool &several) {
  std::optional<FilledSequence> filled = filledOf(after);
  if (!filled || filled->before != before || filled->appended.empty())
    return n.refuse("output " + Twine(output) +
                    " of the body is not its input with tensors appended, "
                    "and other sequences that a loop carries are not supported");
  several = filled->appended.size() > 1;
  if (!several)
    return filled->appended.front();
  for (Value &each : filled->appended)
    each = n.unsqueeze(each, int64_t(0));
  return llvm::is_contained(filled->appended, Value()) ? Value() : n.concat(filled->appended, 0);
}

/// What all turns appended, as a sequence.
Value stateResult(NodeImport &n, Value stacked, bool several) {
  if (!stacked || !several)
    return stacked ? makeStack(n.attributes(), stacked) : stacked;
  Dims dims(typeOf(stacked).getDims());
  dims[0] = dims[0] * dims[1];
  dims.erase(dims.begin() + 1);
  Value joined = n.reshape(stacked, dims);
  return joined ? makeStack(n.attributes(), joined) : joined;
}

/// Arguments of the body: its turn, that it runs at all, and the states.
SmallVector<Value> bodyArguments(NodeImport &n, const LoopStates &states, SymExpr index,
                                 ValueRange carried) {
  SmallVector<Value> arguments{n.number(n.i64(), index), n.number(n.i1(), 1.0)};
  auto next = carried.begin();
  for (bool isSequence : states.isSequence)
    arguments.push_back(isSequence ? makeFilled(n.attributes()) : *next++);
  return arguments;
}

void convertLoop(NodeImport &n) {
  const OnnxGraph *graph = n.graphAttribute("body");
  std::optional<LoopStates> states = readStates(n);
  for (unsigned i : {0u, 1u})
    if (n.hasInput(i) && n.input(i) && !isTensor(n.input(i)))
      return (void)n.wrong("input " + Twine(i) + " must be a tensor");
  if (!graph || !states || n.refused())
    return;
  size_t count = states->isSequence.size();
  if (graph->inputs.size() != count + 2 || graph->outputs.size() < count + 1)
    return (void)n.wrong("the body has " + Twine(graph->inputs.size()) + " inputs and " +
                         Twine(graph->outputs.size()) + " outputs, but the node carries " +
                         Twine(count) + " values");
  Value begin = n.optionalInput(1);
  if (begin && knownCondition(n, begin).value_or(false))
    begin = {};
  SymExpr trips = tripLimit(n);
  SmallVector<bool> several(count, false);
  SmallVector<Value> results = n.loop(
      trips, begin, states->tensors,
      [&](SymExpr index, ValueRange carried, GraphBuilder::LoopBody &body) {
        // The region runs only while the condition holds.
        SmallVector<Value> arguments = bodyArguments(n, *states, index, carried), outputs, appended;
        if (!n.services.inlineGraph(*graph, arguments, outputs))
          return false;
        if (!knownCondition(n, outputs[0]).value_or(false))
          body.goOn = outputs[0];
        for (size_t i = 0; i < count; ++i)
          if (states->isSequence[i])
            appended.push_back(appendedOf(n, arguments[2 + i], outputs[1 + i], i + 1, several[i]));
          else
            body.yielded.push_back(outputs[1 + i]);
        body.yielded.append(outputs.begin() + 1 + count, outputs.end());
        llvm::append_range(body.yielded, appended);
        return !n.refused();
      });
  if (results.empty())
    return;
  ArrayRef<Value> tensors = ArrayRef(results).take_front(states->tensors.size()),
                  rest = ArrayRef(results).drop_front(states->tensors.size());
  ArrayRef<Value> own = rest.take_front(graph->outputs.size() - 1 - count),
                  filled = rest.drop_front(own.size());
  for (auto [isSequence, many] : llvm::zip(states->isSequence, several)) {
    ArrayRef<Value> &from = isSequence ? filled : tensors;
    n.results.push_back(isSequence ? stateResult(n, from.front(), many) : from.front());
    from = from.drop_front();
  }
  llvm::append_range(n.results, own);
}

//===-- Scan ----------------------------------------------------------------------------------===//

SmallVector<int64_t> listOf(NodeImport &n, StringRef name, size_t count) {
  SmallVector<int64_t> list = n.intsAttribute(name).value_or(SmallVector<int64_t>(count, 0));
  if (list.size() != count && !n.refused())
    n.wrong("attribute '" + name + "' has " + Twine(list.size()) + " entries, but " + Twine(count) +
            " are needed");
  list.resize(count);
  return list;
}

/// Elements along dimension 0 in the opposite order.
Value reversed(NodeImport &n, Value x) {
  Dims starts(rankOf(x), n.constant(0));
  SmallVector<int64_t> steps(rankOf(x), 1);
  starts[0] = typeOf(x).getDim(0) - 1;
  steps[0] = -1;
  return n.slice(x, starts, typeOf(x).getDims(), steps);
}

/// Element `index` of dimension 0, without that dimension.
Value elementAt(NodeImport &n, Value x, SymExpr index) {
  Value element = x ? n.sliceDim(x, 0, index, n.constant(1)) : Value();
  return element ? n.reshape(element, Dims(ArrayRef<SymExpr>(typeOf(x).getDims()).drop_front()))
                 : element;
}

/// How many of a scan's operands are states and how many it walks over, and what the body gives.
struct ScanBody {
  const OnnxGraph *graph = nullptr; ///< null when refused
  size_t states = 0, scanned = 0, stacked = 0;
};

/// `inputs` counts states and scanned inputs.
ScanBody readBody(NodeImport &n, unsigned inputs) {
  ScanBody body;
  const OnnxGraph *graph = n.graphAttribute("body");
  std::optional<int64_t> scanned = n.intAttribute("num_scan_inputs");
  if (!graph || !scanned)
    return n.wrong("attribute 'num_scan_inputs' is missing"), body;
  if (*scanned < 1 || *scanned > inputs)
    return n.wrong("attribute 'num_scan_inputs' is " + Twine(*scanned) + ", but the node has " +
                   Twine(inputs) + " inputs"),
           body;
  body.scanned = size_t(*scanned);
  body.states = inputs - body.scanned;
  if (graph->outputs.size() < body.states)
    return n.wrong("the body has fewer outputs than the node has states"), body;
  body.stacked = graph->outputs.size() - body.states;
  body.graph = graph;
  return body;
}

/// Walks along dimension 0 of `inputs`, backwards where `directions` is not 0: the last states, then the
/// stacked results. Empty when refused.
SmallVector<Value> scan(NodeImport &n, const ScanBody &body, ArrayRef<Value> inits,
                        SmallVector<Value> inputs, ArrayRef<int64_t> directions) {
  if (n.refused() || llvm::is_contained(inputs, Value()))
    return {};
  SymExpr trips = typeOf(inputs[0]).getDim(0);
  for (Value &input : inputs)
    if (n.requireEqual(typeOf(input).getDim(0), trips, "the length of a scanned input"))
      input = n.refine(input, 0, trips);
  return n.loop(
      trips, {}, inits, [&](SymExpr index, ValueRange carried, GraphBuilder::LoopBody &loop) {
        SmallVector<Value> arguments(carried);
        for (auto [input, direction] : llvm::zip(inputs, directions))
          arguments.push_back(elementAt(n, input, direction ? trips - 1 - index : index));
        return !n.refused() && n.services.inlineGraph(*body.graph, arguments, loop.yielded);
      });
}

void convertScan(NodeImport &n) {
  ScanBody body = readBody(n, n.inputCount());
  auto axes = listOf(n, "scan_input_axes", body.scanned),
       directions = listOf(n, "scan_input_directions", body.scanned);
  auto outAxes = listOf(n, "scan_output_axes", body.stacked),
       outDirections = listOf(n, "scan_output_directions", body.stacked);
  if (!body.graph || n.refused())
    return;
  SmallVector<Value> inits, inputs;
  for (unsigned i = 0; i < body.states; ++i)
    inits.push_back(n.input(i));
  for (unsigned i = 0; i < body.scanned && !n.refused(); ++i) {
    Value x = n.input(body.states + i);
    inputs.push_back(n.moveDim(x, n.axis(axes[i], n.rank(body.states + i)), 0));
  }
  SmallVector<Value> results = scan(n, body, inits, inputs, directions);
  if (results.empty())
    return;
  for (size_t i = 0; i < body.stacked; ++i) {
    Value &result = results[body.states + i];
    if (outDirections[i])
      result = reversed(n, result);
    result = n.moveDim(result, 0, n.axis(outAxes[i], rankOf(result)));
  }
  n.results.assign(results.begin(), results.end());
}

/// Version 8: input 0 is the lengths of the sequences, and every other tensor begins with a batch, over
/// which another loop runs.
void convertBatchedScan(NodeImport &n) {
  if (n.hasInput(0))
    return (void)n.refuse("sequences of different lengths (input 0) are not supported");
  ScanBody body = readBody(n, n.inputCount() - 1);
  auto directions = listOf(n, "directions", body.scanned);
  SmallVector<Value> batched;
  for (unsigned i = 1; i < n.inputCount(); ++i)
    batched.push_back(n.input(i));
  if (!body.graph || n.refused())
    return;
  for (auto [i, x] : llvm::enumerate(batched))
    if (rankOf(x) < (i < body.states ? 1 : 2))
      return (void)n.wrong("input " + Twine(i + 1) + " has too few dimensions for a batch");
  SymExpr batch = typeOf(batched[0]).getDim(0);
  for (Value &x : batched)
    if (n.requireEqual(typeOf(x).getDim(0), batch, "the batch of an input"))
      x = n.refine(x, 0, batch);
  SmallVector<Value> results =
      n.loop(batch, {}, {}, [&](SymExpr index, ValueRange, GraphBuilder::LoopBody &loop) {
        SmallVector<Value> own;
        for (Value x : batched)
          own.push_back(elementAt(n, x, index));
        if (n.refused())
          return false;
        ArrayRef<Value> all = own;
        loop.yielded = scan(n, body, all.take_front(body.states),
                            SmallVector<Value>(all.drop_front(body.states)), directions);
        return !loop.yielded.empty();
      });
  n.results.assign(results.begin(), results.end());
}

} // namespace

void addControl(OperatorTable &table) {
  table.add({"If", 1, kNewestOpset, convertIf, 1, 1, kAnyNumber});
  OnnxOperator loop{"Loop", 1, kNewestOpset, convertLoop, 2, kAnyNumber, kAnyNumber};
  loop.takesSequences = true;
  table.add(loop);
  table.add({"Scan", 8, 8, convertBatchedScan, 2, kAnyNumber, kAnyNumber});
  table.add({"Scan", 9, kNewestOpset, convertScan, 1, kAnyNumber, kAnyNumber});
}

} // namespace weft::onnx
