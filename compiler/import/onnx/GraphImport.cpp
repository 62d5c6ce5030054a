//===- GraphImport.cpp - Walks the graphs of a model and imports their nodes ------------------===//

#include "compiler/import/onnx/GraphImport.h"
#include "compiler/import/onnx/FunctionCall.h"
#include "compiler/import/onnx/graph/Sequences.h"
#include "compiler/import/readers/ReadError.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace weft::onnx {

static OwningOpRef<ModuleOp> createModule(MLIRContext *context) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  auto main =
      func::FuncOp::create(UnknownLoc::get(context), "main", FunctionType::get(context, {}, {}));
  module->push_back(main);
  main.addEntryBlock();
  return module;
}

GraphImport::GraphImport(const OnnxModel &model, const GivenConstants &given, Module::Impl &impl,
                         Contract &contract, GivenOperators &operators, const Limits &limits)
    : model(model), given(given), impl(impl), state(impl.context.get(), contract),
      contract(contract), operators(operators), limits(limits),
      ownedModule(createModule(impl.context.get())), constants(model, impl, *ownedModule),
      function(*ownedModule->getOps<func::FuncOp>().begin()) {
  state.builder.setInsertionPointToEnd(&function.front());
  for (const OnnxFunction &each : model.functions)
    functions[{each.domain, each.name, each.overload}] = &each;
}

bool GraphImport::fail(const Twine &text, Refusal::Kind kind) {
  if (!graphProblem)
    graphProblem = Refusal{kind, text.str(), ""};
  return false;
}

//===-- The main graph ------------------------------------------------------------------------===//

bool GraphImport::run() {
  Scope scope;
  if (!addInitializers(model.graph, scope) || !declareInputs(scope))
    return false;
  std::vector<StringRef> outputs;
  llvm::StringSet<> seen;
  for (const OnnxValueInfo &output : model.graph.outputs) {
    outputs.push_back(output.name);
    if (!seen.insert(output.name).second)
      return fail("two outputs are called " + quotedText(output.name));
  }
  if (outputs.empty())
    return fail("the model has no outputs");
  ArrayRef<OnnxNode> nodes = model.graph.nodes;
  return importNodes(nodes, orderOf(nodes, outputs, &model.graph), scope) && finish(scope);
}

/// Also of what nothing reads: which of two values is meant cannot be known.
bool GraphImport::addInitializers(const OnnxGraph &graph, Scope &scope) {
  llvm::StringSet<> given;
  for (const OnnxTensor &tensor : graph.initializers) {
    scope.initializers[tensor.name] = &tensor;
    if (!given.insert(tensor.name).second)
      return fail("two initializers are called " + quotedText(tensor.name));
  }
  for (const OnnxSparseTensor &tensor : graph.sparseInitializers) {
    StringRef name = tensor.values.name;
    scope.unavailable[name] = "tensor " + quotedText(name) + " is sparse, which is not supported";
    if (!given.insert(name).second)
      return fail("two initializers are called " + quotedText(name));
  }
  for (const OnnxValueInfo &input : graph.inputs)
    given.insert(input.name);
  for (const OnnxNode &node : graph.nodes)
    for (StringRef output : node.outputs)
      if (!output.empty() && given.contains(output))
        return fail("the value " + quotedText(output) + " is given, but " + describeNode(node) +
                    " writes it, too");
  return true;
}

/// Contents that the caller gave become a constant where the input would have been.
bool GraphImport::bindConstant(const OnnxValueInfo &input, const GivenConstant &constant,
                               Scope &scope) {
  std::string name = "input " + quotedText(input.name);
  if (!requireShape(input, constant, contract))
    return fail(name + " cannot have the shape " + shapeText(constant.tensor.dims) +
                " of its constant");
  state.builder.setLoc(NameLoc::get(StringAttr::get(impl.context.get(), name)));
  llvm::Expected<Value> value =
      constants.create(state, constant.tensor, constant.bytes, input.name);
  if (!value)
    return fail(name + ": " + llvm::toString(value.takeError()));
  scope.values[input.name] = *value;
  return true;
}

