//===- Random.cpp - RandomUniform, RandomNormal, Bernoulli, Multinomial, Dropout ----------------===//
//
// A program is a function of its inputs: its random numbers follow from seeds in the file. A node
// without a seed gets one made from the name of what it writes, so that nodes differ, and the same file
// gives the same numbers in every call, on every machine.
//===------------------------------------------------------------------------------------------===//

#include "dialects/weft/ops/Random.h"
#include "compiler/import/onnx/operators/Operators.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

int64_t seedFromName(NodeImport &n) {
  StringRef name = n.node.outputs.empty() ? "" : StringRef(n.node.outputs[0]);
  return llvm::crc32(llvm::arrayRefFromStringRef(name));
}

/// f64 from [0, 1).
Value uniform(NodeImport &n, int64_t seed, ArrayRef<SymExpr> dims) {
  Value number = n.number(n.i64(), n.constant(seed & 0xffffffff));
  SymTensorType type = n.type(dims, n.attributes().getF64Type());
  return n.emitTyped<RandomUniformOp>(type, number, {});
}

/// The seed of the operators that have it as a real number.
int64_t realSeed(NodeImport &n) {
  std::optional<double> given = n.floatAttribute("seed");
  if (!given)
    return seedFromName(n);
  if (!(std::fabs(*given) < 0x1p62))
    n.wrong("attribute 'seed' is not a finite number");
  return n.refused() ? 0 : int64_t(*given);
}

/// What an operator draws: dimensions from an attribute or like an input, and elements.
struct Shape {
  Dims dims;
  Type element; ///< null when refused
};

Shape shapeFromAttribute(NodeImport &n) {
  Shape result;
  auto shape = n.intsAttribute("shape");
  if (!shape)
    n.wrong("attribute 'shape' is missing");
  for (int64_t dim : shape.value_or(SmallVector<int64_t>())) {
    if (dim < 0)
      n.wrong("attribute 'shape' has a negative dimension");
    result.dims.push_back(n.constant(dim));
  }
  if (Type element = n.elementType(n.intAttribute("dtype", 1)); !n.refused())
    result.element = element;
  return result;
}

Shape shapeLikeInput(NodeImport &n) {
  Shape result{n.dims(0), n.element(0)};
  if (std::optional<int64_t> type = n.intAttribute("dtype"))
    result.element = n.elementType(*type);
  if (result.element && !isFloat(result.element))
    n.refuse("random numbers of an integer type are not supported");
  if (n.refused())
    result.element = {};
  return result;
}

void drawUniform(NodeImport &n, const Shape &shape) {
  double low = n.floatAttribute("low", 0), high = n.floatAttribute("high", 1);
  int64_t seed = realSeed(n);
  if (!shape.element || n.refused())
    return;
  Value u = uniform(n, seed, shape.dims);
  if (low != 0 || high != 1)
    u = n.add(n.mul(u, n.numberLike(u, high - low)), n.numberLike(u, low));
  n.result(n.convert(u, shape.element));
}

/// Box and Muller 1958: two uniform numbers per normal one, as far from each other as the tensor is long.
void drawNormal(NodeImport &n, const Shape &shape) {
  double mean = n.floatAttribute("mean", 0), scale = n.floatAttribute("scale", 1);
  int64_t seed = realSeed(n);
  if (!shape.element || n.refused())
    return;
  Dims pairs = shape.dims;
  pairs.insert(pairs.begin(), n.constant(2));
  Value both = uniform(n, seed, pairs);
  auto part = [&](int64_t i) {
    Value x = n.sliceDim(both, 0, n.constant(i), n.constant(1));
    return x ? n.reshape(x, shape.dims) : Value();
  };
  Type compute = shape.element.isF64() ? shape.element : n.f32();
  Value positive = n.convert(n.sub(n.number(n.attributes().getF64Type(), 1.0), part(0)), compute);
  Value angle = n.convert(part(1), compute);
  Value radius = n.sqrt(n.mul(n.log(positive), n.number(compute, -2.0)));
  Value z = n.mul(radius, n.unary<CosOp>(n.mul(angle, n.number(compute, 2 * M_PI))));
  n.result(
      n.convert(n.add(n.mul(z, n.number(compute, scale)), n.number(compute, mean)), shape.element));
}

void convertRandomUniform(NodeImport &n) { drawUniform(n, shapeFromAttribute(n)); }
void convertRandomUniformLike(NodeImport &n) { drawUniform(n, shapeLikeInput(n)); }
void convertRandomNormal(NodeImport &n) { drawNormal(n, shapeFromAttribute(n)); }
void convertRandomNormalLike(NodeImport &n) { drawNormal(n, shapeLikeInput(n)); }

