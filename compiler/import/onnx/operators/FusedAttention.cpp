//===- FusedAttention.cpp - Attention as ONNX Runtime's optimiser writes it: com.microsoft ---------===//
//
// Made of the parts of ONNX's own attention. Masks of this domain do not hide a key: they add a large
// negative number to its score, so a query all of whose keys are masked sees all of them.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/AttentionParts.h"
#include "compiler/import/onnx/operators/Contractions.h"
#include "compiler/import/onnx/operators/Operators.h"

using namespace mlir;

namespace weft::onnx {
namespace {

constexpr StringRef kDomain = "com.microsoft";

//===-- RotaryEmbedding -----------------------------------------------------------------------===//

/// Positions as [b, s]: given ones, or counted from a first one that is given as [1].
Value positionsFrom(NodeImport &n, Value given, SymExpr batch, SymExpr length) {
  if (!given || n.refused())
    return {};
  if (rankOf(given) == 2)
    return given;
  if (rankOf(given) > 1)
    return n.wrong("'position_ids' must have rank 1 or 2");
  if (!n.requireEqual(typeOf(given).getElements(), n.constant(1), "the length of 'position_ids'"))
    return {};
  Value first = n.convert(n.reshape(given, {n.constant(1), n.constant(1)}), n.i64());
  return n.expandTo(n.add(n.iota({n.constant(1), length}, 1, n.i64()), first), {batch, length});
}

/// Caches of cosines and sines that turn as many elements of each head as they have pairs for.
Rotation rotationBy(Value cosines, Value sines, Value positions, bool interleaved) {
  Rotation by{cosines, sines, positions, {}, interleaved};
  if (cosines && rankOf(cosines) == 2)
    by.size = typeOf(cosines).getDim(1) * 2;
  return by;
}

/// Without a number of heads the caches are as wide as a head.
Value convertedHeads(NodeImport &n, Value x, Value cosines, int64_t heads) {
  std::optional<int64_t> pairs = typeOf(cosines).getDim(1).asConstant(),
                         width = typeOf(x).getDim(2).asConstant();
  if (heads == 0 && (!pairs || !width || *pairs == 0))
    return n.refuse("attribute 'num_heads' is needed where the size of a head is not constant");
  return splitHeads(n, x, heads ? heads : *width / (2 * *pairs));
}

void convertRotaryEmbedding(NodeImport &n) {
  Value x = n.input(0), cosines = n.input(2), sines = n.input(3);
  int64_t heads = n.intAttribute("num_heads", 0);
  bool interleaved = n.intAttribute("interleaved", 0) != 0;
  n.ignoreAttributes({"rotary_embedding_dim"}); // the caches tell
  if (n.floatAttribute("scale", 1) != 1 || n.intAttribute("is_packed_batching", 0) != 0)
    return (void)n.refuse("attributes 'scale' and 'is_packed_batching' are not supported");
  if (!x || !cosines || !sines)
    return;
  if ((rankOf(x) != 3 && rankOf(x) != 4) || rankOf(cosines) != 2 || rankOf(sines) != 2)
    return (void)n.wrong("the input must have rank 3 or 4, and the caches rank 2");
  bool flat = rankOf(x) == 3;
  SymExpr batch = typeOf(x).getDim(0), length = typeOf(x).getDim(flat ? 1 : 2);
  Value positions = positionsFrom(n, n.input(1), batch, length);
  if (flat)
    x = convertedHeads(n, x, cosines, heads);
  Value y = rotateHeads(n, x, rotationBy(cosines, sines, positions, interleaved));
  n.result(flat ? mergeHeads(n, y) : y);
}

/// A scale of 0 is none.
AttentionForm formOf(NodeImport &n) {
  AttentionForm form;
  form.scale = n.floatAttribute("scale");
  if (form.scale == 0.0)
    form.scale = std::nullopt;
  return form;
}

//===-- Masks ---------------------------------------------------------------------------------===//

/// A list with `parts` numbers per batch: part `k` as [b, 1, 1, 1].
Value partOfList(NodeImport &n, Value list, int64_t k, SymExpr batch) {
  Value part = n.convert(n.sliceDim(list, 0, batch * k, batch), n.i64());
  return n.reshape(part, {batch, n.constant(1), n.constant(1), n.constant(1)});
}

/// Where a list lets keys count: below the end of their batch, and from its beginning if that is
/// told too.
Value keysOfList(NodeImport &n, const AttentionInputs &in, Value list, StringRef name) {
  SymExpr batch = typeOf(in.query).getDim(0), length = typeOf(list).getDim(0);
  Value key = n.iota({n.constant(1), in.keys}, 1, n.i64());
  bool begins = length == batch * 2;
  if (!begins && length != batch && length == batch * 3 + 2)
    return n.refuse("'" + name + "' of packed lengths (3 per batch and 2) is not supported");
  if (!begins && !n.requireEqual(length, batch, "the length of '" + name + "'"))
    return {};
  list = begins ? list : n.refine(list, 0, batch);
  Value where = n.compare(CompareKind::Less, key, partOfList(n, list, 0, batch));
  if (!begins)
    return where;
  return n.binary<AndOp>(where,
                         n.compare(CompareKind::GreaterEqual, key, partOfList(n, list, 1, batch)));
}

/// Where the mask called `name` lets keys count, beside [b, heads, queries, keys].
Value keysOfMask(NodeImport &n, const AttentionInputs &in, Value given, StringRef name) {
  unsigned rank = rankOf(given);
  if (rank == 1)
    return keysOfList(n, in, given, name);
  if (rank != 2 && rank != 3)
    return n.refuse("'" + name + "' of rank " + Twine(rank) + " is not supported");
  if (!n.requireEqual(typeOf(given).getDim(rank - 1), in.keys,
                      "the last dimension of '" + name + "'"))
    return {};
  given = n.refine(given, rank - 1, in.keys);
  Value where = elementOf(given).isInteger(1)
                    ? given
                    : n.compare(CompareKind::Greater, given, n.numberLike(given, 0));
  return n.unsqueeze(where, rank == 2 ? ArrayRef<int64_t>{1, 2} : ArrayRef<int64_t>{1});
}

/// The mask of input `which`, the bias of scores of input `bias`, and order in time.
Mask buildMask(NodeImport &n, const AttentionInputs &in, unsigned which, StringRef name,
               unsigned bias) {
  Mask mask;
  double filter = n.floatAttribute("mask_filter_value", -10000);
  Type sum = accumulateType(n, elementOf(in.query));
  if (Value given = n.optionalInput(which))
    if (Value where = keysOfMask(n, in, given, name))
      mask.add(n, n.select(where, n.number(sum, 0.0), n.number(sum, filter)));
  if (Value given = n.optionalInput(bias))
    mask.add(n, n.convert(given, sum));
  if (n.intAttribute("unidirectional", 0) != 0)
    mask.restrict(n, isCausal(n, in));
  return mask;
}

//===-- MultiHeadAttention ----------------------------------------------------------------------===//

/// Part `k` of [b, s, heads, parts, size] as [b, s, heads * size].
Value unpacked(NodeImport &n, Value packed, int64_t k) {
  Dims d(typeOf(packed).getDims());
  return n.reshape(n.sliceDim(packed, 3, n.constant(k), n.constant(1)), {d[0], d[1], d[2] * d[4]});
}

/// Queries, keys and values beside each other, however they are packed; false when refused.
bool unpackInputs(NodeImport &n, AttentionInputs &in) {
  Value query = n.input(0), key = n.optionalInput(1), value = n.optionalInput(2);
  if (n.refused())
    return false;
  auto parts = [](Value x) { return rankOf(x) == 5 ? typeOf(x).getDim(3).asConstant() : 0; };
  if (!key && !value && parts(query) == 3)
    in.query = unpacked(n, query, 0), in.key = unpacked(n, query, 1),
    in.value = unpacked(n, query, 2);
  else if (key && !value && rankOf(query) == 3 && parts(key) == 2)
    in.query = query, in.key = unpacked(n, key, 0), in.value = unpacked(n, key, 1);
  else if (key && value && rankOf(query) == 3 && rankOf(key) == rankOf(value) &&
           (rankOf(key) == 3 || rankOf(key) == 4))
    in.query = query, in.key = key, in.value = value;
  else
    n.refuse("'query', 'key' and 'value' of these ranks are not supported");
  return in.query && in.key && in.value && !n.refused();
}

/// Adds to each of `parts`, which lie along their last dimension, its part of one bias.
bool addBias(NodeImport &n, Value bias, ArrayRef<Value *> parts) {
  if (!bias || n.refused())
    return !n.refused();
  if (rankOf(bias) != 1)
    return n.wrong("'bias' must be a list"), false;
  SymExpr at = n.constant(0);
  for (Value *part : parts) {
    SymExpr width = typeOf(*part).getDim(2);
    *part = n.add(*part, n.sliceDim(bias, 0, at, width));
    at = at + width;
  }
  return !n.refused() && n.requireEqual(typeOf(bias).getDim(0), at, "the length of 'bias'");
}

/// Keys and values of the cache before those of the inputs.
void prependPast(NodeImport &n, AttentionInputs &in, Value pastKey, Value pastValue) {
  if (!pastKey && !pastValue)
    return;
  if (!pastKey || !pastValue || rankOf(pastKey) != 4 || rankOf(pastValue) != 4)
    return (void)n.wrong("'past_key' and 'past_value' go together and have rank 4");
  in.past = typeOf(pastKey).getDim(2);
  in.key = n.concat({pastKey, in.key}, 2);
  in.value = n.concat({pastValue, in.value}, 2);
}

void convertMultiHeadAttention(NodeImport &n) {
  AttentionInputs in{{}, {}, {}, n.constant(0)};
  int64_t heads = n.intAttribute("num_heads", 0);
  AttentionForm form = formOf(n);
  if (n.hasInput(8) || n.hasInput(9))
    return (void)n.refuse("'past_sequence_length' and 'cache_indirection' are not supported");
  if (!unpackInputs(n, in))
    return;
  bool apart = rankOf(in.key) == 4; // keys and values of another sequence, in heads already
  if (apart ? n.hasInput(3) : !addBias(n, n.optionalInput(3), {&in.query, &in.key, &in.value}))
    return (void)n.refuse("'bias' beside 'key' and 'value' of rank 4 is not supported");
  in.query = splitHeads(n, in.query, heads);
  if (!apart) {
    in.key = splitHeads(n, in.key, heads);
    in.value = splitHeads(n, in.value, heads);
  }
  prependPast(n, in, n.optionalInput(6), n.optionalInput(7));
  if (!in.measure(n))
    return;
  Attended r = attend(n, in, buildMask(n, in, 4, "key_padding_mask", 5), form);
  n.results = {mergeHeads(n, r.y), in.key, in.value};
  if (n.wantsOutput(3))
    n.results.push_back(n.convert(r.masked, n.element(0)));
}

//===-- GroupQueryAttention ---------------------------------------------------------------------===//

/// Queries, keys and values in heads; packed ones lie beside each other in the first input.
bool readGroups(NodeImport &n, AttentionInputs &in, int64_t heads, int64_t ownHeads) {
  Value query = n.input(0), key = n.optionalInput(1), value = n.optionalInput(2);
  if (n.refused())
    return false;
  if (heads < 1 || ownHeads < 1 || !key != !value || rankOf(query) != 3)
    return n.wrong("'num_heads' and 'kv_num_heads' must be given, 'key' and 'value' go together, "
                   "and 'query' must have rank 3"),
           false;
  if (!key) {
    SymExpr whole = typeOf(query).getDim(2), zero = n.constant(0);
    SymExpr size = n.simplify(SymExpr::floordiv(whole, heads + 2 * ownHeads));
    if (!n.requireEqual(whole, size * (heads + 2 * ownHeads), "the width of the packed 'query'"))
      return false;
    Value packed = query;
    query = n.sliceDim(packed, 2, zero, size * heads);
    key = n.sliceDim(packed, 2, size * heads, size * ownHeads);
    value = n.sliceDim(packed, 2, size * (heads + ownHeads), size * ownHeads);
  }
  if (key && value && (rankOf(key) != 3 || rankOf(value) != 3))
    return n.refuse("'key' and 'value' must have rank 3"), false;
  in.query = splitHeads(n, query, heads);
  in.key = splitHeads(n, key, ownHeads);
  in.value = splitHeads(n, value, ownHeads);
  return in.query && in.key && in.value && !n.refused();
}

/// 'total_sequence_length' is what the cache and the input hold together: nothing of the cache is
/// free for what comes.
bool checkTotal(NodeImport &n, SymExpr keys) {
  Value given = n.input(6);
  const RefTensor *known = n.known(given);
  SymExpr total = known && known->size() == 1 ? elementExpr(*known, 0) : SymExpr();
  if (given && !total &&
      n.requireEqual(typeOf(given).getElements(), n.constant(1),
                     "the size of 'total_sequence_length'"))
    total = n.bindSymbol(n.convert(n.reshape(given, {}), n.i64()), "total_length", {});
  return total && n.requireEqual(total, keys, "'total_sequence_length'");
}

/// Reads where each batch starts from 'seqlens_k', the number of its keys minus 1. A single batch
/// starts where its cache ends.
bool readStarts(NodeImport &n, AttentionInputs &in) {
  SymExpr batch = typeOf(in.query).getDim(0), length = typeOf(in.query).getDim(2);
  Value last = n.input(5);
  if (!last || n.refused() ||
      !n.requireEqual(typeOf(last).getElements(), batch, "the size of 'seqlens_k'"))
    return false;
  if (batch.isConstant(1) || in.past.isConstant(0))
    return true;
  Value start = n.sub(
      n.convert(n.reshape(last, {batch, n.constant(1), n.constant(1), n.constant(1)}), n.i64()),
      n.number(n.i64(), length - 1));
  start = n.maximum(start, n.number(n.i64(), 0.0));
  in.start = n.minimum(start, n.number(n.i64(), in.past));
  return !n.refused();
}

/// The new keys or values in the cache, from where their batch starts.
Value appended(NodeImport &n, const AttentionInputs &in, Value past, Value x) {
  if (!past || n.refused())
    return x;
  Value all = n.concat({past, x}, 2);
  if (!in.start || !all)
    return all;
  Dims dims(typeOf(all).getDims()), line(4, n.constant(1));
  line[2] = dims[2];
  Value at = n.iota(line, 2, n.i64());
  Value moved = n.add(n.sub(at, in.start), n.number(n.i64(), in.past));
  moved = n.minimum(moved, n.number(n.i64(), dims[2] - 1)); // behind the end: anything
  Value from = n.select(n.compare(CompareKind::Less, at, in.start), at, moved);
  return n.emit<GatherElementsOp>(
      {all, n.expandTo(from, dims)},
      {n.attribute("axis", n.attributes().getI64IntegerAttr(2)), n.clamped()});
}

/// Turns queries and keys by given positions, or by those behind the cache.
void rotateGroups(NodeImport &n, AttentionInputs &in, bool interleaved) {
  SymExpr batch = typeOf(in.query).getDim(0), length = typeOf(in.query).getDim(2),
          one = n.constant(1);
  Value positions = n.optionalInput(9);
  if (!positions && in.start) {
    positions = n.add(n.reshape(in.start, {batch, one}), n.iota({one, length}, 1, n.i64()));
  } else if (!positions) {
    positions = n.iota({one, length}, 1, n.i64());
    if (!in.past.isConstant(0))
      positions = n.add(positions, n.number(n.i64(), in.past));
    positions = n.expandTo(positions, {batch, length});
  }
  Value cosines = n.input(7), sines = n.input(8);
  if (!cosines || !sines || rankOf(cosines) != 2 || rankOf(sines) != 2)
    return (void)n.wrong("'cos_cache' and 'sin_cache' must have rank 2");
  Rotation by = rotationBy(cosines, sines, positions, interleaved);
  in.query = rotateHeads(n, in.query, by);
  in.key = rotateHeads(n, in.key, by);
}

bool canGroup(NodeImport &n) {
  static constexpr std::pair<unsigned, StringRef> kRefused[] = {
      {11, "head_sink"}, {12, "k_scale"}, {13, "v_scale"}};
  for (auto [i, name] : kRefused)
    if (n.hasInput(i))
      return n.refuse("input '" + name + "' is not supported"), false;
  if (n.intAttribute("smooth_softmax", -1) == 1)
    return n.refuse("attribute 'smooth_softmax' is not supported"), false;
  if (n.intAttribute("qk_output", 0) != 0 || n.wantsOutput(3))
    return n.refuse("attribute 'qk_output' and the scores as an output are not supported"), false;
  return true;
}

void convertGroupQueryAttention(NodeImport &n) {
  AttentionInputs in{{}, {}, {}, n.constant(0)};
  int64_t heads = n.intAttribute("num_heads", 0), ownHeads = n.intAttribute("kv_num_heads", 0),
          window = n.intAttribute("local_window_size", -1);
  bool rotates = n.intAttribute("do_rotary", 0) != 0,
       interleaved = n.intAttribute("rotary_interleaved", 0) != 0;
  AttentionForm form = formOf(n);
  form.cap = n.floatAttribute("softcap", 0);
  Value pastKey = n.optionalInput(3), pastValue = n.optionalInput(4);
  if (!canGroup(n) || !readGroups(n, in, heads, ownHeads))
    return;
  if (!pastKey != !pastValue || (pastKey && (rankOf(pastKey) != 4 || rankOf(pastValue) != 4)))
    return (void)n.wrong("'past_key' and 'past_value' go together and have rank 4");
  in.past = pastKey ? typeOf(pastKey).getDim(2) : n.constant(0);
  if (!checkTotal(n, in.past + typeOf(in.key).getDim(2)) || !readStarts(n, in))
    return;
  if (rotates)
    rotateGroups(n, in, interleaved);
  in.key = appended(n, in, pastKey, in.key);
  in.value = appended(n, in, pastValue, in.value);
  if (!in.measure(n))
    return;
  Mask mask;
  mask.bias = n.optionalInput(10);
  mask.restrict(n, isCausal(n, in));
  if (window >= 0)
    mask.restrict(
        n, n.compare(CompareKind::Less, distances(n, in), n.number(n.i64(), double(window))));
  n.results = {mergeHeads(n, attend(n, in, mask, form).y), in.key, in.value};
}

//===-- Attention -------------------------------------------------------------------------------===//

/// The product with the merged weights, cut into queries, keys and values.
bool project(NodeImport &n, AttentionInputs &in) {
  Value x = n.input(0), weights = n.input(1);
  std::optional<SmallVector<int64_t>> sizes = n.intsAttribute("qkv_hidden_sizes");
  if (!x || !weights || n.refused())
    return false;
  if (rankOf(x) != 3 || rankOf(weights) != 2 || (sizes && sizes->size() != 3))
    return n.wrong("'input' must have rank 3, 'weights' rank 2, and 'qkv_hidden_sizes' three "
                   "numbers"),
           false;
  Value all = n.convert(buildMatMul(n, x, weights, accumulateType(n, elementOf(x))), elementOf(x));
  if (Value bias = n.optionalInput(2))
    all = n.add(all, bias);
  if (!all)
    return false;
  SymExpr third = n.simplify(SymExpr::floordiv(typeOf(weights).getDim(1), 3)), at = n.constant(0);
  Value *parts[] = {&in.query, &in.key, &in.value};
  for (unsigned k = 0; k < 3; ++k) {
    SymExpr width = sizes ? n.constant((*sizes)[k]) : third;
    *parts[k] = n.sliceDim(all, 2, at, width);
    at = at + width;
  }
  return !n.refused() && n.requireEqual(typeOf(all).getDim(2), at, "the width of 'weights'");
}

/// Part `k` of a cache of keys and values [2, b, heads, past, d].
Value partOfCache(NodeImport &n, Value cache, int64_t k) {
  Dims dims(typeOf(cache).getDims());
  return n.reshape(n.sliceDim(cache, 0, n.constant(k), n.constant(1)),
                   ArrayRef<SymExpr>(dims).drop_front());
}

void convertMergedAttention(NodeImport &n) {
  AttentionInputs in{{}, {}, {}, n.constant(0)};
  int64_t heads = n.intAttribute("num_heads", 0);
  AttentionForm form = formOf(n);
  for (StringRef name : {"do_rotary", "past_present_share_buffer"})
    if (n.intAttribute(name, 0) != 0)
      return (void)n.refuse("attribute '" + name + "' is not supported");
  n.ignoreAttributes({"rotary_embedding_dim"});
  if (n.hasInput(6))
    return (void)n.refuse("input 'past_sequence_length' is not supported");
  if (!project(n, in))
    return;
  for (Value *part : {&in.query, &in.key, &in.value})
    *part = splitHeads(n, *part, heads);
  if (Value cache = n.optionalInput(4)) {
    if (rankOf(cache) != 5 ||
        !n.requireEqual(typeOf(cache).getDim(0), n.constant(2), "the first dimension of 'past'"))
      return (void)n.wrong("'past' must have rank 5");
    prependPast(n, in, partOfCache(n, cache, 0), partOfCache(n, cache, 1));
  }
  if (!in.measure(n))
    return;
  Attended r = attend(n, in, buildMask(n, in, 3, "mask_index", 5), form);
  n.results = {mergeHeads(n, r.y)};
  if (n.wantsOutput(1))
    n.results.push_back(
        n.concat({n.unsqueeze(in.key, int64_t(0)), n.unsqueeze(in.value, int64_t(0))}, 0));
}

} // namespace

void addFusedAttention(OperatorTable &table) {
  auto add = [&](StringRef name, Converter convert, unsigned least, unsigned most,
                 unsigned outputs = 1) {
    table.add({name, 1, kNewestMicrosoftOpset, convert, least, most, outputs, kDomain});
  };
  add("RotaryEmbedding", convertRotaryEmbedding, 4, 4);
  add("MultiHeadAttention", convertMultiHeadAttention, 1, 10, 4);
  add("GroupQueryAttention", convertGroupQueryAttention, 7, 14, 4);
  add("Attention", convertMergedAttention, 2, 7, 2);
}

} // namespace weft::onnx
