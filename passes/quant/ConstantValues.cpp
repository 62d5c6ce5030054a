//===- ConstantValues.cpp - Reference semantics of what depends on constants only -------------------===//

#include "passes/quant/ConstantValues.h"
#include "dialects/weft/ops/Collective.h"

using namespace mlir;

namespace weft {
namespace {

std::optional<int64_t> countOf(Value value) {
  auto type = dyn_cast<SymTensorType>(value.getType());
  auto dims = type ? type.getConstantDims() : std::nullopt;
  if (!dims)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t dim : *dims)
    count *= dim;
  return count;
}

/// The axes of the mesh whose places are in the expressions, and those of the groups.
MeshAttr axesOf(Operation *op, ArrayRef<SymExpr> exprs, ArrayRef<MeshAttr> groups) {
  MeshAttr mesh = meshOf(op);
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  for (auto [axis, size] : llvm::zip(mesh ? mesh.getAxes() : ArrayRef<StringAttr>(),
                                     mesh ? mesh.getSizes() : ArrayRef<int64_t>())) {
    auto isIn = [axis = axis](MeshAttr group) { return group && group.getSize(axis); };
    auto hasPlace = [symbol = rankSymbol(axis)](SymExpr expr) {
      return llvm::is_contained(expr.symbols(), symbol);
    };
    if (llvm::any_of(exprs, hasPlace) || llvm::any_of(groups, isIn)) {
      axes.push_back(axis);
      sizes.push_back(size);
    }
  }
  return axes.empty() ? MeshAttr() : MeshAttr::get(op->getContext(), axes, sizes);
}

bool isSame(const RefTensor &a, const RefTensor &b) {
  return a.element == b.element && a.dims == b.dims && a.reals == b.reals &&
         a.integers == b.integers;
}

/// Computes the value of every rank, one after the other.
std::shared_ptr<RankValues>
onRanks(MeshAttr group, function_ref<std::optional<RefTensor>(const SymValues &)> compute) {
  auto values = std::make_shared<RankValues>();
  values->group = group;
  for (int64_t place = 0; place < (group ? group.getRanks() : 1); ++place) {
    std::optional<RefTensor> tensor = compute(group ? rankValues(group, place) : SymValues());
    if (!tensor)
      return {};
    values->tensors.push_back(std::move(*tensor));
  }
  if (llvm::all_of(values->tensors, [&](auto &each) { return isSame(each, values->tensors[0]); })) {
    values->group = {};
    values->tensors.resize(1);
  }
  return values;
}

/// A box of a constant's bytes.
struct Box {
  ConstantOp constant;
  SmallVector<SymExpr> starts;
  SmallVector<int64_t> dims, sizes; ///< of the constant and of the box
};

/// The constant that a value is, or is a box of.
std::optional<Box> boxOf(Value value) {
  auto type = cast<SymTensorType>(value.getType());
  Box box;
  box.starts.assign(type.getRank(), SymExpr::constant(value.getContext(), 0));
  while (true) {
    if (Value whole = gatheredFrom(value)) {
      value = whole;
      continue;
    }
    auto slice = value.getDefiningOp<SliceOp>();
    if (!slice)
      break;
    value = slice.getInput();
    if (llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
      return std::nullopt;
    for (auto [start, more] : llvm::zip_equal(box.starts, slice.getStarts().getDims()))
      start = start + more;
  }
  box.constant = value.getDefiningOp<ConstantOp>();
  auto dims = cast<SymTensorType>(value.getType()).getConstantDims(),
       sizes = type.getConstantDims();
  if (!box.constant || !dims || !sizes)
    return std::nullopt;
  box.dims.assign(dims->begin(), dims->end());
  box.sizes.assign(sizes->begin(), sizes->end());
  return box;
}

/// What a value was before transposes, with these axes of it: sums over all but one dimension are the same.
Value beforeTranspose(Value value, SmallVector<int64_t> &axes) {
  if (int64_t(axes.size()) + 1 < cast<SymTensorType>(value.getType()).getRank())
    return value;
  while (auto transpose = value.getDefiningOp<TransposeOp>()) {
    for (int64_t &axis : axes)
      axis = transpose.getOrder()[axis];
    value = transpose.getInput();
  }
  return value;
}

/// For each dimension, how far its index moves in a tensor without some of the dimensions.
SmallVector<int64_t> stridesOf(ArrayRef<int64_t> dims, ArrayRef<int64_t> without) {
  SmallVector<int64_t> strides(dims.size(), 0);
  int64_t stride = 1;
  for (int64_t d = int64_t(dims.size()) - 1; d >= 0; --d) {
    if (llvm::is_contained(without, d))
      continue;
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

/// Adds the bytes of the box from `starts` on to the sums over `axes`; false when it lies outside.
bool addBytes(const Box &box, const SymValues &places, const char *bytes, bool isUnsigned,
              ArrayRef<int64_t> axes, RefTensor &sums) {
  SmallVector<int64_t> from = stridesOf(box.dims, {}), to = stridesOf(box.sizes, axes);
  int64_t begin = 0, count = 1, target = 0;
  for (auto [d, start] : llvm::enumerate(box.starts)) {
    FailureOr<int64_t> first = start.evaluate(places);
    if (failed(first) || *first < 0 || *first + box.sizes[d] > box.dims[d])
      return false;
    begin += *first * from[d];
    count *= box.sizes[d];
  }
  SmallVector<int64_t> at(box.sizes.size(), 0);
  for (int64_t i = 0, source = begin; i < count; ++i) {
    sums.integers[target] +=
        isUnsigned ? int64_t(uint8_t(bytes[source])) : int64_t(int8_t(bytes[source]));
    for (int64_t d = int64_t(at.size()) - 1; d >= 0; --d) {
      target += to[d];
      source += from[d];
      if (++at[d] < box.sizes[d])
        break;
      target -= to[d] * at[d];
      source -= from[d] * at[d];
      at[d] = 0;
    }
  }
  return true;
}

} // namespace

//===-- Of one rank and of all -------------------------------------------------------------------===//

const RefTensor &RankValues::at(const SymValues &places) const {
  return tensors[group ? *placeIn(group).evaluate(places) : 0];
}

RefTensor RankValues::joined() const {
  RefTensor all = tensors[0];
  if (!group)
    return all;
  if (all.dims.empty())
    all.dims.push_back(1);
  all.dims[0] *= int64_t(tensors.size());
  for (const RefTensor &next : ArrayRef(tensors).drop_front()) {
    llvm::append_range(all.reals, next.reals);
    llvm::append_range(all.integers, next.integers);
  }
  return all;
}

Attribute elementsOf(const RefTensor &tensor) {
  auto shaped = RankedTensorType::get(tensor.dims, tensor.element);
  if (tensor.element.isF32())
    return DenseElementsAttr::get(shaped, ArrayRef<float>(llvm::map_to_vector(
                                              tensor.reals, [](double v) { return float(v); })));
  if (isa<FloatType>(tensor.element)) {
    std::vector<char> bytes(elementBytes(tensor.element, tensor.size()));
    toBytes(tensor, bytes.data());
    return DenseElementsAttr::getFromRawBuffer(shaped, bytes);
  }
  auto integer = dyn_cast<IntegerType>(tensor.element);
  if (!integer)
    return {};
  return DenseElementsAttr::get(
      shaped, ArrayRef<APInt>(llvm::map_to_vector(tensor.integers, [&](int64_t v) {
        return APInt(integer.getWidth(), uint64_t(v), !integer.isUnsigned());
      })));
}

Value storedConstant(ImplicitLocOpBuilder &b, SymTensorType type, MeshAttr group,
                     const RefTensor &numbers) {
  auto sizes = llvm::map_to_vector(
      numbers.dims, [&](int64_t size) { return SymExpr::constant(b.getContext(), size); });
  Value all =
      b.create<ConstantOp>(SymTensorType::get(sizes, type.getElementType()), elementsOf(numbers));
  if (!group)
    return all;
  sizes[0] = SymExpr::constant(b.getContext(), numbers.dims[0] / group.getRanks());
  SmallVector<SymExpr> starts(sizes.size(), SymExpr::constant(b.getContext(), 0));
  starts[0] = placeIn(group) * sizes[0];
  Value part = b.create<SliceOp>(all, DimsAttr::get(b.getContext(), starts),
                                 DimsAttr::get(b.getContext(), sizes),
                                 SmallVector<int64_t>(sizes.size(), 1));
  return part.getType() == type
             ? part
             : b.create<ReshapeOp>(part, DimsAttr::get(b.getContext(), type.getDims()));
}

//===-- Finding ----------------------------------------------------------------------------------===//

const RankValues *ConstantValues::ofRanks(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second.get();
  std::shared_ptr<RankValues> values = compute(value);
  known[value] = values;
  return values.get();
}

const RefTensor *ConstantValues::find(Value value) {
  const RankValues *values = ofRanks(value);
  return values && !values->group ? &values->tensors[0] : nullptr;
}

std::shared_ptr<RankValues> ConstantValues::compute(Value value) {
  Operation *op = value.getDefiningOp();
  auto reference = dyn_cast_or_null<ReferenceOpInterface>(op);
  if (!reference || op->getNumRegions() > 0 || op->getNumResults() != 1 || isa<HostOpInterface>(op))
    return {};
  if (auto reduce = dyn_cast<ReduceOp>(op))
    if (std::shared_ptr<RankValues> sums = sumBytes(reduce))
      return sums;
  SmallVector<const RankValues *> operands;
  SmallVector<MeshAttr> groups;
  std::optional<int64_t> count = countOf(value);
  if (!count || *count > mostElements)
    return {};
  for (Value operand : op->getOperands()) {
    operands.push_back(ofRanks(operand));
    if (!operands.back())
      return {};
    groups.push_back(operands.back()->group);
  }
  SmallVector<SymExpr> exprs;
  for (NamedAttribute attribute : op->getAttrs())
    if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
      llvm::append_range(exprs, dims.getDims());
  MeshAttr group = axesOf(op, exprs, groups);
  if (group && *count * group.getRanks() > mostElements)
    return {};
  return onRanks(group, [&](const SymValues &places) -> std::optional<RefTensor> {
    auto inputs = llvm::map_to_vector(
        operands, [&](const RankValues *operand) { return &operand->at(places); });
    ReferenceCall call;
    call.inputs = inputs;
    call.weight = weight;
    call.symbols = group ? &places : nullptr;
    if (failed(evaluateReference(op, call)) || call.outputs[0].kind == Scalar::Symbolic)
      return std::nullopt;
    return std::move(call.outputs[0]);
  });
}

const char *ConstantValues::bytesOf(ConstantOp constant) const {
  if (auto name = dyn_cast<FlatSymbolRefAttr>(constant.getValue()))
    return weight ? weight(name.getValue()) : nullptr;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  bool areApart =
      elements && !elements.isSplat() && elements.getElementType().getIntOrFloatBitWidth() >= 8;
  return areApart ? elements.getRawData().data() : nullptr;
}

/// Sums of a weight's bytes, or of those that a rank has, which are too many for the general way.
std::shared_ptr<RankValues> ConstantValues::sumBytes(ReduceOp op) {
  SmallVector<int64_t> axes(op.getAxes());
  auto convert = beforeTranspose(op.getInput(), axes).getDefiningOp<ConvertOp>();
  std::optional<Box> box =
      convert ? boxOf(beforeTranspose(convert.getInput(), axes)) : std::nullopt;
  if (!box || op.getKind() != CombinerKind::Sum || !convert.getTo().isInteger(32))
    return {};
  Type element = box->constant.getType().getElementType();
  auto resultDims = cast<SymTensorType>(op.getResult().getType()).getConstantDims();
  const char *bytes = bytesOf(box->constant);
  if (!isa<IntegerType>(element) || elementBits(element) != 8 || !resultDims || !bytes)
    return {};
  MeshAttr group = axesOf(op, box->starts, {});
  return onRanks(group, [&](const SymValues &places) -> std::optional<RefTensor> {
    RefTensor sums(convert.getTo(), *resultDims);
    if (!addBytes(*box, places, bytes, isUnsigned(element), axes, sums))
      return std::nullopt;
    for (int64_t &sum : sums.integers)
      sum = wrapInteger(convert.getTo(), sum);
    return sums;
  });
}

bool ConstantValues::isZero(Value value) {
  const RankValues *values = ofRanks(value);
  return values && llvm::all_of(values->tensors, [](const RefTensor &tensor) {
           return tensor.kind == Scalar::Integer &&
                  llvm::all_of(tensor.integers, [](int64_t v) { return v == 0; });
         });
}

bool ConstantValues::areEqual(Value a, Value b) {
  if (a == b)
    return true;
  const RefTensor *left = find(a), *right = find(b);
  return left && right && left->element == right->element && left->size() == 1 &&
         right->size() == 1 && left->reals == right->reals && left->integers == right->integers;
}

} // namespace weft
