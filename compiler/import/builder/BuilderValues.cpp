//===- BuilderValues.cpp - Element types, numbers, constants and weights ----------------------===//

#include "compiler/import/builder/BuilderImpl.h"
#include <cmath>

namespace weft {

//===-- Element types and numbers -------------------------------------------------------------===//

mlir::Type toType(mlir::MLIRContext *context, Element element) {
  mlir::Builder b(context);
  auto integer = [&](unsigned bits) { return mlir::IntegerType::get(context, bits); };
  auto natural = [&](unsigned bits) {
    return mlir::IntegerType::get(context, bits, mlir::IntegerType::Unsigned);
  };
  switch (element) {
  case Element::F64:
    return b.getF64Type();
  case Element::F32:
    return b.getF32Type();
  case Element::F16:
    return b.getF16Type();
  case Element::BF16:
    return b.getBF16Type();
  case Element::F8E4M3:
    return b.getFloat8E4M3FNType();
  case Element::F8E5M2:
    return b.getFloat8E5M2Type();
  case Element::F8E4M3FNUZ:
    return b.getFloat8E4M3FNUZType();
  case Element::F8E5M2FNUZ:
    return b.getFloat8E5M2FNUZType();
  case Element::F8E8M0:
    return Float8E8M0FNUType::get(context);
  case Element::F4E2M1:
    return Float4E2M1FNType::get(context);
  case Element::Bool:
    return integer(1);
  case Element::I2:
    return integer(2);
  case Element::I4:
    return integer(4);
  case Element::I8:
    return integer(8);
  case Element::I16:
    return integer(16);
  case Element::I32:
    return integer(32);
  case Element::I64:
    return integer(64);
  case Element::U2:
    return natural(2);
  case Element::U4:
    return natural(4);
  case Element::U8:
    return natural(8);
  case Element::U16:
    return natural(16);
  case Element::U32:
    return natural(32);
  case Element::U64:
    return natural(64);
  }
  llvm_unreachable("closed set of element types");
}

Element toElement(mlir::Type type) {
  for (int i = int(Element::F64); i <= int(Element::U64); ++i)
    if (toType(type.getContext(), Element(i)) == type)
      return Element(i);
  llvm_unreachable("the tensor type refuses other elements");
}

/// True for doubles that are integers of 64 bits.
static bool isInteger64(double value) {
  return value == std::trunc(value) && value >= -9223372036854775808.0 &&
         value < 9223372036854775808.0;
}

mlir::TypedAttr toAttribute(mlir::Type type, Number number) {
  if (isFloat(type))
    return floatAttribute(type, number.real());
  if (!number.isInteger() && !isInteger64(number.real()))
    return {};
  int64_t value = number.isInteger() ? number.integer() : int64_t(number.real());
  unsigned bits = type.getIntOrFloatBitWidth();
  bool fits = isUnsigned(type)
                  ? number.isLarge() ? bits == 64 : value >= 0 && llvm::isUIntN(bits, value)
                  : !number.isLarge() && llvm::isIntN(bits, value);
  if (!fits)
    return {};
  return mlir::IntegerAttr::get(type,
                                llvm::APInt(bits, uint64_t(value), /*isSigned=*/!isUnsigned(type)));
}

static std::string numberText(Number number) {
  if (number.isInteger())
    return number.isLarge() ? std::to_string(uint64_t(number.integer()))
                            : std::to_string(number.integer());
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number.real());
  return text;
}