void convertBernoulli(NodeImport &n) {
  Type element = n.element(0);
  if (std::optional<int64_t> type = n.intAttribute("dtype"))
    element = n.elementType(*type);
  int64_t seed = realSeed(n);
  if (n.refused())
    return;
  Value u = uniform(n, seed, n.dims(0));
  n.result(
      n.convert(n.compare(CompareKind::Less, u, n.convert(n.input(0), elementOf(u))), element));
}

/// The number of classes whose probabilities add up to no more than the number drawn.
void convertMultinomial(NodeImport &n) {
  Value x = n.input(0);
  Type element = n.elementType(n.intAttribute("dtype", 6));
  int64_t samples = n.intAttribute("sample_size", 1), seed = realSeed(n);
  if (n.refused())
    return;
  if (rankOf(x) != 2 || samples < 0)
    return (void)n.wrong("the input must be a matrix, and 'sample_size' not negative");
  SymExpr batch = n.dim(0, 0), classes = n.dim(0, 1);
  if (!n.requireAtMost(n.constant(1), classes, "the number of classes"))
    return;
  Value u = uniform(n, seed, {batch, n.constant(samples)});
  if (!u)
    return;
  NamedAttribute sum = n.attribute("kind", CombinerKindAttr::get(n.context(), CombinerKind::Sum));
  NamedAttribute axis = n.attribute("axis", n.attributes().getI64IntegerAttr(1));
  Value total = n.emit<CumulateOp>({n.convert(n.softmax(x), elementOf(u))}, {sum, axis});
  Value below = n.compare(CompareKind::GreaterEqual, n.unsqueeze(u, int64_t(2)),
                          n.unsqueeze(total, int64_t(1)));
  Value chosen = n.reduce(CombinerKind::Sum, n.convert(below, n.i64()), {2}, false);
  n.result(n.convert(n.minimum(chosen, n.number(n.i64(), classes - 1)), element));
}

//===-- Dropout -------------------------------------------------------------------------------===//

/// [x with some elements 0 and the others larger, which are kept]. `ratio` is 0-d.
SmallVector<Value> drop(NodeImport &n, Value x, Value ratio, int64_t seed) {
  Value u = uniform(n, seed, typeOf(x).getDims());
  if (!u || !ratio)
    return {Value(), Value()};
  Value kept = n.compare(CompareKind::GreaterEqual, u, n.convert(ratio, elementOf(u)));
  Value scale =
      n.convert(n.div(n.numberLike(ratio, 1), n.sub(n.numberLike(ratio, 1), ratio)), elementOf(x));
  return {n.mul(x, n.select(kept, scale, n.numberLike(x, 0))), kept};
}

SmallVector<Value> keepAll(NodeImport &n, Value x) {
  return {x, n.fill(typeOf(x).getDims(), n.i1(), 1)};
}

/// The third input, or an attribute of old versions; nothing when run time decides.
std::optional<bool> isTraining(NodeImport &n) {
  if (n.opset < 7)
    return n.intAttribute("is_test", 0) == 0;
  if (!n.hasInput(2))
    return false;
  const RefTensor *known = n.known(n.input(2));
  if (known && known->kind == Scalar::Integer && known->size() == 1)
    return known->integers[0] != 0;
  return std::nullopt;
}

void convertDropout(NodeImport &n) {
  n.ignoreAttributes({"consumed_inputs"});
  Value x = n.input(0);
  double share = n.floatAttribute("ratio", 0.5);
  std::optional<int64_t> given = n.intAttribute("seed");
  std::optional<bool> training = isTraining(n);
  if (!x)
    return;
  int64_t seed = given.value_or(seedFromName(n));
  Value ratio = n.hasInput(1) ? n.reshape(n.input(1), {}) : n.number(n.f32(), share);
  const RefTensor *known = n.known(ratio);
  bool nothing = known && known->kind == Scalar::Real && known->reals[0] == 0;
  SmallVector<Value> results;
  if (nothing || !training.value_or(true)) {
    results = keepAll(n, x);
  } else if (training) {
    results = drop(n, x, ratio, seed);
  } else {
    results = n.branch(n.input(2), [&](bool yes, SmallVectorImpl<Value> &yielded) {
      yielded = yes ? drop(n, x, ratio, seed) : keepAll(n, x);
      return !n.refused();
    });
  }
  if (n.opset < 10 && results.size() == 2)
    results[1] = n.convert(results[1], elementOf(x));
  n.results.assign(results.begin(), results.end());
}

} // namespace

void addRandom(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"RandomUniform", 1, newest, convertRandomUniform, 0, 0});
  table.add({"RandomUniformLike", 1, newest, convertRandomUniformLike});
  table.add({"RandomNormal", 1, newest, convertRandomNormal, 0, 0});
  table.add({"RandomNormalLike", 1, newest, convertRandomNormalLike});
  table.add({"Bernoulli", 15, newest, convertBernoulli});
  table.add({"Multinomial", 7, newest, convertMultinomial});
  table.add({"Dropout", 1, newest, convertDropout, 1, 3, 2});
}

} // namespace weft::onnx
