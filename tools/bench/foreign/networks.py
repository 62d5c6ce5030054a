"""Networks with random weights that keep activations of an ordinary size.

    net, example = networks.build("pyramid")      example(random) is an input, of chance but with a structure
"""
import torch
import torch.nn.functional as F
from torch import nn

from models.vision import conv_norm, folded


def image(side):
    """Smooth colours, rectangles and noise."""
    def example(random):
        coarse = torch.randn(1, 3, 6, 6, generator=random)
        smooth = F.interpolate(coarse, size=(side, side), mode="bicubic", align_corners=False)
        rectangles = F.interpolate((coarse.roll(1, 1) > 0).float(), size=(side, side))
        return smooth + rectangles + 0.2 * torch.randn(1, 3, side, side, generator=random)
    return example


def sound(samples):
    """Eight tones that grow or fade, and noise."""
    def example(random):
        time, pitch = torch.linspace(0, 1, samples), 20 + 1500 * torch.rand(8, 1, generator=random)
        loud = torch.randn(8, 1, generator=random) + torch.randn(8, 1, generator=random) * time
        tones = loud * torch.sin(2 * torch.pi * pitch * time)
        return tones.sum(0, keepdim=True) / 3 + 0.1 * torch.randn(1, samples, generator=random)
    return example


def conv(inputs, outputs, kernel=3, stride=1, groups=1, activation=nn.ReLU):
    return nn.Sequential(conv_norm(inputs, outputs, kernel, stride, groups), activation())


def dilated_conv(inputs, outputs, rate):
    layer = conv(inputs, outputs)
    layer[0][0].dilation = layer[0][0].padding = (rate, rate)
    return layer


class UNet(nn.Module):
    """Two convolutions at each of four sizes, down and up again, where what was made on the way down is put beside."""

    def __init__(self, up, widths=(16, 32, 64, 128), classes=4):
        super().__init__()
        pair = lambda inputs, outputs: nn.Sequential(conv(inputs, outputs), conv(outputs, outputs))
        steps, is_transposed = list(zip(widths, widths[1:])), up == "transposed"
        self.first, self.head = pair(3, widths[0]), nn.Conv2d(widths[0], classes, 1)
        self.down = nn.ModuleList(pair(*step) for step in steps)
        self.up = nn.ModuleList(nn.ConvTranspose2d(wide, narrow, 2, 2) if is_transposed else nn.Upsample(scale_factor=2, mode=up)
                                for narrow, wide in steps)
        self.merge = nn.ModuleList(pair(narrow + (narrow if is_transposed else wide), narrow) for narrow, wide in steps)

    def forward(self, image):
        levels = [self.first(image)]
        for down in self.down:
            levels.append(down(F.max_pool2d(levels[-1], 2)))
        x = levels.pop()
        for up, merge in zip(reversed(self.up), reversed(self.merge)):
            x = merge(torch.cat([levels.pop(), up(x)], 1))
        return self.head(x)


class Pyramid(nn.Module):
    """Features of three sizes, each with what the smaller ones know, and the scores of one head on all."""

    def __init__(self, widths=(24, 48, 96, 128), width=48, scores=12):
        super().__init__()
        self.stem = conv(3, widths[0], stride=2)
        self.stages = nn.ModuleList(nn.Sequential(conv(*step, stride=2), conv(step[1], step[1])) for step in zip(widths, widths[1:]))
        self.across = nn.ModuleList(nn.Conv2d(wide, width, 1) for wide in widths[1:])
        self.smooth = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in widths[1:])
        self.head = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, scores, 1))

    def forward(self, image):
        x, levels, above = self.stem(image), [], None
        for stage in self.stages:
            x = stage(x)
            levels.append(x)
        found = []
        for level, across, smooth in reversed(list(zip(levels, self.across, self.smooth))):
            above = across(level) if above is None else across(level) + F.interpolate(above, scale_factor=2.0, mode="nearest")
            found.append(self.head(smooth(above)).flatten(2))
        return torch.cat(found, 2)


class Dilated(nn.Module):
    """Classes of pixels: convolutions at an eighth of the size that read far, four beside each other at the end, and a linear resize."""

    def __init__(self, width=96, rates=(1, 3, 6), classes=21):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 24, stride=2), conv(24, 48, stride=2), conv(48, width, stride=2))
        self.body = nn.ModuleList(nn.Sequential(dilated_conv(width, width, rate), dilated_conv(width, width, rate)) for rate in (1, 2, 2, 4))
        self.beside = nn.ModuleList([conv(width, width, 1), *(dilated_conv(width, width, rate) for rate in rates)])
        self.whole, self.merge = nn.Conv2d(width, width, 1), conv((len(rates) + 2) * width, width, 1)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, image):
        x = self.stem(image)
        for block in self.body:
            x = x + block(x)
        whole = F.relu(self.whole(x.mean((2, 3), keepdim=True))).expand(-1, -1, *x.shape[2:])
        x = self.merge(torch.cat([*(layer(x) for layer in self.beside), whole], 1))
        return F.interpolate(self.head(x), size=image.shape[2:], mode="bilinear", align_corners=False)


