//===- Attention.cpp - Attention, FlexAttention and RotaryEmbedding ---------------------------===//
//
// Attention is written with contractions, elementwise operators and a softmax, as other exporters
// write it: kernels of attention are found in these, whatever stands between them.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/Contractions.h"
#include "compiler/import/onnx/Operators.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

/// [b, s, h*d] as [b, h, s, d].
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

/// Each head of keys or values for `times` heads of queries.
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

/// Which keys a query sees: what is added to the scores, and where they count at all. Null: nothing.
struct Mask {
  Value bias, allowed;
  bool mayHideAll = false; ///< all keys of some query

  void restrict(NodeImport &n, Value where) {
    allowed = allowed ? n.binary<AndOp>(allowed, where) : where;
  }
};

struct AttentionInputs {
  Value query, key, value; ///< [b, heads, s, d]
  SymExpr queries, keys;   ///< lengths
  SymExpr past;            ///< of these keys; 0 without a cache
  Value valid;             ///< how many keys count per batch as [b, 1, 1, 1]; null for all
};

/// The mask operand; the keys that it leaves out at the end are hidden.
void readMask(NodeImport &n, const AttentionInputs &in, Mask &mask) {
  Value given = n.optionalInput(3);
  if (!given || n.refused())
    return;
  unsigned rank = rankOf(given);
  if (rank < 1 || rank > 4)
    return (void)n.wrong("the mask must have rank 2, 3 or 4");
  bool boolean = elementOf(given).isInteger(1);
  SymExpr length = typeOf(given).getDim(rank - 1);
  if (n.facts().proveEqual(length, in.keys) == Proof::Yes) {
    given = n.refine(given, rank - 1, in.keys);
  } else if (n.requireAtMost(length, in.keys, "the length of the mask")) {
    Dims none(rank, n.constant(0)), high = none;
    high.back() = in.keys - length;
    given = n.pad(given, n.numberLike(given, boolean ? 0 : -INFINITY), none, high);
  }
  (boolean ? mask.allowed : mask.bias) = given;
  mask.mayHideAll = true;
}

/// The position of each query among the keys minus that of each key, as [.., queries, keys].
Value distances(NodeImport &n, const AttentionInputs &in) {
  Value query = n.iota({in.queries, n.constant(1)}, 0, n.i64()),
        key = n.iota({n.constant(1), in.keys}, 1, n.i64());
  if (in.valid)
    query = n.add(query, n.sub(in.valid, n.number(n.i64(), in.queries)));
  else if (!in.past.isConstant(0))
    query = n.add(query, n.number(n.i64(), in.past));
  return n.sub(query, key);
}

/// `key <= query + past`, written so that it is known for ranges.
Value isCausal(NodeImport &n, const AttentionInputs &in) {
  if (in.valid)
    return n.compare(CompareKind::GreaterEqual, distances(n, in), n.number(n.i64(), 0.0));
  Value query = n.iota({in.queries, n.constant(1)}, 0, n.i64()),
        key = n.iota({n.constant(1), in.keys}, 1, n.i64());
  if (!in.past.isConstant(0))
    query = n.add(query, n.number(n.i64(), in.past));
  return n.compare(CompareKind::LessEqual, key, query);
}

Mask buildMask(NodeImport &n, const AttentionInputs &in) {
  Mask mask;
  int64_t left = n.opset >= 25 ? n.intAttribute("left_window_size", -1) : -1;
  int64_t right = n.opset >= 25 ? n.intAttribute("right_window_size", -1) : -1;
  if (left < -1 || right < -1)
    n.wrong("the sizes of the window must be -1 or more");
  readMask(n, in, mask);
  if (n.intAttribute("is_causal", 0) != 0)
    mask.restrict(n, isCausal(n, in));
  if (left >= 0)
    mask.restrict(
        n, n.compare(CompareKind::LessEqual, distances(n, in), n.number(n.i64(), double(left))));
  if (right >= 0)
    mask.restrict(n, n.compare(CompareKind::GreaterEqual, distances(n, in),
                               n.number(n.i64(), double(-right))));
  if (in.valid)
    mask.restrict(
        n, n.compare(CompareKind::Less, n.iota({n.constant(1), in.keys}, 1, n.i64()), in.valid));
  mask.mayHideAll |= left >= 0 || right >= 0 || in.valid;
  return mask;
}

