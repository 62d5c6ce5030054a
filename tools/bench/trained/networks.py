"""The three networks that are trained, and how one channel may be made larger than another without a change of what a network computes."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


class Separable(nn.Module):
    """A depthwise convolution and one of single pixels."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.depth, self.depth_norm = nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs), nn.BatchNorm2d(inputs)
        self.point, self.point_norm = nn.Conv2d(inputs, outputs, 1), nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.point_norm(self.point(F.relu(self.depth_norm(self.depth(x))))))


class Digits(nn.Module):
    """A depthwise network for images of 32 by 32: ten classes."""

    def __init__(self):
        super().__init__()
        self.stem, self.stem_norm = nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32)
        widths = [(32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1)]
        self.blocks = nn.ModuleList(Separable(*width) for width in widths)
        self.head = nn.Linear(256, 10)

    def forward(self, image):
        x = F.relu(self.stem_norm(self.stem(image)))
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))

    def positive_pairs(self):
        """What makes a channel and what reads it, with relu at most between."""
        convolutions = [self.stem] + [conv for block in self.blocks for conv in (block.depth, block.point)]
        return list(zip(convolutions, convolutions[1:]))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, seq, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, seq, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, seq, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Bytes(nn.Module):
    """A decoder that says the next byte of a text at each place."""

    def __init__(self, width=256, layers=4, heads=8, positions=256):
        super().__init__()
        self.token, self.position = nn.Embedding(256, width), nn.Embedding(positions, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 256, bias=False)

    def forward(self, ids):
        x = self.token(ids) + self.position(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))

    def positive_pairs(self):
        return [pair for layer in self.layers for pair in ((layer.norm1, layer.qkv), (layer.norm2, layer.up))] + [(self.norm, self.head)]


class Photos(nn.Module):
    """Doubles the resolution of a photograph: what is between pixels, and a correction."""

    def __init__(self, channels=32, blocks=4):
        super().__init__()
        conv = lambda inputs, outputs: nn.Conv2d(inputs, outputs, 3, padding=1)
        self.head, self.tail = conv(3, channels), conv(channels, 12)
        self.blocks = nn.ModuleList(nn.ModuleList([conv(channels, channels), conv(channels, channels)]) for _ in range(blocks))

    def forward(self, image):
        x = self.head(image)
        for first, second in self.blocks:
            x = x + second(F.relu(first(x)))
        return F.interpolate(image, scale_factor=2, mode="bilinear", align_corners=False) + F.pixel_shuffle(self.tail(x), 2)

    def positive_pairs(self):
        return [(first, second) for first, second in self.blocks]


def folded(net):
    """Batch norms go into the weights of their convolutions."""
    for module in list(net.modules()):
        for name, norm in list(module.named_children()):
            if isinstance(norm, nn.BatchNorm2d):
                conv = name.removesuffix("_norm")
                setattr(module, conv, fuse_conv_bn_eval(getattr(module, conv), norm))
                setattr(module, name, nn.Identity())
    return net


def rescale(net, seed=5, spread=1.0):
    """Channels of a network are as large as it happened to learn them: those of large models differ by orders. Of each pair the first makes
    channels larger by factors of chance, and the second's weights are divided by them."""
    random = torch.Generator().manual_seed(seed)
    for maker, reader in net.positive_pairs():
        factors = torch.exp(spread * torch.randn(maker.weight.shape[0], generator=random))
        with torch.no_grad():
            maker.weight.mul_(factors.view(-1, *[1] * (maker.weight.dim() - 1)))
            maker.bias.mul_(factors)
            if getattr(reader, "groups", 1) > 1:
                reader.weight.div_(factors.view(-1, 1, 1, 1))
            else:
                reader.weight.div_(factors.view(1, -1, *[1] * (reader.weight.dim() - 2)))


NETWORKS = {"digits": Digits, "bytes": Bytes, "photos": Photos}
