//===- Constants.cpp - Tensors of the file as constants and weights ---------------------------===//

#include "compiler/import/onnx/graph/Constants.h"
#include "compiler/import/onnx/graph/NodeImport.h"
#include "compiler/import/readers/ReadError.h"

using namespace mlir;

namespace weft::onnx {

constexpr uint64_t kMostInlineIntegers = 64, kMostInlineFloats = 16;

/// True for 0, 1, 2, ... of one dimension, such as position ids.
static bool countsUp(const OnnxTensor &tensor, Type element, const char *bytes, uint64_t count) {
  constexpr uint64_t most = 1 << 20;
  bool oneLine = llvm::count_if(tensor.dims, [](int64_t dim) { return dim != 1; }) == 1;
  if (!oneLine || count < 2 || count > most ||
      !(element.isSignlessInteger(64) || element.isSignlessInteger(32)))
    return false;
  bool wide = element.isSignlessInteger(64);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t value = 0;
    memcpy(&value, bytes + i * (wide ? 8 : 4), wide ? 8 : 4);
    if (value != int64_t(i))
      return false;
  }
  return true;
}

/// Zero points of weights, as quantisers write them: one per channel.
static bool isListOfZeros(const OnnxTensor &tensor, Type element, const TensorBytes &bytes) {
  return tensor.dims.size() == 1 && isa<IntegerType>(element) && elementBits(element) == 8 &&
         llvm::all_of(bytes.bytes, [](char byte) { return byte == 0; });
}

llvm::Expected<SymTensorType> Constants::typeOf(MLIRContext *context, const OnnxTensor &tensor) {
  auto fail = [&](const Twine &reason) {
    return readError("tensor " + quotedText(tensor.name) + " " + reason);
  };
  Type element = elementTypeOf(context, tensor.elementType);
  if (!element)
    return fail("has elements of type " + elementTypeName(tensor.elementType) +
                ", which is not supported");
  if (tensor.dims.size() > 8)
    return fail("has rank " + Twine(tensor.dims.size()) + ", but 8 is the most");
  SmallVector<SymExpr> dims;
  for (int64_t dim : tensor.dims) {
    if (dim > kMaxSymbolValue)
      return fail("has a dimension that exceeds 2^31 - 1");
    dims.push_back(SymExpr::constant(context, dim));
  }
  return SymTensorType::get(context, DimsAttr::get(context, dims).getDimAttributes(), element);
}

llvm::Expected<Value> Constants::create(BuildState &state, const OnnxTensor &tensor,
                                        StringRef name) {
  if (llvm::Error error = typeOf(state.builder.getContext(), tensor).takeError())
    return std::move(error);
  llvm::Expected<TensorBytes> bytes = data.read(tensor);
  if (!bytes)
    return bytes.takeError();
  return create(state, tensor, *bytes, name);
}

llvm::Expected<Value> Constants::create(BuildState &state, const OnnxTensor &tensor,
                                        const TensorBytes &bytes, StringRef name) {
  llvm::Expected<SymTensorType> type = typeOf(state.builder.getContext(), tensor);
  if (!type)
    return type.takeError();
  Type element = type->getElementType();
  uint64_t count = elementCount(tensor.dims).value_or(0);
  if (countsUp(tensor, element, bytes.bytes.data(), count)) {
    int64_t dim =
        llvm::find_if(tensor.dims, [](int64_t d) { return d != 1; }) - tensor.dims.begin();
    auto iota = state.builder.create<IotaOp>(*type, dim);
    state.values.learn(iota, state.contract.facts());
    return iota.getResult();
  }
  if (isListOfZeros(tensor, element, bytes))
    return state.builder.create<FillOp>(*type, IntegerAttr::get(element, 0)).getResult();
  if (count > (isFloat(element) ? kMostInlineFloats : kMostInlineIntegers))
    return createWeight(state, name, *type, bytes);
  RefTensor values = fromBytes(element, tensor.dims, bytes.bytes.data());
  Value constant = createConstant(state.builder, values);
  state.values.learn(constant.getDefiningOp(), state.contract.facts());
  return constant;
}

/// The name of the file that holds the bytes, as from the model's folder. Those that the file spells as numbers were decoded into memory,
/// which then stands for a file of its own.
std::string Constants::fileOf(StringRef tensorName, const TensorBytes &bytes, uint64_t &offset) {
  if (bytes.file) {
    std::string path = bytes.file->pathFrom(folder).str();
    while (impl.files.emplace(path, bytes.file).first->second->isView())
      path = "./" + path; // some memory has that name
    offset = bytes.file->offsetOf(bytes.bytes);
    return path;
  }
  offset = 0;
  std::string wish = "#" + tensorName.str(), name = wish;
  for (unsigned i = 2; impl.files.count(name); ++i)
    name = wish + "_" + std::to_string(i);
  impl.files[name] = MappedFile::view(name, bytes.bytes, bytes.owned);
  return name;
}

Value Constants::createWeight(BuildState &state, StringRef wish, SymTensorType type,
                              const TensorBytes &bytes) {
  uint64_t offset;
  std::string file = fileOf(wish, bytes, offset);
  return nameWeight(state, wish, type, file, offset, bytes.bytes.size());
}

Value Constants::nameWeight(BuildState &state, StringRef wish, SymTensorType type,
                            const std::string &file, uint64_t offset, uint64_t size) {
  std::string &name = names[{file, offset, type.getAsOpaquePointer()}];
  if (name.empty()) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    if (last) // weights stand in the order of their first use
      builder.setInsertionPointAfter(last);
    last = builder.create<WeightOp>(state.builder.getLoc(), wish, file, offset, size, type);
    name = symbols.insert(last, builder.getInsertionPoint()).str();
  }
  return state.builder.create<ConstantOp>(type, FlatSymbolRefAttr::get(type.getContext(), name));
}

Value Constants::reinterpret(BuildState &state, Value constant, SymTensorType type) {
  Operation *op = constant ? constant.getDefiningOp() : nullptr;
  if (op && isa<FillOp, ConstantOp, IotaOp>(op)) {
    auto name = isa<ConstantOp>(op) ? dyn_cast<FlatSymbolRefAttr>(cast<ConstantOp>(op).getValue())
                                    : FlatSymbolRefAttr();
    if (auto weight = name ? symbols.lookup<WeightOp>(name.getValue()) : WeightOp())
      return nameWeight(state, name.getValue(), type, weight.getFile().str(), weight.getOffset(),
                        weight.getBytes());
    ReferenceCall call; // of any rank, while known values are small in that, too
    if (!name && succeeded(cast<ReferenceOpInterface>(op).evaluate(call))) {
      const RefTensor &known = call.outputs[0];
      std::string bytes(elementBytes(known.element, known.size()), '\0');
      toBytes(known, bytes.data());
      return createConstant(
          state.builder, fromBytes(type.getElementType(), *type.getConstantDims(), bytes.data()));
    }
  }
  return {};
}

} // namespace weft::onnx