/// Queries and the keys and values of cache and input, in heads.
std::optional<AttentionInputs> readInputs(NodeImport &n) {
  AttentionInputs in{n.input(0), n.input(1), n.input(2), {}, {}, n.constant(0), {}};
  int64_t heads = n.intAttribute("q_num_heads", 0), ownHeads = n.intAttribute("kv_num_heads", 0);
  Value pastKey = n.optionalInput(4), pastValue = n.optionalInput(5);
  if (n.refused())
    return std::nullopt;
  unsigned rank = rankOf(in.query);
  if ((rank != 3 && rank != 4) || rankOf(in.key) != rank || rankOf(in.value) != rank)
    return n.wrong("queries, keys and values must all have rank 3 or all rank 4"), std::nullopt;
  if (!pastKey != !pastValue || (pastKey && n.hasInput(6)))
    return n.wrong("'past_key' and 'past_value' go together, and not with 'nonpad_kv_seqlen'"),
           std::nullopt;
  if (rank == 3) {
    in.query = splitHeads(n, in.query, heads);
    in.key = splitHeads(n, in.key, ownHeads);
    in.value = splitHeads(n, in.value, ownHeads);
  }
  if (pastKey && in.key && in.value) {
    if (rankOf(pastKey) != 4 || rankOf(pastValue) != 4)
      return n.wrong("the cache must have rank 4"), std::nullopt;
    in.past = typeOf(pastKey).getDim(2);
    in.key = n.concat({pastKey, in.key}, 2);
    in.value = n.concat({pastValue, in.value}, 2);
  }
  if (!in.query || !in.key || !in.value || n.refused())
    return std::nullopt;
  SymExpr batch = typeOf(in.query).getDim(0);
  in.queries = typeOf(in.query).getDim(2);
  in.keys = typeOf(in.key).getDim(2);
  if (!n.requireEqual(typeOf(in.value).getDim(2), in.keys, "the number of values"))
    return std::nullopt;
  in.value = n.refine(in.value, 2, in.keys);
  if (Value valid = n.optionalInput(6)) {
    if (rankOf(valid) != 1 ||
        !n.requireEqual(typeOf(valid).getDim(0), batch, "the length of 'nonpad_kv_seqlen'"))
      return n.wrong("'nonpad_kv_seqlen' must have one number per batch"), std::nullopt;
    in.valid = n.reshape(n.convert(n.refine(valid, 0, batch), n.i64()),
                         {batch, n.constant(1), n.constant(1), n.constant(1)});
  }
  return in;
}

