//===- FunctionCall.cpp -----------------------------------------------------------------------===//

#include "compiler/import/onnx/FunctionCall.h"
#include "compiler/import/onnx/GivenOperators.h"
#include "compiler/import/readers/ReadError.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace weft::onnx {

void FunctionCall::inlineBody() {
  for (auto step :
       {&FunctionCall::giveSizes, &FunctionCall::giveArguments, &FunctionCall::matchTypes,
        &FunctionCall::fillOmitted, &FunctionCall::refineArguments, &FunctionCall::requireFacts,
        &FunctionCall::bindInner, &FunctionCall::cloneBody})
    if (!refused())
      (this->*step)();
}

std::string FunctionCall::argumentName(unsigned i) {
  auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
  return name ? quotedText(name.getValue()) : std::to_string(i);
}

static std::string printed(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===-- What the function gets ----------------------------------------------------------------===//

/// Symbols that are attributes of the node.
void FunctionCall::giveSizes() {
  if (auto ignored = function->getAttrOfType<ArrayAttr>(kIgnoredAttr))
    for (Attribute name : ignored)
      if (auto text = dyn_cast<StringAttr>(name))
        ignoreAttributes({text.getValue()});
  auto sizes = function->getAttrOfType<DictionaryAttr>(kSizesAttr);
  for (NamedAttribute size : sizes ? sizes.getValue() : ArrayRef<NamedAttribute>()) {
    auto name = dyn_cast<StringAttr>(size.getValue());
    if (!name || !llvm::is_contained(symbols.getNames(), size.getName())) {
      refuse("'" + kSizesAttr + "' of the function gives symbols the names of attributes, but '" +
             size.getName().getValue() + "' " + (name ? "is not its symbol" : "has no name"));
      return;
    }
    std::optional<int64_t> value = intAttribute(name.getValue());
    if (!value && !refused())
      refuse("attribute " + quotedText(name.getValue()) + " is missing, which is '" +
             size.getName().getValue() + "' of the function");
    if (refused())
      return;
    if (*value < 0) {
      refuse("attribute " + quotedText(name.getValue()) +
             " is negative, but is a size of the function");
      return;
    }
    map[size.getName()] = constant(*value);
  }
}

/// A list becomes a tensor of rank 1.
Value FunctionCall::listValue(StringRef name, SymTensorType type) {
  Type element = type.getElementType();
  RefTensor tensor;
  if (isFloat(element)) {
    auto list = floatsAttribute(name);
    if (!list)
      return {};
    tensor = RefTensor(element, {int64_t(list->size())});
    for (auto [i, value] : llvm::enumerate(*list))
      tensor.set(i, Scalar::of(value));
  } else {
    auto list = intsAttribute(name);
    if (!list)
      return {};
    tensor = RefTensor(element, {int64_t(list->size())});
    for (auto [i, value] : llvm::enumerate(*list))
      tensor.set(i, Scalar::of(value));
  }
  return refused() ? Value() : constantTensor(tensor);
}

/// Null when the node does not have the attribute.
Value FunctionCall::attributeValue(StringRef name, SymTensorType type) {
  if (!hasAttribute(name))
    return {};
  if (type.getRank() > 1)
    return refuse("attribute " + quotedText(name) + " cannot be an argument of rank " +
                  Twine(type.getRank()));
  if (type.getRank() == 1)
    return listValue(name, type);
  Type element = type.getElementType();
  RefTensor tensor(element, {});
  if (isFloat(element))
    tensor.set(0, Scalar::of(floatAttribute(name).value_or(0)));
  else
    tensor.set(0, Scalar::of(intAttribute(name).value_or(0)));
  return refused() ? Value() : constantTensor(tensor);
}

/// Arguments that are no attributes are the node's inputs, in order.
void FunctionCall::giveArguments() {
  unsigned next = 0, want = 0;
  for (unsigned i = 0; i < arguments.size() && !refused(); ++i) {
    if (auto name = function.getArgAttrOfType<StringAttr>(i, kAttributeAttr)) {
      arguments[i] = attributeValue(name.getValue(), argumentType(i));
    } else {
      arguments[i] = optionalInput(next++);
      want = next;
    }
    if (!arguments[i] && !refused() && !function.getArgAttr(i, kOtherwiseAttr))
      refuse("argument " + argumentName(i) + " of the function is not given, and has no '" +
             kOtherwiseAttr + "'");
  }
  if (!refused() && inputCount() > want)
    refuse("the node has " + Twine(inputCount()) + " inputs, but the function takes " +
           Twine(want));
  if (!refused() && node.outputs.size() > function.getNumResults())
    refuse("the node has " + Twine(node.outputs.size()) + " outputs, but the function gives " +
           Twine(function.getNumResults()));
}

//===-- Symbols -------------------------------------------------------------------------------===//

/// Symbols by themselves first: what is computed from them can then be compared.
void FunctionCall::matchTypes() {
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (!arguments[i])
      continue;
    SymTensorType formal = argumentType(i), actual = typeOf(arguments[i]);
    if (formal.getElementType() != actual.getElementType() ||
        formal.getRank() != actual.getRank()) {
      refuse("argument " + argumentName(i) + " of the function is " + printed(formal) +
             ", but the node gives " + printed(actual));
      return;
    }
    for (auto [want, have] : llvm::zip(formal.getDims(), actual.getDims()))
      if (StringAttr name = want.asSymbol())
        map.try_emplace(name, have);
  }
  for (unsigned i = 0; i < arguments.size(); ++i)
    for (unsigned d = 0, n = arguments[i] ? argumentType(i).getRank() : 0; d < n; ++d)
      if (!matchDim(argumentType(i).getDim(d), typeOf(arguments[i]).getDim(d),
                    "dimension " + Twine(d) + " of argument " + argumentName(i)))
        return;
  for (StringAttr name : symbols.getNames())
    if (!map.count(name)) {
      refuse("nothing that the node gives says what '" + name.getValue() + "' of the function is");
      return;
    }
}

