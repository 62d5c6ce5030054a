"""Language models of the transformers library, tiny and with random weights."""

import torch
import transformers
from torch import nn
from transformers import cache_utils

from registry import architecture, floats, integers, mask, sizes

transformers.logging.set_verbosity_error()

TOKENS = {"input_ids": integers(99, "batch", "seq"), "attention_mask": mask("batch", "seq")}
TOKEN_SIZES = sizes("batch seq", (2, 7), (1, 1), (3, 16), (1, 29))
SMALL = dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
BERT = dict(**SMALL, max_position_embeddings=64)


def randomised(model):
    """Norms and biases as different from 1 and 0 as trained ones."""
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            nn.init.uniform_(parameter, -0.3, 0.3)
            if "norm" in name.lower() and name.endswith("weight"):
                parameter.data += 1
    return model


class Hidden(nn.Module):
    """The last hidden state of an encoder."""

    def __init__(self, model):
        super().__init__()
        self.model = randomised(model)

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def encoder(config, **options):
    return Hidden(transformers.AutoModel.from_config(config, **options))


@architecture(TOKENS, ["hidden"], TOKEN_SIZES)
def bert():
    return encoder(transformers.BertConfig(**BERT))


@architecture(TOKENS, ["hidden"], TOKEN_SIZES)
def bert_eager():
    return encoder(transformers.BertConfig(**BERT), attn_implementation="eager")


@architecture(TOKENS, ["hidden"], TOKEN_SIZES)
def roberta():
    return encoder(transformers.RobertaConfig(**BERT, pad_token_id=1))


@architecture(TOKENS, ["hidden"], TOKEN_SIZES)
def distilbert():
    return encoder(transformers.DistilBertConfig(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=48,
                                                 max_position_embeddings=64))


@architecture(TOKENS, ["hidden"], TOKEN_SIZES)
def albert():
    return encoder(transformers.AlbertConfig(**BERT, embedding_size=16))


@architecture(TOKENS, ["hidden"], TOKEN_SIZES)
def mpnet():
    return encoder(transformers.MPNetConfig(**BERT))


@architecture(TOKENS, ["hidden"], TOKEN_SIZES)
def deberta_v2():
    return encoder(transformers.DebertaV2Config(**BERT, relative_attention=True, pos_att_type=["p2c", "c2p"],
                                                position_buckets=8, norm_rel_ebd="layer_norm", share_att_key=True))


@architecture(TOKENS, ["hidden"], TOKEN_SIZES)
def modernbert():
    return encoder(transformers.ModernBertConfig(**BERT, pad_token_id=0, local_attention=8, global_attn_every_n_layers=2,
                                                 bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2))


class Decoder(nn.Module):
    """One step of a decoder: logits and the cache, which goes in and comes out."""

    def __init__(self, model, layers=2):
        super().__init__()
        self.model, self.layers = randomised(model), layers

    def forward(self, input_ids, attention_mask, *past):
        cache = cache_utils.DynamicCache(config=self.model.config)
        for layer in range(self.layers):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        got = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        present = [tensor for layer in got.past_key_values.layers for tensor in (layer.keys, layer.values)]
        return (got.logits, *present)


def cached(heads, width):
    past = {f"{part}{layer}": floats("batch", heads, "past", width) for layer in range(2) for part in ("key", "value")}
    inputs = {"input_ids": integers(99, "batch", "seq"), "attention_mask": mask("batch", "total"), **past}
    return inputs, ["logits"] + [f"new_{name}" for name in past]


DECODER_SIZES = sizes("batch seq past total", (2, 3, 5, 8), (1, 1, 1, 2), (1, 1, 17, 18), (3, 6, 0, 6), (2, 1, 9, 10))
LLAMA = dict(**SMALL, num_key_value_heads=2, max_position_embeddings=64)


def decoder(config, **options):
    return Decoder(transformers.AutoModelForCausalLM.from_config(config, **options))


@architecture(*cached(4, 8), DECODER_SIZES)
def gpt2():
    return decoder(transformers.GPT2Config(vocab_size=99, n_positions=64, n_embd=32, n_layer=2, n_head=4))


@architecture(*cached(2, 8), DECODER_SIZES)
def llama():
    return decoder(transformers.LlamaConfig(**LLAMA))


@architecture(*cached(2, 8), DECODER_SIZES)
def llama_eager():
    return decoder(transformers.LlamaConfig(**LLAMA), attn_implementation="eager")


@architecture(*cached(2, 8), DECODER_SIZES)
def qwen2():
    return decoder(transformers.Qwen2Config(**LLAMA))


@architecture(*cached(2, 8), DECODER_SIZES)
def gemma():
    return decoder(transformers.GemmaConfig(**LLAMA, head_dim=8))


@architecture(*cached(4, 8), DECODER_SIZES)
def phi():
    return decoder(transformers.PhiConfig(**SMALL, max_position_embeddings=64, partial_rotary_factor=0.5))


@architecture(*cached(4, 8), DECODER_SIZES)
def opt():
    return decoder(transformers.OPTConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=48,
                                          max_position_embeddings=64, word_embed_proj_dim=32))


@architecture(*cached(4, 8), DECODER_SIZES)
def bloom():
    return decoder(transformers.BloomConfig(vocab_size=99, hidden_size=32, n_layer=2, n_head=4))


@architecture(*cached(2, 8), DECODER_SIZES)
def mixtral():
    config = transformers.MixtralConfig(**LLAMA, num_local_experts=4, num_experts_per_tok=2, sliding_window=None)
    return decoder(config, experts_implementation="batched_mm")


class EncoderDecoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = randomised(model)

    def forward(self, input_ids, attention_mask, decoder_input_ids):
        got = self.model(input_ids=input_ids, attention_mask=attention_mask, decoder_input_ids=decoder_input_ids,
                         use_cache=False)
        return got.logits, got.encoder_last_hidden_state


PAIR = {**TOKENS, "decoder_input_ids": integers(99, "batch", "target")}
PAIR_SIZES = sizes("batch seq target", (2, 7, 4), (1, 1, 1), (3, 16, 9))


@architecture(PAIR, ["logits", "encoded"], PAIR_SIZES)
def t5():
    return EncoderDecoder(transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=99, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0,
        relative_attention_num_buckets=8, relative_attention_max_distance=16)))


@architecture(PAIR, ["logits", "encoded"], PAIR_SIZES)
def bart():
    return EncoderDecoder(transformers.BartForConditionalGeneration(transformers.BartConfig(
        vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64)))


class ClipText(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = randomised(transformers.CLIPTextModelWithProjection(transformers.CLIPTextConfig(
            **BERT, projection_dim=16, eos_token_id=98, bos_token_id=97, pad_token_id=1)))

    def forward(self, input_ids, attention_mask):
        got = self.model(input_ids=input_ids, attention_mask=attention_mask)
        return got.text_embeds, got.last_hidden_state


@architecture(TOKENS, ["embedded", "hidden"], TOKEN_SIZES)
def clip_text():
    return ClipText()