/// Zeros where no key is seen at all: a softmax of nothing is not a number.
Value guarded(NodeImport &n, const Mask &mask, Value x) {
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

void convertAttention(NodeImport &n) {
  std::optional<AttentionInputs> in = readInputs(n);
  int64_t mode = n.intAttribute("qk_matmul_output_mode", 0),
          precision = n.intAttribute("softmax_precision", 0);
  double cap = n.floatAttribute("softcap", 0);
  std::optional<double> scale = n.floatAttribute("scale");
  if (!in || n.refused())
    return;
  Type element = elementOf(in->query), sum = accumulateType(n, element);
  SymExpr heads = typeOf(in->query).getDim(1), size = typeOf(in->query).getDim(3);
  if (!scale && !size.asConstant())
    return (void)n.refuse("the size of the heads must be constant when no scale is given");
  Value key = repeatHeads(n, in->key, heads), value = repeatHeads(n, in->value, heads);
  Value scores = buildMatMul(n, in->query, n.transpose(key, {0, 1, 3, 2}), sum);
  scores = n.mul(
      scores,
      n.numberLike(scores, scale.value_or(1 / std::sqrt(double(size.asConstant().value_or(1))))));
  Value plain = scores;
  if (cap > 0)
    scores =
        n.mul(n.unary<TanhOp>(n.div(scores, n.numberLike(scores, cap))), n.numberLike(scores, cap));
  Value capped = scores;
  Mask mask = buildMask(n, *in);
  if (mask.bias)
    scores = n.add(scores, n.convert(mask.bias, sum));
  if (mask.allowed)
    scores = n.select(mask.allowed, scores, n.numberLike(scores, -INFINITY));
  Type wide = precision ? n.elementType(precision) : sum;
  if (n.refused() || !scores)
    return;
  Value lines =
      isFloat(wide) && elementBits(wide) > elementBits(sum) ? n.convert(scores, wide) : scores;
  Value weights = n.convert(n.softmax(lines), element);
  Value y = n.convert(guarded(n, mask, buildMatMul(n, weights, value, sum)), element);
  if (n.rank(0) == 3 && y)
    y = n.reshape(n.transpose(y, {0, 2, 1, 3}),
                  {typeOf(y).getDim(0), in->queries, heads * typeOf(y).getDim(3)});
  Value shown;
  if (n.wantsOutput(3))
    shown = mode == 3   ? guarded(n, mask, weights)
            : mode == 2 ? scores
            : mode == 1 ? capped
            : mode == 0 ? plain
                        : n.wrong("attribute 'qk_matmul_output_mode' is " + Twine(mode));
  n.results = {y, in->key, in->value, n.convert(shown, element)};
}

//===-- FlexAttention -------------------------------------------------------------------------===//

/// The graph that an attribute holds, applied to one tensor, whose type it keeps; `x` without one.
Value modified(NodeImport &n, StringRef name, Value x) {
  if (!x || n.refused() || !n.hasAttribute(name))
    return x;
  const OnnxGraph *graph = n.graphAttribute(name);
  SmallVector<Value> outputs;
  if (!graph || !n.services.inlineGraph(*graph, x, outputs))
    return {};
  if (outputs.size() != 1 || outputs[0].getType() != x.getType())
    return n.wrong("the graph of attribute '" + name + "' must give one tensor like its input");
  return outputs[0];
}

void convertFlexAttention(NodeImport &n) {
  Value query = n.input(0), key = n.input(1), value = n.input(2);
  std::optional<double> scale = n.floatAttribute("scale");
  std::optional<int64_t> precision = n.intAttribute("softmax_precision");
  if (!query || !key || !value)
    return;
  if (rankOf(query) != 4 || rankOf(key) != 4 || rankOf(value) != 4)
    return (void)n.wrong("queries, keys and values must have rank 4");
  Type element = elementOf(query), sum = accumulateType(n, element);
  Type wide = precision ? n.elementType(*precision) : sum;
  SymExpr heads = typeOf(query).getDim(1), size = typeOf(query).getDim(3);
  if (!scale && !size.asConstant().value_or(0))
    return (void)n.refuse("the size of the heads must be constant when no scale is given");
  if (!n.requireEqual(typeOf(value).getDim(2), typeOf(key).getDim(2), "the number of values"))
    return;
  value = n.refine(value, 2, typeOf(key).getDim(2));
  key = repeatHeads(n, key, heads);
  value = repeatHeads(n, value, heads);
  Value scores = buildMatMul(n, query, n.transpose(key, {0, 1, 3, 2}), sum);
  double factor = scale ? *scale : 1 / std::sqrt(double(*size.asConstant()));
  scores = n.convert(n.mul(scores, n.numberLike(scores, factor)), wide);
  scores = modified(n, "score_mod", scores);
  Value weights = modified(n, "prob_mod", scores ? n.softmax(scores) : Value());
  if (weights)
    n.result(n.convert(buildMatMul(n, weights, n.convert(value, wide), accumulateType(n, wide)),
                       elementOf(value)));
}

//===-- RotaryEmbedding -----------------------------------------------------------------------===//

/// A cache of sines or cosines beside [b, h, s, d/2].
Value rotation(NodeImport &n, Value cache, Value positions, Value x) {
  if (!cache || !x)
    return {};
  if (positions)
    cache = n.gather(cache, positions, 0);
  if (!cache || rankOf(cache) != 3)
    return n.wrong("the caches must have rank 2 with positions, else rank 3");
  return n.unsqueeze(n.convert(cache, elementOf(x)), int64_t(1));
}

/// Pairs of elements turned by an angle: the halves of each head, or neighbours when `interleaved`.
Value rotate(NodeImport &n, Value x, Value cosine, Value sine, bool interleaved) {
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

void convertRotaryEmbedding(NodeImport &n) {
  Value x = n.input(0);
  int64_t heads = n.intAttribute("num_heads", 0),
          rotated = n.intAttribute("rotary_embedding_dim", 0);
  bool interleaved = n.intAttribute("interleaved", 0) != 0, flat = n.rank(0) == 3;
  if (!x)
    return;
  if (rankOf(x) != 3 && rankOf(x) != 4)
    return (void)n.wrong("the input must have rank 3 or 4");
  if (flat)
    x = splitHeads(n, x, heads);
  if (!x)
    return;
  SymExpr size = typeOf(x).getDim(3), part = rotated > 0 ? n.constant(rotated) : size,
          zero = n.constant(0);
  n.requireAtMost(part, size, "the rotated part of a head");
  Value turned = n.sliceDim(x, 3, zero, part), rest = n.sliceDim(x, 3, part, size - part);
  Value cosine = rotation(n, n.input(1), n.optionalInput(3), x),
        sine = rotation(n, n.input(2), n.optionalInput(3), x);
  Value y = rotate(n, turned, cosine, sine, interleaved);
  if (rotated > 0)
    y = n.concat({y, rest}, 3);
  if (flat && y)
    y = n.reshape(n.transpose(y, {0, 2, 1, 3}), n.dims(0));
  n.result(y);
}

} // namespace

void addAttention(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Attention", 23, newest, convertAttention, 3, 7, 4});
  table.add({"FlexAttention", 1, 1, convertFlexAttention, 3, 3, 1, "ai.onnx.preview"});
  table.add({"RotaryEmbedding", 23, newest, convertRotaryEmbedding, 3, 4});
}

} // namespace weft::onnx