/// Inputs with an initializer have a value already.
bool GraphImport::declareInputs(Scope &scope) {
  unsigned count = 0;
  for (const OnnxValueInfo &input : model.graph.inputs) {
    if (scope.initializers.count(input.name))
      continue;
    if (scope.values.count(input.name))
      return fail("two inputs are called " + quotedText(input.name));
    if (const GivenConstant *constant = given.find(input.name)) {
      if (!bindConstant(input, *constant, scope))
        return false;
      continue;
    }
    GraphBuilder builder(state, "input " + quotedText(input.name));
    Type element = elementTypeOf(impl.context.get(), input.type.elementType);
    Dims dims;
    for (unsigned d = 0; d < input.type.dims.size(); ++d)
      dims.push_back(contract.inputDim(input, d));
    SymTensorType type = element ? builder.type(dims, element) : SymTensorType();
    if (!element)
      return fail("input " + quotedText(input.name) + " has elements of type " +
                      elementTypeName(input.type.elementType) + ", which is not supported",
                  Refusal::Unsupported);
    if (!type)
      return fail("input " + quotedText(input.name) + ": " + builder.refusal()->text,
                  builder.refusal()->kind);
    auto location =
        NameLoc::get(StringAttr::get(impl.context.get(), "input " + quotedText(input.name)));
    tell(input.name, scope,
         scope.values[input.name] = function.front().addArgument(type, location));
    function.setType(
        FunctionType::get(impl.context.get(), function.front().getArgumentTypes(), {}));
    function.setArgAttr(count++, kNameAttr, StringAttr::get(impl.context.get(), input.name));
  }
  return true;
}

/// The declared shape of an output is the exporter's claim, not ours: a wrong one is worth a word.
void GraphImport::checkOutput(const OnnxValueInfo &declared, Value value) {
  if (declared.type.kind != OnnxType::Kind::Tensor)
    return;
  std::string name = "output " + quotedText(declared.name);
  Type element = elementTypeOf(impl.context.get(), declared.type.elementType);
  if (element && element != elementOf(value))
    fail(name + " is declared with elements of type " + elementTypeName(declared.type.elementType) +
         ", but has others");
  if (!declared.type.hasShape)
    return;
  bool differs = declared.type.dims.size() != rankOf(value);
  for (auto [i, dim] : llvm::enumerate(declared.type.dims))
    if (!differs && dim.kind == OnnxDim::Kind::Value)
      differs = typeOf(value).getDim(i).asConstant().value_or(dim.value) != dim.value;
  if (!differs)
    return;
  std::string actual;
  for (SymExpr dim : typeOf(value).getDims())
    actual += (actual.empty() ? "" : ", ") + dim.str();
  warningTexts.push_back(name + " is declared with another shape than [" + actual +
                         "], which it has");
}

static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseDead(inner);
  }
}

bool GraphImport::finish(Scope &scope) {
  SmallVector<Value> results;
  SmallVector<Attribute> names;
  for (const OnnxValueInfo &output : model.graph.outputs) {
    llvm::Expected<Found> found = lookUp(output.name, scope);
    if (!found)
      return fail("output " + quotedText(output.name) + ": " + llvm::toString(found.takeError()));
    Value value = found->value;
    if (!value)
      continue;
    if (!isTensor(value))
      return fail("output " + quotedText(output.name) + " is " + kindOf(value) +
                      ", which is not supported",
                  Refusal::Unsupported);
    checkOutput(output, value);
    results.push_back(value);
  }
  if (!refusedNodes.empty() || graphProblem)
    return false;
  MLIRContext *context = impl.context.get();
  state.builder.setLoc(UnknownLoc::get(context));
  state.builder.create<func::ReturnOp>(results);
  function.setType(FunctionType::get(context, function.front().getArgumentTypes(),
                                     ValueRange(results).getTypes()));
  for (auto [i, output] : llvm::enumerate(model.graph.outputs))
    function.setResultAttr(i, kNameAttr, StringAttr::get(context, output.name));
  function->setAttr(kSymbolsAttr, contract.attribute());
  state.values.materialize(function.front(), contract.boundSymbols());
  eraseDead(function.front());
  for (WeightOp weight : llvm::make_early_inc_range(ownedModule->getOps<WeightOp>()))
    if (SymbolTable::symbolKnownUseEmpty(weight, *ownedModule))
      weight.erase();
  impl.module = std::move(ownedModule);
  return true;
}

//===-- Names ---------------------------------------------------------------------------------===//

