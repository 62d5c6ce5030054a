"""Networks on sequences, written by hand: convolutions over time, recurrent networks, attention in other spellings."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from registry import architecture, floats, integers, mask, sizes

SERIES = {"x": floats("batch", "time", 12)}
SERIES_SIZES = sizes("batch time", (2, 9), (1, 1), (3, 14), (1, 33))


class SpeechNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(8, 16, 11, 2, 5)
        self.depth = nn.ModuleList(nn.Conv1d(16, 16, 5, 1, 2, groups=16) for _ in range(2))
        self.point = nn.ModuleList(nn.Conv1d(16, 16, 1) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm1d(16) for _ in range(2))
        self.head = nn.Conv1d(16, 20, 1)

    def forward(self, features):
        x = F.relu(self.stem(features))
        for d, p, n in zip(self.depth, self.point, self.norms):
            x = x + F.relu(n(p(d(x))))
        return F.log_softmax(self.head(x).transpose(1, 2), -1)


@architecture({"features": floats("batch", 8, "time")}, ["log_probabilities"],
              sizes("batch time", (2, 30), (1, 1), (3, 47)))
def speech_conv():
    return SpeechNet()


class CausalConv(nn.Module):
    """A temporal network: pads to both sides and cuts the future away."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(12, 12, 3, padding=2 * d, dilation=d) for d in (1, 2, 4))

    def forward(self, x):
        x = x.transpose(1, 2)
        for layer in self.layers:
            x = x + torch.tanh(layer(x)[:, :, : x.shape[2]])
        return x.transpose(1, 2)


@architecture(SERIES, ["y"], SERIES_SIZES)
def causal_conv():
    return CausalConv()


class Recurrent(nn.Module):
    def __init__(self, kind, layers):
        super().__init__()
        self.cell = kind(12, 10, layers, batch_first=True, bidirectional=True)
        self.head = nn.Linear(20, 5)

    def forward(self, x):
        y, state = self.cell(x)
        return self.head(y), state[0] if isinstance(state, tuple) else state


@architecture(SERIES, ["y", "state"], SERIES_SIZES)
def lstm():
    return Recurrent(nn.LSTM, 1)


@architecture(SERIES, ["y", "state"], SERIES_SIZES)
def gru():
    return Recurrent(nn.GRU, 1)


@architecture(SERIES, ["y", "state"], SERIES_SIZES, exporters=("torchscript",))
def stacked_lstm():
    return Recurrent(nn.LSTM, 2)


class CharacterTagger(nn.Module):
    """Words by a convolution over their characters, then a recurrent network in both directions."""

    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(30, 8)
        self.conv, self.cell, self.head = nn.Conv1d(8, 12, 3, padding=1), nn.GRU(12, 8, bidirectional=True), nn.Linear(16, 6)

    def forward(self, letters):
        b, s, n = letters.shape
        x = self.letters(letters).reshape(b * s, n, 8).transpose(1, 2)
        x = self.conv(x).max(2).values.reshape(b, s, 12)
        y, _ = self.cell(x.transpose(0, 1))
        return self.head(y).transpose(0, 1).softmax(-1)


# The dynamo exporter writes the number of words of the example into the file.
@architecture({"letters": integers(30, "batch", "words", "letters")}, ["tags"],
              sizes("batch words letters", (2, 5, 7), (1, 1, 1), (3, 4, 12)), exporters=("torchscript",))
def character_tagger():
    return CharacterTagger()


class EinsumAttention(nn.Module):
    def __init__(self, c=16, heads=4):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(c, c) for _ in range(4))
        self.bias = nn.Parameter(torch.randn(heads, 1, 1) * 0.1)

    def forward(self, query, memory, kept):
        b, t, c = query.shape
        q, k, v = (f(x).view(b, -1, self.heads, c // self.heads)
                   for f, x in ((self.q, query), (self.k, memory), (self.v, memory)))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(c // self.heads)
        distance = (torch.arange(t)[:, None] - torch.arange(memory.shape[1])[None]).abs()
        scores = scores - self.bias.abs() * distance
        scores = scores.masked_fill(kept[:, None, None] == 0, float("-inf"))
        return self.o(torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v).flatten(2))


@architecture({"query": floats("batch", "queries", 16), "memory": floats("batch", "keys", 16),
               "kept": mask("batch", "keys")}, ["y"],
              sizes("batch queries keys", (2, 5, 9), (1, 1, 1), (3, 12, 4)))
def einsum_attention():
    return EinsumAttention()


# The TorchScript exporter has no conversion of the fused layer that torch uses here.
@architecture({"x": floats("batch", "time", 16)}, ["y"], sizes("batch time", (2, 9), (1, 1), (3, 20)), exporters=("dynamo",))
def torch_encoder():
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


class LinearAttention(nn.Module):
    """Causal attention without softmax: running sums of outer products."""

    def __init__(self, c=12):
        super().__init__()
        self.qkv = nn.Linear(c, 3 * c)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        states = torch.cumsum(torch.einsum("btd,bte->btde", k, v), 1)
        norm = torch.einsum("btd,btd->bt", q, torch.cumsum(k, 1))
        return torch.einsum("btd,btde->bte", q, states) / norm[..., None]


@architecture(SERIES, ["y"], SERIES_SIZES)
def linear_attention():
    return LinearAttention()


class WindowAttention(nn.Module):
    """Pads to a multiple of the window, attends inside windows, cuts the padding off."""

    def __init__(self, c=12, window=4):
        super().__init__()
        self.window = window
        self.attention = nn.MultiheadAttention(c, 3, batch_first=True)

    def forward(self, x):
        b, t, c = x.shape
        w = self.window
        y = F.pad(x, (0, 0, 0, (w - t % w) % w))
        y = torch.roll(y, -2, 1).reshape(-1, w, c)
        y = self.attention(y, y, y, need_weights=False)[0]
        return torch.roll(y.reshape(b, -1, c), 2, 1)[:, :t] + x


@architecture(SERIES, ["y"], SERIES_SIZES)
def window_attention():
    return WindowAttention()


class Mixer(nn.Module):
    """State space model in its convolutional form: a causal filter by products of a Toeplitz matrix."""

    def __init__(self, c=12):
        super().__init__()
        self.decay, self.gain, self.out = nn.Parameter(torch.rand(c)), nn.Parameter(torch.randn(c)), nn.Linear(c, c)

    def forward(self, x):
        t = torch.arange(x.shape[1])
        lag = (t[:, None] - t[None]).to(x.dtype)
        kernel = torch.where(lag[..., None] >= 0, torch.exp(-self.decay * lag[..., None].clamp(min=0)) * self.gain, 0.0)
        return F.glu(torch.cat([self.out(torch.einsum("tsc,bsc->btc", kernel.to(x.dtype), x)), x], -1), -1)


@architecture(SERIES, ["y"], SERIES_SIZES)
def state_space():
    return Mixer()
