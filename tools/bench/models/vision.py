"""ViT-tiny, ResNet-50, MobileNetV2, a network that doubles an image's resolution and SplitSR, all with random weights."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


class ViT(nn.Module):
    """ViT-tiny: 12 layers, width 192, 3 heads, 16x16 patches of a 224x224 image."""

    def __init__(self, dim=192, layers=12, heads=3, classes=1000):
        super().__init__()
        self.heads = heads
        self.patch = nn.Conv2d(3, dim, 16, 16)
        self.cls = nn.Parameter(0.02 * torch.randn(1, 1, dim))
        self.position = nn.Parameter(0.02 * torch.randn(1, 197, dim))
        self.blocks = nn.ModuleList(
            nn.ModuleDict(dict(norm1=nn.LayerNorm(dim), qkv=nn.Linear(dim, 3 * dim), o=nn.Linear(dim, dim),
                               norm2=nn.LayerNorm(dim), up=nn.Linear(dim, 4 * dim), down=nn.Linear(4 * dim, dim)))
            for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.position
        for m in self.blocks:
            batch, seq, dim = x.shape
            qkv = m["qkv"](m["norm1"](x)).view(batch, seq, 3, self.heads, dim // self.heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            y = F.scaled_dot_product_attention(q, k, v)
            x = x + m["o"](y.transpose(1, 2).reshape(batch, seq, dim))
            x = x + m["down"](F.gelu(m["up"](m["norm2"](x))))
        return self.head(self.norm(x)[:, 0])


class SuperResolution(nn.Module):
    """A small residual x2 network for any height and width."""

    def __init__(self, channels=64, blocks=8):
        super().__init__()
        conv = lambda inputs, outputs: nn.Conv2d(inputs, outputs, 3, padding=1)
        self.head, self.tail = conv(3, channels), conv(channels, 12)
        self.body = nn.ModuleList(nn.ModuleList([conv(channels, channels), conv(channels, channels)])
                                  for _ in range(blocks))

    def forward(self, image):
        x = self.head(image)
        for first, second in self.body:
            x = x + second(F.relu(first(x)))
        return F.pixel_shuffle(self.tail(x), 2)


class SplitBlock(nn.Module):
    """Convolves the first channels and puts the result behind the others: after some blocks all had their turn."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        first = self.conv.in_channels
        return torch.cat([x[:, first:], F.relu(self.conv(x[:, :first]))], 1)


class ResidualBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))

    def forward(self, x):
        return x + self.second(F.relu(self.first(x)))


class SplitSR(nn.Module):
    """At its published size, for any height and width: 6 groups of three residual and three split blocks, x4."""

    def __init__(self, channels=64, groups=6):
        super().__init__()
        conv = lambda inputs, outputs: nn.Conv2d(inputs, outputs, 3, padding=1)
        self.register_buffer("mean", torch.tensor([0.4488, 0.4371, 0.4040]).view(1, 3, 1, 1))
        self.head, self.tail = conv(3, channels), conv(channels, 3)
        self.groups = nn.ModuleList(
            nn.Sequential(*[ResidualBlock(channels) for _ in range(3)], *[SplitBlock(channels // 4) for _ in range(3)],
                          conv(channels, channels)) for _ in range(groups))
        self.up = nn.ModuleList(conv(channels, 4 * channels) for _ in range(2))

    def forward(self, image):
        x = first = self.head(image - self.mean)
        for group in self.groups:
            x = x + group(x)
        x = x + first
        for conv in self.up:
            x = F.pixel_shuffle(conv(x), 2)
        return self.tail(x) + self.mean


def conv_norm(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.reduce, self.middle = conv_norm(inputs, width, 1), conv_norm(width, width, 3, stride)
        self.expand = conv_norm(width, 4 * width, 1)
        same = stride == 1 and inputs == 4 * width
        self.shortcut = nn.Identity() if same else conv_norm(inputs, 4 * width, 1, stride)

    def forward(self, x):
        y = F.relu(self.middle(F.relu(self.reduce(x))))
        return F.relu(self.expand(y) + self.shortcut(x))


class ResNet50(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        blocks, inputs = [], 64
        for stage, (width, count) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
            for i in range(count):
                blocks.append(Bottleneck(inputs, width, 2 if stage and i == 0 else 1))
                inputs = 4 * width
        self.stem, self.blocks, self.head = conv_norm(3, 64, 7, 2), nn.Sequential(*blocks), nn.Linear(2048, classes)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.stem(image)), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, factor):
        super().__init__()
        inner = inputs * factor
        layers = [conv_norm(inputs, inner, 1), nn.ReLU6()] if factor > 1 else []
        layers += [conv_norm(inner, inner, 3, stride, inner), nn.ReLU6(), conv_norm(inner, outputs, 1)]
        self.layers, self.residual = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        layers, inputs = [conv_norm(3, 32, 3, 2), nn.ReLU6()], 32
        for factor, outputs, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                               (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
            for i in range(count):
                layers.append(InvertedResidual(inputs, outputs, stride if i == 0 else 1, factor))
                inputs = outputs
        self.layers = nn.Sequential(*layers, conv_norm(320, 1280, 1), nn.ReLU6())
        self.head = nn.Linear(1280, classes)

    def forward(self, image):
        return self.head(self.layers(image).mean((2, 3)))


def normalised(net):
    """Random weights with the statistics that belong to them, so that activations keep an ordinary size."""
    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None  # a plain average
    with torch.no_grad():
        net.train()(torch.randn(8, 3, 224, 224))
    return net


def folded(net):
    """The same network with batch norms in the weights of their convolutions; of bf16 the exporter makes weights in f32 there."""
    for module in net.modules():
        if isinstance(module, nn.Sequential) and [type(part) for part in module] == [nn.Conv2d, nn.BatchNorm2d]:
            module[0], module[1] = fuse_conv_bn_eval(*module), nn.Identity()
    return net


MAKERS = {"vit_tiny": ViT, "superres": SuperResolution, "splitsr": SplitSR, "resnet50": lambda: normalised(ResNet50()),
          "mobilenetv2": lambda: normalised(MobileNetV2())}
