#include "test/differential/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;

namespace weft::test {

//===-- Knowledge --------------------------------------------------------------------------------===//

Location Knowledge::locate(MLIRContext *context) const {
  double numbers[] = {most, double(quantum), error, double(special)};
  return FusedLoc::get(context, {UnknownLoc::get(context)},
                       DenseF64ArrayAttr::get(context, numbers));
}

std::optional<Knowledge> Knowledge::of(Value value) {
  auto fused = dyn_cast<FusedLoc>(value.getLoc());
  auto numbers = fused ? dyn_cast_or_null<DenseF64ArrayAttr>(fused.getMetadata()) : nullptr;
  size_t at = isa<OpResult>(value) ? 4 * cast<OpResult>(value).getResultNumber() : 0;
  if (!numbers || size_t(numbers.size()) < at + 4)
    return std::nullopt;
  ArrayRef<double> n = numbers.asArrayRef().drop_front(at);
  return Knowledge{n[0], int(n[1]), n[2], n[3] != 0};
}

static unsigned digitsOf(Type element) {
  if (auto real = dyn_cast<FloatType>(element))
    return real.getFPMantissaWidth();
  return elementBits(element);
}

double precisionOf(Type element) {
  return isFloat(element) ? std::ldexp(1.0, 1 - int(digitsOf(element))) : 0;
}

double largestOf(Type element) {
  if (auto real = dyn_cast<FloatType>(element))
    return llvm::APFloat::getLargest(real.getFloatSemantics()).convertToDouble();
  int bits = int(elementBits(element));
  return bits == 1 ? 1 : std::ldexp(1.0, isUnsigned(element) ? bits : bits - 1) - 1;
}

double lowestOf(Type element) {
  if (isFloat(element) || isUnsigned(element) || element.isInteger(1))
    return isFloat(element) ? -largestOf(element) : 0;
  return -std::ldexp(1.0, int(elementBits(element)) - 1);
}

/// The smallest power of two that is a number of the type.
static int finestOf(Type element) {
  if (auto real = dyn_cast<FloatType>(element))
    return -ilogb(llvm::APFloat::getSmallest(real.getFloatSemantics()));
  return 0;
}

bool isReal(Value v) { return isFloat(Graph::element(v)); }
bool isWide(Value v) { return Graph::element(v).isF32() || Graph::element(v).isF64(); }
bool isBool(Value v) { return Graph::element(v).isInteger(1); }
bool isHalfByte(Value v) { return isPacked(Graph::element(v)); }
bool isInteger(Value v) { return isa<IntegerType>(Graph::element(v)) && !isBool(v); }

Knowledge Graph::integers(Type element, double most) {
  return {std::min(most, std::max(largestOf(element), -lowestOf(element))), 0, 0, false};
}

Knowledge Graph::rounded(Type element, Knowledge k) const {
  if (!isFloat(element))
    return k;
  bool fits = k.isExact() && k.quantum <= finestOf(element) &&
              k.most * std::ldexp(1.0, k.quantum) <= std::ldexp(1.0, int(digitsOf(element)));
  if (!fits)
    k.error += precisionOf(element) * k.most + std::ldexp(1.0, -finestOf(element));
  return k;
}

Knowledge Graph::smooth(Value x, double steepest, double most) {
  const Knowledge &k = know(x);
  return {most, 0,
          k.error * steepest + 4 * precisionOf(element(x)) * (most + k.most * steepest / 4), false};
}

Knowledge Graph::sumOfProducts(Value x, Value y, double count, Type accumulate) {
  const Knowledge &a = know(x), &c = know(y);
  count = std::max(count, 1.0);
  if (!isFloat(accumulate))
    return integers(accumulate, count * a.most * c.most);
  Knowledge sum{count * a.most * c.most, a.quantum + c.quantum,
                count * (a.most * c.error + c.most * a.error + a.error * c.error), false};
  Knowledge result = rounded(accumulate, sum);
  if (!result.isExact())
    result.error += precisionOf(accumulate) * sum.most * 2 * std::sqrt(count);
  return result;
}

Knowledge Graph::either(ValueRange list) {
  Knowledge all;
  for (Value v : list) {
    const Knowledge &k = know(v);
    all = {std::max(all.most, k.most), std::max(all.quantum, k.quantum),
           std::max(all.error, k.error), all.special || k.special};
  }
  return all;
}

Value Graph::tame(Value x, double most) {
  Knowledge k = know(x);
  if (k.most <= most)
    return x;
  Type e = element(x);
  int halvings = int(std::ceil(std::log2(k.most / most)));
  if (halvings <= finestOf(e) && (k.isExact() || dice(2))) {
    Value factor = fill(e, std::ldexp(1.0, -halvings));
    k.most = std::ldexp(k.most, -halvings);
    k.error = std::ldexp(k.error, -halvings);
    k.quantum += halvings;
    return note(b.create<MulOp>(x, factor), rounded(e, k));
  }
  return note(b.create<TanhOp>(x), smooth(x, 1, 1));
}

//===-- Values -----------------------------------------------------------------------------------===//

Graph::Graph(ModuleOp module, unsigned seed, std::vector<Sizes> sizes)
    : b(UnknownLoc::get(module.getContext()), module.getContext()), dice(seed),
      sizes(std::move(sizes)), moduleBody(module.getBody()) {}

Value Graph::pick(llvm::function_ref<bool(Value)> fits, bool special) {
  SmallVector<Value> found;
  for (Value v : values)
    if ((special || !know(v).special) && fits(v))
      found.push_back(v);
  if (found.empty())
    return {};
  size_t back = dice.chance(2, 3) ? size_t(dice(std::min<size_t>(found.size(), 4)))
                                  : size_t(dice(found.size()));
  return found[found.size() - 1 - back];
}

Value Graph::note(Value value, Knowledge knowledge) {
  known[value] = knowledge;
  if (Operation *op = value.getDefiningOp(); op && op->getNumResults() == 1)
    op->setLoc(knowledge.locate(b.getContext()));
  return value;
}

bool Graph::add(Value value, Knowledge knowledge) {
  return add(ValueRange(value), ArrayRef(knowledge));
}

bool Graph::add(ValueRange results, ArrayRef<Knowledge> knowledge) {
  constexpr int64_t kMostElements = 1 << 14;
  SmallVector<double> numbers;
  bool good = true;
  for (auto [value, k] : llvm::zip_equal(results, knowledge)) {
    bool finite = !isFloat(element(value)) || k.most <= largestOf(element(value)) / 4;
    good &= finite && std::isfinite(k.error) && mostElements(type(value)) <= kMostElements &&
            rank(value) <= 6 && k.error <= 0.1 * std::max(k.most, 0.01) && k.most < 1e25 &&
            llvm::all_of(type(value).getDims(),
                         [&](SymExpr d) { return !d.isOverflow() && least(d) >= 0; });
    numbers.append({k.most, double(k.quantum), k.error, double(k.special)});
  }
  Operation *op = results.empty() ? nullptr : results[0].getDefiningOp();
  if (!good) {
    if (op && op->use_empty() && op->getNumRegions() == 0)
      op->erase();
    return false;
  }
  if (op)
    op->setLoc(FusedLoc::get(b.getContext(), {UnknownLoc::get(b.getContext())},
                             DenseF64ArrayAttr::get(b.getContext(), numbers)));
  for (auto [value, k] : llvm::zip_equal(results, knowledge)) {
    known[value] = k;
    values.push_back(value);
  }
  return true;
}

Value Graph::pickOr(Type wanted, ArrayRef<SymExpr> dims, double most) {
  SymTensorType t = tensor(dims, wanted);
  Value found = pick([&](Value v) { return v.getType() == t && know(v).most <= most; });
  if (found && dice.chance(3, 4))
    return found;
  SmallVector<int64_t> constants;
  for (SymExpr dim : dims)
    if (auto size = dim.asConstant())
      constants.push_back(*size);
  if (constants.size() == dims.size() && mostElements(t) <= 4096)
    return constant(constants, wanted, most);
  // Some pattern over all elements: the index along a dimension, cut to a few values.
  return fill(wanted, isFloat(wanted) ? 0.75 * std::min(most, 1.0) : dice(3), dims);
}

//===-- Sizes ------------------------------------------------------------------------------------===//

SymTensorType Graph::tensor(ArrayRef<SymExpr> list, Type element) {
  return SymTensorType::get(b.getContext(), dims(list).getDimAttributes(), element);
}

/// Bound symbols are taken at both ends; the expressions made here are monotonous in each.
void Graph::range(SymExpr expr, int64_t &low, int64_t &high) {
  low = INT64_MAX, high = INT64_MIN;
  for (const Sizes &each : sizes)
    for (unsigned ends = 0, all = bound.empty() ? 1 : 2; ends < all; ++ends) {
      SymValues at;
      for (auto &[name, value] : each)
        at[b.getStringAttr(name)] = value;
      for (auto &[name, limit] : bound)
        at[name] = ends ? 0 : limit.evaluate(at).value_or(0);
      FailureOr<int64_t> value = expr.evaluate(at);
      low = std::min(low, succeeded(value) ? *value : -1);
      high = std::max(high, succeeded(value) ? *value : int64_t(1) << 40);
    }
}

int64_t Graph::least(SymExpr expr) {
  int64_t low, high;
  range(expr, low, high);
  return low;
}

int64_t Graph::most(SymExpr expr) {
  int64_t low, high;
  range(expr, low, high);
  return high;
}

int64_t Graph::mostElements(SymTensorType type) { return most(type.getElements()); }

SymExpr Graph::anyDim() {
  if (dice.chance(1, 3) || values.empty())
    return number(dice.oneOf({1, 2, 3, 4, 7, 8, 16}));
  SymTensorType t = type(values[dice(values.size())]);
  return t.getRank() ? t.getDim(dice(t.getRank())) : number(1);
}

SymExpr Graph::bindSymbol(SymExpr limit) {
  auto name = b.getStringAttr("u" + std::to_string(bound.size()));
  bound.push_back({name, limit});
  return SymExpr::symbol(name);
}

int Graph::boundAt(StringAttr name) const {
  for (auto [i, each] : llvm::enumerate(bound))
    if (each.first == name)
      return int(i);
  return -1;
}

SymbolsAttr Graph::symbols() const {
  MLIRContext *context = b.getContext();
  SmallVector<StringAttr> names, boundNames;
  SmallVector<SymPred> all(facts);
  for (auto &[name, value] : sizes.front())
    names.push_back(StringAttr::get(context, name));
  for (auto &[name, limit] : bound) {
    boundNames.push_back(name);
    all.push_back(SymPred::le(SymExpr::symbol(name), limit));
  }
  return SymbolsAttr::get(context, names, all, boundNames);
}

//===-- Elements from nothing ----------------------------------------------------------------------===//

Type Graph::randomElement() {
  switch (dice(20)) {
  case 0:
    return b.getF64Type();
  case 1:
    return b.getF16Type();
  case 2:
    return b.getBF16Type();
  case 3:
    return dice(2) ? Type(b.getType<Float8E4M3FNType>()) : b.getType<Float8E5M2Type>();
  case 4:
  case 5:
    return b.getIntegerType(dice.oneOf({4, 8, 16}));
  case 6:
    return b.getIntegerType(dice.oneOf({4, 8, 16, 32, 64}), /*isSigned=*/false);
  case 7:
  case 8:
    return b.getIntegerType(dice.oneOf({32, 64}));
  case 9:
    return b.getI1Type();
  default:
    return b.getF32Type();
  }
}

Value Graph::fill(Type element, double value, ArrayRef<SymExpr> list) {
  value = std::min(std::max(value, lowestOf(element)), largestOf(element));
  TypedAttr attribute = isFloat(element) ? TypedAttr(b.getFloatAttr(element, value))
                                         : b.getIntegerAttr(element, int64_t(value));
  Knowledge k{std::fabs(value), 0, 0, false};
  if (isFloat(element)) {
    double stored = roundReal(element, value);
    while (k.quantum < 60 &&
           std::ldexp(stored, k.quantum) != std::rint(std::ldexp(stored, k.quantum)))
      ++k.quantum;
    k.most = std::fabs(stored);
    attribute = b.getFloatAttr(element, stored);
  }
  return note(b.create<FillOp>(tensor(list, element), attribute), k);
}

Value Graph::constant(ArrayRef<int64_t> list, Type element, double most, int quantum) {
  int64_t count = 1;
  SmallVector<SymExpr> symbolic;
  for (int64_t dim : list)
    count *= dim, symbolic.push_back(number(dim));
  auto shape = RankedTensorType::get(list, element);
  SmallVector<Attribute> elements;
  double largest = std::min(most, largestOf(element)), low = std::max(-largest, lowestOf(element));
  if (!isFloat(element))
    quantum = 0;
  int64_t steps = std::max<int64_t>(1, int64_t(std::ldexp(largest - low, quantum)) + 1);
  for (int64_t i = 0; i < count; ++i) {
    double value = low + std::ldexp(double(dice(steps)), -quantum);
    elements.push_back(isFloat(element)
                           ? Attribute(b.getFloatAttr(element, roundReal(element, value)))
                           : b.getIntegerAttr(element, int64_t(value)));
  }
  SymTensorType result = tensor(symbolic, element);
  auto dense = DenseElementsAttr::get(shape, elements);
  Knowledge k{std::max(largest, -low), quantum, 0, false};
  if (count > 0 && dice(2))
    return note(weight(shape, result, dense), k);
  return note(b.create<ConstantOp>(result, dense), k);
}

/// Puts the elements into the file of weights.
Value Graph::weight(RankedTensorType type, SymTensorType result, DenseElementsAttr elements) {
  RefTensor tensor(type.getElementType(), type.getShape());
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (isFloat(type.getElementType()))
      tensor.set(i, Scalar::of(elements.getValues<FloatAttr>()[i].getValueAsDouble()));
    else {
      llvm::APInt value = elements.getValues<llvm::APInt>()[i];
      tensor.set(i, Scalar::of(isUnsigned(type.getElementType()) ? int64_t(value.getZExtValue())
                                                                 : value.getSExtValue()));
    }
  size_t offset = (weights.size() + 7) / 8 * 8, bytes = elementBytes(tensor.element, tensor.size());
  weights.resize(offset + bytes);
  toBytes(tensor, weights.data() + offset);
  std::string name = "w" + std::to_string(weightCount++);
  OpBuilder::atBlockBegin(moduleBody)
      .create<WeightOp>(b.getLoc(), name, kWeightsFile, int64_t(offset), int64_t(bytes), result);
  return b.create<ConstantOp>(result, FlatSymbolRefAttr::get(b.getContext(), name));
}

Value Graph::positions(ArrayRef<SymExpr> list, SymExpr size, bool outside) {
  Type element = b.getIntegerType(dice(2) ? 32 : 64);
  SymTensorType wanted = tensor(list, element);
  int64_t limit = std::max<int64_t>(1, outside ? most(size) + 2 : least(size));
  // A value that is there already, or positions from a constant or from the index along a dimension.
  if (Value there = pick([&](Value v) {
        return v.getType() == wanted && (outside || know(v).most < double(limit));
      }))
    return there;
  bool constants = llvm::all_of(list, [](SymExpr d) { return d.asConstant().has_value(); });
  if (constants && mostElements(wanted) <= 256) {
    SmallVector<int64_t> sizes;
    for (SymExpr d : list)
      sizes.push_back(*d.asConstant());
    return constant(sizes, element, double(limit - 1));
  }
  if (list.empty())
    return fill(element, double(dice(limit)));
  Value index = note(b.create<IotaOp>(wanted, dice(list.size())), integers(element, 1 << 20));
  Value step = fill(element, double(dice.oneOf({1, 3, 5, 7})));
  Value product = note(b.create<MulOp>(index, step), integers(element, 1 << 24));
  return note(b.create<RemOp>(wanted, product, fill(element, double(limit)), UnitAttr()),
              integers(element, double(limit)));
}

} // namespace weft::test
