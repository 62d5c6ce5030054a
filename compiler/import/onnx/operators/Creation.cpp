//===- Creation.cpp - Constants, shapes as data, ranges ---------------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

Value constantReals(NodeImport &n, ArrayRef<double> values, ArrayRef<int64_t> dims) {
  RefTensor tensor(n.f32(), dims);
  tensor.reals.assign(values.begin(), values.end());
  return n.constantTensor(tensor);
}

Value constantIntegers(NodeImport &n, ArrayRef<int64_t> values, ArrayRef<int64_t> dims) {
  RefTensor tensor(n.i64(), dims);
  tensor.integers.assign(values.begin(), values.end());
  return n.constantTensor(tensor);
}

void convertConstant(NodeImport &n) {
  for (StringRef name : {"sparse_value", "value_string", "value_strings"})
    if (n.hasAttribute(name))
      return (void)n.refuse("attribute '" + name + "' is not supported");
  if (const OnnxTensor *tensor = n.tensorAttribute("value"))
    return n.result(n.constantOf(*tensor));
  if (std::optional<double> value = n.floatAttribute("value_float"))
    return n.result(constantReals(n, *value, {}));
  if (std::optional<int64_t> value = n.intAttribute("value_int"))
    return n.result(constantIntegers(n, *value, {}));
  if (auto values = n.floatsAttribute("value_floats"))
    return n.result(constantReals(n, *values, int64_t(values->size())));
  if (auto values = n.intsAttribute("value_ints"))
    return n.result(constantIntegers(n, *values, int64_t(values->size())));
  n.wrong("the constant has no value");
}

void convertIdentity(NodeImport &n) { n.result(n.input(0)); }

void convertShape(NodeImport &n) {
  int64_t rank = n.rank(0);
  auto position = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = position(n.intAttribute("start", 0)), end = position(n.intAttribute("end", rank));
  Dims dims = n.dims(0);
  n.result(n.dimsValue(ArrayRef<SymExpr>(dims).slice(start, std::max<int64_t>(end - start, 0))));
}

void convertSize(NodeImport &n) {
  if (Value x = n.input(0))
    n.result(n.number(n.i64(), typeOf(x).getElements()));
}

void convertConstantOfShape(NodeImport &n) {
  std::optional<Dims> dims = n.sizesOperand(0);
  const OnnxTensor *tensor = n.tensorAttribute("value");
  if (!dims)
    return;
  for (SymExpr dim : *dims)
    if (!n.requireAtMost(n.constant(0), dim, "the shape"))
      return;
  if (!tensor)
    return n.result(n.fill(*dims, n.f32(), 0));
  Value value = n.constantOf(*tensor);
  auto filled = value ? value.getDefiningOp<FillOp>() : FillOp();
  if (filled && typeOf(value).getElements().isConstant(1))
    return n.result(n.fill(*dims, filled));
  n.wrong("the value must be one number");
}

//===-- Range ---------------------------------------------------------------------------------===//

/// As many as no size can be: binding it is refused.
constexpr double kTooMany = 4294967296.0;

/// A quotient of reals, rounded up, as a length; not a number and infinity become too many.
Value lengthOf(NodeImport &n, Value quotient) {
  Value most = n.numberLike(quotient, kTooMany),
        length = n.maximum(n.unary<CeilOp>(quotient), n.numberLike(quotient, 0));
  Value fits = n.compare(CompareKind::Less, length, most);
  return n.convert(n.select(fits, length, most), n.i64());
}

/// The length that data decide, in doubles as the definition says.
Value realLength(NodeImport &n, Value start, Value limit, Value delta) {
  Type f64 = n.attributes().getF64Type();
  Value distance = n.sub(n.convert(limit, f64), n.convert(start, f64));
  return lengthOf(n, n.div(distance, n.convert(delta, f64)));
}

/// In integers, but for numbers whose differences they cannot hold: there doubles are exact enough.
Value integerLength(NodeImport &n, Value start, Value limit, Value delta) {
  Value zero = n.number(n.i64(), 0.0), one = n.number(n.i64(), 1.0);
  Type f64 = n.attributes().getF64Type();
  Value rough = realLength(n, start, limit, delta), huge = n.number(f64, 0x1p62);
  Value reach = n.maximum(n.abs(n.sub(n.convert(limit, f64), n.convert(start, f64))),
                          n.abs(n.convert(delta, f64)));
  start = n.convert(start, n.i64()), limit = n.convert(limit, n.i64());
  delta = n.convert(delta, n.i64());
  Value up = n.compare(CompareKind::Less, zero, delta);
  Value distance = n.select(up, n.sub(limit, start), n.sub(start, limit));
  Value step = n.maximum(n.abs(delta), one);
  Value exact = n.add(n.div(n.sub(distance, one), step), one);
  exact = n.select(n.compare(CompareKind::Less, zero, distance), exact, zero);
  return n.select(n.compare(CompareKind::Less, reach, huge), exact, rough);
}

