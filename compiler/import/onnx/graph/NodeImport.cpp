//===- NodeImport.cpp - Inputs, attributes and shape operands of a node -----------------------===//

#include "compiler/import/onnx/graph/NodeImport.h"
#include "compiler/import/onnx/graph/SizeArithmetic.h"
#include "compiler/import/readers/ReadError.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft::onnx {

Type elementTypeOf(MLIRContext *context, OnnxElementType type) {
  Builder b(context);
  auto unsignedType = [&](unsigned width) { return b.getIntegerType(width, /*isSigned=*/false); };
  switch (type) {
  case OnnxElementType::Float:
    return b.getF32Type();
  case OnnxElementType::Double:
    return b.getF64Type();
  case OnnxElementType::Float16:
    return b.getF16Type();
  case OnnxElementType::BFloat16:
    return b.getBF16Type();
  case OnnxElementType::Float8E4M3FN:
    return b.getFloat8E4M3FNType();
  case OnnxElementType::Float8E5M2:
    return b.getFloat8E5M2Type();
  case OnnxElementType::Float8E4M3FNUZ:
    return b.getFloat8E4M3FNUZType();
  case OnnxElementType::Float8E5M2FNUZ:
    return b.getFloat8E5M2FNUZType();
  case OnnxElementType::Float8E8M0:
    return Float8E8M0FNUType::get(context);
  case OnnxElementType::Float4E2M1:
    return Float4E2M1FNType::get(context);
  case OnnxElementType::Bool:
    return b.getI1Type();
  case OnnxElementType::Int2:
    return b.getIntegerType(2);
  case OnnxElementType::Int4:
    return b.getIntegerType(4);
  case OnnxElementType::Int8:
    return b.getI8Type();
  case OnnxElementType::Int16:
    return b.getI16Type();
  case OnnxElementType::Int32:
    return b.getI32Type();
  case OnnxElementType::Int64:
    return b.getI64Type();
  case OnnxElementType::UInt2:
    return unsignedType(2);
  case OnnxElementType::UInt4:
    return unsignedType(4);
  case OnnxElementType::UInt8:
    return unsignedType(8);
  case OnnxElementType::UInt16:
    return unsignedType(16);
  case OnnxElementType::UInt32:
    return unsignedType(32);
  case OnnxElementType::UInt64:
    return unsignedType(64);
  default:
    return {};
  }
}

Type NodeImport::elementType(int64_t onnxType) {
  Type type = elementTypeOf(context(), OnnxElementType(onnxType));
  if (!type)
    refuse("element type " + elementTypeName(OnnxElementType(onnxType)) + " is not supported");
  return type;
}

Value NodeImport::constantOf(const OnnxTensor &tensor) {
  if (refused())
    return {};
  llvm::Expected<Value> value = services.constantOf(
      tensor, tensor.name.empty() && !node.outputs.empty() ? node.outputs[0] : tensor.name);
  return value ? *value : refuse(llvm::toString(value.takeError()));
}

//===-- Inputs --------------------------------------------------------------------------------===//

std::string NodeImport::inputName(unsigned i) const {
  return "input " + std::to_string(i) + " (" + quotedText(node.inputs[i]) + ")";
}

Value NodeImport::input(unsigned i) {
  if (!hasInput(i))
    return wrong("input " + Twine(i) + " is missing");
  return inputs[i];
}

ArrayRef<Value> NodeImport::allInputs() {
  for (unsigned i = 0; i < inputs.size(); ++i)
    if (!input(i))
      return {};
  return inputs;
}

//===-- Attributes ----------------------------------------------------------------------------===//

const OnnxAttribute *NodeImport::find(StringRef name) const {
  const OnnxAttribute *attribute = node.attribute(name);
  if (!attribute || attribute->refName.empty())
    return attribute;
  return frame ? frame->lookup(attribute->refName) : nullptr;
}

const OnnxAttribute *NodeImport::find(StringRef name, OnnxAttribute::Kind kind) {
  used.insert(name);
  const OnnxAttribute *attribute = find(name);
  if (!attribute || attribute->kind == kind)
    return attribute;
  wrong("attribute '" + name + "' is of kind " + attributeKindName(attribute->kind) +
        ", but must be " + attributeKindName(kind));
  return nullptr;
}

std::optional<int64_t> NodeImport::intAttribute(StringRef name) {
  const OnnxAttribute *found = find(name, OnnxAttribute::Kind::Int);
  return found ? std::optional(found->i) : std::nullopt;
}

int64_t NodeImport::intAttribute(StringRef name, int64_t otherwise) {
  return intAttribute(name).value_or(otherwise);
}

std::optional<double> NodeImport::floatAttribute(StringRef name) {
  const OnnxAttribute *found = find(name, OnnxAttribute::Kind::Float);
  return found ? std::optional(double(found->f)) : std::nullopt;
}

double NodeImport::floatAttribute(StringRef name, double otherwise) {
  return floatAttribute(name).value_or(otherwise);
}

std::string NodeImport::textAttribute(StringRef name, StringRef otherwise) {
  const OnnxAttribute *found = find(name, OnnxAttribute::Kind::String);
  if (!found)
    return otherwise.str();
  // Messages quote it, and a message is one line.
  return llvm::all_of(found->s, llvm::isPrint) ? found->s.str() : printableText(found->s);
}