llvm::Expected<GraphImport::Found> GraphImport::lookUp(StringRef name, Scope &scope) {
  for (Scope *each = &scope; each; each = each->parent) {
    if (auto found = each->values.find(name); found != each->values.end())
      return Found{found->second, /*isPoisoned=*/!found->second};
    if (each->omitted.contains(name))
      return Found();
    if (auto found = each->unavailable.find(name); found != each->unavailable.end())
      return readError(found->second);
    if (auto found = each->initializers.find(name); found != each->initializers.end()) {
      llvm::Expected<Value> value = constantOf(*found->second, name);
      if (!value)
        return value.takeError();
      return Found{*value};
    }
  }
  return readError("nothing defines the value " + quotedText(name));
}

bool GraphImport::bind(StringRef name, Scope &scope, Value value) {
  if (name.empty())
    return true;
  if (scope.initializers.count(name) || !scope.values.try_emplace(name, value).second)
    return fail("the value " + quotedText(name) + " is defined twice");
  tell(name, scope, value);
  return true;
}

void GraphImport::tell(StringRef name, const Scope &scope, Value value) {
  if (onValue && value && isTensor(value) && !scope.parent && !scope.function)
    onValue(name.str(), typeOf(value));
}

llvm::Expected<Value> GraphImport::constantOf(const OnnxTensor &tensor, StringRef name) {
  if (Value made = tensorValues.lookup(&tensor))
    return made;
  Location before = state.builder.getLoc();
  OpBuilder::InsertionGuard guard(
      state.builder); // visible everywhere: in front of all loops and branches around here
  for (Block *block = state.builder.getInsertionBlock(); block != &function.front();
       block = state.builder.getInsertionBlock())
    state.builder.setInsertionPoint(block->getParentOp());
  state.builder.setLoc(
      NameLoc::get(StringAttr::get(impl.context.get(), "tensor " + quotedText(name))));
  llvm::Expected<Value> value = constants.create(state, tensor, name);
  state.builder.setLoc(before);
  if (value)
    tensorValues[&tensor] = *value;
  return value;
}

//===-- Nodes ---------------------------------------------------------------------------------===//

llvm::Expected<ArrayRef<unsigned>>
GraphImport::orderOf(ArrayRef<OnnxNode> nodes, ArrayRef<StringRef> outputs, const void *key) {
  auto found = orders.find(key);
  if (found == orders.end()) {
    llvm::Expected<std::vector<unsigned>> order = orderNodes(nodes, outputs);
    if (!order)
      return order.takeError();
    found = orders.emplace(key, std::move(*order)).first;
  }
  return ArrayRef<unsigned>(found->second);
}

/// A function's nodes count wherever it is called: a chain of calls may double them at every link.
bool GraphImport::countNodes(uint64_t more) {
  importedNodes += more;
  return importedNodes <= limits.nodes ||
         fail("the model has more than " + Twine(limits.nodes) +
                  " nodes after its functions are inlined" + limitText("nodes=N"),
              Refusal::OverLimit);
}

bool GraphImport::importNodes(ArrayRef<OnnxNode> nodes, llvm::Expected<ArrayRef<unsigned>> order,
                              Scope &scope) {
  if (!order)
    return fail(llvm::toString(order.takeError()));
  for (unsigned i : *order) {
    if (!countNodes(1))
      return false;
    importNode(nodes[i], scope);
    if (graphProblem)
      return false;
  }
  return true;
}

void GraphImport::refuseNode(const OnnxNode &node, const Scope &scope, bool wholeOperator,
                             Refusal refusal) {
  refusedNodes.push_back({printableText(node.domain), printableText(node.opType),
                          describeNode(node), opsetOf(node.domain, scope), wholeOperator,
                          std::move(refusal)});
}

void GraphImport::poison(const OnnxNode &node, Scope &scope) {
  for (StringRef output : node.outputs)
    bind(output, scope, Value());
}