static std::string typeText(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===-- Types of values -----------------------------------------------------------------------===//

Element Builder::element(Value value) const {
  mlir::Value known = impl->unwrap(value, "element");
  return known ? toElement(mlir::cast<SymTensorType>(known.getType()).getElementType())
               : Element::F32;
}

Dims Builder::dims(Value value) const {
  Dims dims;
  if (mlir::Value known = impl->unwrap(value, "dims"))
    for (SymExpr dim : mlir::cast<SymTensorType>(known.getType()).getDims())
      dims.push_back(dim.str());
  return dims;
}

//===-- Values from nothing -------------------------------------------------------------------===//

Value Builder::fill(Element element, const Dims &dims, Number value) {
  SymTensorType type = impl->tensorType(element, dims);
  if (!type)
    return impl->wrap({});
  mlir::TypedAttr attribute = toAttribute(type.getElementType(), value);
  if (!attribute) {
    impl->error(numberText(value) + " is not a number of type " + typeText(type.getElementType()));
    return impl->wrap({});
  }
  auto *op =
      impl->createTyped(FillOp::getOperationName(), {}, impl->attribute("value", attribute), type);
  return impl->wrap(op ? op->getResult(0) : mlir::Value());
}

Value Builder::scalar(Element element, Number value) { return fill(element, {}, value); }

Value Builder::iota(Element element, const Dims &dims, int64_t axis) {
  SymTensorType type = impl->tensorType(element, dims);
  if (!type)
    return impl->wrap({});
  int64_t counted = axis < 0 ? axis + int64_t(type.getRank()) : axis;
  auto dim = impl->attribute("dim", impl->ops.getI64IntegerAttr(counted));
  auto *op = impl->createTyped(IotaOp::getOperationName(), {}, dim, type);
  return impl->wrap(op ? op->getResult(0) : mlir::Value());
}

static Value createDimsValue(Builder::Impl &impl, const Dims &values,
                             llvm::ArrayRef<SymExpr> dims) {
  DimsAttr attribute = impl.dimsAttribute(values);
  if (!attribute)
    return impl.wrap({});
  auto type = SymTensorType::get(dims, impl.ops.getI64Type());
  auto *op = impl.createTyped(DimsValueOp::getOperationName(), {},
                              impl.attribute("values", attribute), type);
  return impl.wrap(op ? op->getResult(0) : mlir::Value());
}

Value Builder::dimsValue(const Dims &values) {
  return createDimsValue(*impl, values, SymExpr::constant(impl->context(), int64_t(values.size())));
}

Value Builder::dimValue(const Dim &value) { return createDimsValue(*impl, {value}, {}); }

Value Builder::constant(Element element, const std::vector<int64_t> &dims,
                        const std::vector<Number> &values) {
  SymTensorType type = impl->tensorType(element, Dims(dims.begin(), dims.end()));
  if (!type)
    return impl->wrap({});
  int64_t count = 1;
  bool counted = true;
  for (int64_t dim : dims)
    counted &= !__builtin_mul_overflow(count, dim, &count);
  if (!counted || count != int64_t(values.size())) {
    impl->error("a constant of type " + typeText(type) + " is given " +
                std::to_string(values.size()) + " elements");
    return impl->wrap({});
  }
  llvm::SmallVector<mlir::Attribute> elements;
  for (Number value : values) {
    elements.push_back(toAttribute(type.getElementType(), value));
    if (!elements.back()) {
      impl->error(numberText(value) + " is not a number of type " +
                  typeText(type.getElementType()));
      return impl->wrap({});
    }
  }
  auto dense = mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get(dims, numberType(type.getElementType())), elements);
  auto *op =
      impl->createTyped(ConstantOp::getOperationName(), {}, impl->attribute("value", dense), type);
  return impl->wrap(op ? op->getResult(0) : mlir::Value());
}

//===-- Weights -------------------------------------------------------------------------------===//

WeightFile::WeightFile(std::shared_ptr<MappedFile> file, std::string name)
    : file(std::move(file)), name(std::move(name)) {}

Result<WeightFile> WeightFile::open(const std::string &path, const std::string &name) {
  auto file = MappedFile::open(path);
  if (!file)
    return Diagnostic{Diagnostic::Error, kFileError.str(), "", llvm::toString(file.takeError()),
                      ""};
  return WeightFile(*file, name.empty() ? path : name);
}

WeightFile WeightFile::memory(const std::string &name, const void *data, size_t size) {
  return {MappedFile::view(name, {static_cast<const char *>(data), size}), name};
}

/// Declares the weight in front of main, and lets the module keep its file.
static bool declareWeight(Builder::Impl &impl, const std::string &name, SymTensorType type,
                          const std::shared_ptr<MappedFile> &file, const std::string &fileName,
                          uint64_t offset) {
  if (mlir::SymbolTable::lookupSymbolIn(*impl.module->module, name)) {
    impl.error("the program has a weight or function called '" + name + "' already");
    return false;
  }
  int64_t count = 1;
  llvm::SmallVector<int64_t> dims = *type.getConstantDims();
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(count, dim, &count) || count > (int64_t(1) << 48)) {
      impl.error("weight '" + name + "' has too many elements: " + typeText(type));
      return false;
    }
  uint64_t bytes = elementBytes(type.getElementType(), count);
  if (offset > file->size() || bytes > file->size() - offset) {
    impl.error("weight '" + name + "' needs bytes " + std::to_string(offset) + " to " +
               std::to_string(offset + bytes) + " of '" + fileName + "', which has " +
               std::to_string(file->size()));
    return false;
  }
  auto known = impl.module->files.try_emplace(fileName, file);
  if (!known.second && known.first->second->bytes().data() != file->bytes().data()) {
    impl.error("two files are called '" + fileName + "'");
    return false;
  }
  mlir::OpBuilder before(impl.function);
  before.create<WeightOp>(impl.location(), name, fileName, offset, bytes, type);
  return true;
}

Value Builder::weight(const std::string &name, Element element, const std::vector<int64_t> &dims,
                      const WeightFile &file, uint64_t offset) {
  SymTensorType type = impl->tensorType(element, Dims(dims.begin(), dims.end()));
  if (!type || !declareWeight(*impl, name, type, file.file, file.name, offset))
    return impl->wrap({});
  auto reference = mlir::FlatSymbolRefAttr::get(impl->context(), name);
  auto *op = impl->createTyped(ConstantOp::getOperationName(), {},
                               impl->attribute("value", reference), type);
  return impl->wrap(op ? op->getResult(0) : mlir::Value());
}

} // namespace weft
