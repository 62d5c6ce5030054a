// Quantised islands, which become integer products, and integers with a scale per block.
//
// Scales are mostly powers of two and operands exact, so that quantising is exact as well and islands follow each other. Other scales end an
// island: two right computations may then lie one step apart.
#include "dialects/weft/ops/Quantize.h"
#include "dialects/weft/ops/Rounding.h"
#include "test/differential/Makers.h"
#include <cmath>

using namespace mlir;

namespace weft::test {
namespace {

constexpr int64_t kMostProducts = 1 << 18;

/// What reals are quantised with.
struct Step {
  Value scale, zero;
  double size, offset; ///< of the scale, of the zero point
  int quantum = 0;     ///< size is 2^-quantum; -1 when it is no power of two
};

Step step(Graph &g, Type integer, bool power) {
  Step s;
  s.quantum = power ? int(2 + g.dice(4)) : -1;
  s.size = power ? std::ldexp(1.0, -s.quantum) : g.dice.oneOf({0.03, 0.07, 0.11});
  s.offset = isUnsigned(integer) ? double(g.dice(2) * 7) : double(g.dice(3) - 1);
  s.scale = g.fill(g.b.getF32Type(), s.size);
  s.zero = g.fill(integer, s.offset);
  return s;
}

Type anyByte(Graph &g) {
  return g.dice(2) ? Type(g.b.getIntegerType(8)) : g.b.getIntegerType(8, /*isSigned=*/false);
}

Type anyNarrow(Graph &g) {
  if (g.dice.chance(2, 3))
    return anyByte(g);
  unsigned bits = g.dice(2) ? 4 : 16;
  return g.dice(2) ? Type(g.b.getIntegerType(bits)) : g.b.getIntegerType(bits, false);
}

Knowledge restored(Graph &g, Type integer, const Step &s, double error) {
  double most = std::max(largestOf(integer) - s.offset, s.offset - lowestOf(integer)) * s.size;
  Knowledge k{most, std::max(s.quantum, 0), error, false};
  if (s.quantum < 0)
    k.error += 2 * precisionOf(g.b.getF32Type()) * most;
  return k;
}

/// quantize and dequantize; null when the result would tell rounding from rounding by more than a step.
Value thereAndBack(Graph &g, Value x, Type integer, bool power, Value *middle = nullptr) {
  Step s = step(g, integer, power && g.know(x).isExact());
  bool exact = s.quantum >= 0;
  Knowledge within = g.integers(integer, 1e30);
  within.error = exact ? 0 : 1;
  Value q = g.note(g.b.create<QuantizeOp>(x, s.scale, s.zero), within);
  if (middle && exact)
    *middle = q;
  return g.note(g.b.create<DequantizeOp>(q, s.scale, s.zero),
                restored(g, integer, s, exact ? 0 : s.size + g.know(x).error));
}

Value pickReal(Graph &g) {
  return g.pick([&](Value v) { return g.element(v).isF32(); });
}

bool rounding(Graph &g) {
  Value x = pickReal(g);
  if (!x)
    return false;
  Value middle, y = thereAndBack(g, x, anyNarrow(g), g.dice.chance(3, 4), &middle);
  if (middle && g.dice(2))
    g.add(middle, g.know(middle));
  return g.add(y, g.know(y));
}

/// As one operator; the result may be measured in another unit.
bool fakeQuantize(Graph &g) {
  Value x = g.pick([&](Value v) { return g.element(v).isF32() && g.know(v).isExact(); });
  if (!x)
    return false;
  Type integer = anyNarrow(g);
  Step s = step(g, integer, true);
  Value unit = g.dice(2) ? s.scale : g.fill(g.b.getF32Type(), 0.5);
  Step out = s;
  if (unit != s.scale)
    out.size = 0.5, out.quantum = 1;
  return g.add(g.b.create<FakeQuantizeOp>(x, s.scale, s.zero, unit), restored(g, integer, out, 0));
}

/// A function of exact bytes, rounded to bytes: a table, where that pays.
bool byteFunction(Graph &g) {
  Value x = g.pick([&](Value v) { return g.element(v).isF32() && g.know(v).isExact(); });
  if (!x)
    return false;
  x = thereAndBack(g, x, anyByte(g), true);
  auto kind =
      g.dice.oneOf({ActivationKind::Silu, ActivationKind::Sigmoid, ActivationKind::Softplus});
  Value y =
      g.note(g.b.create<ActivationOp>(g.type(x), kind, x, llvm::APFloat(0.0), llvm::APFloat(0.0)),
             g.smooth(x, 2, g.know(x).most + 2));
  if (g.dice(2))
    y = g.note(g.b.create<MulOp>(y, g.fill(g.b.getF32Type(), 0.5)), g.know(y));
  y = thereAndBack(g, y, anyByte(g), false);
  return g.add(y, g.know(y));
}

/// Integers of the program as reals.
bool restore(Graph &g) {
  Value x = g.pick([&](Value v) { return isInteger(v) && elementBits(g.element(v)) <= 16; });
  if (!x)
    return false;
  Step s = step(g, g.element(x), g.dice.chance(3, 4));
  return g.add(g.b.create<DequantizeOp>(x, s.scale, s.zero), restored(g, g.element(x), s, 0));
}

/// A weight of bytes, restored with one scale or one per `columns` (dimension `axis`).
Value restoredWeight(Graph &g, ArrayRef<int64_t> dims, unsigned axis) {
  Type integer = g.dice.chance(3, 4) ? Type(g.b.getIntegerType(8)) : anyByte(g);
  Value w = g.constant(dims, integer, 127);
  Step s = step(g, integer, true);
  if (g.dice(2)) { // one per column
    SmallVector<int64_t> each(dims.size() - axis, 1);
    each[0] = dims[axis];
    SmallVector<int64_t> shape = axis + 1 == dims.size() ? SmallVector<int64_t>{dims[axis]} : each;
    SmallVector<float> scales;
    for (int64_t i = 0; i < dims[axis]; ++i)
      scales.push_back(float(std::ldexp(s.size, int(g.dice(2)))));
    auto type = RankedTensorType::get(shape, g.b.getF32Type());
    SmallVector<SymExpr> symbolic;
    for (int64_t d : shape)
      symbolic.push_back(g.number(d));
    s.scale = g.b.create<ConstantOp>(g.tensor(symbolic, g.b.getF32Type()),
                                     DenseElementsAttr::get(type, ArrayRef(scales)));
    s.size *= 2;
  }
  return g.note(g.b.create<DequantizeOp>(w, s.scale, s.zero), restored(g, integer, s, 0));
}

/// Bias, activation and quantisation behind an island's product.
bool finishIsland(Graph &g, Value y, ArrayRef<int64_t> biasDims) {
  if (g.dice(2)) {
    Value bias = g.constant(biasDims, g.b.getF32Type(), 2, 3);
    Knowledge k = g.know(y);
    y = g.note(g.b.create<AddOp>(y, bias),
               g.rounded(g.element(y), {k.most + 2, std::max(k.quantum, 3), k.error, false}));
  }
  if (g.dice(2))
    y = g.note(g.b.create<ActivationOp>(g.type(y), ActivationKind::Relu, y, llvm::APFloat(0.0),
                                        llvm::APFloat(0.0)),
               g.know(y));
  if (g.dice(2))
    y = thereAndBack(g, y, anyByte(g), g.dice.chance(3, 4));
  return g.add(y, g.know(y));
}

/// dequantize(quantize(x)) by a restored weight.
bool islandOfProducts(Graph &g) {
  Value x = g.pick([&](Value v) {
    return g.element(v).isF32() && g.rank(v) > 0 && g.know(v).isExact() &&
           g.type(v).getDims().back().asConstant().value_or(0) > 0;
  });
  if (!x)
    return false;
  int64_t k = *g.type(x).getDims().back().asConstant(), n = g.dice.oneOf({1, 5, 8, 16, 33});
  if (g.mostElements(g.type(x)) * n > kMostProducts)
    return false;
  Value a = thereAndBack(g, x, anyByte(g), true);
  bool transposed = g.dice(2);
  Value w = transposed ? restoredWeight(g, {n, k}, 0) : restoredWeight(g, {k, n}, 1);
  if (g.rank(w) != 2)
    return false;
  Type f32 = g.b.getF32Type();
  Value y = g.note(
      g.b.create<ContractOp>(transposed ? "... k, n k -> ... n" : "... k, k n -> ... n", a, w, f32),
      g.sumOfProducts(a, w, double(k), f32));
  return finishIsland(g, y, {n});
}

bool islandOfWindows(Graph &g) {
  Value x = g.pick([&](Value v) {
    return g.element(v).isF32() && (g.rank(v) == 3 || g.rank(v) == 4) && g.know(v).isExact() &&
           g.type(v).getDim(1).asConstant().value_or(0) > 0;
  });
  if (!x)
    return false;
  int64_t channels = *g.type(x).getDim(1).asConstant(), filters = g.dice.oneOf({1, 4, 8, 16});
  size_t spatial = g.rank(x) - 2;
  SmallVector<int64_t> dims{filters, channels}, strides, dilations(spatial, 1);
  SmallVector<SymExpr> low, high;
  double count = double(channels);
  for (size_t d = 0; d < spatial; ++d) {
    int64_t size = std::min<int64_t>(g.dice.oneOf({1, 3, 3}), g.least(g.type(x).getDim(d + 2)) + 1);
    if (size < 1)
      return false;
    dims.push_back(size);
    strides.push_back(1 + g.dice(2));
    int64_t border = size / 2 + (size == 2);
    low.push_back(g.number(border)), high.push_back(g.number(border));
    count *= double(size);
  }
  if (double(g.mostElements(g.type(x))) * count * double(filters) / double(channels) >
      kMostProducts)
    return false;
  Value a = thereAndBack(g, x, anyByte(g), true), w = restoredWeight(g, dims, 0);
  Type f32 = g.b.getF32Type();
  Value y = g.note(g.b.create<ConvOp>(a, w, strides, dilations, g.dims(low), g.dims(high), 1, f32),
                   g.sumOfProducts(a, w, count, f32));
  SmallVector<int64_t> biasDims(spatial + 1, 1);
  biasDims[0] = filters;
  return finishIsland(g, y, biasDims);
}

//===-- Blocks -------------------------------------------------------------------------------------===//

/// A weight of narrow integers with a scale per block along its last dimension.
Value blockWeight(Graph &g, int64_t rows, int64_t length, int64_t block) {
  int64_t blocks = (length + block - 1) / block;
  Type nibble = g.dice(2) ? Type(g.b.getIntegerType(4)) : g.b.getIntegerType(4, /*isSigned=*/false);
  Type integer = g.dice(2) ? nibble : anyByte(g);
  Value q = g.constant({rows, length}, integer, 127),
        scale = g.constant({rows, blocks}, g.b.getF32Type(), 1, 4);
  Value zero = g.dice(2) ? g.constant({rows, blocks}, integer, 7) : Value();
  Knowledge a = g.know(q), c = g.know(scale);
  Knowledge k{(a.most + 7) * c.most, c.quantum, 0, false};
  return g.note(g.b.create<DequantizeBlocksOp>(q, scale, zero, 1, block),
                g.rounded(g.b.getF32Type(), k));
}

/// The quotient is exact before it is rounded, but where a product is rounded first: then a tie may fall to the other side.
Knowledge roundedBlocks(Graph &g, Value x) {
  double most = g.know(x).most;
  return {most * 1.01, 0, 2 * precisionOf(g.element(x)) * most + (g.fused ? 0 : most / 127), false};
}

bool roundBlocks(Graph &g) {
  Value x = g.pick([&](Value v) {
    return g.element(v).isF32() && g.rank(v) > 0 && g.know(v).isExact() &&
           g.type(v).getDims().back().asConstant().value_or(0) > 0;
  });
  if (!x)
    return false;
  Knowledge k = roundedBlocks(g, x);
  return g.add(g.b.create<RoundBlocksOp>(x, g.dice.oneOf({2, 4, 16, 32})), k);
}

/// A product with a weight in blocks; rows rounded alike when they are exact.
bool blockProduct(Graph &g) {
  Value x = g.pick([&](Value v) {
    return g.element(v).isF32() && g.rank(v) > 0 &&
           g.type(v).getDims().back().asConstant().value_or(0) > 0;
  });
  if (!x)
    return false;
  x = g.tame(x, 4);
  int64_t k = *g.type(x).getDims().back().asConstant(), n = g.dice.oneOf({3, 16, 32, 40}),
          block = g.dice.oneOf({4, 16, 32});
  if (g.mostElements(g.type(x)) * n > kMostProducts)
    return false;
  if (g.know(x).isExact() && g.dice(2)) {
    Knowledge k = roundedBlocks(g, x);
    x = g.note(g.b.create<RoundBlocksOp>(x, block), k);
  }
  Value w = blockWeight(g, n, k, block);
  Type f32 = g.b.getF32Type();
  return g.add(g.b.create<ContractOp>("... k, n k -> ... n", x, w, f32),
               g.sumOfProducts(x, w, double(k), f32));
}

bool blocks(Graph &g) {
  Value w =
      blockWeight(g, g.dice.oneOf({1, 3, 8}), g.dice.oneOf({2, 8, 33}), g.dice.oneOf({2, 16}));
  return g.add(w, g.know(w));
}

constexpr Maker kMakers[] = {
    {"rounding", rounding, 2},
    {"fake_quantize", fakeQuantize},
    {"byte_function", byteFunction, 2},
    {"restore", restore},
    {"island_of_products", islandOfProducts, 3},
    {"island_of_windows", islandOfWindows, 3},
    {"round_blocks", roundBlocks},
    {"block_product", blockProduct, 2},
    {"blocks", blocks},
};

} // namespace

ArrayRef<Maker> quantizedMakers() { return kMakers; }

} // namespace weft::test