void GraphImport::importNode(const OnnxNode &node, Scope &scope) {
  SmallVector<Value> inputs;
  bool poisoned = false;
  std::string place = describeNode(node);
  state.builder.setLoc(NameLoc::get(StringAttr::get(impl.context.get(), place)));
  for (StringRef name : node.inputs) {
    llvm::Expected<Found> found = name.empty() ? Found() : lookUp(name, scope);
    if (!found) {
      refuseNode(node, scope, false, {Refusal::Wrong, llvm::toString(found.takeError()), ""});
      return poison(node, scope);
    }
    poisoned |= found->isPoisoned;
    inputs.push_back(found->value);
  }
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();
  if (!poisoned) {
    importOperator(node, scope, inputs);
    return;
  }
  // Its inputs were refused; whether the operator exists at all can still be said.
  if (!functionOf(node) && !operators.find(node.domain, node.opType) &&
      !OperatorTable::standard().find(node.domain, node.opType, opsetOf(node.domain, scope)))
    refuseNode(node, scope, true, {});
  poison(node, scope);
}

void GraphImport::importOperator(const OnnxNode &node, Scope &scope, ArrayRef<Value> inputs) {
  if (func::FuncOp given = operators.find(node.domain, node.opType))
    return callGiven(node, given, scope, inputs);
  if (const OnnxFunction *called = functionOf(node))
    return importCall(node, *called, scope, inputs);
  int64_t opset = opsetOf(node.domain, scope);
  const OnnxOperator *entry = OperatorTable::standard().find(node.domain, node.opType, opset);
  if (!entry) {
    refuseNode(node, scope, true, {});
    return poison(node, scope);
  }
  convert(node, *entry, opset, scope, inputs);
}

void GraphImport::convert(const OnnxNode &node, const OnnxOperator &entry, int64_t opset,
                          Scope &scope, ArrayRef<Value> inputs) {
  NodeImport n(state, *this, node, opset, scope.frame, inputs, describeNode(node));
  if (inputs.size() < entry.leastInputs || inputs.size() > entry.mostInputs)
    n.wrong("the node has " + Twine(inputs.size()) + " inputs, but the operator takes " +
            (entry.leastInputs == entry.mostInputs ? ""
             : inputs.size() < entry.leastInputs   ? "at least "
                                                   : "at most ") +
            Twine(inputs.size() < entry.leastInputs ? entry.leastInputs : entry.mostInputs));
  ArrayRef<StringRef> wanted = node.outputs;
  while (!wanted.empty() && wanted.back().empty())
    wanted = wanted.drop_back();
  if (wanted.size() > entry.mostOutputs)
    n.wrong("the node has " + Twine(wanted.size()) + " outputs, but the operator has " +
            (entry.mostOutputs == 1 ? "" : "at most ") + Twine(entry.mostOutputs));
  for (auto [i, input] : llvm::enumerate(inputs))
    if (input && !entry.takesSequences && !isTensor(input))
      n.refuse("input " + Twine(i) + " is " + kindOf(input) + ", which the operator does not take");
  size_t refusedBefore = refusedNodes.size();
  Scope *outer = std::exchange(currentScope, &scope);
  if (!n.refused())
    entry.convert(n);
  currentScope = outer;
  if (StringRef extra = n.unusedAttribute(); !n.refused() && !extra.empty())
    n.refuse("attribute " + quotedText(extra) + " is not supported");
  if (!n.refused() && n.results.empty() && refusedNodes.size() == refusedBefore && !graphProblem)
    n.refuse("the operator is not supported in this form");
  bindResults(node, n, scope);
}

void GraphImport::callGiven(const OnnxNode &node, func::FuncOp called, Scope &scope,
                            ArrayRef<Value> inputs) {
  FunctionCall n(state, *this, node, opsetOf(node.domain, scope), scope.frame, inputs,
                 describeNode(node), called);
  for (auto [i, input] : llvm::enumerate(inputs))
    if (input && !isTensor(input))
      n.refuse("input " + Twine(i) + " is " + kindOf(input) + ", which no function takes");
  uint64_t operations = 0;
  called.walk([&](Operation *) { ++operations; });
  if (!countNodes(operations))
    return;
  n.inlineBody();
  if (StringRef extra = n.unusedAttribute(); !n.refused() && !extra.empty())
    n.refuse("attribute " + quotedText(extra) + " means nothing to the function",
             "list it in the function's '" + kIgnoredAttr + "' when it does not matter");
  bindResults(node, n, scope);
}

void GraphImport::bindResults(const OnnxNode &node, NodeImport &n, Scope &scope) {
  if (n.refused())
    refuseNode(node, scope, false, *n.refusal());
  for (auto [i, output] : llvm::enumerate(node.outputs)) {
    Value value = !n.refused() && i < n.results.size() ? n.results[i] : Value();
    if (!value && !n.refused() && !n.results.empty() && !output.empty())
      scope.unavailable[output] =
          "output " + std::to_string(i) + " of " + describeNode(node) + " is not supported";
    else
      bind(output, scope, value);
  }
}

