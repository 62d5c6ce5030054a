"""More models of the transformers library, each for an idiom that the others do not have."""

import torch
import transformers
from torch import nn

from registry import architecture, floats, integers, sizes
from transformers_media import FREE, LAYERS, Only
from transformers_models import (BERT, DECODER_SIZES, LLAMA, SMALL, TOKEN_SIZES, TOKENS, cached, decoder, encoder, randomised)


@architecture(TOKENS, ["hidden"], TOKEN_SIZES, opset=13, exporters=("torchscript",))
def bert_opset_13():
    return encoder(transformers.BertConfig(**BERT), attn_implementation="eager")


@architecture(*cached(2, 8), DECODER_SIZES, opset=23, exporters=("dynamo",))
def llama_opset_23():
    return decoder(transformers.LlamaConfig(**LLAMA))


@architecture(*cached(2, 8), DECODER_SIZES)
def gemma2():
    """Scores and logits are capped by tanh; every second layer sees a window."""
    return decoder(transformers.Gemma2Config(**LLAMA, head_dim=8, sliding_window=4, attn_logit_softcapping=5.0,
                                             final_logit_softcapping=3.0, layer_types=["full_attention", "full_attention"]))


@architecture(*cached(4, 8), DECODER_SIZES)
def gpt_neox():
    return decoder(transformers.GPTNeoXConfig(**SMALL, max_position_embeddings=64, rotary_pct=0.5))


@architecture(*cached(1, 8), DECODER_SIZES)
def falcon():
    """One head of keys for all queries; attention and network in parallel."""
    return decoder(transformers.FalconConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                             multi_query=True, new_decoder_architecture=False, alibi=False))


# The dynamo exporter fails on a subtraction of truth values.
@architecture(TOKENS, ["hidden"], TOKEN_SIZES, exporters=("torchscript",))
def xlnet():
    return encoder(transformers.XLNetConfig(vocab_size=99, d_model=32, n_layer=2, n_head=4, d_inner=48))


@architecture(TOKENS, ["hidden"], sizes("batch seq", (2, 8), (1, 16), (3, 24)))
def convbert():
    """Convolutions whose filters are computed from the tokens."""
    return encoder(transformers.ConvBertConfig(**BERT, embedding_size=32, head_ratio=2, conv_kernel_size=3))


# The dynamo exporter writes numbers of patches of the example into the file.
@architecture(FREE, ["hidden"], sizes("batch height width", (2, 64, 96), (1, 32, 32), (1, 96, 64)), exporters=("torchscript",))
def mobilevit():
    return Only(transformers.MobileViTModel(transformers.MobileViTConfig(
        hidden_sizes=[16, 16, 16], neck_hidden_sizes=[8, 8, 16, 16, 16, 16, 16], num_attention_heads=2, num_hidden_layers=2),
        expand_output=False), "pixel_values", "last_hidden_state")


@architecture(FREE, ["hidden"], sizes("batch height width", (2, 28, 42), (1, 14, 14), (1, 56, 28)))
def dinov2():
    return Only(transformers.Dinov2Model(transformers.Dinov2Config(**LAYERS, image_size=28, patch_size=14)),
                "pixel_values", "last_hidden_state")


@architecture({"pixels": floats("batch", 3, "height", "width")}, ["large"],
              sizes("batch height width", (2, 16, 24), (1, 8, 8), (1, 32, 16)))
def swin2sr():
    return Only(transformers.Swin2SRForImageSuperResolution(transformers.Swin2SRConfig(
        image_size=16, embed_dim=16, depths=[2], num_heads=[2], window_size=4, upscale=2, upsampler="pixelshuffle")),
        "pixel_values", "reconstruction")


@architecture({"video": floats("batch", 4, 3, 16, 16)}, ["hidden"], sizes("batch", (2,), (1,), (3,)))
def videomae():
    return Only(transformers.VideoMAEModel(transformers.VideoMAEConfig(
        **LAYERS, image_size=16, patch_size=8, num_frames=4, tubelet_size=2)), "pixel_values", "last_hidden_state")


# The dynamo exporter cannot guard on the data-dependent choice of code books.
@architecture({"sound": floats("batch", 1, "samples")}, ["codes"], sizes("batch samples", (2, 640), (1, 64), (1, 777)), exporters=("torchscript",))
def encodec():
    """Strided causal convolutions, a recurrent network, and the nearest entries of code books."""
    return Encodec()


class Encodec(nn.Module):
    def __init__(self):
        super().__init__()
        config = transformers.EncodecConfig(num_filters=4, hidden_size=16, codebook_dim=16, codebook_size=32, upsampling_ratios=[4, 2],
                                            num_lstm_layers=1, use_causal_conv=True, norm_type="time_group_norm")
        self.model = randomised(transformers.EncodecModel(config))
        for layer in self.model.quantizer.layers:
            nn.init.normal_(layer.codebook.embed)

    def forward(self, sound):
        return self.model.quantizer.encode(self.model.encoder(sound), 3.0)


class WhisperDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = randomised(transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
            vocab_size=99, num_mel_bins=16, d_model=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=30, max_target_positions=40,
            pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)))

    def forward(self, features, tokens):
        return self.model(input_features=features, decoder_input_ids=tokens, use_cache=False).logits


# The TorchScript exporter has no conversion of torch.diff.
@architecture({"features": floats("batch", 16, 60), "tokens": integers(99, "batch", "seq")}, ["logits"],
              sizes("batch seq", (2, 5), (1, 1), (3, 12)), exporters=("dynamo",))
def whisper():
    return WhisperDecoder()


# The TorchScript exporter puts the dimensions of unfolded windows in the wrong order.
@architecture({"values": floats("batch", 32, 3)}, ["forecast"], sizes("batch", (2,), (1,), (5,)), exporters=("dynamo",))
def patchtst():
    return Only(transformers.PatchTSTForPrediction(transformers.PatchTSTConfig(
        num_input_channels=3, context_length=32, patch_length=8, patch_stride=4, d_model=16, num_hidden_layers=2,
        num_attention_heads=4, ffn_dim=32, prediction_length=6, scaling="std")), "past_values", "prediction_outputs")


@torch.jit.script
def turns(x: torch.Tensor, state: torch.Tensor, enter: torch.Tensor, stay: torch.Tensor):
    outputs = torch.zeros_like(state)
    for i in range(x.shape[1]):
        state = torch.tanh(x[:, i] @ enter + state @ stay)
        if i % 2 == 0:
            outputs = outputs + state
        else:
            outputs = outputs * 0.5
    return outputs, state


class Scripted(nn.Module):
    """A loop that TorchScript keeps: as many turns as there are steps, and a branch inside."""

    def __init__(self):
        super().__init__()
        self.first, self.enter, self.stay = (nn.Parameter(torch.randn(*d)) for d in ((1, 8), (6, 8), (8, 8)))

    def forward(self, x):
        return turns(x, self.first.expand(x.shape[0], 8), self.enter, self.stay)


@architecture({"x": floats("batch", "time", 6)}, ["sums", "state"], sizes("batch time", (2, 5), (1, 1), (3, 12)),
              exporters=("torchscript",))
def scripted_loop():
    return Scripted()
