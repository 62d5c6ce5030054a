"""Networks on images and volumes, written by hand."""

import torch
from torch import nn
from torch.nn import functional as F

from registry import architecture, floats, sizes

IMAGE = {"image": floats("batch", 3, "height", "width")}
IMAGE_SIZES = sizes("batch height width", (2, 40, 56), (1, 32, 32), (3, 33, 47), (1, 17, 64))


def norm_with_statistics(module):
    """Running statistics other than 0 and 1, so that a normalisation that is left out shows."""
    for each in module.modules():
        if isinstance(each, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            nn.init.uniform_(each.running_mean, -0.2, 0.2)
            nn.init.uniform_(each.running_var, 0.5, 1.5)
            nn.init.uniform_(each.weight, 0.5, 1.5)
            nn.init.uniform_(each.bias, -0.2, 0.2)
    return module


class Residual(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(),
            nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout))
        self.skip = nn.Identity() if stride == 1 and cin == cout else nn.Sequential(
            nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


@architecture(IMAGE, ["logits"], IMAGE_SIZES)
def resnet():
    return norm_with_statistics(nn.Sequential(
        nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
        Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 32, 1),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)))


class SqueezeExcite(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.down, self.up = nn.Conv2d(c, c // 4, 1), nn.Conv2d(c // 4, c, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.up(F.relu(self.down(F.adaptive_avg_pool2d(x, 1)))))


class InvertedResidual(nn.Module):
    def __init__(self, cin, mid, cout, kernel, stride):
        super().__init__()
        self.same = stride == 1 and cin == cout
        self.body = nn.Sequential(
            nn.Conv2d(cin, mid, 1, bias=False), nn.BatchNorm2d(mid), nn.Hardswish(),
            nn.Conv2d(mid, mid, kernel, stride, kernel // 2, groups=mid, bias=False), nn.BatchNorm2d(mid), nn.Hardswish(),
            SqueezeExcite(mid), nn.Conv2d(mid, cout, 1, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        return x + self.body(x) if self.same else self.body(x)


@architecture(IMAGE, ["logits"], IMAGE_SIZES)
def mobilenet():
    return norm_with_statistics(nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1), nn.Hardswish(), InvertedResidual(8, 16, 8, 3, 1), InvertedResidual(8, 24, 16, 5, 2),
        InvertedResidual(16, 32, 16, 5, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 24), nn.Hardswish(),
        nn.Linear(24, 10)))


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, 1, 1), nn.BatchNorm2d(cout), nn.LeakyReLU(0.1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.bottom = conv_block(3, 8), conv_block(8, 16), conv_block(16, 32)
        self.up = nn.ConvTranspose2d(32, 16, 2, 2)
        self.third, self.fourth = conv_block(32, 16), conv_block(24, 8)
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, image):
        a = self.first(image)
        b = self.second(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        d = self.third(torch.cat([F.interpolate(self.up(c), size=b.shape[2:], mode="nearest"), b], 1))
        e = self.fourth(torch.cat([F.interpolate(d, size=a.shape[2:], mode="bilinear", align_corners=False), a], 1))
        return self.head(e)


@architecture(IMAGE, ["mask"], IMAGE_SIZES)
def unet_resize():
    return norm_with_statistics(UNet())


class EvenUNet(nn.Module):
    """Joins 2*(height/2) with height: right for even sizes only, which the model must say at its entry."""

    def __init__(self):
        super().__init__()
        self.first, self.second = conv_block(3, 8), conv_block(8, 16)
        self.up = nn.ConvTranspose2d(16, 8, 4, 2, 1)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, image):
        a = self.first(image)
        return self.head(torch.cat([self.up(self.second(F.max_pool2d(a, 2))), a], 1))


@architecture(IMAGE, ["mask"], sizes("batch height width", (2, 40, 56), (1, 32, 32), (3, 2, 2)))
def unet_even():
    return norm_with_statistics(EvenUNet())


class DiffusionBlock(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(c, 2 * c), nn.SiLU(), nn.Linear(2 * c, c))
        self.enter = nn.Conv2d(4, c, 3, 1, 1)
        self.norms = nn.ModuleList(nn.GroupNorm(4, c) for _ in range(3))
        self.convs = nn.ModuleList(nn.Conv2d(c, c, 3, 1, 1) for _ in range(2))
        self.qkv, self.out, self.leave = nn.Linear(c, 3 * c), nn.Linear(c, c), nn.Conv2d(c, 4, 3, 1, 1)
        for n in self.norms:
            nn.init.uniform_(n.weight, 0.5, 1.5)

    def forward(self, sample, timestep):
        frequencies = torch.exp(-torch.arange(8, dtype=sample.dtype) / 8 * 9.2)
        angle = timestep[:, None].to(sample.dtype) * frequencies[None]
        t = self.time(torch.cat([angle.sin(), angle.cos()], -1))
        x = self.enter(sample)
        h = self.convs[0](F.silu(self.norms[0](x))) + t[:, :, None, None]
        x = x + self.convs[1](F.silu(self.norms[1](h)))
        b, c, height, width = x.shape
        tokens = self.norms[2](x).reshape(b, c, height * width).transpose(1, 2)
        q, k, v = (y.reshape(b, -1, 2, c // 2).transpose(1, 2) for y in self.qkv(tokens).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, -1, c)
        x = x + self.out(y).transpose(1, 2).reshape(b, c, height, width)
        return self.leave(F.silu(x))


@architecture({"sample": floats("batch", 4, "height", "width"), "timestep": floats("batch")}, ["noise"],
              sizes("batch height width", (2, 8, 12), (1, 1, 1), (3, 5, 7)))
def diffusion_block():
    return DiffusionBlock()


class ShuffleBlock(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(c // 2, c // 2, 1), nn.ReLU6(), nn.Conv2d(c // 2, c // 2, 3, 1, 1, groups=c // 2))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        x = torch.cat([a, self.body(b)], 1)
        n, c, h, w = x.shape
        return x.reshape(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


@architecture(IMAGE, ["logits"], IMAGE_SIZES)
def shufflenet():
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), ShuffleBlock(), nn.AvgPool2d(3, 2, 1, ceil_mode=True), ShuffleBlock(),
                         nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(16, 10))


class SuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 5, 1, 2), nn.PReLU(16), nn.ReflectionPad2d(1), nn.Conv2d(16, 12, 3))

    def forward(self, image):
        return F.pixel_shuffle(self.body(image), 2) + F.interpolate(image, scale_factor=2, mode="bicubic", align_corners=False)


@architecture(IMAGE, ["large"], sizes("batch height width", (2, 12, 9), (1, 2, 2), (1, 5, 30)))
def super_resolution():
    return SuperResolution()


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList([
            nn.Conv2d(8, 4, 1), nn.Conv2d(8, 4, 3, 1, 1), nn.Conv2d(8, 4, (1, 7), 1, (0, 3)),
            nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), nn.Conv2d(8, 4, 1)),
            nn.Conv2d(8, 4, 3, 1, 2, dilation=2)])
        self.stem, self.head = nn.Conv2d(3, 8, 3, 2), nn.Linear(40, 10)

    def forward(self, image):
        x = F.elu(self.stem(image))
        x = torch.cat([b(x) for b in self.branches], 1)
        x = torch.cat([F.max_pool2d(x, 3, 2), F.avg_pool2d(x, 3, 2)], 1)
        return self.head(F.dropout(x.mean((2, 3)), 0.5, self.training))


@architecture(IMAGE, ["logits"], IMAGE_SIZES)
def inception():
    return Inception()


class ConvNeXtBlock(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.depth, self.norm = nn.Conv2d(c, c, 7, 1, 3, groups=c), nn.LayerNorm(c)
        self.up, self.down = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
        self.scale = nn.Parameter(torch.full((c,), 0.5))

    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.down(F.gelu(self.up(y)))).permute(0, 3, 1, 2)


@architecture(IMAGE, ["logits"], IMAGE_SIZES)
def convnext():
    return nn.Sequential(nn.Conv2d(3, 16, 4, 4), ConvNeXtBlock(), ConvNeXtBlock(), nn.AdaptiveMaxPool2d(1), nn.Flatten(),
                         nn.Linear(16, 10))


@architecture({"volume": floats("batch", 1, "depth", "height", "width")}, ["logits"],
              sizes("batch depth height width", (2, 8, 12, 10), (1, 4, 4, 4), (1, 5, 9, 7)))
def conv3d():
    return norm_with_statistics(nn.Sequential(
        nn.Conv3d(1, 8, 3, 1, 1), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(8, 8, (1, 3, 3), (1, 2, 2), (0, 1, 1)),
        nn.InstanceNorm3d(8, affine=True), nn.ELU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(8, 4)))


class Pyramid(nn.Module):
    """Pools to fixed grids and samples back: what segmentation heads do."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU())
        self.sides = nn.ModuleList(nn.Conv2d(8, 4, 1) for _ in range(2))
        self.head = nn.Conv2d(16, 5, 1)

    def forward(self, image):
        x = self.stem(image)
        pooled = [F.avg_pool2d(x, 2, 2, ceil_mode=True), x.mean((2, 3), keepdim=True)]
        parts = [F.interpolate(s(p), size=x.shape[-2:], mode="bilinear", align_corners=True)
                 for s, p in zip(self.sides, pooled)]
        y = self.head(torch.cat([x, *parts], 1))
        return F.interpolate(y, size=image.shape[-2:], mode="bilinear", align_corners=False).argmax(1)


@architecture(IMAGE, ["classes"], IMAGE_SIZES)
def pyramid_segmentation():
    return Pyramid()
