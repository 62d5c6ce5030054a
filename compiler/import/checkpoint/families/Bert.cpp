//===- Bert.cpp - BERT encoders: transformers.BertModel ---------------------------------------===//
//
// Embeddings of words, positions and token types, then layers of attention and two matrix products,
// each followed by a residual sum and a layer normalisation. A product with a weight takes it as
// stored, [out, in]; heads are a dimension, so nothing is transposed.
//===------------------------------------------------------------------------------------------===//

#include "compiler/import/checkpoint/CheckpointModel.h"
#include "compiler/import/checkpoint/Family.h"
#include <cmath>

namespace weft {
namespace {

/// Added to the scores of masked positions, as in transformers: the lowest f32, so that a row
/// without any unmasked position attends to all alike, where -inf would give nan.
constexpr double kMasked = -3.4028234663852886e38;

struct BertConfig {
  int64_t hidden, layers, heads, intermediate, vocabulary, positions, tokenTypes;
  double epsilon;
};

BertConfig readConfig(CheckpointModel &model) {
  BertConfig c;
  c.hidden = model.size("hidden_size");
  c.layers = model.size("num_hidden_layers");
  c.heads = model.size("num_attention_heads");
  c.intermediate = model.size("intermediate_size");
  c.vocabulary = model.size("vocab_size");
  c.positions = model.size("max_position_embeddings", 512);
  c.tokenTypes = model.size("type_vocab_size", 2);
  c.epsilon = model.number("layer_norm_eps", 1e-12);
  if (!(c.epsilon >= 0))
    model.refuse("layer_norm_eps", "a number that is not negative");
  if (!model.b.failed() && c.hidden % c.heads != 0)
    model.refuse("num_attention_heads",
                 "a divisor of 'hidden_size', which is " + llvm::Twine(c.hidden));
  model.requireText("position_embedding_type", "absolute");
  model.requireFalse("is_decoder");
  model.requireFalse("add_cross_attention");
  return c;
}

class Bert {
public:
  Bert(CheckpointModel &model, const BertConfig &config) : model(model), b(model.b), c(config) {}

  void build() {
    Value ids = b.input("input_ids", Element::I64, {"batch", "seq"});
    Value mask = b.input("attention_mask", Element::I64, {"batch", "seq"});
    Value types; // without it all tokens have type 0
    if (!model.layout)
      types = b.input("token_type_ids", Element::I64, {"batch", "seq"});
    b.fact("1 <= batch");
    b.fact("1 <= seq");
    b.fact("seq <= " + std::to_string(c.positions));

    Value x = embeddings(ids, types);
    Value bias = attentionBias(mask);
    for (int64_t i = 0; i < c.layers && !b.failed(); ++i) {
      auto scope = b.scope("encoder.layer." + std::to_string(i));
      x = layer(x, bias);
    }
    b.output("last_hidden_state", x);
    if (model.layout)
      b.output("sentence_embedding", sentenceEmbedding(model, *model.layout, x, mask));
    else if (model.has("pooler.dense.weight"))
      b.output("pooler_output", pooler(x));
    model.ignore("embeddings.position_ids"); // 0, 1, 2, ...
    if (model.layout)
      model.ignore("pooler.");
  }

private:
  Value embeddings(Value ids, Value types) {
    auto scope = b.scope("embeddings");
    Value x = model.embedding(ids, "word_embeddings", c.vocabulary, c.hidden);
    x = b.add(x, types ? model.embedding(types, "token_type_embeddings", c.tokenTypes, c.hidden)
                       : firstTokenType());
    x = b.add(x, positions());
    return model.layerNorm(x, "LayerNorm", c.hidden, c.epsilon);
  }

  Value firstTokenType() {
    auto scope = b.scope("token_type_embeddings");
    Value row =
        b.slice(model.storedWeight("weight", {c.tokenTypes, c.hidden}), {0, 0}, {1, c.hidden});
    return model.toF32(b.reshape(row, {c.hidden}));
  }

  /// Rows 0 to seq - 1 of the table.
  Value positions() {
    auto scope = b.scope("position_embeddings");
    Value table = model.storedWeight("weight", {c.positions, c.hidden});
    return model.toF32(b.slice(table, {0, 0}, {"seq", c.hidden}));
  }

  /// What is added to the scores [batch, heads, seq, seq].
  Value attentionBias(Value mask) {
    auto scope = b.scope("attention_mask");
    Value kept = b.compare(Relation::NotEqual, mask, b.scalar(Element::I64, 0));
    Value bias = b.select(kept, b.scalar(Element::F32, 0.0), b.scalar(Element::F32, kMasked));
    return b.reshape(bias, {"batch", 1, 1, "seq"});
  }

  Value layer(Value x, Value bias) {
    Value context = attention(x, bias);
    Value attended = residual(model.linear(context, "attention.output.dense", c.hidden, c.hidden),
                              x, "attention.output");
    Value inner = model.linear(attended, "intermediate.dense", c.hidden, c.intermediate);
    {
      auto scope = b.scope("intermediate.act");
      inner = model.activation(inner, "hidden_act");
    }
    return residual(model.linear(inner, "output.dense", c.intermediate, c.hidden), attended,
                    "output");
  }

  Value residual(Value x, Value shortcut, const std::string &name) {
    auto scope = b.scope(name);
    return model.layerNorm(b.add(x, shortcut), "LayerNorm", c.hidden, c.epsilon);
  }

  Value attention(Value x, Value bias) {
    auto scope = b.scope("attention.self");
    Dims heads = {"batch", "seq", c.heads, c.hidden / c.heads};
    Value q = b.reshape(model.linear(x, "query", c.hidden, c.hidden), heads);
    Value k = b.reshape(model.linear(x, "key", c.hidden, c.hidden), heads);
    Value v = b.reshape(model.linear(x, "value", c.hidden, c.hidden), heads);
    Value scores = b.contract("b s h d, b t h d -> b h s t", q, k);
    double scale = 1 / std::sqrt(double(c.hidden / c.heads));
    scores = b.add(b.mul(scores, b.scalar(Element::F32, scale)), bias);
    Value context = b.contract("b h s t, b t h d -> b s h d", b.softmax(scores), v);
    return b.reshape(context, {"batch", "seq", c.hidden});
  }

  /// tanh of a linear map of the first token.
  Value pooler(Value x) {
    auto scope = b.scope("pooler");
    Value first = b.reshape(b.slice(x, {0, 0, 0}, {"batch", 1, c.hidden}), {"batch", c.hidden});
    return b.tanh(model.linear(first, "dense", c.hidden, c.hidden));
  }

  CheckpointModel &model;
  Builder &b;
  BertConfig c;
};

void buildBert(CheckpointModel &model) {
  model.choosePrefix({"", "bert."}, "embeddings.word_embeddings.weight");
  BertConfig config = readConfig(model);
  if (!model.b.failed())
    Bert(model, config).build();
}

RegisterFamily bert({"bert", "Bert", buildBert});

} // namespace
} // namespace weft