//===-- Functions and branches ----------------------------------------------------------------===//

const OnnxFunction *GraphImport::functionOf(const OnnxNode &node) const {
  auto found = functions.find({node.domain, node.opType, node.overload});
  return found == functions.end() ? nullptr : found->second;
}

int64_t GraphImport::opsetOf(StringRef domain, const Scope &scope) const {
  ArrayRef<OnnxOpset> opsets = scope.function ? scope.function->opsets : model.opsets;
  for (const OnnxOpset &opset : opsets)
    if (opset.domain == domain)
      return opset.version;
  return 0;
}

void GraphImport::importCall(const OnnxNode &node, const OnnxFunction &called, Scope &scope,
                             ArrayRef<Value> inputs) {
  auto refuse = [&](const std::string &why, Refusal::Kind kind = Refusal::Wrong) {
    refuseNode(node, scope, false, {kind, why, ""});
    poison(node, scope);
  };
  if (llvm::is_contained(calls, &called))
    return refuse("function " + quotedText(called.name) + " calls itself");
  if (calls.size() + depth >= limits.nesting)
    return refuse("functions and branches are nested deeper than " +
                      std::to_string(limits.nesting) + limitText("nesting=N"),
                  Refusal::OverLimit);
  if (inputs.size() > called.inputs.size() || node.outputs.size() > called.outputs.size())
    return refuse("function " + quotedText(called.name) +
                  " has fewer inputs or outputs than the node");
  NodeImport call(state, *this, node, 0, scope.frame, inputs, describeNode(node));
  AttributeFrame frame = call.passedAttributes();
  for (const OnnxAttribute &attribute : called.attributeDefaults)
    frame.try_emplace(attribute.name, &attribute);
  Scope body;
  body.function = &called;
  body.frame = &frame;
  for (auto [i, name] : llvm::enumerate(called.inputs)) {
    if (i < inputs.size() && inputs[i])
      bind(name, body, inputs[i]);
    else
      body.omitted.insert(name);
  }
  calls.push_back(&called);
  bool complete = importNodes(called.nodes, orderOf(called.nodes, called.outputs, &called), body);
  calls.pop_back();
  SmallVector<Value> values(node.outputs.size());
  for (size_t i = 0; complete && i < values.size(); ++i) {
    llvm::Expected<Found> found =
        node.outputs[i].empty() ? Found() : lookUp(called.outputs[i], body);
    if (!found)
      return refuse("function " + quotedText(called.name) + ": " +
                    llvm::toString(found.takeError()));
    values[i] = found->value;
  }
  for (auto [name, value] : llvm::zip(node.outputs, values))
    bind(name, scope, value);
}

bool GraphImport::inlineGraph(const OnnxGraph &graph, ArrayRef<Value> arguments,
                              SmallVectorImpl<Value> &outputs) {
  if (calls.size() + depth >= limits.nesting)
    return fail("functions and branches are nested deeper than " + Twine(limits.nesting) +
                    limitText("nesting=N"),
                Refusal::OverLimit);
  Scope body;
  body.parent = currentScope;
  body.function = currentScope->function;
  body.frame = currentScope->frame;
  if (!addInitializers(graph, body))
    return false;
  if (graph.inputs.size() != arguments.size())
    return fail("a subgraph has " + Twine(graph.inputs.size()) + " inputs, but " +
                Twine(arguments.size()) + " are given to it");
  for (auto [input, value] : llvm::zip(graph.inputs, arguments))
    if (!bind(input.name, body, value))
      return false;
  std::vector<StringRef> names;
  for (const OnnxValueInfo &output : graph.outputs)
    names.push_back(output.name);
  ++depth;
  bool complete = importNodes(graph.nodes, orderOf(graph.nodes, names, &graph), body);
  --depth;
  for (StringRef name : names) {
    llvm::Expected<Found> found = complete ? lookUp(name, body) : Found();
    if (!found)
      return fail("output " + quotedText(name) +
                  " of a branch: " + llvm::toString(found.takeError()));
    if (!found->value)
      return false;
    outputs.push_back(found->value);
  }
  return true;
}

} // namespace weft::onnx
