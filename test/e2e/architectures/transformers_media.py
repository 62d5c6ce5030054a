"""Models of images and sound of the transformers library, tiny and with random weights."""

import torch
import transformers
from torch import nn

from registry import architecture, floats, mask, sizes
from transformers_models import SMALL, randomised

LAYERS = {k: v for k, v in SMALL.items() if k != "vocab_size"}


class Only(nn.Module):
    """Calls the model with one input and picks outputs by name."""

    def __init__(self, model, given, *picked, **options):
        super().__init__()
        self.model, self.given, self.picked, self.options = randomised(model), given, picked, options

    def forward(self, x):
        got = self.model(**{self.given: x}, **self.options)
        values = tuple(getattr(got, name) for name in self.picked)
        return values if len(values) > 1 else values[0]


FIXED = {"pixels": floats("batch", 3, 32, 32)}
FIXED_SIZES = sizes("batch", (2,), (1,), (5,))
FREE = {"pixels": floats("batch", 3, "height", "width")}


@architecture(FIXED, ["hidden", "pooled"], FIXED_SIZES)
def vit():
    return Only(transformers.ViTModel(transformers.ViTConfig(**LAYERS, image_size=32, patch_size=8)),
                "pixel_values", "last_hidden_state", "pooler_output")


@architecture(FREE, ["hidden"], sizes("batch height width", (2, 40, 24), (1, 32, 32), (3, 16, 64)))
def vit_any_size():
    return Only(transformers.ViTModel(transformers.ViTConfig(**LAYERS, image_size=32, patch_size=8), add_pooling_layer=False),
                "pixel_values", "last_hidden_state", interpolate_pos_encoding=True)


@architecture(FIXED, ["embedded", "hidden"], FIXED_SIZES)
def clip_vision():
    return Only(transformers.CLIPVisionModelWithProjection(transformers.CLIPVisionConfig(
        **LAYERS, image_size=32, patch_size=8, projection_dim=16)), "pixel_values", "image_embeds", "last_hidden_state")


@architecture(FREE, ["hidden"], sizes("batch height width", (2, 64, 64), (1, 64, 96), (3, 128, 96)))
def swin():
    return Only(transformers.SwinModel(transformers.SwinConfig(
        image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)),
        "pixel_values", "last_hidden_state")


@architecture(FREE, ["logits"], sizes("batch height width", (2, 64, 96), (1, 32, 32), (1, 35, 50)))
def segformer():
    return Only(transformers.SegformerForSemanticSegmentation(transformers.SegformerConfig(
        hidden_sizes=[8, 16, 16, 32], num_attention_heads=[1, 2, 2, 4], depths=[1, 1, 1, 1], decoder_hidden_size=16,
        num_labels=5)), "pixel_values", "logits")


@architecture(FREE, ["hidden"], sizes("batch height width", (2, 64, 96), (1, 32, 32), (1, 35, 50)))
def convnext_v2():
    return Only(transformers.ConvNextV2Model(transformers.ConvNextV2Config(hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1])),
                "pixel_values", "last_hidden_state")


class Detr(nn.Module):
    def __init__(self):
        super().__init__()
        backbone = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1],
                                             layer_type="basic", out_features=["stage4"])
        self.model = randomised(transformers.DetrForObjectDetection(transformers.DetrConfig(
            use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, d_model=32,
            encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48,
            decoder_ffn_dim=48, num_queries=6, num_labels=5)))

    def forward(self, pixels):
        got = self.model(pixel_values=pixels)
        return got.logits, got.pred_boxes


@architecture(FREE, ["logits", "boxes"], sizes("batch height width", (2, 64, 96), (1, 32, 32), (1, 70, 50)))
def detr():
    return Detr()


@architecture({"features": floats("batch", 16, 60)}, ["hidden"], FIXED_SIZES)
def whisper_encoder():
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    return Only(WhisperEncoder(transformers.WhisperConfig(
        num_mel_bins=16, d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=48, max_source_positions=30)),
        "input_features", "last_hidden_state")


@architecture({"sound": floats("batch", "samples")}, ["logits"], sizes("batch samples", (2, 900), (1, 400), (3, 1333)))
def wav2vec2():
    return Only(transformers.Wav2Vec2ForCTC(transformers.Wav2Vec2Config(
        vocab_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, conv_dim=(16, 16, 16),
        conv_stride=(5, 2, 2), conv_kernel=(10, 3, 2), num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)),
        "input_values", "logits")


@architecture({"features": floats("batch", "frames", 16), "kept": mask("batch", "frames")}, ["hidden"],
              sizes("batch frames", (2, 40), (1, 12), (3, 61)))
def conformer():
    return Conformer()


class Conformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = randomised(transformers.Wav2Vec2BertModel(transformers.Wav2Vec2BertConfig(
            **LAYERS, feature_projection_input_dim=16, conv_depthwise_kernel_size=7, position_embeddings_type="relative_key",
            left_max_position_embeddings=8, right_max_position_embeddings=4)))

    def forward(self, features, kept):
        return self.model(input_features=features, attention_mask=kept).last_hidden_state
