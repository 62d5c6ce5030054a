//===- WeftTypes.cpp - !weft.tensor -------------------------------------------------------------===//

#include "dialects/weft/Weft.h"
#include "dialects/weft/types/FloatFormat.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "dialects/weft/WeftTypes.cpp.inc"

namespace weft {

static SmallVector<Attribute> toAttributes(ArrayRef<SymExpr> dims) {
  return llvm::map_to_vector(dims, [](SymExpr e) { return e.asAttribute(); });
}

SymTensorType SymTensorType::get(ArrayRef<SymExpr> dims, Type elementType) {
  return Base::get(elementType.getContext(), toAttributes(dims), elementType);
}

SmallVector<SymExpr> SymTensorType::getDims() const {
  return llvm::map_to_vector(getDimAttributes(), [](Attribute a) { return SymExpr(a); });
}

SymExpr SymTensorType::getElements() const {
  SymExpr product = SymExpr::constant(getContext(), 1);
  for (SymExpr dim : getDims())
    product = product * dim;
  return product;
}

std::optional<SmallVector<int64_t>> SymTensorType::getConstantDims() const {
  SmallVector<int64_t> dims;
  for (SymExpr dim : getDims()) {
    if (!dim.asConstant())
      return std::nullopt;
    dims.push_back(*dim.asConstant());
  }
  return dims;
}

Type SymTensorType::parse(AsmParser &parser) {
  DimsAttr dims;
  Type element;
  if (parser.parseLess() || parseDimList(parser, dims) || parser.parseComma() ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(parser.getNameLoc()); };
  auto type = getChecked(emitError, parser.getContext(), dims.getDimAttributes(), element);
  return type && succeeded(verifyDims(emitError, type)) ? type : SymTensorType();
}

void SymTensorType::print(AsmPrinter &printer) const {
  printer << "<";
  printDimList(printer, DimsAttr::get(getContext(), getDimAttributes()));
  printer << ", " << getElementType() << ">";
}

LogicalResult SymTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<Attribute> dims, Type element) {
  return verifyElement(emitError, element);
}

LogicalResult verifyDims(function_ref<InFlightDiagnostic()> emitError, SymTensorType type) {
  if (type.getRank() > 8)
    return emitError() << "a tensor has at most 8 dimensions, but this one has " << type.getRank();
  for (auto [i, dim] : llvm::enumerate(type.getDims())) {
    if (dim.isOverflow())
      return emitError() << "dimension " << i << " overflows 64 bits";
    if (dim.asConstant() && *dim.asConstant() < 0)
      return emitError() << "dimension " << i << " is " << *dim.asConstant()
                         << ", but a size is at least 0";
  }
  return success();
}

bool isFloat(Type element) {
  return element && (isa<FloatType>(element) || floatFormatOf(element));
}
bool isHalf(Type element) { return element.isF16() || element.isBF16(); }
bool isPacked(Type element) { return !element.isInteger(1) && elementBits(element) < 8; }
bool isUnsigned(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

Type numberType(Type element) {
  return isa<FloatType, IntegerType>(element) ? element : Float32Type::get(element.getContext());
}

FloatAttr floatAttribute(Type element, double value) {
  return FloatAttr::get(numberType(element), roundReal(element, value));
}

bool isElement(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return type.isF64() || type.isF32() || floatFormatOf(type);
  unsigned w = integer.getWidth();
  bool isSize = w == 2 || w == 4 || w == 8 || w == 16 || w == 32 || w == 64;
  return integer.isSignless() ? w == 1 || isSize : integer.isUnsigned() && isSize;
}

LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError, Type type) {
  if (isElement(type))
    return success();
  return emitError() << type << " is not an element type; signed integers are written 'i8', "
                     << "unsigned ones 'ui8'";
}

void WeftDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/weft/WeftTypes.cpp.inc"
      >();
}

} // namespace weft
