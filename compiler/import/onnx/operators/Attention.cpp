//===- Attention.cpp - Attention, FlexAttention and RotaryEmbedding ---------------------------===//
//
// Attention is written with contractions, elementwise operators and a softmax, as other exporters
// write it: kernels of attention are found in these, whatever stands between them.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/AttentionParts.h"
#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

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
  AttentionInputs in{n.input(0), n.input(1), n.input(2), n.constant(0)};
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
  if (!in.measure(n))
    return std::nullopt;
  SymExpr batch = typeOf(in.query).getDim(0);
  if (Value valid = n.optionalInput(6)) {
    if (rankOf(valid) != 1 ||
        !n.requireEqual(typeOf(valid).getDim(0), batch, "the length of 'nonpad_kv_seqlen'"))
      return n.wrong("'nonpad_kv_seqlen' must have one number per batch"), std::nullopt;
    in.valid = n.reshape(n.convert(n.refine(valid, 0, batch), n.i64()),
                         {batch, n.constant(1), n.constant(1), n.constant(1)});
    in.start = n.sub(in.valid, n.number(n.i64(), in.queries));
  }
  return in;
}

void convertAttention(NodeImport &n) {
  std::optional<AttentionInputs> in = readInputs(n);
  int64_t mode = n.intAttribute("qk_matmul_output_mode", 0),
          precision = n.intAttribute("softmax_precision", 0);
  AttentionForm form;
  form.cap = n.floatAttribute("softcap", 0);
  form.scale = n.floatAttribute("scale");
  form.softmax = precision ? n.elementType(precision) : Type();
  if (!in || n.refused())
    return;
  Attended r = attend(n, *in, buildMask(n, *in), form);
  Value shown;
  if (n.wantsOutput(3))
    shown = mode == 3   ? r.weights
            : mode == 2 ? r.masked
            : mode == 1 ? r.capped
            : mode == 0 ? r.plain
                        : n.wrong("attribute 'qk_matmul_output_mode' is " + Twine(mode));
  n.results = {n.rank(0) == 3 ? mergeHeads(n, r.y) : r.y, in->key, in->value,
               n.convert(shown, n.element(0))};
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

void convertRotaryEmbedding(NodeImport &n) {
  Value x = n.input(0);
  int64_t heads = n.intAttribute("num_heads", 0),
          rotated = n.intAttribute("rotary_embedding_dim", 0);
  Rotation by{n.input(1), n.input(2), n.optionalInput(3), {}, false};
  by.interleaved = n.intAttribute("interleaved", 0) != 0;
  if (!x)
    return;
  if (rankOf(x) != 3 && rankOf(x) != 4)
    return (void)n.wrong("the input must have rank 3 or 4");
  if (rotated > 0)
    by.size = n.constant(rotated);
  bool flat = rankOf(x) == 3;
  Value y = rotateHeads(n, flat ? splitHeads(n, x, heads) : x, by);
  n.result(flat ? mergeHeads(n, y) : y);
}

} // namespace

void addAttention(OperatorTable &table) {
  constexpr int64_t newest = kNewestOpset;
  table.add({"Attention", 23, newest, convertAttention, 3, 7, 4});
  table.add({"FlexAttention", 1, 1, convertFlexAttention, 3, 3, 1, "ai.onnx.preview"});
  table.add({"RotaryEmbedding", 23, newest, convertRotaryEmbedding, 3, 4});
}

} // namespace weft::onnx
