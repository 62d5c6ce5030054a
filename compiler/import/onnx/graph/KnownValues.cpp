//===- KnownValues.cpp - What is known about small tensors while importing --------------------===//

#include "compiler/import/onnx/graph/KnownValues.h"

using namespace mlir;

namespace weft::onnx {

constexpr int64_t kMostElements = 64;
constexpr unsigned kMostRank = 2;

/// The dimensions of a tensor that is small enough to be worth following.
static std::optional<SmallVector<int64_t>> smallDims(Type type) {
  auto tensor = dyn_cast<SymTensorType>(type);
  if (!tensor || tensor.getRank() > kMostRank)
    return std::nullopt;
  auto dims = tensor.getConstantDims();
  int64_t count = 1;
  for (int64_t dim : dims.value_or(SmallVector<int64_t>{}))
    count = dim > kMostElements ? kMostElements + 1 : std::min(count * dim, kMostElements + 1);
  return count <= kMostElements ? dims : std::nullopt;
}

const RefTensor *KnownValues::find(Value value) const {
  auto found = tensors.find(value);
  return found == tensors.end() ? nullptr : &found->second;
}

/// Unknown integers take part as null expressions, so that what is known beside them survives a
/// concatenation.
RefTensor KnownValues::unknownTensor(Value value) const {
  auto type = cast<SymTensorType>(value.getType());
  return RefTensor(type.getElementType(), *smallDims(type), /*symbolic=*/true);
}

/// Expressions that are all constants become integers: more operators compute with those.
static void normalize(RefTensor &tensor) {
  if (tensor.kind != Scalar::Symbolic)
    return;
  for (SymExpr &expr : tensor.exprs)
    if (expr && expr.isOverflow())
      expr = {};
  if (!llvm::all_of(tensor.exprs, [](SymExpr e) { return e && e.asConstant(); }))
    return;
  RefTensor constant(tensor.element, tensor.dims);
  for (auto [i, expr] : llvm::enumerate(tensor.exprs))
    constant.integers[i] = wrapInteger(tensor.element, *expr.asConstant());
  tensor = std::move(constant);
}

void KnownValues::set(Value value, RefTensor tensor) {
  normalize(tensor);
  tensors[value] = std::move(tensor);
}

void KnownValues::learn(Operation *op, const SymFacts &facts) {
  auto reference = dyn_cast<ReferenceOpInterface>(op);
  if (!reference || op->getNumResults() != 1 || !smallDims(op->getResult(0).getType()))
    return;
  auto type = cast<SymTensorType>(op->getResult(0).getType());
  std::vector<RefTensor> unknowns;
  unknowns.reserve(op->getNumOperands());
  SmallVector<const RefTensor *> inputs;
  unsigned found = 0;
  for (Value operand : op->getOperands()) {
    auto operandType = cast<SymTensorType>(operand.getType());
    const RefTensor *tensor = find(operand);
    found += tensor != nullptr;
    if (!tensor) {
      if (!smallDims(operandType) || isFloat(operandType.getElementType()) ||
          isFloat(type.getElementType()))
        return;
      tensor = &unknowns.emplace_back(unknownTensor(operand));
    }
    inputs.push_back(tensor);
  }
  if (op->getNumOperands() > 0 && found == 0)
    return;
  bool symbolic =
      llvm::any_of(inputs, [](const RefTensor *t) { return t->kind == Scalar::Symbolic; });
  if (symbolic && isFloat(type.getElementType()))
    return; // reals have no expressions
  ReferenceCall call;
  call.inputs = inputs;
  call.facts = &facts;
  if (failed(evaluateReference(op, call)) || call.outputs.size() != 1)
    return;
  RefTensor &result = call.outputs[0];
  normalize(result);
  if (result.kind == Scalar::Symbolic &&
      llvm::none_of(result.exprs, [](SymExpr e) { return bool(e); }))
    return;
  tensors[op->getResult(0)] = std::move(result);
}

SymExpr elementExpr(const RefTensor &tensor, int64_t i) {
  if (tensor.kind == Scalar::Symbolic)
    return tensor.exprs[i];
  if (tensor.kind == Scalar::Integer)
    return SymExpr::constant(tensor.element.getContext(), tensor.integers[i]);
  return {};
}

//===-- Constants -----------------------------------------------------------------------------===//

static llvm::APInt toInteger(Type element, int64_t value) {
  return llvm::APInt(elementBits(element), uint64_t(value), /*isSigned=*/true);
}

/// All elements are the same bits (so that -0 and nan are told apart from 0 and themselves).
static bool isSplat(const RefTensor &tensor) {
  if (tensor.kind == Scalar::Real)
    return llvm::all_of(tensor.reals, [&](double v) {
      return memcmp(&v, tensor.reals.data(), sizeof(double)) == 0;
    });
  return llvm::all_of(tensor.integers, [&](int64_t v) { return v == tensor.integers[0]; });
}

Value createConstant(ImplicitLocOpBuilder &builder, const RefTensor &tensor) {
  Type element = tensor.element;
  SmallVector<SymExpr> dims;
  for (int64_t dim : tensor.dims)
    dims.push_back(SymExpr::constant(builder.getContext(), dim));
  auto type = SymTensorType::get(
      builder.getContext(), DimsAttr::get(builder.getContext(), dims).getDimAttributes(), element);
  if (isSplat(tensor)) {
    TypedAttr value;
    if (isFloat(element))
      value = floatAttribute(element, tensor.size() ? tensor.reals[0] : 0.0);
    else
      value = IntegerAttr::get(element, toInteger(element, tensor.size() ? tensor.integers[0] : 0));
    return builder.create<FillOp>(type, value);
  }
  auto shaped = RankedTensorType::get(tensor.dims, numberType(element));
  DenseElementsAttr elements;
  if (isFloat(element))
    elements = DenseElementsAttr::get(shaped, llvm::map_to_vector(tensor.reals, [&](double v) {
                                        return floatAttribute(element, v).getValue();
                                      }));
  else
    elements = DenseElementsAttr::get(shaped, llvm::map_to_vector(tensor.integers, [&](int64_t v) {
                                        return toInteger(element, v);
                                      }));
  return builder.create<ConstantOp>(type, elements);
}

/// Expressions as data; null when one is missing.
static Value createDims(ImplicitLocOpBuilder &builder, const RefTensor &tensor,
                        SymTensorType type) {
  if (!llvm::all_of(tensor.exprs, [](SymExpr e) { return bool(e); }))
    return {};
  auto wide = type.withElement(builder.getI64Type());
  Value value;
  if (wide.getRank() <= 1) {
    value = builder.create<DimsValueOp>(wide, DimsAttr::get(builder.getContext(), tensor.exprs));
  } else {
    auto flat = SymTensorType::get({SymExpr::constant(builder.getContext(), tensor.size())},
                                   builder.getI64Type());
    value = builder.create<DimsValueOp>(flat, DimsAttr::get(builder.getContext(), tensor.exprs));
    value = builder.create<ReshapeOp>(value, DimsAttr::get(builder.getContext(), wide.getDims()));
  }
  if (type.getElementType() != builder.getI64Type())
    value = builder.create<ConvertOp>(value, type.getElementType());
  return value;
}

static bool speaksOf(const RefTensor &tensor, const llvm::DenseSet<StringAttr> &names) {
  return tensor.kind == Scalar::Symbolic && llvm::any_of(tensor.exprs, [&](SymExpr expr) {
           return expr && llvm::any_of(expr.symbols(),
                                       [&](StringAttr name) { return names.contains(name); });
         });
}

void KnownValues::materialize(Block &block, ArrayRef<StringAttr> boundSymbols) {
  materialize(block, llvm::DenseSet<StringAttr>(boundSymbols.begin(), boundSymbols.end()));
}

/// `unbound`: symbols without a value where the block begins.
void KnownValues::materialize(Block &block, llvm::DenseSet<StringAttr> unbound) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto host = dyn_cast<HostOpInterface>(op)) {
      llvm::DenseSet<StringAttr> inside = unbound;
      for (StringAttr name : host.symbolsInside())
        inside.erase(name);
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          materialize(inner, inside);
      for (StringAttr name : host.symbolsAfter())
        unbound.erase(name);
    }
    if (op.getNumResults() != 1 || op.use_empty() ||
        isa<ConstantOp, FillOp, DimsValueOp, IotaOp>(op))
      continue;
    Value value = op.getResult(0);
    const RefTensor *tensor = find(value);
    if (!tensor || tensor->kind == Scalar::Real || speaksOf(*tensor, unbound))
      continue;
    ImplicitLocOpBuilder builder(op.getLoc(), &op);
    Value constant = tensor->kind == Scalar::Integer
                         ? createConstant(builder, *tensor)
                         : createDims(builder, *tensor, cast<SymTensorType>(value.getType()));
    if (constant)
      value.replaceAllUsesWith(constant);
  }
}

} // namespace weft::onnx
