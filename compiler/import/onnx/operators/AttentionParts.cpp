//===- AttentionParts.cpp - What the operators of attention are made of ------------------------===//

#include "compiler/import/onnx/operators/AttentionParts.h"
#include "compiler/import/onnx/operators/Contractions.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {

//===-- Heads -----------------------------------------------------------------------------------===//

Value splitHeads(NodeImport &n, Value x, int64_t heads) {
  if (!x || n.refused())
    return {};
  Dims d(typeOf(x).getDims());
  if (heads < 1)
    return n.wrong("the numbers of heads must be given for inputs of rank 3");
  SymExpr size = n.simplify(SymExpr::floordiv(d[2], heads));
  if (!n.requireEqual(d[2], size * heads, "the last dimension"))
    return {};
  return n.transpose(n.reshape(x, {d[0], d[1], n.constant(heads), size}), {0, 2, 1, 3});
}

Value mergeHeads(NodeImport &n, Value x) {
  if (!x)
    return {};
  Dims d(typeOf(x).getDims());
  return n.reshape(n.transpose(x, {0, 2, 1, 3}), {d[0], d[2], d[1] * d[3]});
}

Value repeatHeads(NodeImport &n, Value x, SymExpr heads) {
  if (!x || n.refused() || typeOf(x).getDim(1) == heads)
    return x;
  Dims d(typeOf(x).getDims());
  if (std::optional<int64_t> own = d[1].asConstant(); own && *own > 0) {
    SymExpr times = n.simplify(SymExpr::floordiv(heads, *own));
    if (!n.requireEqual(heads, times * *own, "the number of heads of the queries"))
      return {};
    Value apart = n.reshape(x, {d[0], d[1], n.constant(1), d[2], d[3]});
    return n.reshape(n.expandTo(apart, {d[0], d[1], times, d[2], d[3]}), {d[0], heads, d[2], d[3]});
  }
  return n.refuse("the number of heads of the keys must be constant");
}

bool AttentionInputs::measure(NodeImport &n) {
  if (!query || !key || !value || n.refused())
    return false;
  queries = typeOf(query).getDim(2);
  keys = typeOf(key).getDim(2);
  if (!n.requireEqual(typeOf(value).getDim(2), keys, "the number of values"))
    return false;
  value = n.refine(value, 2, keys);
  return true;
}

//===-- Masks -----------------------------------------------------------------------------------===//

/// The position of each query among the keys, as [.., queries, 1].
static Value positionsOfQueries(NodeImport &n, const AttentionInputs &in) {
  Value query = n.iota({in.queries, n.constant(1)}, 0, n.i64());
  if (in.start)
    return n.add(query, in.start);
  return in.past.isConstant(0) ? query : n.add(query, n.number(n.i64(), in.past));
}

static Value positionsOfKeys(NodeImport &n, const AttentionInputs &in) {
  return n.iota({n.constant(1), in.keys}, 1, n.i64());
}

Value distances(NodeImport &n, const AttentionInputs &in) {
  return n.sub(positionsOfQueries(n, in), positionsOfKeys(n, in));
}

Value isCausal(NodeImport &n, const AttentionInputs &in) {
  return n.compare(CompareKind::LessEqual, positionsOfKeys(n, in), positionsOfQueries(n, in));
}

/// Zeros where no key is seen at all: a softmax of nothing is not a number.
static Value guarded(NodeImport &n, const Mask &mask, Value x) {
  if (!mask.mayHideAll || !x)
    return x;
  Value seen = mask.allowed;
  if (mask.bias) {
    Value finite = n.compare(CompareKind::NotEqual, mask.bias, n.numberLike(mask.bias, -INFINITY));
    seen = seen ? n.binary<AndOp>(seen, finite) : finite;
  }
  Value some = seen ? n.reduce(CombinerKind::Or, seen, int64_t(rankOf(seen)) - 1, /*keepDims=*/true)
                    : Value();
  return n.select(some, x, n.numberLike(x, 0));
}

//===-- Scores, softmax and product -------------------------------------------------------------===//