/// A step of 0 is refused, when the program runs if not before: a symbol that is 0 for it, and 1 for
/// all others, must be 1.
void refuseNoStep(NodeImport &n, Value delta) {
  const RefTensor *known = n.known(delta);
  bool isReal = known && known->kind == Scalar::Real;
  if (isReal ? known->reals[0] != 0
             : known && known->kind == Scalar::Integer && known->integers[0] != 0)
    return;
  Value moves = n.unary<NotOp>(n.compare(CompareKind::Equal, delta, n.numberLike(delta, 0)));
  if (SymExpr symbol = n.bindSymbol(n.convert(moves, n.i64()), "delta", {}))
    n.requireAtMost(n.constant(1), symbol, "delta");
}

/// start + index * delta; how many there are is known when the program runs.
void convertBoundRange(NodeImport &n) {
  Type element = n.element(0);
  for (unsigned i : {0, 1, 2})
    if (!n.input(i) || n.element(i) != element || !typeOf(n.input(i)).getElements().isConstant(1))
      return (void)n.wrong("start, limit and delta must be numbers of one type");
  Value start = n.reshape(n.input(0), {}), limit = n.reshape(n.input(1), {}),
        delta = n.reshape(n.input(2), {});
  refuseNoStep(n, delta);
  std::string meaning;
  llvm::raw_string_ostream(meaning) << "length from " << n.input(0).getAsOpaquePointer() << " by "
                                    << n.input(2).getAsOpaquePointer();
  SymExpr length = n.bindOnce(1, 0, meaning, {}, [&] {
    return isFloat(element) ? realLength(n, start, limit, delta)
                            : integerLength(n, start, limit, delta);
  });
  if (length)
    n.result(n.add(n.mul(n.iota(length, 0, element), delta), start));
}

/// limit, start and delta are constants: the length is computed as the definition says.
void convertRealRange(NodeImport &n, Type element) {
  auto start = n.constantReals(0), limit = n.constantReals(1), delta = n.constantReals(2);
  if (!start || !limit || !delta)
    return;
  if (start->size() != 1 || limit->size() != 1 || delta->size() != 1 || (*delta)[0] == 0)
    return (void)n.wrong("start, limit and delta must be numbers, and delta not 0");
  double length = std::max(0.0, std::ceil(((*limit)[0] - (*start)[0]) / (*delta)[0]));
  if (!(length <= double(kMaxSymbolValue)))
    return (void)n.wrong("the range has too many elements");
  Value index = n.iota(n.constant(int64_t(length)), 0, element);
  n.result(n.add(n.mul(index, n.number(element, (*delta)[0])), n.number(element, (*start)[0])));
}

void convertRange(NodeImport &n) {
  Type element = n.element(0);
  if (!element)
    return;
  if (isFloat(element)) {
    bool known = n.known(n.input(0)) && n.known(n.input(1)) && n.known(n.input(2));
    return known ? convertRealRange(n, element) : convertBoundRange(n);
  }
  SmallVector<SymExpr, 3> numbers;
  for (unsigned i : {0, 1, 2})
    if (auto list = n.knownOperand(i); list && list->size() == 1 && list->front())
      numbers.push_back(list->front());
  if (n.refused())
    return;
  if (numbers.size() < 3 || !numbers[2].asConstant())
    return convertBoundRange(n);
  SymExpr start = numbers[0], limit = numbers[1];
  int64_t delta = *numbers[2].asConstant();
  if (delta == 0)
    return (void)n.wrong("delta is 0");
  SymExpr distance = delta > 0 ? limit - start : start - limit;
  SymExpr length = n.simplify(n.larger(SymExpr::ceildiv(distance, std::abs(delta)), n.constant(0)));
  Value index = n.iota(length, 0, element);
  if (delta != 1)
    index = n.mul(index, n.number(element, double(delta)));
  n.result(start.isConstant(0) ? index : n.add(index, n.number(element, start)));
}

void convertEyeLike(NodeImport &n) {
  int64_t k = n.intAttribute("k", 0);
  std::optional<int64_t> type = n.intAttribute("dtype");
  Type element = type ? n.elementType(*type) : n.element(0);
  if (n.rank(0) != 2)
    return (void)n.wrong("the input must be a matrix");
  Value row = n.iota({n.dim(0, 0), n.constant(1)}, 0, n.i64());
  Value column = n.iota({n.constant(1), n.dim(0, 1)}, 1, n.i64());
  Value diagonal = n.compare(CompareKind::Equal, column, n.add(row, n.number(n.i64(), double(k))));
  n.result(n.convert(diagonal, element));
}

} // namespace

void addCreation(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Constant", 1, newest, convertConstant, 0, 0});
  table.add({"Identity", 1, newest, convertIdentity, 1, 1, 1, "", /*takesSequences=*/true});
  table.add({"Shape", 1, newest, convertShape});
  table.add({"Size", 1, newest, convertSize});
  table.add({"ConstantOfShape", 9, newest, convertConstantOfShape});
  table.add({"Range", 11, newest, convertRange, 3, 3});
  table.add({"EyeLike", 9, newest, convertEyeLike});
}

} // namespace weft::onnx
