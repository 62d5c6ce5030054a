// Contractions: products with weights, einsums of two values, attention.
#include "test/differential/Choices.h"
#include "test/differential/Makers.h"

using namespace mlir;

namespace weft::test {
namespace {

constexpr int64_t kMostProducts = 1 << 18;

/// The type in which products of an element are summed.
Type accumulation(Graph &g, Type element) {
  if (isFloat(element))
    return element.isF64() ? element : g.b.getF32Type();
  return elementBits(element) <= 16 ? g.b.getI32Type() : element;
}

/// A constant matrix of f32: as it is, or stored as 16-bit floats.
Value matrix(Graph &g, ArrayRef<int64_t> dims, Type element) {
  if (!element.isF32() || g.dice(3))
    return g.constant(dims, element, 1, 3);
  Value narrow = g.constant(dims, g.dice(2) ? g.b.getF16Type() : g.b.getBF16Type(), 1, 3);
  return g.note(g.b.create<ConvertOp>(narrow, element), g.know(narrow));
}

/// x [..., k] by a weight, and perhaps a bias and an activation behind it.
bool linear(Graph &g) {
  Value x = g.pick([&](Value v) {
    return g.rank(v) > 0 && !isBool(v) && elementBits(g.element(v)) >= 8 &&
           g.type(v).getDims().back().asConstant().value_or(0) > 0;
  });
  if (!x)
    return false;
  if (isReal(x))
    x = g.tame(x, 8);
  Type e = g.element(x);
  int64_t k = *g.type(x).getDims().back().asConstant();
  int64_t n = g.dice.oneOf({1, 3, 8, 16, 24, 33});
  if (g.mostElements(g.type(x)) * n > kMostProducts)
    return false;
  bool transposed = g.dice(2);
  Value w = matrix(g, transposed ? ArrayRef<int64_t>{n, k} : ArrayRef<int64_t>{k, n}, e);
  Type accumulate = accumulation(g, e);
  Knowledge sum = g.sumOfProducts(x, w, double(k), accumulate);
  Value y = g.b.create<ContractOp>(transposed ? "... k, n k -> ... n" : "... k, k n -> ... n", x, w,
                                   accumulate);
  sum = withChoices(g, y.getDefiningOp(), sum, double(k));
  if (!accumulate.isF32() || g.dice(3) == 0)
    return g.add(y, sum);
  g.note(y, sum);
  Value bias = g.constant({n}, accumulate, 1, 3);
  Value z = g.b.create<AddOp>(y, bias);
  Knowledge shifted =
      g.rounded(accumulate, {sum.most + 1, std::max(sum.quantum, 3), sum.error, false});
  if (g.dice(2))
    return g.add(z, shifted);
  g.note(z, shifted);
  Value positive = g.b.create<ActivationOp>(g.type(z), ActivationKind::Relu, z, llvm::APFloat(0.0),
                                            llvm::APFloat(0.0));
  return g.add(positive, shifted);
}

/// Letters for the dimensions of two operands; equal dimensions may share one, and shared ones may be summed.
struct Rule {
  std::string left, right, result;
  SymExpr summed, points;
  bool sums = false;
};

Rule randomRule(Graph &g, Value x, Value y) {
  std::string letters, both;
  SmallVector<SymExpr> dims;
  for (SymExpr d : g.type(x).getDims()) {
    letters += char('a' + dims.size());
    dims.push_back(d);
  }
  std::string left = letters, right;
  for (SymExpr d : g.type(y).getDims()) {
    char letter = 0;
    for (size_t i = 0; i < left.size(); ++i)
      if (dims[i] == d && right.find(left[i]) == std::string::npos && g.dice.chance(3, 4))
        letter = left[i];
    if (!letter) {
      letter = char('a' + dims.size());
      dims.push_back(d);
    } else {
      both += letter;
    }
    right += letter;
  }
  Rule rule{"", "", "", g.number(1), g.number(1)};
  std::string kept;
  for (size_t i = 0; i < dims.size(); ++i) {
    bool shared = both.find(char('a' + i)) != std::string::npos;
    rule.points = rule.points * dims[i];
    if (shared && g.dice.chance(2, 3)) {
      rule.summed = rule.summed * dims[i];
      rule.sums = true;
    } else {
      kept += char('a' + i);
    }
  }
  if (g.dice(2))
    std::shuffle(kept.begin(), kept.end(), g.dice.engine);
  auto spaced = [](const std::string &text) {
    std::string out;
    for (char c : text)
      out += std::string(out.empty() ? "" : " ") + c;
    return out;
  };
  rule.left = spaced(left), rule.right = spaced(right), rule.result = spaced(kept);
  return rule;
}

bool einsum(Graph &g) {
  Value x = g.pick(
      [&](Value v) { return g.rank(v) > 0 && !isBool(v) && elementBits(g.element(v)) >= 8; });
  if (!x)
    return false;
  Type e = g.element(x);
  auto shares = [&](Value v) {
    return g.element(v) == e && g.rank(v) > 0 && g.rank(v) + g.rank(x) <= 7 &&
           llvm::any_of(g.type(v).getDims(),
                        [&](SymExpr d) { return llvm::is_contained(g.type(x).getDims(), d); });
  };
  Value y = g.pick(shares);
  if (!y)
    return false;
  if (isReal(x))
    x = g.tame(x, 4), y = g.tame(y, 4);
  Rule rule = randomRule(g, x, y);
  if (!rule.sums || g.most(rule.points) > kMostProducts)
    return false;
  Type accumulate = accumulation(g, e);
  Knowledge sum = g.sumOfProducts(x, y, double(g.most(rule.summed)), accumulate);
  return g.add(g.b.create<ContractOp>(rule.left + ", " + rule.right + " -> " + rule.result, x, y,
                                      accumulate),
               sum);
}

/// Two operands of bytes with different signs.
bool bytes(Graph &g) {
  auto isByte = [&](Value v) { return isInteger(v) && elementBits(g.element(v)) == 8; };
  Value x = g.pick([&](Value v) {
    return isByte(v) && g.rank(v) > 0 && g.type(v).getDims().back().asConstant().value_or(0) > 0;
  });
  if (!x)
    return false;
  int64_t k = *g.type(x).getDims().back().asConstant(), n = g.dice.oneOf({1, 8, 17, 32});
  Value w = g.constant({k, n}, g.b.getIntegerType(8), 127);
  Knowledge sum = g.sumOfProducts(x, w, double(k), g.b.getI32Type());
  return g.add(g.b.create<ContractOp>("... k, k n -> ... n", x, w, g.b.getI32Type()), sum);
}

//===-- Attention ----------------------------------------------------------------------------------===//

/// Scores masked where the key lies behind the query.
Value causal(Graph &g, Value scores) {
  SymTensorType type = g.type(scores);
  Type i64 = g.b.getI64Type();
  SymExpr rows = type.getDim(1), columns = type.getDim(2);
  Knowledge index = g.integers(i64, 1 << 20);
  Value row = g.note(g.b.create<IotaOp>(g.tensor({rows, columns}, i64), 0), index);
  Value column = g.note(g.b.create<IotaOp>(g.tensor({rows, columns}, i64), 1), index);
  Value seen = g.note(g.b.create<CompareOp>(CompareKind::LessEqual, column, row), g.truth());
  Value hidden = g.fill(g.element(scores), -1024);
  return g.note(g.b.create<SelectOp>(seen, scores, hidden), g.know(scores));
}

/// softmax(q k^T * scale [masked]) v with q, k and v of [b, s, d].
bool attention(Graph &g) {
  auto fits = [&](Value v) {
    int64_t size = g.rank(v) >= 2 ? g.type(v).getDims().back().asConstant().value_or(0) : 0;
    return g.element(v).isF32() && g.rank(v) <= 3 && size >= 2 && size <= 64;
  };
  Value x = g.pick(fits);
  if (!x)
    return false;
  x = g.tame(x, 2);
  if (g.rank(x) == 2) {
    SmallVector<SymExpr> list = g.type(x).getDims();
    list.insert(list.begin(), g.number(1));
    x = g.note(g.b.create<ReshapeOp>(x, g.dims(list)), g.know(x));
  }
  Value keys = g.pick([&](Value v) {
    return fits(v) && g.rank(v) == 3 && g.type(v).getDim(0) == g.type(x).getDim(0) &&
           g.type(v).getDim(2) == g.type(x).getDim(2);
  });
  keys = keys ? g.tame(keys, 2) : x;
  SymTensorType type = g.type(x);
  Type f32 = g.b.getF32Type();
  double d = double(g.most(type.getDim(2)));
  if (g.mostElements(type) * g.most(g.type(keys).getDim(1)) > kMostProducts)
    return false;
  Value scores = g.note(g.b.create<ContractOp>("b i d, b j d -> b i j", x, keys, f32),
                        g.sumOfProducts(x, keys, d, f32));
  Value scaled = g.tame(scores, 8);
  if (g.dice(2))
    scaled = causal(g, scaled);
  Knowledge k = g.know(scaled);
  Value p = g.note(g.b.create<SoftmaxOp>(scaled.getType(), scaled, UnitAttr()),
                   {1, 0, 2 * k.error + precisionOf(f32) * (4 + 4 * k.most), false});
  // Rows of p sum to 1.
  Knowledge v = g.know(keys), row = g.know(p);
  double count = double(std::max<int64_t>(1, g.most(g.type(keys).getDim(1))));
  Knowledge out{v.most, 0, v.error + v.most * (count * row.error + 4 * precisionOf(f32)), false};
  return g.add(g.b.create<ContractOp>("b i j, b j d -> b i d", p, keys, f32), out);
}

constexpr Maker kMakers[] = {
    {"linear", linear, 4}, {"einsum", einsum, 4}, {"bytes", bytes}, {"attention", attention, 2}};

} // namespace

ArrayRef<Maker> productMakers() { return kMakers; }

} // namespace weft::test
