"""Networks that halve a free height and width several times, padded, strided, resized: their sizes are nested divisions."""

import torch
from torch import nn
from torch.nn import functional as F

from registry import architecture, sizes
from vision import IMAGE, conv_block, norm_with_statistics

ANY_SIZES = sizes("batch height width", (2, 40, 56), (1, 32, 32), (1, 33, 47), (1, 17, 64))


def padded_to(x, multiple):
    """x[batch, height, width, channel] with zeros below and to the right."""
    height, width = x.shape[1:3]
    return F.pad(x, (0, 0, 0, (multiple - width % multiple) % multiple, 0, (multiple - height % multiple) % multiple))


def windows_of(x, side):
    batch, height, width, c = x.shape
    x = x.view(batch, height // side, side, width // side, side, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, side * side, c)


def joined(windows, side, height, width):
    c = windows.shape[-1]
    x = windows.view(-1, height // side, width // side, side, side, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, height, width, c)


class WindowAttention(nn.Module):
    """Attention inside windows; shifted by half a window, with a mask between what the shift brought together."""

    def __init__(self, c, heads, side, shift):
        super().__init__()
        self.heads, self.side, self.shift = heads, side, shift
        self.qkv, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.bias = nn.Parameter(torch.randn(heads, side * side, side * side) * 0.1)

    def mask(self, height, width, like):
        def part(size):
            at = torch.arange(size, device=like.device)
            return (at >= size - self.side).to(like.dtype) + (at >= size - self.shift).to(like.dtype)

        regions = (3 * part(height)[:, None] + part(width)[None])[None, :, :, None]
        of = windows_of(regions, self.side)[..., 0]
        return (of[:, None, :] != of[:, :, None]).to(like.dtype) * -100.0

    def forward(self, x):
        height, width = x.shape[1:3]
        x = padded_to(x, self.side)
        padded_height, padded_width = x.shape[1:3]
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        w = windows_of(x, self.side)
        count, tokens, c = w.shape
        q, k, v = self.qkv(w).reshape(count, tokens, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5 + self.bias
        if self.shift:
            mask = self.mask(padded_height, padded_width, x)
            scores = scores.view(-1, mask.shape[0], self.heads, tokens, tokens) + mask[None, :, None]
            scores = scores.view(-1, self.heads, tokens, tokens)
        y = self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(count, tokens, c))
        x = joined(y, self.side, padded_height, padded_width)
        if self.shift:
            x = torch.roll(x, (self.shift, self.shift), (1, 2))
        return x[:, :height, :width]


class WindowBlock(nn.Module):
    def __init__(self, c, heads, side, shift):
        super().__init__()
        self.first, self.second = nn.LayerNorm(c), nn.LayerNorm(c)
        self.attention = WindowAttention(c, heads, side, shift)
        self.mlp = nn.Sequential(nn.Linear(c, 2 * c), nn.GELU(), nn.Linear(2 * c, c))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class PatchMerging(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm, self.down = nn.LayerNorm(4 * c), nn.Linear(4 * c, 2 * c, bias=False)

    def forward(self, x):
        x = padded_to(x, 2)
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        return self.down(self.norm(x))


class ShiftedWindows(nn.Module):
    def __init__(self, c=16, stages=3, side=4):
        super().__init__()
        self.embed, self.norm = nn.Conv2d(3, c, 2, 2), nn.LayerNorm(c)
        blocks = []
        for stage in range(stages):
            width = c << stage
            blocks += [PatchMerging(width // 2)] if stage else []
            blocks += [WindowBlock(width, 2, side, 0), WindowBlock(width, 2, side, side // 2)]
        self.blocks = nn.Sequential(*blocks)
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, image):
        height, width = image.shape[2:]
        image = F.pad(image, (0, width % 2, 0, height % 2))
        x = self.norm(self.embed(image).permute(0, 2, 3, 1))
        return self.head(self.last(self.blocks(x)).mean((1, 2)))


@architecture(IMAGE, ["logits"], ANY_SIZES)
def shifted_windows():
    return ShiftedWindows()


class ConvNeXtStage(nn.Module):
    def __init__(self, cin, cout, depth, stride):
        super().__init__()
        self.norm, self.down = nn.LayerNorm(cin), nn.Conv2d(cin, cout, stride, stride)
        self.blocks = nn.ModuleList(nn.ModuleList([
            nn.Conv2d(cout, cout, 7, 1, 3, groups=cout), nn.LayerNorm(cout), nn.Linear(cout, 4 * cout),
            nn.Linear(4 * cout, cout)]) for _ in range(depth))

    def forward(self, x):
        x = self.down(self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2))
        for depthwise, norm, up, down in self.blocks:
            x = x + down(F.gelu(up(norm(depthwise(x).permute(0, 2, 3, 1))))).permute(0, 3, 1, 2)
        return x


@architecture(IMAGE, ["logits"], ANY_SIZES)
def convnext_pyramid():
    return nn.Sequential(ConvNeXtStage(3, 8, 1, 2), ConvNeXtStage(8, 16, 2, 2), ConvNeXtStage(16, 24, 2, 2),
                         ConvNeXtStage(24, 32, 1, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


class FeaturePyramid(nn.Module):
    """A backbone of four strides, features joined from the top, and heads on every level: boxes, classes, masks."""

    def __init__(self, c=16):
        super().__init__()
        widths = (8, 16, 24, 32)
        self.stem = conv_block(3, 8)
        self.stages = nn.ModuleList(nn.Conv2d(a, b, 3, 2, 1) for a, b in zip((8,) + widths, widths))
        self.sides = nn.ModuleList(nn.Conv2d(w, c, 1) for w in widths)
        self.smooth = nn.ModuleList(nn.Conv2d(c, c, 3, 1, 1) for _ in widths)
        self.classes, self.boxes = nn.Conv2d(c, 3 * 5, 3, 1, 1), nn.Conv2d(c, 3 * 4, 3, 1, 1)
        self.mask = nn.Sequential(nn.Conv2d(c, c, 3, 1, 1), nn.ReLU(), nn.ConvTranspose2d(c, c, 2, 2), nn.ReLU(), nn.Conv2d(c, 2, 1))

    def forward(self, image):
        levels, x = [], self.stem(image)
        for stage in self.stages:
            x = F.relu(stage(x))
            levels.append(x)
        features, above = [], None
        for side, smooth, level in zip(reversed(self.sides), self.smooth, reversed(levels)):
            lateral = side(level)
            above = lateral if above is None else lateral + F.interpolate(above, size=lateral.shape[-2:], mode="nearest")
            features.append(smooth(above))
        features.append(F.max_pool2d(features[0], 1, 2))

        def rows(y, each):
            return y.view(y.shape[0], 3, each, y.shape[2], y.shape[3]).permute(0, 3, 4, 1, 2).reshape(y.shape[0], -1, each)

        classes = torch.cat([rows(self.classes(f), 5) for f in features], 1)
        boxes = torch.cat([rows(self.boxes(f), 4) for f in features], 1)
        masks = F.interpolate(self.mask(features[3]), size=image.shape[-2:], mode="bilinear", align_corners=False)
        return classes.sigmoid(), boxes, masks


@architecture(IMAGE, ["classes", "boxes", "masks"], ANY_SIZES)
def feature_pyramid():
    return norm_with_statistics(FeaturePyramid())


class PaddedUNet(nn.Module):
    """Four levels; what comes up is padded to the size of what went down."""

    def __init__(self):
        super().__init__()
        widths = (8, 12, 16, 24, 32)
        self.down = nn.ModuleList(conv_block(a, b) for a, b in zip((3,) + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.join = nn.ModuleList(conv_block(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, image):
        levels, x = [], self.down[0](image)
        for down in self.down[1:]:
            levels.append(x)
            x = down(F.max_pool2d(x, 2))
        for level, up, join in reversed(list(zip(levels, self.up, self.join))):
            x = up(x)
            dy, dx = level.shape[2] - x.shape[2], level.shape[3] - x.shape[3]
            x = F.pad(x, (dx // 2, dx - dx // 2, dy // 2, dy - dy // 2))
            x = join(torch.cat([level, x], 1))
        return self.head(x)


@architecture(IMAGE, ["mask"], ANY_SIZES)
def unet_padded():
    return norm_with_statistics(PaddedUNet())


class WindowSuperResolution(nn.Module):
    """Padded to windows by reflection, upsampled by shuffling, cropped to three times the size."""

    def __init__(self, c=16):
        super().__init__()
        self.enter = nn.Conv2d(3, c, 3, 1, 1)
        self.blocks = nn.Sequential(WindowBlock(c, 2, 4, 0), WindowBlock(c, 2, 4, 2))
        self.after, self.large = nn.Conv2d(c, c, 3, 2, 1), nn.Conv2d(c, 3 * 36, 3, 1, 1)

    def forward(self, image):
        height, width = image.shape[2:]
        padded = F.pad(image, (0, (8 - width % 8) % 8, 0, (8 - height % 8) % 8), "reflect")
        x = self.enter(padded)
        x = x + self.blocks(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        y = F.pixel_shuffle(self.large(self.after(x)), 6)
        y = y + F.interpolate(padded, scale_factor=3.0, mode="bilinear", align_corners=False)
        return y[:, :, :3 * height, :3 * width]


@architecture(IMAGE, ["large"], sizes("batch height width", (2, 24, 17), (1, 9, 16), (1, 13, 30)))
def window_super_resolution():
    return WindowSuperResolution()