static Value scaledScores(NodeImport &n, const AttentionInputs &in, const AttentionForm &form,
                          Type sum) {
  SymExpr heads = typeOf(in.query).getDim(1), size = typeOf(in.query).getDim(3);
  if (!form.scale && !size.asConstant().value_or(0))
    return n.refuse("the size of the heads must be constant when no scale is given");
  double scale = form.scale ? *form.scale : 1 / std::sqrt(double(*size.asConstant()));
  Value key = repeatHeads(n, in.key, heads);
  Value scores = buildMatMul(n, in.query, n.transpose(key, {0, 1, 3, 2}), sum);
  return n.mul(scores, n.numberLike(scores, scale));
}

static Value capped(NodeImport &n, Value scores, double cap) {
  if (cap <= 0)
    return scores;
  Value limit = n.numberLike(scores, cap);
  return n.mul(n.unary<TanhOp>(n.div(scores, limit)), limit);
}

static Value masked(NodeImport &n, Value scores, const Mask &mask, Type sum) {
  if (mask.bias)
    scores = n.add(scores, n.convert(mask.bias, sum));
  if (mask.allowed)
    scores = n.select(mask.allowed, scores, n.numberLike(scores, -INFINITY));
  return scores;
}

Attended attend(NodeImport &n, const AttentionInputs &in, const Mask &mask,
                const AttentionForm &form) {
  if (!in.query || n.refused())
    return {};
  Type element = elementOf(in.query), sum = accumulateType(n, element);
  Attended r;
  r.plain = scaledScores(n, in, form, sum);
  r.capped = capped(n, r.plain, form.cap);
  r.masked = masked(n, r.capped, mask, sum);
  if (n.refused() || !r.masked)
    return {};
  bool widen =
      form.softmax && isFloat(form.softmax) && elementBits(form.softmax) > elementBits(sum);
  Value lines = widen ? n.convert(r.masked, form.softmax) : r.masked;
  Value weights = n.convert(n.softmax(lines), element);
  Value value = repeatHeads(n, in.value, typeOf(in.query).getDim(1));
  r.y = n.convert(guarded(n, mask, buildMatMul(n, weights, value, sum)), element);
  r.weights = guarded(n, mask, weights);
  return r;
}

//===-- Rotation --------------------------------------------------------------------------------===//

/// A cache of sines or cosines beside [b, h, s, d/2].
static Value rotation(NodeImport &n, Value cache, Value positions, Value x) {
  if (!cache || !x)
    return {};
  if (positions)
    cache = n.gather(cache, positions, 0);
  if (!cache || rankOf(cache) != 3)
    return n.wrong("the caches must have rank 2 with positions, else rank 3");
  return n.unsqueeze(n.convert(cache, elementOf(x)), int64_t(1));
}

/// Pairs of elements turned by an angle: the halves of each head, or neighbours when `interleaved`.
static Value rotate(NodeImport &n, Value x, Value cosine, Value sine, bool interleaved) {
  if (!x || n.refused())
    return {};
  Dims dims(typeOf(x).getDims()), starts(4, n.constant(0)), sizes = dims;
  SymExpr half = n.simplify(SymExpr::floordiv(dims[3], 2));
  if (!n.requireEqual(dims[3], half * 2, "the dimension that is rotated"))
    return {};
  SmallVector<int64_t> steps(4, 1);
  sizes[3] = half;
  steps[3] = interleaved ? 2 : 1;
  Value a = n.slice(x, starts, sizes, steps);
  starts[3] = interleaved ? n.constant(1) : half;
  Value b = n.slice(x, starts, sizes, steps);
  Value real = n.sub(n.mul(cosine, a), n.mul(sine, b)),
        imaginary = n.add(n.mul(sine, a), n.mul(cosine, b));
  if (!interleaved)
    return n.concat({real, imaginary}, 3);
  return n.reshape(n.concat({n.unsqueeze(real, int64_t(4)), n.unsqueeze(imaginary, int64_t(4))}, 4),
                   dims);
}

Value rotateHeads(NodeImport &n, Value x, const Rotation &by) {
  if (!x || n.refused())
    return {};
  SymExpr whole = typeOf(x).getDim(3), part = by.size ? by.size : whole;
  n.requireAtMost(part, whole, "the rotated part of a head");
  Value turned = n.sliceDim(x, 3, n.constant(0), part), rest = n.sliceDim(x, 3, part, whole - part);
  Value cosine = rotation(n, by.cosines, by.positions, x),
        sine = rotation(n, by.sines, by.positions, x);
  Value y = rotate(n, turned, cosine, sine, by.interleaved);
  return part == whole ? y : n.concat({y, rest}, 3);
}

} // namespace weft::onnx
