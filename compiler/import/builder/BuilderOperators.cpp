//===- BuilderOperators.cpp - One method per operator -----------------------------------------===//

#include "compiler/import/builder/BuilderImpl.h"
#include "mlir/AsmParser/AsmParser.h"

namespace weft {

//===-- Elementwise ---------------------------------------------------------------------------===//

#define WEFT_UNARY(METHOD, NAME)                                                                   \
  Value Builder::METHOD(Value x) { return impl->create("weft." NAME, x); }
WEFT_UNARY(neg, "neg")
WEFT_UNARY(abs, "abs")
WEFT_UNARY(sign, "sign")
WEFT_UNARY(exp, "exp")
WEFT_UNARY(log, "log")
WEFT_UNARY(sqrt, "sqrt")
WEFT_UNARY(rsqrt, "rsqrt")
WEFT_UNARY(sin, "sin")
WEFT_UNARY(cos, "cos")
WEFT_UNARY(tanh, "tanh")
WEFT_UNARY(erf, "erf")
WEFT_UNARY(floor, "floor")
WEFT_UNARY(ceil, "ceil")
WEFT_UNARY(round, "round")
WEFT_UNARY(bitNot, "not")
#undef WEFT_UNARY

#define WEFT_BINARY(METHOD, NAME)                                                                  \
  Value Builder::METHOD(Value lhs, Value rhs) { return impl->create("weft." NAME, {lhs, rhs}); }
WEFT_BINARY(add, "add")
WEFT_BINARY(sub, "sub")
WEFT_BINARY(mul, "mul")
WEFT_BINARY(div, "div")
WEFT_BINARY(pow, "pow")
WEFT_BINARY(minimum, "minimum")
WEFT_BINARY(maximum, "maximum")
WEFT_BINARY(bitAnd, "and")
WEFT_BINARY(bitOr, "or")
WEFT_BINARY(bitXor, "xor")
#undef WEFT_BINARY

Value Builder::rem(Value lhs, Value rhs, bool floor) {
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (floor)
    attributes.push_back(impl->attribute("floor", impl->ops.getUnitAttr()));
  return impl->create("weft.rem", {lhs, rhs}, attributes);
}

// The public enumerations repeat the dialect's, which a header without MLIR cannot name.
static_assert(int(Relation::Equal) == int(CompareKind::Equal) &&
              int(Relation::NotEqual) == int(CompareKind::NotEqual) &&
              int(Relation::Less) == int(CompareKind::Less) &&
              int(Relation::LessEqual) == int(CompareKind::LessEqual) &&
              int(Relation::Greater) == int(CompareKind::Greater) &&
              int(Relation::GreaterEqual) == int(CompareKind::GreaterEqual));
static_assert(int(Activation::Relu) == int(ActivationKind::Relu) &&
              int(Activation::Sigmoid) == int(ActivationKind::Sigmoid) &&
              int(Activation::Gelu) == int(ActivationKind::Gelu) &&
              int(Activation::GeluTanh) == int(ActivationKind::GeluTanh) &&
              int(Activation::Silu) == int(ActivationKind::Silu) &&
              int(Activation::LeakyRelu) == int(ActivationKind::LeakyRelu) &&
              int(Activation::Elu) == int(ActivationKind::Elu) &&
              int(Activation::HardSigmoid) == int(ActivationKind::HardSigmoid) &&
              int(Activation::HardSwish) == int(ActivationKind::HardSwish) &&
              int(Activation::Softplus) == int(ActivationKind::Softplus));
static_assert(int(Reduction::Sum) == int(CombinerKind::Sum) &&
              int(Reduction::Prod) == int(CombinerKind::Prod) &&
              int(Reduction::Max) == int(CombinerKind::Max) &&
              int(Reduction::Min) == int(CombinerKind::Min) &&
              int(Reduction::And) == int(CombinerKind::And) &&
              int(Reduction::Or) == int(CombinerKind::Or));

Value Builder::compare(Relation relation, Value lhs, Value rhs) {
  auto kind = CompareKindAttr::get(impl->context(), CompareKind(relation));
  return impl->create("weft.compare", {lhs, rhs}, impl->attribute("kind", kind));
}

Value Builder::select(Value condition, Value yes, Value no) {
  return impl->create("weft.select", {condition, yes, no});
}

Value Builder::convert(Value x, Element to) {
  auto type = mlir::TypeAttr::get(toType(impl->context(), to));
  return impl->create("weft.convert", x, impl->attribute("to", type));
}

Value Builder::activation(Activation kind, Value x, double alpha, double beta) {
  return impl->create(
      "weft.activation", x,
      {impl->attribute("kind", ActivationKindAttr::get(impl->context(), ActivationKind(kind))),
       impl->attribute("alpha", impl->ops.getF64FloatAttr(alpha)),
       impl->attribute("beta", impl->ops.getF64FloatAttr(beta))});
}

//===-- Elements at other places --------------------------------------------------------------===//

Value Builder::reshape(Value x, const Dims &dims) {
  DimsAttr attribute = impl->dimsAttribute(dims);
  return attribute ? impl->create("weft.reshape", x, impl->attribute("dims", attribute))
                   : impl->wrap({});
}

Value Builder::transpose(Value x, const std::vector<int64_t> &order) {
  return impl->create("weft.transpose", x,
                      impl->attribute("order", impl->ops.getDenseI64ArrayAttr(order)));
}

Value Builder::expand(Value x, const Dims &dims) {
  DimsAttr attribute = impl->dimsAttribute(dims);
  return attribute ? impl->create("weft.expand", x, impl->attribute("dims", attribute))
                   : impl->wrap({});
}

Value Builder::slice(Value x, const Dims &starts, const Dims &sizes,
                     const std::vector<int64_t> &steps) {
  DimsAttr from = impl->dimsAttribute(starts), size = impl->dimsAttribute(sizes);
  if (!from || !size)
    return impl->wrap({});
  std::vector<int64_t> every = steps.empty() ? std::vector<int64_t>(sizes.size(), 1) : steps;
  return impl->create("weft.slice", x,
                      {impl->attribute("starts", from), impl->attribute("sizes", size),
                       impl->attribute("steps", impl->ops.getDenseI64ArrayAttr(every))});
}

Value Builder::pad(Value x, Value value, const Dims &low, const Dims &high) {
  DimsAttr before = impl->dimsAttribute(low), after = impl->dimsAttribute(high);
  if (!before || !after)
    return impl->wrap({});
  return impl->create("weft.pad", {x, value},
                      {impl->attribute("low", before), impl->attribute("high", after)});
}

Value Builder::concat(const std::vector<Value> &inputs, int64_t axis) {
  if (inputs.empty()) {
    impl->error("'concat' needs at least one value");
    return impl->wrap({});
  }
  mlir::Value first = impl->unwrap(inputs.front(), "concat");
  auto dim = first ? impl->countAxis(first, axis, "concat") : std::nullopt;
  if (!dim)
    return impl->wrap({});
  return impl->create("weft.concat", inputs,
                      impl->attribute("dim", impl->ops.getI64IntegerAttr(*dim)));
}

Value Builder::gather(Value table, Value indices, int64_t axis) {
  mlir::Value known = impl->unwrap(table, "gather");
  auto counted = known ? impl->countAxis(known, axis, "gather") : std::nullopt;
  if (!counted)
    return impl->wrap({});
  return impl->create("weft.gather", {table, indices},
                      impl->attribute("axis", impl->ops.getI64IntegerAttr(*counted)));
}

//===-- Sums and lines ------------------------------------------------------------------------===//

/// Narrow floats are summed in f32 and bytes in i32.
static Element accumulatorOf(Element element) {
  switch (element) {
  case Element::F16:
  case Element::BF16:
  case Element::F8E4M3:
  case Element::F8E5M2:
  case Element::F8E4M3FNUZ:
  case Element::F8E5M2FNUZ:
  case Element::F8E8M0:
  case Element::F4E2M1:
    return Element::F32;
  case Element::I2:
  case Element::I4:
  case Element::I8:
  case Element::U2:
  case Element::U4:
  case Element::U8:
    return Element::I32;
  default:
    return element;
  }
}

Value Builder::contract(const std::string &rule, Value lhs, Value rhs) {
  return contract(rule, lhs, rhs, lhs ? accumulatorOf(element(lhs)) : Element::F32);
}

Value Builder::contract(const std::string &rule, Value lhs, Value rhs, Element accumulate) {
  return impl->create(
      "weft.contract", {lhs, rhs},
      {impl->attribute("rule", impl->ops.getStringAttr(rule)),
       impl->attribute("accumulate", mlir::TypeAttr::get(toType(impl->context(), accumulate)))});
}

Value Builder::linear(Value x, Value weight, Value bias) {
  Value product = contract("... k, n k -> ... n", x, weight);
  return bias.owner == 0 ? product : add(product, bias);
}

Value Builder::reduce(Reduction kind, Value x, std::vector<int64_t> axes, bool keepDims) {
  mlir::Value known = impl->unwrap(x, "reduce");
  if (!known)
    return impl->wrap({});
  Dims kept = dims(x);
  for (int64_t &axis : axes) {
    auto counted = impl->countAxis(known, axis, "reduce");
    if (!counted)
      return impl->wrap({});
    axis = *counted;
    kept[axis] = 1;
  }
  llvm::sort(axes);
  auto combiner = CombinerKindAttr::get(impl->context(), CombinerKind(kind));
  Value reduced = impl->create("weft.reduce", x,
                               {impl->attribute("kind", combiner),
                                impl->attribute("axes", impl->ops.getDenseI64ArrayAttr(axes))});
  return keepDims ? reshape(reduced, kept) : reduced;
}

Value Builder::softmax(Value x, bool logarithm) {
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  if (logarithm)
    attributes.push_back(impl->attribute("logarithm", impl->ops.getUnitAttr()));
  return impl->create("weft.softmax", x, attributes);
}

Value Builder::normalize(Value x, Value scale, Value shift, double epsilon, bool center) {
  return impl->create("weft.normalize", {x, scale, shift},
                      {impl->attribute("epsilon", impl->ops.getF64FloatAttr(epsilon)),
                       impl->attribute("center", impl->ops.getBoolAttr(center))});
}

//===-- Any operator of the dialect -----------------------------------------------------------===//

std::vector<Value> Builder::operation(const std::string &name, const std::vector<Value> &operands,
                                      const std::string &attributes,
                                      const std::vector<std::string> &results) {
  std::vector<Value> failure(results.size(), impl->wrap({}));
  std::string full = "weft." + name;
  if (!mlir::OperationName(full, impl->context()).isRegistered()) {
    impl->error("there is no operator called '" + full + "'");
    return failure;
  }
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Type> types;
  if (!impl->unwrap(operands, full.c_str(), values))
    return failure;
  mlir::Operation *op = impl->collecting([&]() -> mlir::Operation * {
    mlir::Attribute parsed =
        mlir::parseAttribute(attributes.empty() ? "{}" : attributes, impl->context());
    for (const std::string &result : results)
      types.push_back(mlir::parseType(result, impl->context()));
    auto dictionary = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(parsed);
    if (!dictionary || llvm::is_contained(types, mlir::Type()))
      return nullptr;
    return impl->createTyped(full, values, dictionary.getValue(), types);
  });
  if (!op) {
    if (!impl->failed)
      impl->error("'" + full + "' needs its attributes in braces, such as {axis = 1 : i64}");
    return failure;
  }
  std::vector<Value> wrapped;
  for (mlir::Value result : op->getResults())
    wrapped.push_back(impl->wrap(result));
  return wrapped;
}

} // namespace weft
