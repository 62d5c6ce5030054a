//===- InputConstants.cpp - Contents that the caller gives to inputs of a model ---------------===//

#include "compiler/import/onnx/graph/InputConstants.h"
#include "compiler/import/onnx/graph/NodeImport.h"
#include "compiler/import/readers/ReadError.h"

using namespace mlir;

namespace weft::onnx {

const GivenConstant *GivenConstants::find(StringRef name) const {
  auto found = byName.find(name.str());
  return found == byName.end() ? nullptr : &found->second;
}

namespace {

/// How Weft calls an element type, and what .npy stores it as where it has no such type.
struct ElementNames {
  const char *own, *stored;
};

ElementNames namesOf(OnnxElementType type) {
  switch (type) {
  case OnnxElementType::Float:
    return {"f32", "f32"};
  case OnnxElementType::Double:
    return {"f64", "f64"};
  case OnnxElementType::Float16:
    return {"f16", "f16"};
  case OnnxElementType::BFloat16:
    return {"bf16", "u16"};
  case OnnxElementType::Float8E4M3FN:
    return {"f8e4m3", "u8"};
  case OnnxElementType::Float8E5M2:
    return {"f8e5m2", "u8"};
  case OnnxElementType::Float8E4M3FNUZ:
    return {"f8e4m3fnuz", "u8"};
  case OnnxElementType::Float8E5M2FNUZ:
    return {"f8e5m2fnuz", "u8"};
  case OnnxElementType::Float8E8M0:
    return {"f8e8m0", "u8"};
  case OnnxElementType::Float4E2M1:
    return {"f4e2m1", "u8"};
  case OnnxElementType::Bool:
    return {"bool", "bool"};
  case OnnxElementType::Int2:
    return {"i2", "i8"};
  case OnnxElementType::Int4:
    return {"i4", "i8"};
  case OnnxElementType::Int8:
    return {"i8", "i8"};
  case OnnxElementType::Int16:
    return {"i16", "i16"};
  case OnnxElementType::Int32:
    return {"i32", "i32"};
  case OnnxElementType::Int64:
    return {"i64", "i64"};
  case OnnxElementType::UInt2:
    return {"u2", "u8"};
  case OnnxElementType::UInt4:
    return {"u4", "u8"};
  case OnnxElementType::UInt8:
    return {"u8", "u8"};
  case OnnxElementType::UInt16:
    return {"u16", "u16"};
  case OnnxElementType::UInt32:
    return {"u32", "u32"};
  case OnnxElementType::UInt64:
    return {"u64", "u64"};
  default:
    return {"", ""};
  }
}

class Reader {
public:
  Reader(MLIRContext *context, const OnnxValueInfo &input, const InputConstant &given)
      : input(input), given(given), element(elementTypeOf(context, input.type.elementType)),
        wide(IntegerType::get(context, 64)), narrow(IntegerType::get(context, 8)) {}

  llvm::Expected<GivenConstant> read() {
    if (input.type.kind != OnnxType::Kind::Tensor)
      return fail("is not a tensor");
    if (!element)
      return fail("has elements of type " + elementTypeName(input.type.elementType) +
                  ", which is not supported");
    result.tensor.name = input.name;
    result.tensor.elementType = input.type.elementType;
    result.tensor.dims = given.dims;
    if (llvm::Error error = given.element.empty() ? readNumbers() : readStored())
      return std::move(error);
    if (llvm::Error error = checkShape())
      return std::move(error);
    result.bytes.owned = std::make_shared<std::vector<char>>(std::move(bytes));
    result.bytes.bytes = *result.bytes.owned;
    return std::move(result);
  }

private:
  llvm::Error fail(const Twine &text) {
    return readError("input " + quotedText(input.name) + " " + text);
  }

  llvm::Error checkCount(Type type) {
    std::optional<uint64_t> count = elementCount(given.dims);
    if (count && *count <= uint64_t(INT64_MAX) / 8 &&
        uint64_t(elementBytes(type, int64_t(*count))) == given.bytes.size())
      return llvm::Error::success();
    return fail("is given a constant of " + Twine(given.bytes.size()) +
                " bytes, which does not fit its shape " + shapeText(given.dims));
  }