std::optional<SmallVector<int64_t>> NodeImport::intsAttribute(StringRef name) {
  const OnnxAttribute *found = find(name, OnnxAttribute::Kind::Ints);
  if (!found)
    return std::nullopt;
  return SmallVector<int64_t>(found->ints.begin(), found->ints.end());
}

std::optional<SmallVector<double>> NodeImport::floatsAttribute(StringRef name) {
  const OnnxAttribute *found = find(name, OnnxAttribute::Kind::Floats);
  if (!found)
    return std::nullopt;
  return SmallVector<double>(found->floats.begin(), found->floats.end());
}

std::optional<SmallVector<std::string>> NodeImport::textsAttribute(StringRef name) {
  const OnnxAttribute *found = find(name, OnnxAttribute::Kind::Strings);
  if (!found)
    return std::nullopt;
  return SmallVector<std::string>(found->strings.begin(), found->strings.end());
}

const OnnxTensor *NodeImport::tensorAttribute(StringRef name) {
  const OnnxAttribute *found = find(name, OnnxAttribute::Kind::Tensor);
  return found && !found->tensors.empty() ? &found->tensors[0] : nullptr;
}

const OnnxGraph *NodeImport::graphAttribute(StringRef name) {
  const OnnxAttribute *found = find(name, OnnxAttribute::Kind::Graph);
  if (found && !found->graphs.empty())
    return &found->graphs[0];
  wrong("attribute '" + name + "' is missing");
  return nullptr;
}

void NodeImport::ignoreAttributes(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    used.insert(name);
}

StringRef NodeImport::unusedAttribute() const {
  for (const OnnxAttribute &attribute : node.attributes)
    if (!used.contains(attribute.name) && find(attribute.name))
      return attribute.name;
  return "";
}

AttributeFrame NodeImport::passedAttributes() const {
  AttributeFrame passed;
  for (const OnnxAttribute &attribute : node.attributes)
    if (const OnnxAttribute *found = find(attribute.name))
      passed[attribute.name] = found;
  return passed;
}

//===-- Shape operands ------------------------------------------------------------------------===//

std::optional<Dims> NodeImport::shapeOperand(unsigned i) {
  Value value = input(i);
  if (!value)
    return std::nullopt;
  learnSizes(*this, state.values, value);
  const RefTensor *tensor = known(value);
  bool complete = tensor && rankOf(value) <= 1 && tensor->kind != Scalar::Real;
  Dims list;
  for (int64_t k = 0; complete && k < tensor->size(); ++k) {
    SymExpr expr = elementExpr(*tensor, k);
    complete &= bool(expr);
    list.push_back(expr ? simplify(expr) : expr);
  }
  if (complete)
    return list;
  if (isFloat(elementOf(value)) || rankOf(value) > 1)
    wrong(inputName(i) + " must be a list of integers");
  else
    refuse(inputName(i) + " depends on the contents of tensors, but is needed while compiling",
           isa<BlockArgument>(value)
               ? "an input whose contents never change can be given with '--constant NAME=VALUE'"
               : "");
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeImport::constantOperand(unsigned i) {
  std::optional<Dims> list = shapeOperand(i);
  if (!list)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (SymExpr expr : *list) {
    if (!expr.asConstant()) {
      refuse(inputName(i) + " is '" + expr.str() + "', but only constants are supported there");
      return std::nullopt;
    }
    numbers.push_back(*expr.asConstant());
  }
  return numbers;
}

std::optional<SmallVector<double>> NodeImport::constantReals(unsigned i) {
  if (!input(i))
    return std::nullopt;
  const RefTensor *tensor = known(input(i));
  if (tensor && tensor->kind == Scalar::Real)
    return SmallVector<double>(tensor->reals.begin(), tensor->reals.end());
  refuse(inputName(i) + " must be a constant");
  return std::nullopt;
}

std::optional<SymExpr> NodeImport::shapeScalar(unsigned i) {
  std::optional<Dims> list = shapeOperand(i);
  if (list && list->size() == 1)
    return list->front();
  if (list)
    wrong(inputName(i) + " must be one number, but has " + Twine(list->size()));
  return std::nullopt;
}

std::optional<int64_t> NodeImport::constantScalar(unsigned i) {
  std::optional<SmallVector<int64_t>> list = constantOperand(i);
  if (list && list->size() == 1)
    return list->front();
  if (list)
    wrong(inputName(i) + " must be one number, but has " + Twine(list->size()));
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeImport::axesOperand(StringRef name, unsigned i) {
  if (hasInput(i))
    return constantOperand(i);
  return intsAttribute(name);
}

unsigned NodeImport::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  if (!refused())
    wrong("axis " + Twine(axis) + " is outside of rank " + Twine(rank));
  return 0;
}

SmallVector<int64_t> NodeImport::axes(ArrayRef<int64_t> list, int64_t rank) {
  SmallVector<int64_t> sorted;
  for (int64_t each : list) {
    int64_t position = axis(each, rank);
    if (refused())
      return {};
    if (llvm::is_contained(sorted, position)) {
      wrong("axis " + Twine(each) + " is named twice");
      return {};
    }
    sorted.push_back(position);
  }
  llvm::sort(sorted);
  return sorted;
}

} // namespace weft::onnx