class Inverted(nn.Module):
    """Wider, each channel by itself, weighed by what all pixels say, and narrow again."""

    def __init__(self, inputs, outputs, kernel, stride, factor):
        super().__init__()
        wide = inputs * factor
        self.wider = conv(inputs, wide, 1, activation=nn.SiLU) if factor > 1 else nn.Identity()
        self.depth, self.narrow = conv(wide, wide, kernel, stride, wide, nn.SiLU), conv_norm(wide, outputs, 1)
        self.weigh = nn.Sequential(nn.Conv2d(wide, inputs // 4, 1), nn.SiLU(), nn.Conv2d(inputs // 4, wide, 1), nn.Sigmoid())
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.depth(self.wider(x))
        y = self.narrow(y * self.weigh(y.mean((2, 3), keepdim=True)))
        return x + y if self.is_residual else y


class EfficientNet(nn.Module):
    """Of eight blocks: random ones in greater number make much of a rounding."""

    def __init__(self, classes=100):
        super().__init__()
        layers, inputs = [conv(3, 32, stride=2, activation=nn.SiLU)], 32
        for factor, outputs, count, stride, kernel in [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 112, 3, 2, 5)]:
            for i in range(count):
                layers.append(Inverted(inputs, outputs, kernel, stride if i == 0 else 1, factor))
                inputs = outputs
        self.layers, self.head = nn.Sequential(*layers, conv(inputs, 640, 1, activation=nn.SiLU)), nn.Linear(640, classes)

    def forward(self, image):
        return self.head(self.layers(image).mean((2, 3)))


class Grouped(nn.Module):
    """A bottleneck whose middle convolves groups of channels."""

    def __init__(self, inputs, width, outputs, stride, groups=16):
        super().__init__()
        self.layers = nn.Sequential(conv(inputs, width, 1), conv(width, width, 3, stride, groups), conv_norm(width, outputs, 1))
        self.shortcut = nn.Identity() if inputs == outputs else conv_norm(inputs, outputs, 1, stride)

    def forward(self, x):
        return F.relu(self.layers(x) + self.shortcut(x))


class ResNeXt(nn.Module):
    def __init__(self, classes=100):
        super().__init__()
        layers, inputs = [conv(3, 32, 7, 2), nn.MaxPool2d(3, 2, 1)], 32
        for width, outputs, count in [(64, 128, 2), (128, 256, 3), (256, 512, 2)]:
            for i in range(count):
                layers.append(Grouped(inputs, width, outputs, 2 if i == 0 and width > 64 else 1))
                inputs = outputs
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(inputs, classes)

    def forward(self, image):
        return self.head(self.layers(image).mean((2, 3)))


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class Layer(nn.Module):
    """Of a transformer, normalised before its two parts or behind them."""

    def __init__(self, width, heads, is_before, activation):
        super().__init__()
        self.heads, self.is_before = heads, is_before
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), activation(), nn.Linear(4 * width, width))

    def attend(self, x):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        y = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)))
        return self.o(y.transpose(1, 2).flatten(2))

    def forward(self, x):
        for norm, part in zip(self.norms, (self.attend, self.wide)):
            x = x + part(norm(x)) if self.is_before else norm(x + part(x))
        return x


class Wav2Vec2(nn.Module):
    """Convolutions make a line of 64 numbers of 320 samples, a grouped one says where it stands, and layers read all lines."""

    def __init__(self, channels=64, width=192, layers=4, groups=16, letters=32):
        super().__init__()
        steps = [(1, 10, 5), *[(channels, 3, 2)] * 4, *[(channels, 2, 2)] * 2]
        self.features = nn.ModuleList(nn.Conv1d(inputs, channels, kernel, stride, bias=False) for inputs, kernel, stride in steps)
        self.first_norm, self.features_norm = nn.GroupNorm(channels, channels), nn.LayerNorm(channels)
        self.project, self.position = nn.Linear(channels, width), nn.Conv1d(width, width, 128, padding=64, groups=groups)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters)
        self.layers = nn.Sequential(*[Layer(width, 4, False, nn.GELU) for _ in range(layers)])

    def forward(self, sound):
        x = sound[:, None]
        for i, feature in enumerate(self.features):
            x = F.gelu(self.first_norm(feature(x)) if i == 0 else feature(x))
        x = self.project(self.features_norm(x.transpose(1, 2)))
        x = x + F.gelu(self.position(x.transpose(1, 2))[:, :, :-1]).transpose(1, 2)
        return self.head(self.layers(self.norm(x)))


class Clip(nn.Module):
    """An image as one embedding: patches of 16 by 16, a token for the whole, and layers."""

    def __init__(self, side=160, width=256, layers=8, embedding=128):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 16, 16, bias=False)
        self.whole, self.position = nn.Parameter(torch.randn(width)), nn.Parameter(0.5 * torch.randn((side // 16) ** 2 + 1, width))
        self.before, self.behind, self.project = nn.LayerNorm(width), nn.LayerNorm(width), nn.Linear(width, embedding, bias=False)
        self.layers = nn.Sequential(*[Layer(width, 4, True, QuickGELU) for _ in range(layers)])

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.whole.expand(x.shape[0], 1, -1), x], 1) + self.position
        return self.project(self.behind(self.layers(self.before(x))[:, 0]))


NETWORKS = {
    "unet_nearest": (lambda: UNet("nearest"), image(128)),
    "unet_linear": (lambda: UNet("bilinear"), image(128)),
    "unet_transposed": (lambda: UNet("transposed"), image(128)),
    "pyramid": (Pyramid, image(128)),
    "dilated": (Dilated, image(128)),
    "efficientnet": (EfficientNet, image(192)),
    "resnext": (ResNeXt, image(160)),
    "wav2vec2": (Wav2Vec2, sound(8000)),
    "clip": (Clip, image(160)),
}


def build(name):
    torch.manual_seed(1234)
    make, example = NETWORKS[name]
    net = make()
    for module in net.modules():
        if isinstance(module, (nn.Conv1d, nn.Conv2d)):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features ** -0.5)
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None  # a plain average
            nn.init.uniform_(module.weight, 0.8, 1.2)
            nn.init.normal_(module.bias, std=0.1)
    random = torch.Generator().manual_seed(12)
    with torch.no_grad():
        net.train()(torch.cat([example(random) for _ in range(8)]))
    return folded(net.eval()).requires_grad_(False), example