  /// Values of one integer type as those of another one, which the input's bytes are; a value that it does not have is refused.
  llvm::Error convert(Type from, Type to) {
    if (llvm::Error error = checkCount(from))
      return error;
    RefTensor source = fromBytes(from, given.dims, given.bytes.data()), target(to, given.dims);
    for (int64_t i = 0; i < source.size(); ++i)
      target.set(i, target.kind == Scalar::Real ? Scalar::of(double(source.integers[i]))
                                                : Scalar::of(source.integers[i]));
    bytes.resize(elementBytes(to, target.size()));
    toBytes(target, bytes.data());
    RefTensor kept = fromBytes(to, given.dims, bytes.data());
    for (int64_t i = 0; i < source.size(); ++i)
      if (kept.at(i).asReal() != double(source.integers[i]))
        return fail("has elements of type " + Twine(namesOf(input.type.elementType).own) +
                    ", which has no value " + Twine(source.integers[i]));
    return llvm::Error::success();
  }

  llvm::Error readNumbers() {
    if (input.type.hasShape && input.type.dims.empty() && given.bytes.size() == 8)
      result.tensor.dims.clear();
    return convert(wide, element);
  }

  llvm::Error readStored() {
    ElementNames names = namesOf(input.type.elementType);
    if (given.element != names.own && given.element != names.stored)
      return fail("has elements of type " + Twine(names.own) +
                  ", but the constant for it has elements of type " + given.element);
    auto unsignedType = [&](unsigned width) -> Type {
      return IntegerType::get(element.getContext(), width, IntegerType::Unsigned);
    };
    if (isPacked(element) && given.element == names.stored)
      return convert(element.isSignlessInteger() ? narrow : unsignedType(8),
                     isFloat(element) ? unsignedType(elementBits(element)) : element);
    if (llvm::Error error = checkCount(element))
      return error;
    bytes = given.bytes;
    return llvm::Error::success();
  }

  llvm::Error checkShape() {
    if (!input.type.hasShape)
      return llvm::Error::success();
    bool fits = input.type.dims.size() == result.tensor.dims.size();
    for (auto [declared, dim] : llvm::zip(input.type.dims, result.tensor.dims))
      fits &= declared.kind != OnnxDim::Kind::Value || declared.value == dim;
    return fits ? llvm::Error::success()
                : fail("has another shape than " + Twine(shapeText(result.tensor.dims)) +
                       ", which is the constant's");
  }

  const OnnxValueInfo &input;
  const InputConstant &given;
  const Type element, wide, narrow;
  GivenConstant result;
  std::vector<char> bytes;
};

} // namespace

llvm::Expected<GivenConstants> readInputConstants(MLIRContext *context, const OnnxModel &model,
                                                  ArrayRef<InputConstant> constants) {
  GivenConstants all;
  for (const InputConstant &given : constants) {
    auto isIt = [&](const auto &each) { return each.name == given.name; };
    auto input = llvm::find_if(model.graph.inputs, isIt);
    if (input == model.graph.inputs.end())
      return readError("the model has no input " + quotedText(given.name) +
                       ", for which a constant is given");
    if (llvm::any_of(model.graph.initializers, isIt))
      return readError("input " + quotedText(given.name) + " is a constant of the model already");
    if (all.find(given.name))
      return readError("input " + quotedText(given.name) + " is given two constants");
    llvm::Expected<GivenConstant> constant = Reader(context, *input, given).read();
    if (!constant)
      return constant.takeError();
    all.add(std::move(*constant));
  }
  return std::move(all);
}

bool requireShape(const OnnxValueInfo &input, const GivenConstant &constant, Contract &contract) {
  std::string place = "the constant for input " + quotedText(input.name);
  for (unsigned d = 0; d < input.type.dims.size(); ++d) {
    SymExpr dim = contract.inputDim(input, d);
    if (!contract.require(
            equalityOf(dim, SymExpr::constant(dim.getContext(), constant.tensor.dims[d])), place))
      return false;
  }
  return true;
}

} // namespace weft::onnx