/// Solves `formal == actual` for a symbol that is not known yet, as 2*h == 128.
bool FunctionCall::matchDim(SymExpr formal, SymExpr actual, const Twine &what) {
  StringAttr open;
  for (StringAttr name : formal.symbols()) {
    if (map.count(name))
      continue;
    if (open) {
      refuse(what + ": '" + formal.str() + "' does not say what '" + open.getValue() + "' and '" +
             name.getValue() + "' are");
      return false;
    }
    open = name;
  }
  if (open) {
    SymExpr symbol = SymExpr::symbol(open), factor;
    for (const SymTerm &term : formal.terms())
      if (term.factors.size() == 1 && term.factors[0].first == symbol &&
          term.factors[0].second == 1)
        factor = constant(term.coefficient);
    SymExpr rest = factor ? formal - factor * symbol : formal;
    if (!factor || *factor.asConstant() < 1 || llvm::is_contained(rest.symbols(), open)) {
      refuse(what + ": '" + formal.str() + "' cannot be solved for '" + open.getValue() + "'");
      return false;
    }
    map[open] = simplify(SymExpr::floordiv(actual - rest.substitute(map), factor));
  }
  return requireEqual(actual, formal.substitute(map), what);
}

/// An input or attribute that is left out is a tensor of one value.
void FunctionCall::fillOmitted() {
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (arguments[i])
      continue;
    SymTensorType type = argumentType(i);
    auto value = dyn_cast<TypedAttr>(function.getArgAttr(i, kOtherwiseAttr));
    if (!value || value.getType() != numberType(type.getElementType())) {
      refuse("'" + kOtherwiseAttr + "' of argument " + argumentName(i) +
             " must be a number of type " + printed(numberType(type.getElementType())));
      return;
    }
    Dims dims;
    for (SymExpr dim : type.getDims())
      dims.push_back(dim.substitute(map));
    arguments[i] = emitTyped<FillOp>(GraphBuilder::type(dims, type.getElementType()), {},
                                     {attribute("value", value)});
  }
}

/// The body's types are the function's with other symbols: so are the arguments'.
void FunctionCall::refineArguments() {
  for (unsigned i = 0; i < arguments.size(); ++i)
    for (unsigned d = 0; arguments[i] && d < argumentType(i).getRank(); ++d)
      arguments[i] = refine(arguments[i], d, argumentType(i).getDim(d).substitute(map));
}

void FunctionCall::requireFacts() {
  for (const SymPred &fact : symbols.getFacts())
    if (!symbols.isInner(fact) && !state.contract.require(fact.substitute(map), place)) {
      refuse("the function needs '" + fact.str() + "', which is '" + fact.substitute(map).str() +
             "' here and does not hold");
      return;
    }
}

/// Symbols that the body binds get names that the model does not have yet.
void FunctionCall::bindInner() {
  for (StringAttr name : symbols.getBoundNames()) {
    SymExpr limit = symbols.getLimit(name);
    map[name] = state.contract.bindSymbol(name.getValue(), limit ? limit.substitute(map) : limit);
  }
}

//===-- The body ------------------------------------------------------------------------------===//

/// Operations that bind symbols name them in attributes.
void FunctionCall::rename(Operation *op) {
  auto renamed = [&](Attribute attribute) -> Attribute {
    auto name = dyn_cast<StringAttr>(attribute);
    auto found = name ? map.find(name) : map.end();
    return found != map.end() && found->second.asSymbol() ? found->second.asSymbol() : attribute;
  };
  op->walk([&](HostOpInterface host) {
    for (NamedAttribute each : host->getAttrs()) {
      Attribute value = renamed(each.getValue());
      if (auto list = dyn_cast<ArrayAttr>(value))
        value = ArrayAttr::get(context(), llvm::map_to_vector(list, renamed));
      host->setAttr(each.getName(), value);
    }
  });
}

void FunctionCall::cloneBody() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](SymExprAttr attribute) -> std::pair<Attribute, WalkResult> {
    return {attribute.getExpr().substitute(map).asAttribute(), WalkResult::skip()};
  });
  IRMapping values;
  values.map(function.getArguments(), arguments);
  Block &body = function.front();
  for (Operation &op : body.without_terminator()) {
    Operation *copy = state.builder.clone(op, values);
    replacer.recursivelyReplaceElementsIn(copy, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    rename(copy);
    copy->walk([&](Operation *each) { each->setLoc(state.builder.getLoc()); });
    FirstReport report(context());
    if (failed(verify(copy))) {
      refuse("the function has no meaning for these sizes: " + report.text());
      return;
    }
    state.values.learn(copy, facts());
  }
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(values.lookup(value));
}

} // namespace weft::onnx
