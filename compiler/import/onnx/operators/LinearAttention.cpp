//===- LinearAttention.cpp - Attention as a recurrence over a state -----------------------------===//
//
// The state is a matrix per head of keys and values. A loop walks over the positions: the state decays,
// takes in the outer product of key and value, and is read by the query. Everything is computed in f32.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/onnx/operators/Operators.h"
#include <cmath>

using namespace mlir;

namespace weft::onnx {
namespace {

/// What the loop reads, positions first: [t, b, heads, size].
struct Recurrence {
  Value query, key, value;
  Value decay; ///< of the state, as an exponent: per head or per key dimension; null without
  Value beta;  ///< how much of a value is written, [t, b, heads or 1, 1]; null for all of it
  Value state; ///< [b, heads, key size, value size]
  SymExpr batch, steps, queryHeads;
  double scale = 1;
};

/// [b, t, heads * size] as [t, b, heads, size] in f32, with the batch and the positions of the query.
Value splitHeads(NodeImport &n, const Recurrence &r, Value x, SymExpr heads, SymExpr size,
                 const Twine &what) {
  if (!x || n.refused())
    return {};
  if (rankOf(x) != 3)
    return n.wrong(what + " must have rank 3");
  Dims dims(typeOf(x).getDims());
  if (!n.requireEqual(dims[0], r.batch, "the batch of " + what) ||
      !n.requireEqual(dims[1], r.steps, "the length of " + what) ||
      !n.requireEqual(dims[2], heads * size, "the last dimension of " + what))
    return {};
  x = n.refine(n.refine(n.refine(x, 0, r.batch), 1, r.steps), 2, heads * size);
  return n.convert(n.transpose(n.reshape(x, {r.batch, r.steps, heads, size}), {1, 0, 2, 3}),
                   n.f32());
}

/// Which of the four rules it is, and that the inputs fit it.
bool readRule(NodeImport &n, bool &decays, bool &corrects) {
  std::string rule = n.textAttribute("update_rule", "gated_delta");
  decays = rule == "gated" || rule == "gated_delta";
  corrects = rule == "delta" || rule == "gated_delta";
  if (!decays && !corrects && rule != "linear")
    return n.refuse("attribute 'update_rule' is '" + rule + "', which is not supported"), false;
  if (decays != n.hasInput(4) || corrects != n.hasInput(5))
    return n.wrong("'decay' and 'beta' must be given exactly where the rule '" + rule +
                   "' uses them"),
           false;
  return true;
}

/// One size per head where the last dimension is the number of heads, else `otherwise`.
SymExpr sizePerHead(NodeImport &n, Value x, SymExpr heads, SymExpr otherwise) {
  bool perHead =
      x && rankOf(x) == 3 && n.facts().proveEqual(typeOf(x).getDim(2), heads) == Proof::Yes;
  return perHead ? n.constant(1) : otherwise;
}

Value readState(NodeImport &n, const Recurrence &r, ArrayRef<SymExpr> dims) {
  Value state = n.optionalInput(3);
  if (!state)
    return n.fill(dims, n.f32(), 0);
  if (rankOf(state) != dims.size())
    return n.wrong("'past_state' must have rank 4");
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (!n.requireEqual(typeOf(state).getDim(d), dim, "dimension " + Twine(d) + " of 'past_state'"))
      return {};
    state = n.refine(state, d, dim);
  }
  return n.convert(state, n.f32());
}

std::optional<Recurrence> readInputs(NodeImport &n) {
  bool decays, corrects;
  std::optional<int64_t> queryHeads = n.intAttribute("q_num_heads"),
                         ownHeads = n.intAttribute("kv_num_heads");
  double scale = n.floatAttribute("scale", 0);
  n.ignoreAttributes({"chunk_size"}); // how others compute it
  if (!readRule(n, decays, corrects) || !n.input(0) || !n.input(1) || !n.input(2))
    return std::nullopt;
  if (!queryHeads || !ownHeads || *ownHeads < 1 || *queryHeads < 1 || *queryHeads % *ownHeads != 0)
    return n.wrong("'q_num_heads' must be a positive multiple of 'kv_num_heads'"), std::nullopt;
  if (n.rank(0) != 3 || n.rank(2) != 3)
    return n.wrong("query, key and value must have rank 3"), std::nullopt;
  Recurrence r;
  r.batch = n.dim(0, 0);
  r.steps = n.dim(0, 1);
  r.queryHeads = n.constant(*queryHeads);
  SymExpr heads = n.constant(*ownHeads),
          keySize = n.simplify(SymExpr::floordiv(n.dim(0, 2), *queryHeads)),
          valueSize = n.simplify(SymExpr::floordiv(n.dim(2, 2), *ownHeads));
  if (scale == 0 && !keySize.asConstant().value_or(0))
    return n.refuse("the size of the heads must be constant when no scale is given"), std::nullopt;
  r.scale = scale != 0 ? scale : 1 / std::sqrt(double(*keySize.asConstant()));
  r.query = splitHeads(n, r, n.input(0), r.queryHeads, keySize, "the query");
  r.key = splitHeads(n, r, n.input(1), heads, keySize, "the key");
  r.value = splitHeads(n, r, n.input(2), heads, valueSize, "the value");
  if (decays)
    r.decay =
        splitHeads(n, r, n.input(4), heads, sizePerHead(n, n.input(4), heads, keySize), "'decay'");
  if (corrects) {
    SymExpr one = n.constant(1);
    bool shared = n.rank(5) == 3 && n.dim(5, 2).isConstant(1);
    r.beta = splitHeads(n, r, n.input(5), shared ? one : heads, one, "'beta'");
  }
  r.state = readState(n, r, {r.batch, heads, keySize, valueSize});
  if (n.refused())
    return std::nullopt;
  return r;
}

/// The next state, and what the query reads from it as [b, query heads, value size].
std::pair<Value, Value> step(NodeImport &n, const Recurrence &r, SymExpr at, Value state) {
  auto here = [&](Value x) {
    Value slice = x ? n.sliceDim(x, 0, at, n.constant(1)) : Value();
    return slice ? n.reshape(slice, Dims(ArrayRef<SymExpr>(typeOf(x).getDims()).drop_front()))
                 : Value();
  };
  auto column = [&](Value x) { return x ? n.unsqueeze(x, int64_t(3)) : Value(); };
  auto line = [&](Value x) { return x ? n.unsqueeze(x, int64_t(2)) : Value(); };
  Value key = here(r.key), value = here(r.value), query = here(r.query);
  if (r.decay)
    state = n.mul(state, column(n.exp(here(r.decay))));
  if (r.beta) {
    Value stored = n.contract("b h d m, b h d -> b h m", state, key, n.f32());
    value = n.mul(here(r.beta), n.sub(value, stored));
  }
  state = n.add(state, n.mul(column(key), line(value)));
  if (!state || !query)
    return {};
  SymExpr heads = typeOf(key).getDim(1), keySize = typeOf(key).getDim(2);
  SymExpr group = n.constant(*r.queryHeads.asConstant() / *heads.asConstant());
  Value grouped = n.reshape(query, {r.batch, heads, group, keySize});
  Value read = n.contract("b h g d, b h d m -> b h g m", grouped, state, n.f32());
  read = n.mul(read, n.number(n.f32(), r.scale));
  return {state, n.reshape(read, {r.batch, r.queryHeads, typeOf(value).getDim(2)})};
}

void convertLinearAttention(NodeImport &n) {
  std::optional<Recurrence> r = readInputs(n);
  if (!r)
    return;
  Value last, outputs; // outputs: [t, b, query heads, value size]
  if (r->steps.isConstant(1)) {
    auto [state, read] = step(n, *r, n.constant(0), r->state);
    last = state;
    outputs = read ? n.unsqueeze(read, int64_t(0)) : Value();
  } else {
    SmallVector<Value> results =
        n.loop(r->steps, {}, {r->state},
               [&](SymExpr at, ValueRange carried, GraphBuilder::LoopBody &body) {
                 auto [state, read] = step(n, *r, at, carried[0]);
                 body.yielded = {state, read};
                 return !n.refused();
               });
    if (results.empty())
      return;
    last = results[0];
    outputs = results[1];
  }
  if (!last || !outputs || n.refused())
    return;
  Value y = n.reshape(n.transpose(outputs, {1, 0, 2, 3}),
                      {r->batch, r->steps, r->queryHeads * typeOf(outputs).getDim(3)});
  Type kept = n.hasInput(3) ? n.element(3) : n.element(0);
  n.results = {n.convert(y, n.element(0)), n.convert(last, kept)};
}

} // namespace

void addLinearAttention(OperatorTable &table) {
  table.add({"LinearAttention", 27, kNewestOpset, convertLinearAttention, 3, 6, 2});
}

} // namespace weft::onnx
